"""Run the commands of a documentation page as a reader types them, and compare what they print.

A block `sh` is typed into one shell in the reader's folder. A block `text` right after it is what
the shell prints, except for times and dates; `...` stands for anything. Other blocks are files
that the reader saves under the name in the sentence before them, or Python sessions.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Step(NamedTuple):
    """Commands of a page and what they should print; None if the page does not show it."""

    commands: str
    shown: str | None


def find_steps(page: str) -> Iterator[Step]:
    """Yield the commands of a page in the order in which they are typed."""
    blocks = _BLOCK.findall(page)
    for (kind, text), (next_kind, next_text) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if kind == "sh":
            yield Step(text, next_text if next_kind == "text" else None)


def type_commands(commands: str, folder: Path) -> str:
    """Return what a shell prints for these commands; the first that fails is an error."""
    ours = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONIOENCODING": "utf-8", "COLUMNS": "100",
    }  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BERRYEVAL_")}
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-e", "-o", "pipefail", "-c", commands],
        cwd=folder, env=kept | ours, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, f"{commands}\n{done.stdout}"
    return done.stdout


def split_commands(commands: str) -> Iterator[str]:
    """Yield the commands of a block one by one, each with the text that it reads."""
    taken: list[str] = []
    for line in commands.splitlines():
        taken.append(line)
        reads = "<<'EOF'" in taken[0]
        if line == "EOF" or not reads:
            yield "\n".join(taken)
            taken = []


def is_same(shown: str, printed: str) -> bool:
    """Return whether a page shows what was printed, but for times and dates."""
    return doctest.OutputChecker().check_output(_masked(shown), _masked(printed), _SAME)


def _masked(text: str) -> str:
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d", "DATE", text)
    return re.sub(r"(?<=\s)\d+\.\d(?=\s)", "TIME", text)
