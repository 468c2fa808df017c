"""`benchmark.json`: what a benchmark is called, and all there is to say about it as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import DataError
from berryeval.io.json_text import read_json_node

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.source import Source
    from berryeval.io.json_node import Node

__all__ = ["ABOUT", "about_of", "read_about", "read_about_node"]

ABOUT: Final = "benchmark.json"
_TEXTS: Final = ("name", "version", "description", "pack")


def read_about(source: Source) -> dict[str, Any]:
    """The fields of the folder's `benchmark.json`; none if there is no such file."""
    if not source.has(ABOUT):
        return {}
    return read_about_node(read_json_node(source.file(ABOUT)))


def read_about_node(node: Node) -> dict[str, Any]:
    """The fields of a `Benchmark` that an object gives; names it does not know become metadata."""
    fields: dict[str, Any] = {}
    for name in _TEXTS:
        found = node.get(name)
        if found is not None:
            fields[name] = found.text()
    thresholds = node.get("thresholds")
    if thresholds is not None:
        fields["thresholds"] = {name: value.number() for name, value in thresholds.fields()}
    metadata = node.get("metadata")
    known = {} if metadata is None else metadata.object()
    unknown = node.besides(*_TEXTS, "thresholds", "metadata")
    both = sorted(known.keys() & unknown.keys())
    if both:
        msg = f"{node.where}: {both[0]!r} stands at the top and in metadata; keep one of them"
        raise DataError(msg)
    if unknown or known:
        fields["metadata"] = {**unknown, **known}
    return fields


def about_of(benchmark: Benchmark) -> dict[str, Any]:
    """The object from which `read_about_node` makes the same fields."""
    about: dict[str, Any] = {name: getattr(benchmark, name) for name in _TEXTS}
    about["thresholds"] = dict(benchmark.thresholds)
    about["metadata"] = dict(benchmark.metadata)
    return {name: value for name, value in about.items() if value or name == "name"}
