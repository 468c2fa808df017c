"""Which folder a run goes to, and how one that was interrupted goes on."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval.errors import ConfigurationError, DataError
from berryeval.io.command_lines import to_go_on
from berryeval.io.file_names import safe_name
from berryeval.pipeline.config_file import ConfigFile, check_model, config_path
from berryeval.pipeline.folder import RUNS, RunFolder
from berryeval.pipeline.plan import BenchmarkSpec, Plan, ProviderSpec
from berryeval.pipeline.provider_paths import providers_beside
from berryeval.pipeline.redaction import MASK, masked, same_if_masked
from berryeval.pipeline.settings import overlay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.io.files import PathLike

__all__ = ["folder_for", "new_folder", "resumed"]


def folder_for(
    plan: Plan, output: PathLike | None, *, finished: bool = True, retry_errors: bool = False
) -> RunFolder:
    """The folder of a run: the given one, or a new one below `.berryeval/runs`.

    One that holds the same run already goes on with it; one with another run is refused.

    Args:
        plan: what is asked.
        output: the folder, if one is given.
        finished: whether the same run may have been finished there. Then nothing is asked, and its
            old answers are what is judged.
        retry_errors: whether queries that failed are asked again: with such a run is not finished.
    """
    if output is None:
        return new_folder(plan, RUNS)
    folder = RunFolder(output)
    if folder.path.exists() and not folder.path.is_dir():
        msg = f"{folder.path}: expected a folder, found a file"
        raise ConfigurationError(msg)
    folder.check_same_run(plan)
    if not finished and folder.is_finished(retry_errors=retry_errors):
        msg = (
            f"{folder.path}: holds a finished run of {folder.read_manifest().get('created')}; give "
            "another folder, remove this one, or look at what it holds: "
            f"{to_go_on(folder.path)}"
        )
        raise ConfigurationError(msg)
    return folder


def new_folder(plan: Plan, parent: Path, *, kept: bool = True) -> RunFolder:
    """The folder of a run that is started now, named by the time and the benchmark."""
    first, *more = (
        one.source if isinstance(one, BenchmarkSpec) else one for one in plan.benchmarks
    )
    label = Path(first).stem + (f"+{len(more)}" if more else "")
    now = datetime.now().astimezone()
    name = safe_name(f"{now.strftime('%Y-%m-%dT%H-%M-%S')}-{label}")
    return RunFolder(parent / name, new_at=now, kept=kept)


def resumed(
    output: PathLike, changes: Mapping[str, Any] | None = None, config: PathLike | None = None
) -> tuple[Plan, RunFolder]:
    """The plan of a folder, to go on with it.

    Secrets that were written out in a configuration file are not in the folder: they are taken from
    the file again. `${NAME}` is filled in from the environment, as before.

    Args:
        output: the folder.
        changes: `concurrency`, `timeout`, `batch` and `export`, if they are to change.
        config: the configuration file.
    """
    folder = RunFolder(output)
    if not folder.manifest_file.exists():
        msg = f"{folder.path}: holds no run (there is no manifest.json in it)"
        raise DataError(msg)
    data = folder.read_manifest().get("plan")
    if not isinstance(data, dict):
        msg = f"{folder.manifest_file}: has no plan"
        raise DataError(msg)
    wanted = {name: value for name, value in (changes or {}).items() if value not in (None, [], {})}
    overlay(data, wanted)
    providers = data.get("providers")
    if isinstance(providers, list) and _has_mask(providers):
        data = {**data, "providers": _with_secrets(providers, config, folder)}
    plan: Plan = check_model(Plan, data, None)
    return plan, folder


def _has_mask(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_mask, value.values()))
    if isinstance(value, list):
        return any(map(_has_mask, value))
    return isinstance(value, str) and MASK in value


def _with_secrets(providers: list[Any], config: PathLike | None, folder: RunFolder) -> list[Any]:
    """The providers as the configuration file has them, where only secrets differ."""
    path = config_path(config)
    known = providers_beside(path.parent, ConfigFile(path).data.get("providers")) if path else None
    given = [
        check_model(ProviderSpec, one, None).model_dump(mode="json")
        for one in (known if isinstance(known, list) else ())
    ]
    found = []
    for provider in providers:
        wanted = given if _has_mask(provider) else ()
        same = [one for one in wanted if same_if_masked(provider, masked(one))]
        if _has_mask(provider) and not same:
            name = provider.get("name") or provider.get("type")
            msg = (
                f"{folder.path}: the secrets of provider {name!r} are not kept there; give the "
                "configuration of the run with --config, or write secrets as ${NAME}"
            )
            raise ConfigurationError(msg)
        found.append(same[0] if same else provider)
    return found
