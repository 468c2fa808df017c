"""Other processes for tests, which start at once because they are copies of this one."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from typing import Any

_COPIES = multiprocessing.get_context("fork")


def start(work: Callable[..., Any], *arguments: Any) -> Any:
    """Start a process that calls a function."""
    process = _COPIES.Process(target=work, args=arguments)
    process.start()
    return process


def finish(*running: Any) -> None:
    """Wait for processes, all of which must succeed."""
    for one in running:
        one.join(timeout=60)
        assert one.exitcode == 0


def kill(process: Any, said: int) -> str:
    """Kill a process, and return what is left to read in the pipe that only it wrote to."""
    process.kill()
    process.join(timeout=60)
    found = b""
    while more := os.read(said, 1 << 16):
        found += more
    return found.decode()
