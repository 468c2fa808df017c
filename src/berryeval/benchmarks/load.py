"""`load_benchmark`: from a name or a path to a `Benchmark`."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

from berryeval.benchmarks.bundled import bundled_benchmarks, bundled_folder
from berryeval.benchmarks.loaders import LOADERS, Loader
from berryeval.benchmarks.source import Source
from berryeval.errors import ConfigurationError, DataError
from berryeval.registry import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.io.files import PathLike

__all__ = ["detect_format", "load_benchmark", "options_of"]


def load_benchmark(source: PathLike, *, format: str | None = None, **options: Any) -> Benchmark:  # noqa: A002 - the word people look for
    """A benchmark that is bundled, or that lies in a file or folder.

    Args:
        source: the name of a bundled benchmark ("technical-docs"), or a path. A string that is such
            a name always means it; write "./technical-docs" for a folder that is called so.
        format: the name of a loader. Without it the format is known by clear signs; where there are
            none, or those of several formats, that is an error which names them.
        options: what the loader of the format takes, as `split="dev"` for BEIR.
    """
    found, loader = check_source(source, format, options)
    return loader.load(found, **options)


def check_source(
    source: PathLike, format_: str | None, options: Mapping[str, Any]
) -> tuple[Source, Loader]:
    """Where the files are and who reads them; refused unless all is there and known."""
    found = Source(_path_of(source))
    name = format_ or detect_format(found)
    loader = LOADERS.get(name)
    _check_options(name, loader, options)
    return found, loader


def _path_of(source: PathLike) -> PathLike:
    name = os.fspath(source)
    if isinstance(source, str) and name in bundled_benchmarks():
        return bundled_folder(name)
    try:
        there = os.path.exists(name)  # noqa: PTH110 - a path that no system takes is just not there
    except ValueError:
        there = False
    if there:
        return source
    bundled = bundled_benchmarks()
    near = nearest(name, bundled)
    hint = f"did you mean {' or '.join(near)}?" if near else f"bundled: {', '.join(bundled)}"
    msg = f"{name}: no such file or folder, and no bundled benchmark of this name"
    raise DataError(f"{msg}; {hint}" if bundled else msg)


def detect_format(source: Source) -> str:
    """The name of the one loader that knows these files."""
    names = [name for name in LOADERS if LOADERS.get(name).recognises(source)]
    if len(names) == 1:
        return names[0]
    if names:
        msg = (
            f"{source.name}: could be {' or '.join(names)}; say which with --format {names[0]}, "
            f"or format={names[0]!r} in Python"
        )
        raise DataError(msg)
    msg = (
        f"{source.name}: no known format; say which with --format, or format= in Python: "
        f"one of {', '.join(LOADERS)}"
    )
    raise DataError(msg)


def options_of(loader: Loader) -> list[str]:
    """The names of the options that a loader takes."""
    return [
        parameter.name
        for parameter in inspect.signature(loader.load).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]


def _check_options(name: str, loader: Loader, options: Mapping[str, Any]) -> None:
    takes = options_of(loader)
    for option, value in options.items():
        if option not in takes:
            near = nearest(option, takes, 1)
            there = f"it takes {', '.join(takes)}" if takes else "it takes none"
            hint = f"did you mean {near[0]!r}? {there}" if near else there
            msg = f"the loader {name} has no option {option!r}; {hint}"
            raise ConfigurationError(msg)
        wanted = _wanted(inspect.signature(loader.load).parameters[option].annotation, value)
        if wanted:
            msg = f"{option} of the loader {name} must be {wanted}, found {value!r:.80}"
            raise ConfigurationError(msg)


def _wanted(declared: Any, value: Any) -> str:
    """What a value should be that it is not; empty if nothing can be said against it.

    A number would fail somewhere in the loader, and of a text a list would take the letters.
    """
    kind = str(declared).removesuffix(" | None")
    if value is None:
        return ""
    if kind in {"str", "PathLike"} and not isinstance(value, str | os.PathLike):
        return "a text"
    if kind.startswith("Collection[") and isinstance(value, str):
        return "a list, as [a, b]"
    return ""
