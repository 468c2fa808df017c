"""The layout rules of docs/architecture.md, checked by parsing the source."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from functools import cached_property
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "berryeval"
# Folders with one small module per plug-in; `measures` is laid out as in ir_measures.
PLUGINS = {
    "loaders", "packs", "embedders", "providers", "chunkers", "formats", "families", "exporters",
    "measures",
}  # fmt: skip
OPEN = {"_internal", "errors"}  # imported by module: they have no door
SHORT = 60  # lines
SPECIAL_NAMES = {"__init__", "__main__"}
# A name used twice on purpose: the command, and the checks shared by all packages.
MIRRORED_NAMES = {"validate"}

# Short modules with one importer on purpose: every command has its own file.
COMMANDS = {"berryeval.cli.init", "berryeval.cli.serve", "berryeval.cli.version"}


class House:
    """The modules of a package by dotted name, with their imports and doors."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.root = source.name
        self.paths = {self._name(path): path for path in sorted(source.rglob("*.py"))}
        self.trees = {name: ast.parse(path.read_bytes()) for name, path in self.paths.items()}

    def _name(self, path: Path) -> str:
        parts = path.relative_to(self.source.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def is_package(self, name: str) -> bool:
        return name in self.paths and self.paths[name].name == "__init__.py"

    def floor(self, name: str) -> str:
        """Return the top-level package of a module: "data" for `berryeval.data.formats.trec`."""
        return name.split(".")[1] if "." in name else ""

    def imports(self, module: str) -> set[tuple[str, str]]:
        """Return (module, member) of every import, including those in functions."""
        found = set()
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.Import):
                found |= {(alias.name, "") for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    here = module.split(".")
                    keep = len(here) - node.level + self.is_package(module)
                    base = ".".join([*here[:keep], *([base] if base else [])])
                found |= {(base, alias.name) for alias in node.names}
        return {pair for pair in found if pair[0].split(".")[0] == self.root}

    @cached_property
    def doors(self) -> dict[str, dict[str, str]]:
        """The module of each name that a package offers in its `TYPE_CHECKING` block."""
        return {
            name: {
                alias.asname or alias.name: str(node.module)
                for block in tree.body
                if isinstance(block, ast.If)
                for node in block.body
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            for name, tree in self.trees.items()
            if self.is_package(name)
        }

    def deep_imports(self) -> set[str]:
        """Return "importer -> module" for imports of another package that bypass its door."""
        found = set()
        for module in self.trees:
            for base, member in self.imports(module):
                target = f"{base}.{member}" if f"{base}.{member}" in self.trees else base
                floor = self.floor(target)
                if floor in OPEN or floor == self.floor(module) or target.count(".") <= 1:
                    continue
                found.add(f"{module} -> {target}")
        return found

    def stray_exports(self) -> set[str]:
        """Return the modules other than `__init__` that define `__all__`."""
        return {
            module
            for module, tree in self.trees.items()
            if not self.is_package(module)
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id == "__all__"
        }

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The importers of each module; names from a door count for the module behind it."""
        found: dict[str, set[str]] = defaultdict(set)
        for module in self.trees:
            for base, member in self.imports(module):
                target = f"{base}.{member}"
                if target not in self.trees:
                    target = self.doors.get(base, {}).get(member, base)
                if not self.is_package(module):
                    found[target].add(module)
        return found

    def is_plugin(self, module: str) -> bool:
        return bool(PLUGINS & set(self.paths[module].relative_to(self.source).parts[:-1]))

    def modules(self) -> list[str]:
        """Return the modules that are neither packages nor plug-ins."""
        return [
            name
            for name, path in self.paths.items()
            if path.stem not in SPECIAL_NAMES and not self.is_plugin(name)
        ]

    def small_modules(self) -> set[str]:
        """Return the short modules with fewer than two importers."""
        return {
            module
            for module in self.modules()
            if len(self.paths[module].read_text(encoding="utf-8").splitlines()) < SHORT
            and len(self.importers[module]) <= 1
        }

    def repeated_names(self) -> set[str]:
        """Return the file names that are used more than once."""
        names = Counter(self.paths[module].stem for module in self.modules())
        return {name for name, count in names.items() if count > 1}

    def shadowing_names(self) -> set[str]:
        """Return the names of doors that equal the name of a module of the package.

        A door may offer a package itself, as `berryeval.judging`.
        """
        return {
            f"{package}.{name}"
            for package, names in self.doors.items()
            for name in names
            if f"{package}.{name}" in self.paths and f"{package}.{name}" not in self.doors
        }


@pytest.fixture(scope="module")
def ours() -> House:
    """Parse our own package."""
    return House(SOURCE)


def test_packages_import_each_other_through_their_doors(ours: House) -> None:
    assert ours.deep_imports() == set()


def test_only_packages_define_all(ours: House) -> None:
    assert ours.stray_exports() == set()


def test_a_short_module_is_a_plugin_or_has_two_importers(ours: House) -> None:
    assert ours.small_modules() - COMMANDS == set()


def test_file_names_are_unique(ours: House) -> None:
    assert ours.repeated_names() - MIRRORED_NAMES == set()


def test_no_door_offers_the_name_of_a_module(ours: House) -> None:
    assert ours.shadowing_names() == set()


def build(root: Path, files: dict[str, str]) -> House:
    """Write a package `house` and return it."""
    for name, text in files.items():
        path = root / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return House(root / "house")


DOOR = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.low.deep import thing\n"
SOUND = {
    "__init__.py": "",
    "errors.py": "\n" * SHORT,
    "_internal/__init__.py": "",
    "_internal/text.py": "\n" * SHORT,
    "low/__init__.py": DOOR,
    "low/deep.py": "import house.errors\nthing = 1\n" + "\n" * SHORT,
    "high/__init__.py": "",
    "high/user.py": "from house.low import thing\nfrom house._internal.text import x\n"
    + "\n" * SHORT,
}


def test_a_sound_house_has_no_findings(tmp_path: Path) -> None:
    house = build(tmp_path, SOUND)
    found = [
        house.deep_imports(), house.stray_exports(), house.small_modules(),
        house.repeated_names(), house.shadowing_names(),
    ]  # fmt: skip
    assert found == [set()] * 5


@pytest.mark.parametrize(
    "text",
    [
        "from house.low.deep import thing",
        "import house.low.deep",
        "from house.low import deep",
        "from ..low.deep import thing",
        "def f():\n    from house.low.deep import thing",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.low.deep import thing",
    ],
)
def test_an_import_past_the_door_is_found(tmp_path: Path, text: str) -> None:
    house = build(tmp_path, {**SOUND, "high/user.py": text})
    assert house.deep_imports() == {"house.high.user -> house.low.deep"}


def test_the_other_violations_are_found(tmp_path: Path) -> None:
    files = {
        **SOUND,
        "high/deep.py": "__all__ = ['a']\n" + "\n" * SHORT,
        "high/small.py": "a = 1\n",
        "high/loaders/__init__.py": "",
        "high/loaders/small.py": "a = 1\n",
        "high/user.py": "from house.high.small import a\n" + "\n" * SHORT,
        "low/thing.py": "thing = 1\n" + "\n" * SHORT,
    }
    house = build(tmp_path, files)
    assert house.stray_exports() == {"house.high.deep"}
    assert house.small_modules() == {"house.high.small"}
    assert house.repeated_names() == {"deep"}
    assert house.shadowing_names() == {"house.low.thing"}


def test_two_importers_justify_a_short_module(tmp_path: Path) -> None:
    files = {
        **SOUND,
        "low/deep.py": "thing = 1\n",
        "low/other.py": "from house.low.deep import thing\n" + "\n" * SHORT,
    }
    assert build(tmp_path, files).small_modules() == set()
