"""Registries: things by name."""

from __future__ import annotations

import pytest

from berryeval._internal.registry import Registry
from berryeval._internal.validate import nearest
from berryeval.errors import ConfigurationError


def registry() -> Registry[object]:
    """A table with one bundled thing."""
    return Registry("shape", {"ordered": "collections:OrderedDict"}, {"od": "ordered"})


def test_a_bundled_thing_is_imported_when_asked_for() -> None:
    """By its name or an alias."""
    from collections import OrderedDict

    shapes = registry()
    assert shapes.get("ordered") is OrderedDict
    assert shapes.get("od") is OrderedDict
    assert "od" in shapes
    assert shapes.aliases_of("ordered") == ["od"]
    assert shapes.canonical("od") == shapes.canonical("ordered") == "ordered"


def test_an_unknown_name_suggests_the_nearest() -> None:
    """Or says what there is, where nothing is near."""
    with pytest.raises(ConfigurationError, match=r"'orderd'; did you mean 'ordered'\?"):
        registry().get("orderd")
    with pytest.raises(ConfigurationError, match="unknown shape 'xyz'; there are ordered"):
        registry().get("xyz")


@pytest.mark.parametrize("name", ["ordered", "od"])
def test_a_taken_name_is_refused(name: str) -> None:
    """Nothing bundled is replaced by accident, and nothing is added by halves."""
    shapes = registry()
    with pytest.raises(ConfigurationError, match=f"there is a shape '{name}' already"):
        shapes.register("round", aliases=[name])(object())
    assert list(shapes) == ["ordered"]


def test_nearest_names_ignore_case() -> None:
    """As people do."""
    assert nearest("NDCG", ["nDCG", "AP"]) == ["nDCG"]
