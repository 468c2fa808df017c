"""Plain data from the objects of others, whose methods may raise, lie or never end.

>>> make_plain({"when": 2.5, 7: ("a", float("nan"))})
{'when': 2.5, '7': ['a', 'nan']}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from berryeval._internal.masking import cut

DEEPEST: Final = 50  # mappings and lists inside each other
_MOST: Final = 10_000  # mappings and lists in one value
_LEFT_OUT: Final = "..."  # what is deeper, or more, or contains itself
_LONGEST: Final = 20_000  # characters of an error
_WIDEST: Final = 1024  # bits of an integer; Python refuses to print much larger ones


def plain_text(text: str) -> str:
    """Return a text, also that of a subclass, as a `str` that can be encoded."""
    text = str.__str__(text)
    return text if text.isascii() else text.encode(errors="replace").decode()


def write_text(value: object, write: Callable[[object], str] = str) -> str:
    """Return the text of any object, also of one that cannot be shown."""
    try:
        return plain_text(write(value))
    except BaseException:  # noqa: BLE001 - of a foreign method, which may raise anything
        return f"<{type(value).__name__} that cannot be shown>"


def show(value: object, longest: int = 80) -> str:
    """Return the `repr` of a value for a message: known secrets masked, then cut."""
    return cut(write_text(value, repr), longest)


def describe_error(error: BaseException) -> str:
    """Return the type and the text of any error."""
    words = write_text(error, lambda one: str(one)[:_LONGEST])  # it may quote a whole answer
    return f"{type(error).__name__}: {words}".removesuffix(": ")


def make_plain(
    value: Any, around: tuple[int, ...] = (), opened: Iterator[int] | None = None
) -> Any:
    """Return any value as JSON can hold it; what it cannot is replaced by its text.

    `around` identifies the mappings and lists that contain the value; `opened` counts all.
    """
    kind = type(value)
    if value is None or kind is bool or (kind is str and value.isascii()):
        return value  # most values
    if issubclass(kind, str):
        return plain_text(value)
    if issubclass(kind, int):
        number = int.__int__(value)
        return number if number.bit_length() <= _WIDEST else write_text(number)
    if issubclass(kind, float):
        exact = float.__float__(value)
        return exact if math.isfinite(exact) else str(exact)
    opened = opened or count()
    if len(around) >= DEEPEST or id(value) in around or next(opened) >= _MOST:
        return _LEFT_OUT  # its text could be endless
    return _open(value, (*around, id(value)), opened)


def was_cut(plain: Any, depth: int = 0) -> bool:
    """Whether `make_plain` left out values that were nested too deep."""
    if depth == DEEPEST:
        return bool(plain == _LEFT_OUT)
    inner = plain.values() if isinstance(plain, Mapping) else plain
    last = depth + 1 == DEEPEST
    return any(was_cut(one, depth + 1) for one in inner if last or isinstance(one, (dict, list)))


def _open(value: Any, around: tuple[int, ...], opened: Iterator[int]) -> Any:
    try:
        if type(value) is dict or isinstance(value, Mapping):
            return {_name(key): make_plain(item, around, opened) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [make_plain(item, around, opened) for item in value]
        if callable(getattr(value, "tolist", None)):  # NumPy arrays and scalars
            return make_plain(value.tolist(), around, opened)
    except Exception:  # noqa: BLE001 - a container that cannot be read has a text
        return cut(write_text(value))
    return cut(write_text(value))


def _name(key: object) -> str:
    return plain_text(key) if issubclass(type(key), str) else cut(write_text(key))  # type: ignore[arg-type]
