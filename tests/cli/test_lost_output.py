"""A closed, full or abandoned stdout or stderr changes neither the run nor its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no POSIX shell")

EVAL = "eval drinks --providers bm25 -m RR --store none --export none --output run"
FAILING = f"{EVAL} --fail-below RR=0.999"


def shell(arguments: str) -> subprocess.CompletedProcess[str]:
    """Run berryeval in a shell, which can close its streams."""
    line = f"{sys.executable} -m berryeval {arguments}"
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)


def test_without_stderr_json_stays_json(drinks_folder: Path) -> None:
    done = shell(f"{EVAL} --json --verbose 2>&-")
    assert done.returncode == 0
    assert json.loads(done.stdout)["command"] == "eval"
    assert (drinks_folder / "run" / "run.json").exists()


def test_without_any_stream_a_run_is_complete_and_holds_nothing_else(drinks_folder: Path) -> None:
    assert shell(f"{EVAL} --verbose <&- >&- 2>&-").returncode == 0
    (journal,) = (drinks_folder / "run").rglob("results.jsonl")
    for line in journal.read_text().splitlines():
        assert isinstance(json.loads(line), dict)
    json.loads((drinks_folder / "run" / "run.json").read_text())
    assert shell("score - - <&-").returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
def test_a_full_output_keeps_the_exit_code_of_the_run(drinks_folder: Path) -> None:
    done = shell(f"{EVAL} >/dev/full")
    assert done.returncode == 0
    assert "error: the output cannot be written: No space left on device" in done.stderr
    assert (drinks_folder / "run" / "run.json").exists()
    assert shell("list metrics >/dev/full 2>/dev/full").returncode == 2


def test_a_reader_that_is_gone_does_not_pass_a_failed_run(drinks_folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    program = [sys.executable, "-m", "berryeval"]
    try:
        for words, code in ((FAILING, 1), (EVAL.replace("run", "other"), 0)):
            asked = [*program, *words.split(), "--verbose"]
            done = subprocess.run(asked, stdout=writing, stderr=writing, check=False)
            assert done.returncode == code
    finally:
        os.close(writing)
    assert (drinks_folder / "run" / "run.json").exists()
    assert (drinks_folder / "other" / "run.json").exists()


CLOSING = {
    "streams": "sys.stdout.close(); sys.stderr.close()",
    "descriptors": "[os.close(open_ones.pop()) for _ in range(len(open_ones))]",
}


@pytest.mark.parametrize("what", CLOSING)
def test_a_provider_that_closes_the_streams_does_not_hide_the_results(
    drinks_folder: Path, what: str
) -> None:
    (drinks_folder / "closing.py").write_text(
        "import os, sys\n"
        "open_ones = [1, 2]\n"
        "def search(text, k):\n"
        f"    {CLOSING[what]}\n"
        "    return ['water']\n"
    )
    (drinks_folder / "berryeval.yaml").write_text(
        "benchmarks: [drinks]\n"
        "providers: [{name: mine, type: callable, options: {function: 'closing:search'}}]\n"
    )
    done = shell("eval --output run --json --verbose")
    assert "Quality metrics" in done.stderr
    (provider,) = json.loads(done.stdout)["data"]["benchmarks"][0]["providers"]
    assert provider["outcomes"] == {"ok": 4}
