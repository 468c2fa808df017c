"""Packages that only some features need: imported when used, and asked for by name if missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from berryeval.errors import MissingDependencyError

__all__ = ["imported"]


def imported(module: str, feature: str, *, extra: str = "") -> Any:
    """The module, or an error with the line to type; `extra` is ours that brings it along."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        install = f"berryeval[{extra}]" if extra else package
        msg = f"{feature} needs {package}: pip install '{install}'"
        raise MissingDependencyError(msg) from error
