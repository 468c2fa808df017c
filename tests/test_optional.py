"""Packages that only some features need."""

from __future__ import annotations

import json

import pytest

from berryeval.errors import MissingDependencyError
from berryeval.optional import imported


def test_what_is_there_is_imported() -> None:
    """As the module itself."""
    assert imported("json", "reading") is json


@pytest.mark.parametrize(
    ("extra", "line"), [("lancedb", "berryeval[lancedb]"), ("", "no_such_package_xyz")]
)
def test_what_is_missing_is_asked_for(extra: str, line: str) -> None:
    """With who needs it and the line to type."""
    with pytest.raises(MissingDependencyError) as caught:
        imported("no_such_package_xyz.part", "the provider x", extra=extra)
    assert str(caught.value) == f"the provider x needs no_such_package_xyz: pip install '{line}'"
