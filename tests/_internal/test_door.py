"""Lazy package doors."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from typing import TYPE_CHECKING, Any

import pytest

import berryeval.data
from berryeval._internal.door import name_ways

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

DOOR = '''"""A package with a door."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from doored_xyz.rooms import Table, count as number
    from doored_xyz.loud import broken
else:
    __getattr__, __dir__ = open_door(__name__)
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package that offers names of two modules, one of which cannot be imported."""
    folder = tmp_path / "doored_xyz"
    folder.mkdir()
    (folder / "__init__.py").write_text(DOOR)
    (folder / "rooms.py").write_text("class Table: ...\n\n\ndef count(): return 7\n")
    (folder / "loud.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("doored_xyz")
    for name in [name for name in sys.modules if name.startswith("doored_xyz")]:
        del sys.modules[name]


def test_importing_a_package_imports_none_of_its_modules(package: ModuleType) -> None:
    assert package.__name__ in sys.modules
    assert "doored_xyz.rooms" not in sys.modules


def test_a_name_is_loaded_once(package: ModuleType) -> None:
    table = package.Table
    assert table is sys.modules["doored_xyz.rooms"].Table
    assert vars(package)["Table"] is table  # the next access does not call `__getattr__`
    assert "doored_xyz.loud" not in sys.modules


def test_a_name_may_be_renamed_at_the_door(package: ModuleType) -> None:
    assert package.number() == 7
    with pytest.raises(AttributeError):
        _ = package.count


@pytest.mark.parametrize("name", ["tabel", "__wrapped__", "rooms_"])
def test_an_unknown_name_is_an_attribute_error(package: ModuleType, name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(package, name)
    assert str(caught.value) == f"module 'doored_xyz' has no attribute {name!r}"
    assert not hasattr(package, name)


def test_an_error_of_a_module_is_passed_on(package: ModuleType) -> None:
    with pytest.raises(RuntimeError, match=r"^imported$"):
        _ = package.broken


def test_dir_and_all_list_the_offered_names(package: ModuleType) -> None:
    assert package.__all__ == ["Table", "broken", "number"]
    assert set(package.__all__) < set(dir(package))
    assert "open_door" in dir(package)


def test_a_star_import_loads_every_name(package: ModuleType) -> None:
    with pytest.raises(RuntimeError, match=r"^imported$"):
        exec("from doored_xyz import *", {})  # noqa: S102 - only a statement can do it
    assert "Table" in vars(package)


class Rewriter(importlib.machinery.SourceFileLoader):
    """A loader that changes the source, as those of pytest and of coverage tools do."""

    def get_data(self, path: str) -> bytes:
        data = super().get_data(path)
        return data if path.endswith(".pyc") else b"import os\n" + data


class Finder(importlib.abc.MetaPathFinder):
    """A finder that loads the package of these tests with a `Rewriter`."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if not fullname.startswith("doored_xyz"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = Rewriter(fullname, spec.origin)
        return spec


def test_a_door_works_under_a_rewriting_loader(
    package: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("doored_xyz")]:
        del sys.modules[name]
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    again = importlib.import_module(package.__name__)
    assert again is not package
    assert isinstance(again.__loader__, Rewriter)
    assert again.number() == 7
    assert again.__all__ == ["Table", "broken", "number"]


def test_every_name_of_a_real_door_loads() -> None:
    door: Any = berryeval.data
    assert all(getattr(door, name) is not None for name in door.__all__)


def test_a_missing_name_is_an_import_error_with_the_way_to_go(package: ModuleType) -> None:
    load = name_ways(package.__name__, {"cellar": "use the attic"})
    with pytest.raises(ImportError, match="doored_xyz has no cellar; use the attic"):
        load("cellar")
    with pytest.raises(ImportError, match="use the attic"):
        importlib.import_module("doored_xyz.cellar.wine")
    with pytest.raises(AttributeError, match="'doored_xyz' has no attribute 'roof'"):
        load("roof")
    assert not hasattr(sys.modules["doored_xyz.cellar"], "__file__")  # as tools ask every module
