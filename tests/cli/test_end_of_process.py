"""The process ends when its command has ended, whatever the code of a provider leaves running."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

FOREVER = 120.0  # seconds after which a process counts as one that never ends
EVAL = ("eval", "--output", "run", "--store", "none", "--timeout", "1", "--json")
LEFT_RUNNING = {
    "thread": "threading.Thread(target=threading.Event().wait, daemon=False).start()",
    "executor": "ThreadPoolExecutor().submit(threading.Event().wait)",
    "search": "threading.Event().wait()",
}


def evaluate(folder: Path, provider: dict[str, Any], code: int) -> dict[str, int]:
    """Run a provider on the drinks in a process, which must end; return the outcomes."""
    run = {"warm_up": 0, "attempts": 1, "error_budget": 1.0}
    plan = {"benchmarks": ["drinks"], "providers": [{"name": "mine", **provider}], "run": run}
    (folder / "berryeval.yaml").write_text(json.dumps(plan))
    done = subprocess.run(
        [sys.executable, "-m", "berryeval", *EVAL],
        capture_output=True,
        text=True,
        check=False,
        timeout=FOREVER,
    )
    assert done.returncode == code, done.stderr
    assert (folder / "ended").exists() == (provider["type"] == "callable")
    (found,) = json.loads(done.stdout)["data"]["benchmarks"][0]["providers"]
    outcomes: dict[str, int] = found["outcomes"]
    return outcomes


@pytest.mark.parametrize("what", LEFT_RUNNING)
def test_threads_that_never_end_do_not_keep_the_process(drinks_folder: Path, what: str) -> None:
    """What was registered for the exit is still done."""
    (drinks_folder / "endless.py").write_text(
        "import atexit, threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from pathlib import Path\n"
        "atexit.register(Path('ended').touch)\n"
        "def search(text, k):\n"
        f"    {LEFT_RUNNING[what]}\n"
        "    return ['water']\n"
    )
    mine = {"type": "callable", "options": {"function": "endless:search"}}
    stuck = what == "search"
    found = evaluate(drinks_folder, mine, 3 if stuck else 0)
    assert found == ({"timeout": 4} if stuck else {"ok": 4})


def test_a_server_that_never_answers_does_not_keep_the_process(drinks_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        mine = {"type": "http", "options": {"url": url}}
        assert evaluate(drinks_folder, mine, 3) == {"timeout": 4}
