"""Packages that only some features need: imported when used, and asked for by name if missing."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from berryeval.errors import MissingDependencyError


def imported(module: str, feature: str, *, extra: str = "") -> Any:
    """The module, or an error with the line to type; `extra` is ours that brings it along.

    Some packages set up logging for the whole program when they are imported: that is undone.
    """
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        install = f"berryeval[{extra}]" if extra else package
        msg = f"{feature} needs {package}: pip install '{install}'"
        raise MissingDependencyError(msg) from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
