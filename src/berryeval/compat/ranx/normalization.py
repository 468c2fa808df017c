"""Normalizations of ranx: the scores of each ranking on one scale.

Denominators are at least 1e-9, as in ranx.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from berryeval._internal.validate import suggest
from berryeval.compat.ranx.data_structures import Run
from berryeval.errors import ConfigurationError
from berryeval.fusion import FusionModel, align_queries, fuse_tables

_ALL_RUNS: Final = "borda"


def _normalize(run: Run, norm: str) -> Run:
    """Return the run with normalized scores: its fusion with no other run."""
    table = run.columns.table
    recipe = FusionModel("sum", norm, profile="ranx").build([table])
    return Run.from_table(fuse_tables([table], *align_queries([table]), recipe), run.name)


def min_max_norm(run: Run, invert: bool = False) -> Run:
    """Return scores from 0 to 1; `invert` makes the lowest score 1."""
    return _normalize(run, "min-max-inverted" if invert else "min-max")


def max_norm(run: Run) -> Run:
    """Return scores divided by the highest of their ranking."""
    return _normalize(run, "max")


def sum_norm(run: Run) -> Run:
    """Return scores above the lowest, divided by their sum."""
    return _normalize(run, "sum")


def zmuv_norm(run: Run) -> Run:
    """Return scores with mean 0 and variance 1."""
    return _normalize(run, "zmuv")


def rank_norm(run: Run) -> Run:
    """Return scores that fall evenly with the rank, from 1."""
    return _normalize(run, "rank")


def borda_norm(runs: Sequence[Run]) -> list[Run]:
    """Return points for each document that any run has found for the query."""
    tables = [run.columns.table for run in runs]
    queries = align_queries(tables)
    found = []
    for place, run in enumerate(runs):
        weights = tuple(float(other == place) for other in range(len(runs)))
        recipe = FusionModel("wsum", "borda", weights, profile="ranx").build(tables)
        found.append(Run.from_table(fuse_tables(tables, *queries, recipe), run.name))
    return found


_NORMS: Final[dict[str, Callable[..., Any]]] = {
    "borda": borda_norm,
    "max": max_norm,
    "min-max": min_max_norm,
    "min-max-inverted": lambda run: min_max_norm(run, invert=True),
    "rank": rank_norm,
    "sum": sum_norm,
    "zmuv": zmuv_norm,
}


def find_norm(norm: str | None) -> str | None:
    """Return the name of a normalization in BerryEval; None for none."""
    name = norm.replace("_", "-") if isinstance(norm, str) else norm
    if name is not None and name not in _NORMS:
        raise ConfigurationError(
            f"ranx has no normalization {norm!r:.80}; {suggest(str(norm), _NORMS)}"
        )
    return name


def norm_switch(method: str = "min-max") -> Callable[..., Any]:
    """Return the function of a normalization by its name."""
    name = find_norm(method)
    return _NORMS[name or "min-max"]


def normalize(run: Run, norm: str = "min-max") -> Any:
    """Return a run with normalized scores; "borda" takes a list of runs."""
    return norm_switch(norm)(run)


# In ranx each function has a module of its own, named as the function.
_PARTS: Final = ("borda_norm", "max_norm", "min_max_norm", "rank_norm", "sum_norm", "zmuv_norm")
sys.modules.update({f"{__name__}.{part}": sys.modules[__name__] for part in _PARTS})
