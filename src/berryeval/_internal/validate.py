"""Checks shared by all packages: numbers, choices and unknown names.

>>> suggest("bm52", ["bm25", "dense"])
"did you mean 'bm25'?"
>>> suggest("xyz", ["bm25", "dense"])
'there are bm25, dense'
>>> is_number(True), is_number(0.5), is_number(float("nan"))
(False, True, False)
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable
from typing import Any, TypeGuard

from berryeval._internal.plain import show
from berryeval.errors import BerryEvalError, ConfigurationError


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer; True and False are not."""
    # Built-in types come first: checking against an abstract class is slow.
    return type(value) is int or (
        isinstance(value, numbers.Integral) and not isinstance(value, bool)
    )


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a finite real number; True and False are not."""
    if type(value) is not float and (
        isinstance(value, bool) or not isinstance(value, numbers.Real)
    ):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return the known names closest to `name`, ignoring case, best first."""
    import difflib

    spelled = {one.lower(): one for one in known}
    return [spelled[match] for match in difflib.get_close_matches(name.lower(), spelled, n=count)]


def suggest(
    name: str, known: Collection[str], *, listed: str = "there are", aliases: Iterable[str] = ()
) -> str:
    """Suggest the closest known names and aliases, or list the known names if none is close."""
    near = nearest(name, [*known, *aliases])
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"{listed} {', '.join(known) or 'none'}"


def reject_unknown(
    owner: str, given: Iterable[str], known: Collection[str], *, kind: str = "option"
) -> None:
    """Raise a ConfigurationError for the first given name that `owner` does not know."""
    for name in given:
        if name not in known:
            raise ConfigurationError(
                f"{owner} has no {kind} {name!r}; {suggest(str(name), known, listed='it has')}"
            )


def require(
    ok: object, name: str, wanted: str, found: Any, *, error: type[BerryEvalError] | None = None
) -> None:
    """Raise "<name> must be <wanted>, found <value>" unless `ok`."""
    if not ok:
        raise (error or ConfigurationError)(f"{name} must be {wanted}, found {show(found)}")


def require_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Require one of a few words."""
    require(value in choices, name, f"one of {', '.join(choices)}", value)


def require_whole(name: str, value: object, least: int = 1) -> None:
    """Require an integer of at least `least`."""
    ok = is_whole(value) and value >= least
    require(ok, name, f"a whole number of at least {least}", value)


def require_fraction(name: str, value: object) -> None:
    """Require a fraction in (0, 1]."""
    ok = is_number(value) and 0 < value <= 1
    require(ok, name, "a number above 0 and at most 1", value)


def require_text(name: str, value: object) -> None:
    """Require a string; a message does not show the value, which may be a secret."""
    if not isinstance(value, str):
        raise ConfigurationError(f"{name} must be text, found {type(value).__name__}")
