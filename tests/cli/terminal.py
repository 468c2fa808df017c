"""A command on a terminal, as people see it."""

from __future__ import annotations

import os
import subprocess
import sys


def on_a_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """The exit code of a command, and what it shows: stdout and stderr together."""
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "berryeval", *arguments], stdout=theirs, stderr=theirs,
        env={"TERM": "xterm-256color", **environment},
    ) as process:  # fmt: skip
        os.close(theirs)
        text = _read_all(ours)
    return process.returncode, text


def _read_all(terminal: int) -> str:
    """What was written until the last program that could write has ended."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()
