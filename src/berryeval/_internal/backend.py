"""Choice of the native or the Python implementation, made once, on first import.

The native module is used if it can be imported. `BERRYEVAL_BACKEND=native` or `=python` forces one;
`BERRYEVAL_THREADS` limits the threads of the native one. Both give the same bytes.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Literal

from berryeval.errors import BackendUnavailableError, ConfigurationError

BackendName = Literal["native", "python"]


def _choose_backend() -> tuple[ModuleType | None, str | None]:
    """Return the native module, or None and the reason why it is not used."""
    wanted = os.environ.get("BERRYEVAL_BACKEND", "")
    if wanted not in {"", "native", "python"}:
        raise ConfigurationError(
            f"BERRYEVAL_BACKEND must be 'native' or 'python' (or unset), found {wanted!r}"
        )
    if wanted == "python":
        return None, "BERRYEVAL_BACKEND=python"
    try:
        from berryeval import _native
    except ImportError as error:
        problem = str(error)
        if "berryeval._native" not in sys.modules and find_spec("berryeval._native") is None:
            problem = "installed without the compiled core, which changes the speed only"
    else:
        return _native, None
    if wanted == "native":
        raise BackendUnavailableError(
            f"BERRYEVAL_BACKEND=native, but the native module cannot be imported: {problem}. "
            "Install BerryEval where a C++20 compiler is available, or unset BERRYEVAL_BACKEND "
            "to use the Python implementation"
        )
    return None, problem


native, native_problem = _choose_backend()
BACKEND: BackendName = "python" if native is None else "native"


def thread_count() -> int:
    """Return the number of native threads: BERRYEVAL_THREADS, or the available processors."""
    wanted = os.environ.get("BERRYEVAL_THREADS", "")
    if not wanted:
        if hasattr(os, "sched_getaffinity"):  # taskset may allow fewer than the machine has
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if not re.fullmatch("[1-9][0-9]{0,3}", wanted):
        raise ConfigurationError(
            "BERRYEVAL_THREADS must be a whole number from 1 to 9999 (or unset), "
            f"found {wanted!r:.80}"
        )
    return int(wanted)
