"""A run of the provider `postgres` that is killed after indexing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

KILLED = """
import os, signal, sys
from berryeval.providers.postgres import Postgres
from tests.providers.corpus import CHUNKS
provider = Postgres(sys.argv[1], mode="text")
provider.index(CHUNKS)
print(provider._table.name, getattr(provider._server.local, "folder", ""), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_run(dsn: str, **environment: str) -> tuple[str, str]:
    """Kill a run; return its table and the folder of its local server."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, dsn],
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    table, _, folder = done.stdout.strip().partition(" ")
    return table, folder
