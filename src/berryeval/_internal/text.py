r"""Text for people: escaping, plurals, truncation, file names, commands and times.

>>> escape_controls("red \x1b[31m"), escape_controls("user\u202etxt.exe"), escape_controls("a\x9bb")
('red ␛[31m', 'user[U+202E]txt.exe', 'a[U+009B]b')
"""

from __future__ import annotations

import hashlib
import logging
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike


NOTE: Final = logging.INFO + 5  # log level between INFO and WARNING


# Escaping

_TAB, _LINE_FEED, _DELETE = 0x09, 0x0A, 0x7F
_CONTROL_PICTURES: Final = 0x2400  # first of the Unicode symbols for control characters
# Embeddings, overrides and isolates reorder the text that follows them, even beyond their own
# field. The marks U+200E, U+200F and U+061C affect only neighboring spaces and punctuation, and
# many languages need them, so they stay.
_DIRECTIONS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_DIRECTION: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_DIRECTION_SYMBOLS: Final = {code: f"[U+{code:04X}]" for code in _DIRECTIONS}
_SYMBOLS: Final[dict[int, int | str]] = {
    **{code: _CONTROL_PICTURES + code for code in range(0x20) if code not in {_TAB, _LINE_FEED}},
    _DELETE: 0x2421,
    **{code: f"[U+{code:04X}]" for code in range(0x80, 0xA0)},  # Unicode has no symbols for these
    0x2028: 0x2424,  # line and paragraph separators: the symbol for a new line
    0x2029: 0x2424,
    **_DIRECTION_SYMBOLS,
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),  # lone surrogates
}


def escape_controls(text: str) -> str:
    """Escape control characters in untrusted text, except tabs and line feeds."""
    if not _UNSAFE.search(text):
        return text
    return text.replace("\r\n", "\n").translate(_SYMBOLS)


# What the logs of CI systems run: `::add-mask::x` at the start of a line, `##[group]x` anywhere.
_LEGACY_COMMAND: Final = re.compile(r"(?<=#)#(?=\w{0,20}\[)")
_COMMAND: Final = re.compile(rf"^([^\S\n]*):(?=:)|{_LEGACY_COMMAND.pattern}", re.MULTILINE)
_COLON, _SHARP = "\ua789", "\u266f"


def escape_commands(text: str) -> str:
    r"""Replace the signs by which CI systems know commands in a log by signs that look alike.

    >>> ascii(escape_commands("a::b ##[group]c")), ascii(escape_commands(" ::add-mask::d"))
    ("'a::b #\\u266f[group]c'", "' \\ua789:add-mask::d'")
    """
    return _COMMAND.sub(lambda found: _SHARP if found[1] is None else found[1] + _COLON, text)


def escape_json_commands(text: str) -> str:
    """Escape such signs in JSON, which means the same afterwards."""
    return _LEGACY_COMMAND.sub(r"\\u0023", text)


def escape_line(text: str) -> str:
    r"""Put untrusted text on one line of a terminal or log, without controls and commands.

    >>> escape_line("red\n::error::x\x1b[2J")
    'red␤::error::x␛[2J'
    """
    return escape_commands(escape_controls(text).replace("\n", "␤"))


def _escape_record(record: logging.LogRecord) -> bool:
    """Keep a log record on one line in any log, such as that of pytest."""
    if isinstance(record.args, tuple):
        record.args = tuple(map(_escape_argument, record.args))
    return True


def _escape_argument(value: object) -> object:
    if not isinstance(value, str | BaseException):
        return value
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - of a foreign `__str__`; logging reports it
        return value
    if escape_line(text) == text:
        return value
    from berryeval._internal.masking import mask_known  # which finds secrets as they are written

    return escape_line(mask_known(text))


logging.getLogger("berryeval").addFilter(_escape_record)


def escape_direction(text: str) -> str:
    """Escape only the characters that change the reading direction."""
    return text.translate(_DIRECTION_SYMBOLS) if _DIRECTION.search(text) else text


# Starts that a spreadsheet runs as a formula, in both widths, or a CI system as a command, also
# after white space. Apostrophes count too, so that removing one always restores the original.
_FORMULA: Final = re.compile(r"'*(?:[\t\r\n]|[\s\x00-\x1f\ufeff]*(?:[=+\-@＝＋－＠]|::))")  # noqa: RUF001 - wide forms count


def defuse(text: str) -> str:
    """Put an apostrophe before a text that would run as a formula, or as a command in a log.

    >>> defuse("=1+1"), defuse("plain"), defuse("'=1+1"), defuse("::error::x")
    ("'=1+1", 'plain', "''=1+1", "'::error::x")
    """
    return f"'{text}" if _FORMULA.match(text) else text


# Spellings of names


def squeeze(name: str) -> str:
    """Return a name without its case and separators: relevant_ids, relevantIds, Relevant-Ids."""
    return name.replace("_", "").replace("-", "").lower()


def find_field(fields: Mapping[str, Any], *names: str) -> str | None:
    """Return the key of the first of these names with a value, also spelled relevantIds."""
    for name in names:
        if fields.get(name) is not None:
            return name
        for key, value in fields.items():
            if value is not None and squeeze(key) == squeeze(name):
                return key
    return None


def read_spelled(fields: Mapping[str, Any], name: str) -> Any:
    """Return the value of a name such as relevant_ids or its spelling relevantIds; else None."""
    return fields.get(find_field(fields, name) or name)


# Plurals and truncation

LONGEST: Final = 200  # characters of a message in a table or a list


def explain_encoding(data: bytes) -> str:
    """Describe bytes that are not UTF-8 text.

    >>> explain_encoding("tea".encode("utf-16"))
    'not UTF-8 text but UTF-16; save it as UTF-8'
    >>> explain_encoding("thé".encode("latin-1"))
    'not UTF-8 text; save it as UTF-8'
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "not UTF-8 text but UTF-16; save it as UTF-8"
    if 0 in data:
        return "not UTF-8 text (a binary file?)"
    return "not UTF-8 text; save it as UTF-8"


def prefix_place(place: str) -> str:
    """Return a place as the beginning of a message; empty if it is unknown.

    >>> f"{prefix_place('qrels.txt')}found no queries"
    'qrels.txt: found no queries'
    """
    return f"{place}: " if place else ""


def pluralize(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 error", "2 queries"; `many` is an irregular plural."""
    if number == 1:
        return f"{number:,} {one}"
    regular = f"{one[:-1]}ies" if one.endswith("y") and one[-2:-1] not in "aeiou" else f"{one}s"
    return f"{number:,} {many or regular}"


def name_some(names: Sequence[str], shown: int) -> str:
    """Name the first of many and count the rest: "q1, q2, q3 and 997 more"."""
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more:,} more" if more > 0 else "")


def truncate(text: str, longest: int = 80) -> str:
    """Put text on one line and cut it to at most `longest` characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def truncate_with_count(text: str, longest: int = LONGEST) -> str:
    """Put text on one line, cut it after `longest` characters and count the rest."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    return f"{line[:longest]}… ({pluralize(len(line) - longest, 'more character')})"


# File names and commands

_LONGEST_NAME: Final = 200  # bytes; file systems take 255
_NOT_IN_NAMES: Final = re.compile(r"[^\w.:+-]+")
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|(com|lpt)\d)(?=\.|$)", re.IGNORECASE)  # by Windows


def make_file_name(label: str) -> str:
    """Turn a label into a file name that every file system accepts."""
    name = _NOT_IN_NAMES.sub("-", label).strip("-.").replace(":", "-") or "unnamed"
    if len(name.encode()) > _LONGEST_NAME:
        whole = hashlib.sha256(label.encode(errors="surrogatepass")).hexdigest()
        name = f"{name[: _LONGEST_NAME // 4]}-{whole[:12]}"
    return _RESERVED.sub(r"\1-", name, count=1) if _RESERVED.match(name) else name


def file_key(label: str) -> str:
    """Return the key of a label: labels with equal keys share a file name on some system."""
    return make_file_name(label).casefold()


def find_same_folder(kind: str, labels: Sequence[str]) -> tuple[int, str] | None:
    """Find a label whose folder an earlier one has; return its place and what is wrong."""
    taken: dict[str, str] = {}
    for place, label in enumerate(labels):
        key = file_key(label)
        if key not in taken:
            taken[key] = label
        elif taken[key] == label:
            return place, f"two {kind} are called {label!r}"
        else:
            return place, f"the {kind} {taken[key]!r} and {label!r} would have the same folder"
    return None


def format_command(*words: PathLike) -> str:
    """Return a `berryeval` command, quoted for a shell."""
    return shlex.join(["berryeval", *map(str, words)])


def format_rescore_command(run: PathLike, *metrics: str, store: PathLike | None = None) -> str:
    """Return the command that adds metrics to a past run; a name like `-x` follows `--`."""
    options = ["-m", *metrics, "--save", *([] if store is None else ["--store", store])]
    if str(run).startswith("-"):
        return format_command("runs", "rescore", *options, "--", run)
    return format_command("runs", "rescore", run, *options)


def format_resume_command(folder: PathLike, *options: str) -> str:
    """Return the command that resumes the run of a folder."""
    resume = [f"--resume={folder}"] if str(folder).startswith("-") else ["--resume", folder]
    return format_command("eval", *resume, *options)


# Times

_AGE: Final = re.compile(r"(\d+)\s*(minutes?|min|hours?|h|days?|d|weeks?|w)")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_timestamp(created: str, owner: str) -> float:
    """Parse an ISO 8601 time into seconds since 1970; without an offset it is local time."""
    try:
        return datetime.fromisoformat(_replace_z(created)).timestamp()
    except (ValueError, OverflowError, OSError):
        raise DataError(
            f"{owner}: 'created' must be a time such as 2026-02-21T14:30:00+01:00, "
            f"found {created!r}"
        ) from None


def parse_age(text: str, owner: str) -> timedelta:
    """Parse an age such as "90d", "12h" or "2 weeks"."""
    found = _AGE.fullmatch(text.strip().lower())
    if not found:
        raise ConfigurationError(f"{owner}: expected an age such as 90d, 12h or 2w, found {text!r}")
    try:
        return timedelta(**{_UNITS[found[2][0]]: int(found[1])})
    except (OverflowError, ValueError):  # a number of thousands of digits
        raise ConfigurationError(f"{owner}: the age {text!r} is too large") from None


def parse_time(text: str, owner: str, *, end: bool = False) -> float:
    """Parse an ISO 8601 date or time, or an age before now, into seconds since 1970.

    With `end`, a date means the end of its day.
    """
    if _AGE.fullmatch(text.strip().lower()):
        try:
            return (datetime.now().astimezone() - parse_age(text, owner)).timestamp()
        except OverflowError:
            return 0.0
    try:
        found = datetime.fromisoformat(_replace_z(text.strip()))
        if end and len(text.strip()) == len("2026-02-21"):
            found += timedelta(days=1, microseconds=-1)
        return found.astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise ConfigurationError(
            f"{owner}: expected a date (2026-02-21), a time or an age (7d), found {text!r}"
        ) from None


def _replace_z(text: str) -> str:
    """Replace the suffix Z, which `fromisoformat` rejects before Python 3.11."""
    return f"{text[:-1]}+00:00" if text.endswith(("Z", "z")) else text
