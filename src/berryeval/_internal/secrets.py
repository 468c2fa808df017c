"""Which options hold secrets: by their names, by where they stand, and by how they look."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.optional import imported
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping


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


# Addresses of PostgreSQL servers: read in one way only, or refused without being shown.

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,29}):/")
_OURS: Final = ("postgresql", "postgres", "postgresql+psycopg")
_CODE: Final = "%(?!00)[0-9A-Fa-f]{2}"
_NAME: Final = rf"(?:[^\s@/?#%\[\]:]|{_CODE})*"
_HOST: Final = rf"(?:\[[0-9A-Fa-f:.]+(?:%25[\w.-]+)?\]|(?:[\w.-]|{_CODE})*)(?::\d*)?"
_URI: Final = re.compile(
    rf"[\w+]+://(?:{_NAME}(?::(?:{_NAME}:?)*)?@)?{_HOST}(?:,{_HOST})*"
    rf"(?:/(?:[^\s@/?#%]|{_CODE})*)?(?:\?(?:[^\s@#%]|{_CODE})*)?"
)
_PORT: Final = re.compile(r"\d{0,5}(,\d{0,5})*")
_PLACE: Final = re.compile(r"[\w.:,%-]*|[/@][^\x00-\x1f\x7f]*")  # names and numbers, or a socket
_SECRET: Final = ("password", "sslpassword")
_SHORTEST: Final = 4  # a shorter value would be found in every other word
_LEFT_OUT: Final = "*** (its words are not shown: the password is too short to be taken out)"


def check_address(owner: str, text: object) -> None:
    """Refuse an address that is none, or that can be read in two ways."""
    address_parts(owner, text)


def address_parts(owner: str, text: object) -> dict[str, str]:
    """What an address says, by the names of libpq; `owner` says in messages whose it is.

    Nothing of an address that is refused is shown but its scheme: nobody can tell where the
    password in it ends.
    """
    if not isinstance(text, str):
        msg = f"{owner} must be a text, found {type(text).__name__}"
        raise ConfigurationError(msg)
    scheme = _SCHEME.match(text)
    if scheme:
        if scheme[1].lower() not in _OURS:
            raise _refused(owner, f"found {scheme[1]}://...")
        if not _URI.fullmatch(text):
            raise _refused(owner, f"found {scheme[1]}://...")
        text = "postgresql" + text[len(scheme[1]) :]
    psycopg: Any = imported("psycopg", "PostgreSQL", extra="postgres")
    try:
        parts = {name: str(value) for name, value in _read(psycopg, text).items()}
    except psycopg.Error:  # its words repeat parts of the text
        raise _refused(owner, "it cannot be read") from None
    if not _is_sound(parts):
        raise _refused(owner, "host, port or dbname in it are none")
    return parts


def _is_sound(parts: dict[str, str]) -> bool:
    """Whether no part holds another address; a password may be anything."""
    open_parts = {name: value for name, value in parts.items() if name not in _SECRET}
    places = all(_PLACE.fullmatch(parts.get(name, "")) for name in ("host", "hostaddr"))
    inner = any("://" in value for value in open_parts.values())
    ports = parts.get("port", "")
    hosts = parts.get("hostaddr") or parts.get("host", "")
    fitting = ports.count(",") in {0, hosts.count(",")}  # one for all, or one for each
    return bool(places and _PORT.fullmatch(ports) and fitting and not inner)


def _read(psycopg: Any, text: str) -> dict[str, Any]:
    found: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(text)
    return found


def _refused(owner: str, found: str) -> ConfigurationError:
    return ConfigurationError(
        f"{owner} is no address of a PostgreSQL server ({found}); expected "
        "postgresql://user:password@host:5432/name, in which a password with @, # or / must be "
        "percent-encoded (@ as %40, # as %23, / as %2F)"
    )


def without_secrets(text: str, parts: Mapping[str, str]) -> str:
    """A text without the passwords of an address, in any form that they take in URLs.

    Each sign of one may stand there as it is, behind a backslash or percent-encoded, in upper or
    lower case. One that is too short to be taken out takes the whole text with it.
    """
    for secret in filter(None, map(parts.get, _SECRET)):
        form = re.compile("".join(map(_sign, secret)), re.IGNORECASE)
        if len(secret) >= _SHORTEST:
            text = form.sub("***", text)
        elif form.search(text):
            return _LEFT_OUT
    return text


def _sign(sign: str) -> str:
    """A pattern for one sign of a password in all its forms."""
    encoded = "".join(f"%{byte:02x}" for byte in sign.encode(errors="surrogatepass"))
    return rf"(?:{encoded}|\\?{re.escape(sign)}{'|[+]' if sign == ' ' else ''})"
