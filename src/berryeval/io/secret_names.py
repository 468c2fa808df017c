"""Which options hold secrets: by their names, by where they stand, and by how they look."""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["holds_secret", "is_secret_name", "name_inside"]

_SECRET_NAME: Final = re.compile(
    r"pass(word|wd|phrase)?$|^pwd$|secret|tokens?$|(api|access|private|account|auth)[-_]?key"
    r"|authorization|^auth$|bearer|credential|cookie|^dsn$|conn(ection)?[-_]?str(ing)?$",
    re.IGNORECASE,
)
# Tokens that are counted, not shown at a door.
_COUNT: Final = re.compile(
    r"((max|min|num|total|input|output|prompt|completion|usage)[-_]?)?tokens", re.IGNORECASE
)
_UNNAMED: Final = "credential"  # a name that says so, for what has none of its own
# Of requests: every header but these may carry a key, and so may what is sent with them.
_HARMLESS: Final = re.compile(
    r"accept(-\w+)?|content-\w+|user-agent|cache-control|connection|host|origin|referer",
    re.IGNORECASE,
)
_SENT: Final = ("params", "body")
_KEY_NAME: Final = re.compile(r"(^|[-_])(key|sig|signature)$", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"\{(query|k|query_id)\}")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RUN: Final = re.compile(r"[A-Za-z0-9+/=]{16,}")


def is_secret_name(name: str) -> bool:
    """Whether the name of an option says that its value is a secret."""
    return bool(_SECRET_NAME.search(name)) and not _COUNT.fullmatch(name)


def name_inside(name: str, key: Any) -> str:
    """What to call an option that stands below another one.

    Below a secret name everything is secret. Below `headers` all is but a few that are known to be
    harmless; below `params` and `body` what looks like a key is, whatever it is called.
    """
    if is_secret_name(name):
        return name
    if name.lower() == "headers":
        return "header" if _HARMLESS.fullmatch(str(key)) else _UNNAMED
    if name.lower() in _SENT:
        return _UNNAMED if is_secret_name(str(key)) or _KEY_NAME.search(str(key)) else name
    return str(key)


def holds_secret(name: str, text: str) -> bool:
    """Whether the text of an option is a secret; `name` is as `name_inside` calls it."""
    if is_secret_name(name):
        return name != _UNNAMED or not _is_template(text)
    return name.lower() in _SENT and _looks_like_key(text)


def _is_template(text: str) -> bool:
    """Whether only what is asked is filled in here."""
    return bool(_TEMPLATE.search(text)) and not re.search(r"\w", _TEMPLATE.sub("", text))


def _looks_like_key(text: str) -> bool:
    """Long, in one piece, letters and digits mixed: nobody writes words like that."""
    if any(character.isspace() for character in text):
        return False
    runs = [found[0] for found in _RUN.finditer(text)]
    return bool(_UUID.search(text)) or any(
        re.search(r"[A-Za-z]", run) and re.search(r"[0-9]", run) for run in runs
    )
