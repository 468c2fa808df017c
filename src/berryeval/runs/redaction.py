"""Secrets: filled in from the environment when they are used, kept out of all that is written."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from berryeval._internal.secrets import holds_secret, name_inside
from berryeval.errors import ConfigurationError

_VARIABLE: Final = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
# Names and values inside a text: `password=...` of a DSN, `api_key=...` of a URL.
_INNER: Final = re.compile(
    r"\b([\w-]*(?:password|passwd|pwd|secret|token|key|sig|signature))=('(?:[^'\\]|\\.)*'|[^\s&;'\"]+)",
    re.IGNORECASE,
)
_SCHEME: Final = re.compile(r"(bearer|basic|token|apikey|api-key|digest)\s+(\S+)$", re.IGNORECASE)
# What may stand around a variable and is no secret: how it is sent, and a letter or two.
_SCHEME_WORD: Final = re.compile(r"\b(bearer|basic|digest|token|api-?key|key)\b", re.IGNORECASE)
_SEPARATORS: Final = re.compile(r"[\s:;,=/|_.\"'-]*")
_FEW: Final = 2
_SHORTEST: Final = 4  # a shorter value would be found in every other word
MASK: Final = "***"


class Secrets:
    """The secret values of a run, and texts without them.

    A value is secret if it comes from the environment through `${NAME}`, or if the name of its
    option, or of one that holds it, says so (`password`, `api_key`, `token`, ...), or if it is sent
    with requests and may be a key (`secret_names`). Passwords inside URLs and connection strings
    are secrets too. Each is known in the forms it takes on its way: URL-encoded, JSON, Base64.
    """

    def __init__(self) -> None:
        self._values: set[str] = set()

    def filled_in(self, options: Any, name: str = "") -> Any:
        """The options with `${NAME}` and `${NAME:-default}` replaced; what is secret is noted."""
        if isinstance(options, Mapping):
            return {
                key: self.filled_in(value, name_inside(name, key)) for key, value in options.items()
            }
        if isinstance(options, list | tuple):
            return [self.filled_in(value, name) for value in options]
        if not isinstance(options, str):
            return options
        filled = _VARIABLE.sub(self._variable, options)
        if holds_secret(name, filled):
            self._note(filled)
        for value in _passwords(filled):
            self._note(value)
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
        if not value and default is None:
            msg = (
                f"the environment variable {name} is empty; set it, or write ${{{name}:-}} if "
                "nothing is meant"
            )
            raise ConfigurationError(msg)
        self._note(value)
        return value

    def _note(self, value: str) -> None:
        scheme = _SCHEME.match(value)
        if scheme:
            self._note(scheme[2])
            self._note(_password_of_basic(scheme[2]))
        for form in {value, value.strip(), unquote(value), unquote_plus(value)}:
            if len(form) >= _SHORTEST:
                self._values.update(_forms(form))

    def removed_from(self, text: str) -> str:
        """The text with every secret value masked."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, MASK)
        return text

    @contextmanager
    def kept_out_of_errors(self) -> Iterator[None]:
        """Mask secrets in the texts of errors that leave the block, and of those behind them."""
        try:
            yield
        except BaseException as error:
            self._clean(error)
            raise

    def _clean(self, error: BaseException) -> None:
        seen: set[int] = set()
        left: list[BaseException | None] = [error]
        while left:
            one = left.pop()
            if one is None or id(one) in seen:
                continue
            seen.add(id(one))
            one.args = tuple(
                self.removed_from(part) if isinstance(part, str) else part for part in one.args
            )
            for name in ("strerror", "filename") if isinstance(one, OSError) else ():
                if isinstance(getattr(one, name), str):
                    setattr(one, name, self.removed_from(getattr(one, name)))
            left += [one.__cause__, one.__context__]


def masked(options: Any, name: str = "") -> Any:
    """Options as they may be written down: `${NAME}` stays, literal secrets are masked."""
    if isinstance(options, Mapping):
        return {key: masked(value, name_inside(name, key)) for key, value in options.items()}
    if isinstance(options, list | tuple):
        return [masked(value, name) for value in options]
    if isinstance(options, str):
        if holds_secret(name, options) and not _only_variables(options):
            return MASK
        return _without_passwords(options)
    return without_objects(options)


def same_if_masked(kept: Any, options: Any) -> bool:
    """Whether options are those that were written down; a mask may stand for any text."""
    if isinstance(kept, Mapping) and isinstance(options, Mapping):
        names = {*kept, *options}
        return all(same_if_masked(kept.get(name), options.get(name)) for name in names)
    if isinstance(kept, list) and isinstance(options, list):
        return len(kept) == len(options) and all(map(same_if_masked, kept, options))
    if isinstance(kept, str) and isinstance(options, str) and MASK in kept:
        return bool(re.fullmatch(".*".join(map(re.escape, kept.split(MASK))), options, re.DOTALL))
    return bool(kept == options)


def without_objects(options: Any) -> Any:
    """Options of plain values: a function or another object is named by its type and its name."""
    if isinstance(options, Mapping):
        return {key: without_objects(value) for key, value in options.items()}
    if isinstance(options, list | tuple):
        return [without_objects(value) for value in options]
    if options is None or isinstance(options, bool | int | float | str):
        return options
    return f"<{type(options).__name__} {getattr(options, '__name__', '')}".rstrip() + ">"


def _only_variables(text: str) -> bool:
    """Whether the text is `${NAME}`, with no more around it than `Bearer` and the like.

    What is to be taken where a variable is not set is written in the text: it may be the secret.
    """
    rest = _VARIABLE.sub(lambda found: f" {found[2] or ''} ", text)
    if rest == text:
        return False
    left = _SCHEME_WORD.sub(" ", rest)
    others = "".join(one for one in left if not one.isalnum())
    return len(left) - len(others) <= _FEW and bool(_SEPARATORS.fullmatch(others))


def _without_passwords(text: str) -> str:
    for value in _passwords(text):
        if not _VARIABLE.fullmatch(unquote(value)):
            text = re.sub(rf"(?<=[:=']){re.escape(value)}", MASK, text)
    return text


def _passwords(text: str) -> Iterator[str]:
    """The passwords inside a URL or a connection string, as they are written there."""
    try:
        password = urlsplit(text).password
    except ValueError:
        password = None
    if password:
        yield password
    for found in _INNER.finditer(text):
        value = found[2]
        yield value[1:-1] if value.startswith("'") else value


def _password_of_basic(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""


def _forms(value: str) -> Iterator[str]:
    """The forms a value takes inside of other texts."""
    yield value
    data = value.encode(errors="surrogatepass")
    yield from (quote(data, safe=""), quote(data), quote_plus(data))
    yield from (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    yield repr(value)[1:-1]
    yield base64.b64encode(data).decode()
