"""Strategies for judgments, runs and metrics."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from berryeval.metrics.base import CHOICES

if TYPE_CHECKING:
    from berryeval.metrics.base import Definition, Metric, Parameter

Rows = dict[str, dict[str, float]]

WHOLE_GRADES = (-2, -1, 0, 0, 1, 1, 2, 3, 4)
ANY_GRADES = (*WHOLE_GRADES, -0.5, 0.25, 0.5, 1.75)
# Few scores make ties; 1 and 1 + 2^-30 are a tie in single precision only.
SCORES = (0.0, 1.0, 1.0 + 2**-30, 2.0, -3.5, 7.25)


@st.composite
def documents(
    draw: st.DrawFn, grades: tuple[float, ...] = ANY_GRADES
) -> list[tuple[float | None, float | None]]:
    """Draw up to 40 documents, each with or without a grade and a score."""
    size = draw(st.integers(0, 40))
    drawn = draw(st.binary(min_size=size, max_size=size))
    kinds = [*itertools.product((None, None, None, *grades), (None, None, None, *SCORES))]
    return [kinds[byte % len(kinds)] for byte in drawn]


@st.composite
def judged_runs(draw: st.DrawFn, grades: tuple[float, ...] = ANY_GRADES) -> tuple[Rows, Rows]:
    """Draw judgments and a run that overlap in part."""
    qrels: Rows = {}
    run: Rows = {}
    for query in [f"q{number}" for number in range(draw(st.integers(1, 2)))]:
        drawn = draw(documents(grades))
        qrels[query] = {f"d{i}": g for i, (g, _) in enumerate(drawn) if g is not None}
        run[query] = {f"d{i}": s for i, (_, s) in enumerate(drawn) if s is not None}
        if not run[query] and draw(st.booleans()):
            del run[query]
    return qrels, run


levels = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 0.5])
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(1, 20),
    "Count": st.integers(0, 1000),
    "float": st.one_of(st.sampled_from([0.0, 1.0, 2.0]), st.floats(-2.0, 5.0)),
    "Positive": st.floats(0.01, 4.0),
    "Share": st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0)),
    "Shares": st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    "bool": st.booleans(),
    "Gains": st.dictionaries(levels, st.floats(-2.0, 9.0), min_size=1, max_size=5),
    **{kind: st.sampled_from(words) for kind, words in CHOICES.items()},
}


def values_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Draw a value that a parameter accepts, or its default."""
    if parameter.base_kind not in KINDS:
        return st.just(parameter.default)
    values = KINDS[parameter.base_kind]
    return values if parameter.required else st.just(parameter.default) | values


@functools.cache  # a strategy that is new in every example is also checked in every example
def metrics_of(definition: Definition) -> st.SearchStrategy[Metric]:
    """Draw a metric with any parameters."""
    choices = {parameter.name: values_of(parameter) for parameter in definition.parameters}
    drawn = st.fixed_dictionaries(choices).filter(_rises)
    return drawn.map(lambda chosen: definition(**chosen))


def _rises(chosen: dict[str, Any]) -> bool:
    """Whether min_rel is below max_rel."""
    return "min_rel" not in chosen or chosen["min_rel"] < chosen["max_rel"]
