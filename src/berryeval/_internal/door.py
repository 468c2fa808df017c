"""Lazy package doors: names are listed once, for type checkers, and loaded on first use.

A package's `__init__` imports what it offers under `TYPE_CHECKING` and opens its door otherwise:

    if TYPE_CHECKING:
        from berryeval.stats.comparison import Comparison
    else:
        __getattr__, __dir__ = open_door(__name__)

The import block is the only list of names. It is read when a name is first asked for, so that
importing a package costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def open_door(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package whose names load on first use."""
    homes: dict[str, tuple[str, str]] = {}

    def offered() -> dict[str, tuple[str, str]]:
        if not homes:
            homes.update(_read_homes(package))
        return homes

    def load(name: str) -> Any:
        if name == "__all__":
            return sorted(offered())
        if name.startswith("__") or name not in offered():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        module, member = homes[name]
        inside = module == package  # a package of its own
        value = (
            import_module(f"{module}.{member}")
            if inside
            else getattr(import_module(module), member)
        )
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *offered()})

    return load, names


def _read_homes(package: str) -> dict[str, tuple[str, str]]:
    """Read the module and member of every name in the `TYPE_CHECKING` block of a package."""
    import ast
    from pathlib import Path

    source = Path(str(sys.modules[package].__file__)).read_bytes()
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def name_ways(package: str, ways: Mapping[str, str]) -> Callable[[str], Any]:
    """Return `__getattr__` for a package that lacks some names that its users may expect.

    Args:
        package: Name of the package.
        ways: Advice for each missing name; importing the name, or from a module of that name,
            raises an ImportError with this advice.
    """
    errors = {name: f"{package} has no {name}; {way}" for name, way in ways.items()}
    for name, error in errors.items():
        sys.modules[f"{package}.{name}"] = _Missing(f"{package}.{name}", error)

    def load(name: str) -> Any:
        if name in errors:
            raise ImportError(errors[name])
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


class _Missing(ModuleType):
    """A missing module; its docstring is the error, with advice."""

    def __getattr__(self, name: str) -> Any:
        if name == "__path__" or not name.startswith("_"):
            raise ImportError(self.__doc__)
        raise AttributeError(name)
