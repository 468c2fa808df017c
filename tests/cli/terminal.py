"""Commands on a pseudo-terminal."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from berryeval.cli.app import build_app, run


def on_a_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Run a command; return its exit code, and stdout and stderr together."""
    import pty

    ours, theirs = pty.openpty()
    settings = {"TERM": "xterm-256color", **environment}
    with ThreadPoolExecutor(1) as reader, mock.patch.dict(os.environ, settings, clear=True):
        text = reader.submit(_read_all, ours)
        with (
            os.fdopen(theirs, "w", encoding="utf-8") as screen,
            redirect_stdout(screen),
            redirect_stderr(screen),
        ):
            code = run(build_app(), arguments)
    return code, text.result()


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
