"""Detection of secrets in options, and addresses of PostgreSQL servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from berryeval._internal.masking import SHORTEST, Masker
from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError

_SECRET_NAME: Final = re.compile(
    r"pass(word|wd|phrase)?$|^pwd$|secret|tokens?$|(api|access|private|account|auth)[-_]?key"
    r"|authorization|^auth$|bearer|credential|cookie|^dsn$|conn(ection)?[-_]?str(ing)?$",
    re.IGNORECASE,
)
# Numbers of tokens, as opposed to access tokens.
_COUNT: Final = re.compile(
    r"((max|min|num|total|input|output|prompt|completion|usage)[-_]?)?tokens", re.IGNORECASE
)
_UNNAMED: Final = "credential"  # secret name for values without a telling name
# Headers of requests without secrets; every other header may carry a key.
_HARMLESS: Final = re.compile(
    r"accept(-\w+)?|content-\w+|user-agent|cache-control|connection|host|origin|referer",
    re.IGNORECASE,
)
_SENT: Final = ("params", "body")
_KEY_NAME: Final = re.compile(r"(^|[-_])(key|sig|signature)$", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"\{(query|k|query_id)\}")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RUN: Final = re.compile(r"[A-Za-z0-9+/=]{16,}")
_COOKIE: Final = re.compile(r"\s*[\w.-]+\s*=\s*(\S.{7,})", re.DOTALL)  # longer than "dark"


def is_secret_name(name: str) -> bool:
    """Whether the name of an option marks its value as a secret."""
    return bool(_SECRET_NAME.search(name)) and not _COUNT.fullmatch(name)


def nested_name(name: str, key: Any) -> str:
    """Return the name to use for `key` inside the option `name`.

    Everything inside a secret option is secret. Inside `headers` everything is secret but a few
    harmless headers; inside `params` and `body`, names that sound like a key are.
    """
    if is_secret_name(name):
        return name
    if name.lower() == "headers":
        return "header" if _HARMLESS.fullmatch(str(key)) else _UNNAMED
    if name.lower() in _SENT:
        return _UNNAMED if is_secret_name(str(key)) or _KEY_NAME.search(str(key)) else name
    return str(key)


def holds_secret(name: str, text: str) -> bool:
    """Whether the text of an option is a secret; `name` comes from `nested_name`."""
    if is_secret_name(name):
        return name != _UNNAMED or not _is_template(text)
    return name.lower() in _SENT and _looks_like_key(text)


def _is_template(text: str) -> bool:
    return bool(_TEMPLATE.search(text)) and not re.search(r"\w", _TEMPLATE.sub("", text))


def _looks_like_key(text: str) -> bool:
    """Whether a text is long, without spaces, and mixes letters and digits."""
    if any(character.isspace() for character in text):
        return False
    runs = [found[0] for found in _RUN.finditer(text)]
    return bool(_UUID.search(text)) or any(
        re.search(r"[A-Za-z]", run) and re.search(r"[0-9]", run) for run in runs
    )


def find_cookies(text: str) -> list[str]:
    """Return the values of a secret text like `session=abcdefgh; theme=dark`, except short ones."""
    parts = map(_COOKIE.fullmatch, text.split(";"))
    return [found[1].strip('" ') for found in parts if found]


def find_path_keys(text: str) -> list[str]:
    """Return the parts of the path of a web address that look like a key and are no variable."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return []
    if parts.scheme.lower() not in {"http", "https"}:
        return []
    names = (one for one in parts.path.split("/") if "{" not in one)
    return [one for one in names if _looks_like_key(one)]


# Addresses of PostgreSQL servers

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,29}):/")
_SCHEMES: Final = ("postgresql", "postgres", "postgresql+psycopg")
_PORT: Final = re.compile(r"[0-9]{0,5}(,[0-9]{0,5})*")
_PLACE: Final = re.compile(r"[\w.:,%-]*|[/@][^\x00-\x1f\x7f]*")  # a host or a socket
_SECRET: Final = ("password", "sslpassword")
_HIDDEN: Final = "*** (message hidden: the password is too short to mask)"


def parse_address(owner: str, text: object) -> dict[str, str]:
    """Parse an address, a URL or in the `key=value` form, into its parts by the names of libpq.

    The error for an invalid address shows only its scheme, because the end of the password is
    unknown.
    """
    if not isinstance(text, str):
        raise ConfigurationError(f"{owner} must be a string, found {type(text).__name__}")
    scheme = _SCHEME.match(text)
    if scheme:
        rest = text[scheme.end() :]
        if scheme[1].lower() not in _SCHEMES or not _is_unambiguous(rest):
            raise _invalid_address(owner, f"found {scheme[1]}://...")
        text = f"postgresql:/{rest}"
    psycopg: Any = import_optional("psycopg", "PostgreSQL", extra="postgres")
    try:
        found = psycopg.conninfo.conninfo_to_dict(text)
    except (psycopg.Error, UnicodeError):  # their messages repeat parts of the address
        raise _invalid_address(owner, "cannot be parsed") from None
    parts = {name: str(value) for name, value in found.items()}
    if not _is_sound(parts):
        raise _invalid_address(owner, "invalid host, port or dbname")
    return parts


def _is_unambiguous(rest: str) -> bool:
    """Whether a URL can be split in one way only; `rest` follows the first slash.

    libpq also takes addresses whose password ends elsewhere than meant.
    """
    if not rest.startswith("/") or any(sign == "#" or sign.isspace() for sign in rest):
        return False
    place, _, query = rest[1:].partition("?")
    server, _, name = place.partition("/")
    user = server.rpartition("@")[0]
    return not ("@" in name + query or "/" in name or any(sign in user for sign in "@[]"))


def _is_sound(parts: dict[str, str]) -> bool:
    """Whether host and port are valid and no part but a password holds another address."""
    open_parts = {name: value for name, value in parts.items() if name not in _SECRET}
    places = all(_PLACE.fullmatch(parts.get(name, "")) for name in ("host", "hostaddr"))
    inner = any("://" in value for value in open_parts.values())
    ports = parts.get("port", "")
    hosts = parts.get("hostaddr") or parts.get("host", "")
    fitting = ports.count(",") in {0, hosts.count(",")}  # one port for all hosts, or one for each
    return bool(places and _PORT.fullmatch(ports) and fitting and not inner)


def _invalid_address(owner: str, found: str) -> ConfigurationError:
    return ConfigurationError(
        f"{owner} is not the address of a PostgreSQL server ({found}); expected "
        "postgresql://user:password@host:5432/name; a password with @, # or / must be "
        "percent-encoded (@ as %40, # as %23, / as %2F)"
    )


def mask_passwords(text: str, parts: Mapping[str, str]) -> str:
    """Mask the passwords of an address in a text; hide a text with one too short to mask."""
    for secret in filter(None, map(parts.get, _SECRET)):
        if len(secret) >= SHORTEST:
            text = Masker([secret]).mask(text)
        elif secret.lower() in unquote(text).lower():
            return _HIDDEN
    return text
