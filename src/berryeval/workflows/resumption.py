"""The plan of a run that resumes: its secrets, and trust in the code that it names.

docs/security.md says which code is trusted.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import format_command
from berryeval.errors import ConfigurationError, DataError
from berryeval.runs import has_mask, mask_secrets, matches_masked
from berryeval.workflows.config import ConfigFile, check_model, config_path
from berryeval.workflows.plan import Plan, ProviderSpec
from berryeval.workflows.run_folder import NAMES_OF_LATEST, RUNS, RunFolder, began_within_second
from berryeval.workflows.settings import move_providers, overlay

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike

_SECOND: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d")
_CODE: Final = ("function", "reranker", "retriever")  # options that name code: "module:object"


def resume_plan(
    output: PathLike, changes: Mapping[str, Any] | None = None, config: PathLike | None = None
) -> tuple[Plan, RunFolder]:
    """Return the plan and folder of a run to resume, with changes of patience and exports.

    The run may be named by its folder, by its name below `.berryeval/runs`, or `latest`, finished
    or not.

    The folder holds no secrets that were written out in the configuration file: they are read from
    the file again. `${NAME}` is expanded from the environment, as before.
    """
    folder = RunFolder(_find_folder(os.fspath(output)))
    if not folder.manifest_file.exists() and not folder.record_file.exists():
        raise DataError(f"{folder.path}: holds no run (it has no manifest.json)")
    data = folder.find_manifest().get("plan")
    if not isinstance(data, dict):
        again = format_command("eval", "--config", "FILE", "--output", folder.path)
        raise DataError(
            f"{folder.manifest_file}: cannot be read, and there is no run.json to take the plan "
            f"from; to keep the answers, give the configuration of the run: {again}"
        )
    wanted = {name: value for name, value in (changes or {}).items() if value not in (None, [], {})}
    overlay(data, wanted)
    providers = data.get("providers")
    if isinstance(providers, list) and has_mask(providers):
        data = {**data, "providers": _restore_secrets(providers, config, folder)}
    plan: Plan = check_model(Plan, data, None)
    return plan, folder


def _find_folder(text: str) -> Path:
    back = NAMES_OF_LATEST.fullmatch(text)
    if back:
        manifests = RUNS.glob("*/manifest.json")
        found = sorted((path.parent for path in manifests), key=_start_of)
        if int(back[1] or 0) < len(found):
            return found[-1 - int(back[1] or 0)]
    below = RUNS / text
    return below if not Path(text).exists() and below.is_dir() else Path(text)


def _start_of(path: Path) -> tuple[str, int, str]:
    """Order folders by the second in their names, then by when they were begun."""
    second = _SECOND.match(path.name)
    return second[0] if second else path.name, began_within_second(path.name), path.name


def _restore_secrets(providers: list[Any], config: PathLike | None, folder: RunFolder) -> list[Any]:
    """Replace masked providers by those of the file that differ in secrets only."""
    path = config_path(config)
    known = move_providers(path.parent, ConfigFile(path).data.get("providers")) if path else None
    given = [
        check_model(ProviderSpec, one, None).model_dump(mode="json")
        for one in (known if isinstance(known, list) else ())
    ]
    found = []
    for provider in providers:
        wanted = given if has_mask(provider) else ()
        same = [one for one in wanted if matches_masked(provider, mask_secrets(one))]
        if has_mask(provider) and not same:
            name = provider.get("name") or provider.get("type")
            raise ConfigurationError(
                f"{folder.path}: does not hold the secrets of provider {name!r}; give the "
                "configuration of the run with --config, or write secrets as ${NAME}"
            )
        found.append(same[0] if same else provider)
    return found


# Trust in the code of a resumed plan.


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
