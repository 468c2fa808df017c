"""ranx, imported by the first test that asks for it: the import alone takes seconds.

ranx compiles its functions on first use, which takes more than a minute. Here they run as the plain
Python that they are written in, at once; `NUMBA_DISABLE_JIT=0` runs them compiled.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

REASON = "ranx does not run on this version of Python"


def load_ranx(module: str = "ranx") -> Any:
    """Import ranx or one of its modules; skip the test where ranx is not installed."""
    numba = pytest.importorskip("numba", reason=REASON)
    numba.config.DISABLE_JIT = os.environ.get("NUMBA_DISABLE_JIT", "1") != "0"
    pytest.importorskip("ranx", reason=REASON)
    return importlib.import_module(module)
