"""Commands on a pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys


def on_a_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Run a command; return its exit code, and stdout and stderr together."""
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
    """Read until the last writer has closed the terminal."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux raises this when the other side is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()
