"""Values of a JSON answer, checked: `path` says in messages where they were found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ProviderError
from berryeval.providers.answers import id_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["READERS", "as_array", "as_id", "as_number"]


def as_array(value: Any, path: str) -> list[Any]:
    """An array of hits."""
    if isinstance(value, list):
        return value
    raise _refused(path, "an array of hits", value)


def as_id(value: Any, path: str) -> str:
    """An id: a text, or a whole number in decimal."""
    name = id_text(value)
    if name is not None:
        return name
    raise _refused(path, "an id", value)


def as_number(value: Any, path: str) -> float:
    """A finite number, also one in quotes."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise _refused(path, "a finite number", value)
    return number


def _as_text(value: Any, path: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _refused(path, "a text", value)


def _as_offset(value: Any, path: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _refused(path, "a whole number", value)


def _refused(path: str, expected: str, value: Any) -> ProviderError:
    msg = f"at the path {path!r} expected {expected}, found {type(value).__name__} {value!r:.80}"
    return ProviderError(msg)


# What is read of a hit, beside its id.
READERS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "score": as_number, "text": _as_text, "doc_id": _as_text, "start": _as_offset,
    "end": _as_offset,
}  # fmt: skip
