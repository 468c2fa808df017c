"""The names and options of a configuration file: what nobody knows is said with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from berryeval.benchmarks.load import check_source
from berryeval.chunkers import parse_chunker
from berryeval.errors import ConfigurationError, DataError
from berryeval.pipeline.provider_options import Part, check_provider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.pipeline.config_file import Path, Places
    from berryeval.pipeline.plan import BenchmarkSpec, Plan, ProviderSpec

__all__ = ["check_parts"]


def check_parts(plan: Plan, places: Places) -> None:
    """Refuse what nobody knows, with the line where it stands; what stands in no file is skipped.

    Later the run looks at all of it again; here only the place is known.
    """
    for number, source in enumerate(plan.benchmarks):
        if places.where(("benchmarks", number)):
            _check_benchmark(source, ("benchmarks", number), places)
    for number, spec in enumerate(plan.providers):
        if places.where(("providers", number)):
            _check_provider(spec, ("providers", number), places)


def _check_benchmark(source: str | BenchmarkSpec, path: Path, places: Places) -> None:
    if isinstance(source, str):
        with _told(places, path, None):
            check_source(source, None, {})
        return
    with _told(places, path, {"format": source.format, "options": source.options}):
        check_source(source.source, source.format or None, source.options)


def _check_provider(spec: ProviderSpec, path: Path, places: Places) -> None:
    check_provider(
        Part(spec.type, spec.options, path, {"options": spec.options}),
        f"provider {spec.label!r}",
        lambda part: _told(places, part.path, part.inside),
    )
    if spec.chunker:
        with _told(places, (*path, "chunker"), None):
            parse_chunker(spec.chunker)


@contextmanager
def _told(places: Places, path: Path, inside: Any) -> Iterator[None]:
    """Put the place in front of what is wrong: of the part that the message names, if one is."""
    try:
        yield
    except (ConfigurationError, DataError) as error:
        fault = str(error).partition(";")[0]  # what follows is what else there is
        named = next(_named_in(fault, inside, path), path)
        msg = f"{places.where(named)}: {error}"
        raise type(error)(msg) from None


def _named_in(message: str, value: Any, path: Path) -> Iterator[Path]:
    """The parts that a message names: by key, by value, or by the variable that they hold."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            here = (*path, str(key))
            yield from _named_in(message, inner, here)
            if re.search(rf"(?<![\w.]){re.escape(str(key))}(?![\w.])", message):
                yield here
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _named_in(message, inner, (*path, number))
    elif isinstance(value, str):
        names = re.findall(r"\$\{(\w+)", value)
        if repr(value) in message or any(re.search(rf"\b{name}\b", message) for name in names):
            yield path
