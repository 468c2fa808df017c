"""Settings and helpers that all tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# Nothing is written to the home of whoever runs the tests, and what each test does not look at is
# not exported; those that look at it say so.
OURS = {
    "BERRYEVAL_EVAL_DIR": tempfile.mkdtemp(prefix="berryeval-evals-"),
    "BERRYEVAL_EXPORT": "none",
}
os.environ.update(OURS)
atexit.register(shutil.rmtree, OURS["BERRYEVAL_EVAL_DIR"], ignore_errors=True)

# What a machine says of its proxies and its screen is not for the servers and the terminals here.
THEIRS = {
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("no_color", "force_color", "tty_compatible", "tty_interactive", "columns", "lines"),
}
for name in [name for name in os.environ if name.lower() in THEIRS]:
    del os.environ[name]

# No deadline: how long an example takes, or to draw one, depends on the machine, and is no promise
# of ours.
settings.register_profile(
    "berryeval", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("berryeval")


@pytest.fixture
def clean_environment() -> dict[str, str]:
    """The environment for a child process, without our own settings."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("BERRYEVAL_")
    }
    return inherited | OURS
