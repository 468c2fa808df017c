"""Objects of the user's own Python, named as "module:object"."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from berryeval.errors import ConfigurationError
from berryeval.registry import nearest

__all__ = ["named_object"]


def named_object(name: object, option: str) -> Any:
    """The object of "module:object" (or "module:object.member"); an object is taken as it is.

    The module may lie in the current folder, or be installed. `option` says in messages whose it
    is. What the module itself raises is shown as it is: it is the user's code.
    """
    if not isinstance(name, str):
        return name
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        msg = f"{option} must be as 'module:object', found {name!r}"
        raise ConfigurationError(msg)
    found = _module(module_name, option)
    for part in path.split("."):
        if not hasattr(found, part):
            near = nearest(part, [known for known in dir(found) if not known.startswith("_")], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            msg = f"{option}: {name!r}: there is no {part!r} in {module_name}{hint}"
            raise ConfigurationError(msg)
        found = getattr(found, part)
    return found


def _module(name: str, option: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:  # at the end: what is installed is not shadowed
        sys.path.append(folder)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (error.name == name or name.startswith(f"{error.name}.")):
            msg = f"{option}: there is no module {name!r}, neither installed nor in {folder}"
        else:
            msg = f"{option}: the module {name!r} needs {error.name!r}, which is not installed"
    except (ImportError, SyntaxError, TypeError, ValueError) as error:
        msg = f"{option}: the module {name!r} cannot be imported ({type(error).__name__}: {error})"
    raise ConfigurationError(msg)
