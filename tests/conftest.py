"""Settings and helpers shared by all tests."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import browser

__all__ = ["browser"]

# Tests write nothing to the home directory, and export only what they check.
OURS = {
    "BERRYEVAL_EVAL_DIR": tempfile.mkdtemp(prefix="berryeval-evals-"),
    "BERRYEVAL_EXPORT": "none",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
}
OURS |= {
    name: str(Path(OURS["BERRYEVAL_EVAL_DIR"]) / name)
    for name in ("HF_DATASETS_CACHE", "IR_DATASETS_HOME")
}
os.environ.update(OURS)
# As if the environment were active, also where its programs are called by their path.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
atexit.register(shutil.rmtree, OURS["BERRYEVAL_EVAL_DIR"], ignore_errors=True)

# bm25s imports these if it can, in most of a second, and BerryEval uses none of them for it: child
# processes start as on a machine without them. Set PYTHONPATH to "" for a child that needs them.
HIDDEN = Path(tempfile.mkdtemp(prefix="berryeval-hidden-"))
for module in ("jax", "numba", "scipy"):
    (HIDDEN / f"{module}.py").write_text("raise ImportError('hidden by the tests')\n", "utf-8")
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(HIDDEN), os.environ.get("PYTHONPATH")))
)
atexit.register(shutil.rmtree, HIDDEN, ignore_errors=True)

# Proxies and terminal settings of the machine must not affect the servers and terminals of tests.
THEIRS = {
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("no_color", "force_color", "tty_compatible", "tty_interactive", "columns", "lines"),
}
for name in [name for name in os.environ if name.lower() in THEIRS]:
    del os.environ[name]

# No deadline: the time of an example depends on the machine.
settings.register_profile(
    "berryeval", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("berryeval")


def pytest_xdist_auto_num_workers() -> int:
    """Start two workers for a core: tests often wait for servers, browsers and processes."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture
def clean_environment() -> dict[str, str]:
    """Return the environment for a child process, without BerryEval settings."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("BERRYEVAL_")
    }
    return inherited | OURS
