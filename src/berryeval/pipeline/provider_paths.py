"""Paths among the options of providers: those of a configuration file begin where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.providers import PROVIDERS

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["providers_beside"]

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
