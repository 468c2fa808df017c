"""The options of providers, looked at before anything is run, each where it stands.

What is not ours is not made here: a class of somebody else may connect as soon as it is.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.validate import reject_unknown
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.providers import EMBEDDERS, PROVIDERS, build_provider, is_search_function
from berryeval.runs import Secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from berryeval.workflows.config import KeyPath


_OURS: Final = "berryeval."


@dataclass(frozen=True)
class Part:
    """A provider of a file, or one of those that it fuses.

    Attributes:
        type: its name.
        options: as they stand there.
        path: where.
        inside: what stands there, in which a fault may be found.
    """

    type: str
    options: Mapping[str, Any]
    path: KeyPath
    inside: Any

    @property
    def ours(self) -> bool:
        """Whether it and all below it may be made without anything happening."""
        module = str(getattr(PROVIDERS.get(self.type), "__module__", ""))
        return module.startswith(_OURS) and all(one.ours for one in self.below())

    def below(self) -> Iterator[Part]:
        """Those that it fuses, as far as they are names or mappings."""
        children = self.options.get("providers")
        if PROVIDERS.canonical(self.type) != "hybrid" or not isinstance(children, list | tuple):
            return
        own = self.options.get("options")
        for number, child in enumerate(children):
            path: KeyPath = (*self.path, "options", "providers", number)
            if isinstance(child, str):
                given = own.get(child) if isinstance(own, Mapping) else None
                if isinstance(given, Mapping):
                    yield Part(child, given, (*self.path, "options", "options", child), given)
                else:
                    yield Part(child, {}, path, None)
            elif isinstance(child, Mapping) and isinstance(child.get("type"), str):
                given = child.get("options")
                given = given if isinstance(given, Mapping) else {}
                yield Part(child["type"], given, path, {"options": given})


def check_provider(
    part: Part, owner: str, told: Callable[[Part], AbstractContextManager[None]]
) -> None:
    """Refuse names and options that nobody takes; `told` says where the part stands."""
    with told(part):
        PROVIDERS.get(part.type)
    for one in part.below():
        check_provider(one, f"provider {one.type!r}", told)
    secrets = Secrets()
    with told(_without_those_below(part)), secrets.kept_out_of_errors():
        try:
            _check(part, secrets.filled_in(part.options))
        except (TypeError, ValueError) as error:
            if isinstance(error, BerryEvalError):
                raise
            msg = f"{owner} cannot be made: {error}"
            raise ConfigurationError(msg) from None


def _without_those_below(part: Part) -> Part:
    """The part alone: those below it have no fault, and may hold the same words."""
    if not any(part.below()) or not isinstance(part.inside, Mapping):
        return part
    options = {
        key: dict.fromkeys(value) if key == "options" and isinstance(value, Mapping) else value
        for key, value in part.options.items()
        if key != "providers"
    }
    return dataclasses.replace(part, inside={"options": {**options, "providers": None}})


def _check(part: Part, given: dict[str, Any]) -> None:
    kind = PROVIDERS.get(part.type)
    if part.ours or (not isinstance(kind, type) and is_search_function(kind, given)):
        build_provider(part.type, given)
        _check_embedder(kind, given)
        return
    try:
        signature = inspect.signature(kind)
    except ValueError:  # it tells nothing of itself
        return
    takes = signature.parameters.values()
    if all(one.kind is not one.VAR_KEYWORD for one in takes):
        reject_unknown(f"provider {part.type!r}", given, [one.name for one in takes])
    signature.bind(**given)


def _check_embedder(kind: Any, given: Mapping[str, Any]) -> None:
    """Refuse an embedder that nobody knows, and options that it does not take."""
    fields = {one.name: one.default for one in dataclasses.fields(kind)} if _plain(kind) else {}
    if "embedder" not in fields or not {"embedder", "embedder_options"} & given.keys():
        return
    name = given.get("embedder", fields["embedder"])
    options = given.get("embedder_options")
    if not isinstance(name, str) or not name:
        return
    embedder: Any = EMBEDDERS.get(name)
    if _plain(embedder) and isinstance(options, Mapping):
        known = [one.name for one in dataclasses.fields(embedder) if one.init]
        reject_unknown(f"embedder {name!r}", options, known)


def _plain(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


# Paths among the options of providers: those of a configuration file begin where it lies.

_RUN_FILE: Final = "run-file"


def providers_beside(folder: Path, providers: Any) -> Any:
    """The providers of a file; what is none is left to those who check it.

    Args:
        folder: where the file lies.
        providers: the list in it.
    """
    if not isinstance(providers, list):
        return providers
    return [_provider(folder, one) for one in providers]


def _provider(folder: Path, spec: Any) -> Any:
    if not isinstance(spec, dict) or not isinstance(options := spec.get("options"), dict):
        return spec
    name = spec.get("type")
    kind = PROVIDERS.canonical(name) if isinstance(name, str) else ""
    if kind == _RUN_FILE:
        return {**spec, "options": _run_file(folder, options)}
    if kind == "hybrid":
        return {**spec, "options": _hybrid(folder, options)}
    return spec


def _hybrid(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """What is fused may be a run file, too."""
    moved = {**options}
    if "providers" in options:
        moved["providers"] = providers_beside(folder, options["providers"])
    if isinstance(by_name := options.get("options"), dict):
        moved["options"] = {
            name: _run_file(folder, given)
            if PROVIDERS.canonical(str(name)) == _RUN_FILE and isinstance(given, dict)
            else given
            for name, given in by_name.items()
        }
    return moved


def _run_file(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    path = options.get("path")
    if not isinstance(path, str) or not path or path.startswith("${"):
        return options  # `${NAME}` is filled in later, and says itself where it begins
    return {**options, "path": str(folder / path)}
