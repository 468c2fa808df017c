"""Fixtures for the tests of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.eval_world import enter_folder, write_drinks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def drinks_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a small benchmark and no outside settings."""
    enter_folder(tmp_path, monkeypatch)
    write_drinks(tmp_path)
    return tmp_path
