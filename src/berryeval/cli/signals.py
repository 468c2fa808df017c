"""SIGTERM, which ends a command as Ctrl-C does: what was done is kept, and said."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["terminable"]


@contextmanager
def terminable() -> Iterator[Callable[[], bool]]:
    """Hear SIGTERM for a while, unless somebody else does; gives whether it came."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield lambda: False
        return
    came: list[int] = []

    def end(number: int, _: object) -> None:
        came.append(number)
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # event loops have their own way with it

    signal.signal(signal.SIGTERM, end)
    try:
        yield lambda: bool(came)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
