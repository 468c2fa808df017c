"""Where a store is: a file, or the URL of a database; passwords are never shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from berryeval.errors import ConfigurationError
from berryeval.io.postgres_address import check_address
from berryeval.optional import imported

if TYPE_CHECKING:
    from sqlalchemy import URL

    from berryeval.io.files import PathLike

__all__ = ["Place"]

_URL: Final = re.compile(r"[A-Za-z][\w+.-]+://")
_POSTGRES_URL: Final = re.compile(r"postgres(ql)?(\+psycopg)?:/", re.IGNORECASE)
_POSTGRES: Final = ("postgresql", "postgres", "postgresql+psycopg")
_MASK: Final = "***"


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
        if _POSTGRES_URL.match(given):
            imported("psycopg", "a store in PostgreSQL", extra="postgres")
            check_address("the store", given)
        elif not _URL.match(given):
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
        if url.drivername not in _POSTGRES:
            msg = (
                f"the store {url.drivername}://...: expected a path, sqlite:///path, or "
                "postgresql://user@host/name"
            )
            raise ConfigurationError(msg)
        shown = url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
        return cls(url.set(drivername="postgresql+psycopg"), None, shown)

    @classmethod
    def _of_file(cls, file: Path) -> Place:
        return cls(make_url("sqlite://").set(database=str(file)), file, str(file))

    def cleaned(self, text: str) -> str:
        """A text without the password, in any form that it takes in URLs."""
        inner = self.url.query.get("password", ())
        secrets = [self.url.password, *([inner] if isinstance(inner, str) else inner)]
        for secret in filter(None, secrets):
            for form in (quote(secret, safe=""), quote_plus(secret), secret):
                text = text.replace(form, _MASK)
        return " ".join(text.split())
