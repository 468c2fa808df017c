"""Where a store is: a file, or the URL of a database; passwords are never shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from berryeval.errors import ConfigurationError
from berryeval.io.postgres_address import address_parts, without_secrets
from berryeval.optional import imported

if TYPE_CHECKING:
    from berryeval.io.files import PathLike

__all__ = ["Place"]

_URL: Final = re.compile(r"[A-Za-z][\w+.-]+://")
_POSTGRES_URL: Final = re.compile(r"postgres(ql)?(\+psycopg)?:/", re.IGNORECASE)
# Pairs as libpq takes them, some of which say where a server is or who asks.
_PAIRS: Final = re.compile(
    r"\s*(?:\w+\s*=.*\s)?(?:host|hostaddr|dbname|user|password|service)\s*=",
    re.IGNORECASE | re.DOTALL,
)
_FOLDER: Final = re.compile(r"(?:host|dbname|user)=[^\s/]+/\S*")  # as in user=joe/results.db
_ONE_HOST: Final = re.compile(r"[^/@,]+")  # no socket, not several


@dataclass(frozen=True)
class Place:
    """A database.

    Attributes:
        url: as SQLAlchemy takes it.
        file: the file, if it is one.
        shown: what messages call it.
    """

    url: URL
    file: Path | None
    shown: str

    @classmethod
    def of(cls, text: PathLike) -> Place:
        """The database that a path or a URL means."""
        given = str(text)
        if _POSTGRES_URL.match(given) or _is_pairs(given):
            return cls._of_server(given)
        if not _URL.match(given):
            return cls._of_file(Path(given))
        try:
            url = make_url(given)
        except (ArgumentError, ValueError):  # a port that is none
            scheme = given.partition(":")[0]
            msg = f"the store {scheme}://...: not a URL; expected postgresql://user@host:5432/name"
            raise ConfigurationError(msg) from None
        if url.drivername in {"sqlite", "sqlite+pysqlite"}:
            if not url.database or url.database == ":memory:":
                msg = f"the store {given}: names no file; expected sqlite:///path/to/results.db"
                raise ConfigurationError(msg)
            return cls._of_file(Path(url.database))
        msg = (
            f"the store {url.drivername}://...: expected a path, sqlite:///path, or "
            "postgresql://user@host/name"
        )
        raise ConfigurationError(msg)

    @classmethod
    def _of_server(cls, address: str) -> Place:
        """A PostgreSQL; SQLAlchemy gets the parts as they were read and checked, not the text."""
        imported("psycopg", "a store in PostgreSQL", extra="postgres")
        parts = address_parts("the store", address)
        user, password, name = (parts.pop(one, None) for one in ("user", "password", "dbname"))
        url = URL.create("postgresql", user, password, database=name)
        host, port = parts.get("host", ""), parts.get("port", "")
        if _ONE_HOST.fullmatch(host):
            del parts["host"]
            url = url.set(host=host, port=int(parts.pop("port")) if port else None)
        elif port and "," not in port:  # one for all; SQLAlchemy wants it for each
            parts["port"] = ",".join([port] * (host.count(",") + 1))
        shown = url.render_as_string(hide_password=True)
        return cls(url.set(drivername="postgresql+psycopg", query=parts), None, shown)

    @classmethod
    def _of_file(cls, file: Path) -> Place:
        return cls(make_url("sqlite://").set(database=str(file)), file, str(file))

    def cleaned(self, text: str) -> str:
        """A text without the password, in any form that it takes in URLs."""
        secrets = {name: str(value) for name, value in self.url.query.items()}
        if self.url.password:
            secrets["password"] = self.url.password
        return " ".join(without_secrets(text, secrets).split())


def _is_pairs(text: str) -> bool:
    return bool(_PAIRS.match(text)) and not _FOLDER.fullmatch(text)
