"""Import of packages that only some features need."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
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
