"""Addresses of PostgreSQL servers: read in one way only, or refused without being shown.

A password with an `@`, `#` or `/` in it makes an address that every reader cuts elsewhere: what one
takes for the password another takes for the host, and shows. Such an address is not used at all.
Who connects uses the parts that were read here, never the text: no driver reads it again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.optional import imported

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["address_parts", "check_address", "without_secrets"]

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
