"""Imports of optional packages."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from berryeval._internal.optional import import_optional
from berryeval.errors import MissingDependencyError

if TYPE_CHECKING:
    from pathlib import Path


def test_installed_package_is_imported() -> None:
    assert import_optional("json", "reading") is json


@pytest.mark.parametrize(
    ("extra", "line"), [("lancedb", "berryeval[lancedb]"), ("", "no_such_package_xyz")]
)
def test_missing_package_error_has_the_install_command(extra: str, line: str) -> None:
    with pytest.raises(MissingDependencyError) as caught:
        import_optional("no_such_package_xyz.part", "the provider x", extra=extra)
    assert str(caught.value) == f"the provider x needs no_such_package_xyz: pip install '{line}'"


def test_imports_leave_the_root_logger_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import logging\nlogging.basicConfig(level=logging.DEBUG, force=True)\n"
    (tmp_path / "loud_package_xyz.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    root = logging.getLogger()
    before = list(root.handlers), root.level
    assert import_optional("loud_package_xyz", "a test").logging is logging
    assert (list(root.handlers), root.level) == before
