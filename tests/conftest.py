"""Settings and helpers that all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# No deadline: how long an example takes depends on the machine, and is no promise of ours.
settings.register_profile("berryeval", deadline=None, print_blob=True)
settings.load_profile("berryeval")


@pytest.fixture
def clean_environment() -> dict[str, str]:
    """The environment for a child process, without our own settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("BERRYEVAL_")}
