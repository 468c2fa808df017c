"""The table of loaders: one module per format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval._internal.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


@dataclass(frozen=True)
class Loader:
    """A benchmark format.

    Attributes:
        summary: Description in a few words.
        signs: Files or fields by which the format is recognized.
        recognises: Whether a source has these signs.
        load: Function that loads the benchmark; its keyword arguments are the format's options.
    """

    summary: str
    signs: str
    recognises: Callable[[Source], bool]
    load: Callable[..., Benchmark]


_HERE: Final = "berryeval.benchmarks.loaders"

LOADERS: Final[Registry[Loader]] = Registry(
    "loader",
    {
        "berryeval": f"{_HERE}.own:LOADER",
        "jsonl": f"{_HERE}.own:JSONL",
        "golden-set": f"{_HERE}.golden_set:LOADER",
        "technical-docs": f"{_HERE}.technical_docs:LOADER",
        "rag-template": f"{_HERE}.rag_template:LOADER",
        "beir": f"{_HERE}.beir:LOADER",
        "trec": f"{_HERE}.trec:LOADER",
        "locomo": f"{_HERE}.locomo:LOADER",
        "longmemeval": f"{_HERE}.longmemeval:LOADER",
        "code-retrieval": f"{_HERE}.code_retrieval:LOADER",
        "csv": f"{_HERE}.table:LOADER",
        "ragas": f"{_HERE}.ragas:LOADER",
        "deepeval": f"{_HERE}.deepeval:LOADER",
        "quepid": f"{_HERE}.quepid:LOADER",
        "rre": f"{_HERE}.rre:LOADER",
        "rank-eval": f"{_HERE}.rank_eval:LOADER",
        "autorag": f"{_HERE}.autorag:LOADER",
    },
)
