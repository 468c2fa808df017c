"""Import of packages that only some features need."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from berryeval.errors import MissingDependencyError


def import_optional(module: str, feature: str, *, extra: str = "") -> Any:
    """Import a module, or raise an error with the command that installs it (or the `extra`).

    Some packages configure the root logger when they are imported; its handlers and level are
    restored.
    """
    if sys.modules.get(module):  # searches do this, several at once
        return import_module(module)
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        install = f"berryeval[{extra}]" if extra else package
        raise MissingDependencyError(
            f"{feature} needs {package}: pip install '{install}'"
        ) from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def is_missing(module: str) -> bool:
    """Whether a module is not installed; it is not imported."""
    try:
        return find_spec(module) is None
    except ModuleNotFoundError:  # its parent package is missing
        return True


def require_modules(needs: Iterable[tuple[str, Mapping[str, str]]]) -> None:
    """Raise one error for all modules that are not installed, with the command that installs them.

    Each feature comes with the modules it needs, and each module with the extra that installs it.
    """
    missing = {
        feature: {module: extra for module, extra in modules.items() if is_missing(module)}
        for feature, modules in needs
    }
    extras = dict.fromkeys(extra for modules in missing.values() for extra in modules.values())
    if extras:
        words = [
            f"{feature} needs {', '.join(found)}" for feature, found in missing.items() if found
        ]
        raise MissingDependencyError(
            f"{', '.join(words)}: pip install 'berryeval[{','.join(extras)}]'"
        )
