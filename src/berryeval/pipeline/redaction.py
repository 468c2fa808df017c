"""Secrets: filled in from the environment when they are used, kept out of all that is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from berryeval.errors import ConfigurationError

__all__ = ["Secrets"]

_VARIABLE: Final = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SECRET_NAME: Final = re.compile(
    r"pass(word|wd)?$|secret|token|api[-_]?key|authorization|credential|private[-_]?key|^dsn$",
    re.IGNORECASE,
)
_SHORTEST: Final = 4  # a shorter value would be found in every other word
MASK: Final = "***"


class Secrets:
    """The secret values of a run, and texts without them.

    A value is secret if it comes from the environment through `${NAME}`, or if the name of its
    option says so (`password`, `api_key`, `token`, ...). Passwords inside URLs are secrets too.
    """

    def __init__(self) -> None:
        self._values: set[str] = set()

    def filled_in(self, options: Any, name: str = "") -> Any:
        """The options with `${NAME}` and `${NAME:-default}` replaced; what is secret is noted."""
        if isinstance(options, Mapping):
            return {key: self.filled_in(value, str(key)) for key, value in options.items()}
        if isinstance(options, list | tuple):
            return [self.filled_in(value, name) for value in options]
        if not isinstance(options, str):
            return options
        filled = _VARIABLE.sub(self._variable, options)
        if _SECRET_NAME.search(name):
            self._note(filled)
        self._note_password(filled)
        return filled

    def _variable(self, found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        value = os.environ.get(name)
        if value is None:
            if default is None:
                msg = (
                    f"the environment variable {name} is not set; set it, or write ${{{name}:-...}}"
                )
                raise ConfigurationError(msg)
            return default
        self._note(value)
        return value

    def _note_password(self, text: str) -> None:
        try:
            password = urlsplit(text).password
        except ValueError:
            return
        if password:
            self._note(password)
            self._note(unquote(password))

    def _note(self, value: str) -> None:
        if len(value) >= _SHORTEST:
            self._values.add(value)

    def removed_from(self, text: str) -> str:
        """The text with every secret value masked."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, MASK)
        return text


def masked(options: Any, name: str = "") -> Any:
    """Options as they may be written down: `${NAME}` stays, literal secrets are masked."""
    if isinstance(options, Mapping):
        return {key: masked(value, str(key)) for key, value in options.items()}
    if isinstance(options, list | tuple):
        return [masked(value, name) for value in options]
    if isinstance(options, str):
        if _SECRET_NAME.search(name) and not _VARIABLE.fullmatch(options):
            return MASK
        return _without_password(options)
    return options


def _without_password(text: str) -> str:
    try:
        password = urlsplit(text).password
    except ValueError:
        return text
    if not password or _VARIABLE.fullmatch(unquote(password)):
        return text
    return text.replace(f":{password}@", f":{MASK}@")
