"""Secrets: filled in from the environment, and masked in all output."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from berryeval._internal.masking import MASK, Masker, mask_logs
from berryeval._internal.plain import describe_error, write_text
from berryeval._internal.secrets import (
    find_cookies,
    find_path_keys,
    holds_secret,
    nested_name,
)
from berryeval.errors import ConfigurationError, RunFailedError

_VARIABLE: Final = re.compile(r"\$\{(\w+)(?::-((?:[^}$]|\$(?!\{))*))?\}")
# Names and values inside a text: `password=...` of a DSN, `api_key=...` of a URL.
_INNER: Final = re.compile(
    r"(?<![\w-])([\w-]*(?:password|passwd|pwd|secret|token|key|sig|signature))=('(?:[^'\\]|\\.)*'|[^\s&;'\"]+)",
    re.IGNORECASE,
)
_SCHEME: Final = re.compile(r"(bearer|basic|token|apikey|api-key|digest)\s+(\S+)$", re.IGNORECASE)
# Text around a variable that is not secret: the scheme, and one or two characters.
_SCHEME_WORD: Final = re.compile(r"\b(bearer|basic|digest|token|api-?key|key)\b", re.IGNORECASE)
_SEPARATORS: Final = re.compile(r"[\s:;,=/|_.\"'-]*")
_FEW: Final = 2


class Secrets:
    """The secret values of a run, to be masked in texts.

    A value is secret if it comes from the environment through `${NAME}`, if its option or an
    enclosing one has a telling name (`password`, `api_key`, `token`, ...), or if it is sent with
    requests and may be a key. Passwords in URLs and connection strings are secrets too, and so are
    parts of the path of a URL that look like a key.
    """

    def __init__(self) -> None:
        self.masker = Masker()
        mask_logs("berryeval")

    def fill_in(self, options: Any, name: str = "") -> Any:
        """Replace `${NAME}` and `${NAME:-default}` in options, and remember the secrets."""
        if isinstance(options, Mapping):
            return {
                key: self.fill_in(value, nested_name(name, key)) for key, value in options.items()
            }
        if isinstance(options, list | tuple):
            return [self.fill_in(value, name) for value in options]
        if not isinstance(options, str):
            return options
        filled = _VARIABLE.sub(self._replace_variable, options)
        if holds_secret(name, filled):
            self._remember(filled)
        for value in (*_find_passwords(filled), *find_path_keys(options)):
            self._remember(value)
        return filled

    def _replace_variable(self, found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        value = os.environ.get(name)
        if value is None:
            if default is None:
                raise ConfigurationError(
                    f"the environment variable {name} is not set; set it, or write ${{{name}:-...}}"
                )
            return default
        if not value and default is None:
            raise ConfigurationError(
                f"the environment variable {name} is empty; set it, or write ${{{name}:-}} if "
                "it may be empty"
            )
        self._remember(value)
        return value

    def _remember(self, value: str) -> None:
        scheme = _SCHEME.match(value)
        if scheme:
            self._remember(scheme[2])
            self._remember(_decode_basic_password(scheme[2]))
        for one in (value, *find_cookies(value)):
            self.masker.add(one)

    def mask_text(self, text: str) -> str:
        """Mask every secret value in a text."""
        return self.masker.mask(text)

    @contextmanager
    def mask_errors(self) -> Iterator[None]:
        """Mask secrets in errors that leave the block, and in their causes, contexts and notes."""
        try:
            yield
        except BaseException as error:
            if not self._mask_error(error) and isinstance(error, Exception):
                words = self.mask_text(describe_error(error))
                raise RunFailedError(f"unexpected error ({words})") from None
            raise

    def _mask_error(self, error: BaseException) -> bool:
        """Mask an error in place; return whether none of its texts is left with a secret."""
        seen: set[int] = set()
        left: list[BaseException | None] = [error]
        clean = True
        while left:
            one = left.pop()
            if one is None or id(one) in seen:
                continue
            seen.add(id(one))
            with suppress(Exception):  # the error of a provider may raise when it is touched
                self._mask_parts(one)
            left += [one.__cause__, one.__context__]
            with suppress(Exception):
                left += getattr(one, "exceptions", ())
            text = write_text(one)
            clean = clean and self.mask_text(text) == text
        return clean

    def _mask_parts(self, one: BaseException) -> None:
        one.args = self.masker.mask_all(one.args)
        texts = {name: value for name, value in vars(one).items() if name != "args"}
        if isinstance(one, OSError):
            texts |= {name: getattr(one, name) for name in ("strerror", "filename")}
        for name, value in texts.items():
            if isinstance(value, str | list | tuple | Mapping):
                with suppress(AttributeError, TypeError):
                    setattr(one, name, self.masker.mask_all(value))


def mask_secrets(options: Any, name: str = "") -> Any:
    """Mask literal secrets in options; `${NAME}` stays."""
    if isinstance(options, Mapping):
        return {key: mask_secrets(value, nested_name(name, key)) for key, value in options.items()}
    if isinstance(options, list | tuple):
        return [mask_secrets(value, name) for value in options]
    if isinstance(options, str):
        if holds_secret(name, options) and not _has_only_variables(options):
            return MASK
        for key in find_path_keys(options):
            options = options.replace(f"/{key}", f"/{MASK}")
        return _mask_passwords(options)
    return describe_objects(options)


def find_open_keys(options: Any, name: str = "options") -> Iterator[str]:
    """Yield the names of options with a URL whose path holds what looks like a key."""
    if isinstance(options, Mapping):
        for key, value in options.items():
            yield from find_open_keys(value, f"{name}.{key}")
    elif isinstance(options, list | tuple):
        for place, value in enumerate(options):
            yield from find_open_keys(value, f"{name}[{place}]")
    elif isinstance(options, str) and find_path_keys(options):
        yield name


def matches_masked(kept: Any, options: Any) -> bool:
    """Whether options equal masked ones; a mask matches any text."""
    if isinstance(kept, Mapping) and isinstance(options, Mapping):
        names = {*kept, *options}
        return all(matches_masked(kept.get(name), options.get(name)) for name in names)
    if isinstance(kept, list) and isinstance(options, list):
        return len(kept) == len(options) and all(map(matches_masked, kept, options))
    if isinstance(kept, str) and isinstance(options, str) and MASK in kept:
        return _fits(kept.split(MASK), options)
    return bool(kept == options)


def has_mask(options: Any) -> bool:
    """Whether a secret in options was masked."""
    if isinstance(options, dict | list):
        return any(map(has_mask, options.values() if isinstance(options, dict) else options))
    return isinstance(options, str) and MASK in options


def _fits(pieces: list[str], text: str) -> bool:
    """Whether a text begins and ends with the outer pieces, with the others between, in order."""
    first, *inner, last = pieces
    place = len(first)
    for piece in inner:
        found = text.find(piece, place)
        place = found + len(piece) if found >= 0 else len(text) + 1
    return text.startswith(first) and text.endswith(last) and place <= len(text) - len(last)


def describe_objects(options: Any) -> Any:
    """Replace functions and other objects in options by their type and name."""
    if isinstance(options, Mapping):
        return {key: describe_objects(value) for key, value in options.items()}
    if isinstance(options, list | tuple):
        return [describe_objects(value) for value in options]
    if options is None or isinstance(options, bool | int | float | str):
        return options
    return f"<{type(options).__name__} {getattr(options, '__name__', '')}".rstrip() + ">"


def _has_only_variables(text: str) -> bool:
    """Whether a text has only variables, without defaults, and scheme words such as `Bearer`."""
    rest = _VARIABLE.sub(lambda found: f" {found[2] or ''} ", text)
    if rest == text:
        return False
    left = _SCHEME_WORD.sub(" ", rest)
    others = "".join(one for one in left if not one.isalnum())
    return len(left) - len(others) <= _FEW and bool(_SEPARATORS.fullmatch(others))


def _mask_passwords(text: str) -> str:
    for value in _find_passwords(text):
        if not _VARIABLE.fullmatch(unquote(value)):
            text = re.sub(rf"(?<=[:=']){re.escape(value)}", MASK, text)
    return text


def _find_passwords(text: str) -> Iterator[str]:
    """Yield the passwords of a URL or connection string, as written."""
    try:
        password = urlsplit(text).password
    except ValueError:
        password = None
    if password:
        yield password
    for found in _INNER.finditer(text):
        value = found[2]
        yield value[1:-1] if value.startswith("'") else value


def _decode_basic_password(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
