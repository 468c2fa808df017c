r"""Texts of anybody, made safe to look at: what would act instead of being seen becomes a sign.

>>> visible("red \x1b[31m"), visible("user\u202etxt.exe"), visible("a\x9bb")
('red ␛[31m', 'user[U+202E]txt.exe', 'a[U+009B]b')
"""

from __future__ import annotations

import hashlib
import logging
import re
import shlex
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike


NOTE: Final = logging.INFO + 5  # log level between INFO and WARNING

_TAB, _LINE_FEED, _DELETE = 0x09, 0x0A, 0x7F
_CONTROL_PICTURES: Final = 0x2400  # where the symbols for control characters begin
# They turn the text behind them around, also beyond the place they stand in. Marks (U+200E, U+200F,
# U+061C) turn nothing but blanks and dots beside them, and texts of many languages need them.
_DIRECTIONS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_ACTING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_DIRECTION_SIGNS: Final = {code: f"[U+{code:04X}]" for code in _DIRECTIONS}
_SIGNS: Final[dict[int, int | str]] = {
    **{code: _CONTROL_PICTURES + code for code in range(0x20) if code not in {_TAB, _LINE_FEED}},
    _DELETE: 0x2421,
    **{code: f"[U+{code:04X}]" for code in range(0x80, 0xA0)},  # there is no symbol for these
    0x2028: 0x2424,  # line and paragraph separators: the symbol for a new line
    0x2029: 0x2424,
    **_DIRECTION_SIGNS,
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),  # half a character is none
}


def visible(text: str) -> str:
    """A text without anything that acts: controls become symbols; tabs and new lines stay.

    Half a character becomes the sign of that.
    """
    if not _ACTING.search(text):
        return text
    return text.replace("\r\n", "\n").translate(_SIGNS)


def visible_direction(text: str) -> str:
    """A text in which nothing turns the direction of reading: only that is replaced."""
    return text.translate(_DIRECTION_SIGNS) if _TURNING.search(text) else text


# Numbers in words, and texts that are not too long.

LONGEST: Final = 200  # characters of a message in a table or a list


def counted(number: int, one: str, many: str = "") -> str:
    """A number and what it counts: "1 error", "2 queries"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def cut(text: str, longest: int = 80) -> str:
    """A text on one line; of a long one the beginning.

    >>> cut("no answer from the server", 10)
    'no answer…'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text on one line; of a long one the beginning, and how much more there is.

    >>> shortened("no answer from the server", 9)
    'no answer… (16 more characters)'
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    return f"{line[:longest]}… ({counted(len(line) - longest, 'more character')})"


# Names of files, made from any text.

_LONGEST: Final = 200  # bytes; file systems take 255
_UNSAFE: Final = re.compile(r"[^\w.:+-]+")


def safe_name(label: str) -> str:
    """A label as a name that every file system takes.

    >>> safe_name("our search: v2/beta")
    'our-search--v2-beta'
    """
    name = _UNSAFE.sub("-", label).strip("-.").replace(":", "-") or "unnamed"
    if len(name.encode()) > _LONGEST:
        name = f"{name[: _LONGEST // 4]}-{hashlib.sha256(label.encode()).hexdigest()[:12]}"
    return name


# Lines that messages tell people to type, quoted as a shell wants them.


def command_line(*words: PathLike) -> str:
    """The line to type.

    >>> command_line("report", "run 2", "--format", "csv")
    "berryeval report 'run 2' --format csv"
    """
    return shlex.join(["berryeval", *map(str, words)])


def to_score_again(run: PathLike, *metrics: str, store: PathLike | None = None) -> str:
    """The line that gives a past run more metrics, also one that looks like an option.

    >>> to_score_again("latest", "P(rel=2)@5")
    "berryeval runs rescore latest -m 'P(rel=2)@5' --save"
    >>> to_score_again("-x", "RR", store="all.db")
    'berryeval runs rescore -m RR --save --store all.db -- -x'
    """
    options = ["-m", *metrics, "--save", *([] if store is None else ["--store", store])]
    if str(run).startswith("-"):
        return command_line("runs", "rescore", *options, "--", run)
    return command_line("runs", "rescore", run, *options)


def to_go_on(folder: PathLike, *options: str) -> str:
    """The line that goes on with the run of a folder, also of one that looks like an option.

    >>> to_go_on("runs/a"), to_go_on("-x", "--retry-errors")
    ('berryeval eval --resume runs/a', 'berryeval eval --resume=-x --retry-errors')
    """
    resume = [f"--resume={folder}"] if str(folder).startswith("-") else ["--resume", folder]
    return command_line("eval", *resume, *options)


# Times of runs: as records write them, and as people give them.

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
