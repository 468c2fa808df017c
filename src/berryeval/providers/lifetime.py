"""How a thing that is searched begins and ends: as a context manager, or with `close`."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from berryeval.providers.base import Provider

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["entering", "leaving"]


def entering(thing: Any) -> Callable[[], Any] | None:
    """What enters it, to be awaited if it is `async`; None if it is no context manager."""
    return _own(thing, "__aenter__") or _own(thing, "__enter__")


def leaving(thing: Any, *error: Any, entered: bool = True) -> Callable[[], Any] | None:
    """What ends it: it is left as a context manager or else closed; None if it does neither.

    Where an error is on its way, a context manager hears of it, and cannot hold it up.

    Args:
        thing: that is ended.
        error: its kind, itself and where it was raised; what is handled here unless given.
        entered: whether it was; else it is only closed.
    """
    leave = _own(thing, "__aexit__") or _own(thing, "__exit__")
    if leave is not None and entered:
        return partial(leave, *(error or sys.exc_info()))
    close = getattr(thing, "close", None)
    return close if callable(close) else None


def _own(thing: Any, name: str) -> Callable[..., Any] | None:
    """A method of its class that is not what every provider has: that would only close it."""
    method = getattr(type(thing), name, None)
    if method is None or method is getattr(Provider, name, None):
        return None
    return partial(method, thing)
