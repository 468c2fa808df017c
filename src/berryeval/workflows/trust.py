"""Trust in the code that the plan of a resumed folder names: docs/security.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.workflows.config import ConfigFile, config_path

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.workflows.plan import Plan


_CODE: Final = ("function", "retriever")  # options that name code: "module:object"


def require_trust(plan: Plan, folder: Path, config: PathLike | None = None) -> None:
    """Reject a resumed plan that names code which is not the user's own.

    Code is the user's own if it lies below the current folder, but not in the folder of the run,
    or if the configuration file names it too.
    """
    path = config_path(config)
    known = set(_find_code(ConfigFile(path).data)) if path else set()
    for name in _find_code([spec.options for spec in plan.providers]):
        if name not in known and not _is_ours(name.partition(":")[0], folder):
            raise ConfigurationError(
                f"{folder}: its plan runs {name!r}, which is neither below the current folder nor "
                "in a configuration of yours; if you trust the code, add --trust"
            )


def _find_code(value: Any) -> Iterator[str]:
    """Yield the code that options name, also those of providers inside a provider."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in _CODE and isinstance(inner, str) and ":" in inner:
                yield inner
            else:
                yield from _find_code(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _find_code(inner)


def _is_ours(module: str, folder: Path) -> bool:
    here, run = Path.cwd().resolve(), folder.resolve()
    file = _find_file(module)
    return file is not None and file.is_relative_to(here) and not file.is_relative_to(run)


def _find_file(module: str) -> Path | None:
    """Return the file of a module without importing anything; None if it cannot be found."""
    top, *rest = module.split(".")
    here = str(Path.cwd())
    if here not in sys.path:  # as when it is imported
        sys.path.append(here)
    try:
        found = find_spec(top)
    except (ImportError, ValueError):
        found = None
    if found is None or not rest:
        return Path(found.origin).resolve() if found and found.origin else None
    for place in found.submodule_search_locations or ():
        inner = Path(place, *rest)
        for file in (inner / "__init__.py", inner.with_suffix(".py")):
            if file.exists():
                return file.resolve()
    return None
