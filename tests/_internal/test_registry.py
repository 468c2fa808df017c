"""Registries of named objects."""

from __future__ import annotations

import pytest

from berryeval._internal.registry import Registry
from berryeval._internal.validate import nearest
from berryeval.errors import ConfigurationError


def registry() -> Registry[object]:
    """Return a registry with one bundled object."""
    return Registry("shape", {"ordered": "collections:OrderedDict"}, {"od": "ordered"})


def test_bundled_object_is_imported_on_first_use() -> None:
    from collections import OrderedDict

    shapes = registry()
    assert shapes.get("ordered") is OrderedDict
    assert shapes.get("od") is OrderedDict
    assert "od" in shapes
    assert shapes.aliases_of("ordered") == ["od"]
    assert shapes.canonical("od") == shapes.canonical("ordered") == "ordered"


def test_unknown_name_suggests_the_closest() -> None:
    with pytest.raises(ConfigurationError, match=r"'orderd'; did you mean 'ordered'\?"):
        registry().get("orderd")
    with pytest.raises(ConfigurationError, match="unknown shape 'xyz'; there are ordered"):
        registry().get("xyz")


@pytest.mark.parametrize("name", ["ordered", "od"])
def test_registering_a_taken_name_is_an_error(name: str) -> None:
    shapes = registry()
    with pytest.raises(ConfigurationError, match=f"there is a shape '{name}' already"):
        shapes.register("round", aliases=[name])(object())
    assert list(shapes) == ["ordered"]


def test_nearest_names_ignore_case() -> None:
    assert nearest("NDCG", ["nDCG", "AP"]) == ["nDCG"]
