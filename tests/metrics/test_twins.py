"""Every native metric equals its reference, to the bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.data import judge_documents
from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run, Ties
from berryeval.metrics.base import native_spec
from berryeval.metrics.catalogue import definitions
from tests.metrics.rankings import Rows, judged_runs, metrics_of

if TYPE_CHECKING:
    from berryeval.metrics.base import Metric

native = pytest.importorskip(
    "berryeval._native", reason="this installation was built without a C++ compiler"
)
NATIVE = [name for name, definition in definitions().items() if definition.native]
TIES: tuple[Ties, ...] = ("document descending", "document ascending", "given order")
rules = st.builds(
    RankingRule,
    ties=st.sampled_from(TIES),
    single_precision=st.booleans(),
    depth=st.none() | st.integers(1, 8),
)


def by_reference(
    qrels: Rows, run: Rows, metrics: list[Metric], rule: RankingRule
) -> list[list[float]]:
    """Compute a row of values per metric with the reference functions."""
    judgments, results = Qrels.from_dict(qrels).table, Run.from_dict(run).table
    places = {query: place for place, query in enumerate(run)}
    judged = [
        judge_documents(judgments, index, results, places.get(query), rule)
        for index, query in enumerate(qrels)
    ]
    return [[metric(ranking) for ranking in judged] for metric in metrics]


def by_native(
    qrels: Rows, run: Rows, metrics: list[Metric], rule: RankingRule
) -> list[list[float]]:
    """Compute a row of values per metric with the native core."""
    places = {query: place for place, query in enumerate(run)}
    matches = np.array([places.get(query, -1) for query in qrels], dtype=np.int64)
    values = np.full((len(metrics), len(qrels)), np.nan)
    counts = np.zeros((len(qrels), 4), dtype=np.int64)
    tables = (Qrels.from_dict(qrels).table, Run.from_dict(run).table)
    duplicate = native.evaluate(
        *(table.arrays for table in tables), matches, list(map(native_spec, metrics)),
        rule.ties, rule.single_precision, rule.depth or 0, values, counts, 1,
    )  # fmt: skip
    assert duplicate is None
    rows: list[list[float]] = values.tolist()
    return rows


@pytest.mark.parametrize("name", NATIVE)
@given(data=st.data(), tables=judged_runs(), rule=rules)
@settings(max_examples=60)
def test_native_equals_reference(
    name: str, data: st.DataObject, tables: tuple[Rows, Rows], rule: RankingRule
) -> None:
    metrics = [data.draw(metrics_of(definitions()[name])) for _ in range(6)]
    ours, theirs = by_reference(*tables, metrics, rule), by_native(*tables, metrics, rule)
    for metric, one, other in zip(metrics, ours, theirs, strict=True):
        assert [value.hex() for value in one] == [value.hex() for value in other], metric


def test_the_native_table_holds_the_native_metrics() -> None:
    assert sorted(native.metric_names()) == sorted(NATIVE)


def test_unknown_parameters_and_words_are_rejected() -> None:
    name, numbers, words, lists, gains = native_spec(definitions()["nDCG"]())
    for spec, message in [
        ((name, {**numbers, "nope": 1.0}, words, lists, gains), "unknown parameter 'nope'"),
        ((name, numbers, {"dcg": "nope"}, lists, gains), "unknown choice 'nope' for 'dcg'"),
        ((name, numbers, {"nope": "log2"}, lists, gains), "unknown parameter 'nope'"),
        ((name, numbers, words, {"nope": [1.0]}, gains), "unknown parameter 'nope'"),
        (("nope", numbers, words, lists, gains), "no native metric 'nope'"),
        ((name, {"cutoff": 0.0}, words, lists, gains), "a cutoff must be 1 or more"),
    ]:
        with pytest.raises(ValueError, match=message):
            scored_by_native(spec)


def scored_by_native(spec: object) -> None:
    """Score one query with a native spec."""
    tables = [Qrels.from_dict({"q": {"d": 1}}).table.arrays] * 2
    native.evaluate(
        *tables, np.zeros(1, np.int64), [spec], TIES[0], False, 0,
        np.zeros((1, 1)), np.zeros((1, 4), np.int64), 1,
    )  # fmt: skip


@pytest.mark.parametrize("name", NATIVE)
def test_a_missing_parameter_is_rejected(name: str) -> None:
    definition = definitions()[name]
    given = {p.name: 1 for p in definition.parameters if p.required}
    _, numbers, words, lists, gains = native_spec(definition(**given))
    scored_by_native((name, numbers, words, lists, gains))
    for parameter in definition.parameters:
        left: list[Any] = [
            {key: value for key, value in part.items() if key != parameter.name}
            for part in (numbers, words, lists)
        ]
        if parameter.kind.endswith("| None") or parameter.name == "judged_only":
            scored_by_native((name, *left, gains))
        else:
            with pytest.raises(
                ValueError, match=f"^{name} needs the parameter '{parameter.name}'$"
            ):
                scored_by_native((name, *left, gains))
