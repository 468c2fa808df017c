"""Times of runs: as records write them, and as people give them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from berryeval.errors import ConfigurationError, DataError

__all__ = ["moment_of", "read_age", "read_time"]

_AGE: Final = re.compile(r"(\d+)\s*(minutes?|min|hours?|h|days?|d|weeks?|w)")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment_of(created: str, owner: str) -> float:
    """A time of ISO 8601 in seconds since 1970; one without an offset is of this place."""
    try:
        return datetime.fromisoformat(_readable(created)).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        msg = (
            f"{owner}: 'created' is no time: expected 2026-02-21T14:30:00+01:00, found {created!r}"
        )
        raise DataError(msg) from None


def read_age(text: str, owner: str) -> timedelta:
    """How long something may take or be past: "90d", "12h", "2 weeks"."""
    found = _AGE.fullmatch(text.strip().lower())
    if not found:
        msg = f"{owner}: expected an age as 90d, 12h or 2w, found {text!r}"
        raise ConfigurationError(msg)
    try:
        return timedelta(**{_UNITS[found[2][0]]: int(found[1])})
    except OverflowError:
        msg = f"{owner}: {text!r} is longer than there are runs"
        raise ConfigurationError(msg) from None


def read_time(text: str, owner: str, *, end: bool = False) -> float:
    """A date, a time, or an age before now; with `end` a date means the end of its day."""
    if _AGE.fullmatch(text.strip().lower()):
        try:
            return (datetime.now().astimezone() - read_age(text, owner)).timestamp()
        except OverflowError:
            return 0.0
    try:
        found = datetime.fromisoformat(_readable(text.strip()))
        if end and len(text.strip()) == len("2026-02-21"):
            found += timedelta(days=1, microseconds=-1)
        return found.astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        msg = f"{owner}: expected a date (2026-02-21), a time or an age (7d), found {text!r}"
        raise ConfigurationError(msg) from None


def _readable(text: str) -> str:
    """Older Pythons do not read the Z of UTC."""
    return f"{text[:-1]}+00:00" if text.endswith(("Z", "z")) else text
