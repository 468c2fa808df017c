"""Fixtures for the tests of commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.eval_world import write_drinks
from tests.conftest import OURS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def drinks_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a small benchmark and no outside settings."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("BERRYEVAL_") and name not in {"BERRYEVAL_BACKEND", *OURS}:
            monkeypatch.delenv(name)
    write_drinks(tmp_path)
    return tmp_path
