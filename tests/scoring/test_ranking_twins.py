"""The native ordering rule equals `RankingRule.order`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run
from berryeval.metrics.base import native_spec
from berryeval.metrics.grammar import parse_metrics
from berryeval.scoring import engine

native = pytest.importorskip(
    "berryeval._native", reason="this installation was built without a C++ compiler"
)

documents = st.sampled_from(
    [f"d{n}" for n in range(30)] + ["é", "d", "d00", "", "a long name " * 3]
)
# Few different scores, so that there are ties; two that are one in single precision.
numbers = st.sampled_from([0.0, -0.0, 1.0, 1 + 2**-40, 2.5, float("inf"), float("-inf")])
tables = st.dictionaries(documents, numbers, max_size=35)
rules = st.builds(
    RankingRule,
    st.sampled_from(["document descending", "document ascending", "given order"]),
    st.booleans(),
    st.none() | st.integers(1, 10),
)


@settings(max_examples=300)
@given(tables, st.dictionaries(documents, st.integers(-1, 3), min_size=1), rules)
def test_the_native_ranking_follows_the_rule(
    run: dict[str, float], grades: dict[str, int], rule: RankingRule
) -> None:
    qrels, results = Qrels.from_dict({"q": grades}), Run.from_dict({"q": run})
    metrics = parse_metrics([*(f"P@{k}" for k in range(1, 36)), "nDCG", "AP"])
    matches = np.zeros(1, dtype=np.int64)
    for distinct in (True, False):
        specs = [native_spec(metric) for metric in metrics]
        ours = np.zeros((len(metrics), 1))
        counts = np.zeros((1, 4), dtype=np.int64)
        arrays = (*results.table.arrays[:4], distinct)
        native.evaluate(
            qrels.table.arrays, arrays, matches, specs,
            rule.ties, rule.single_precision, rule.depth or 0, ours, counts, 1,
        )  # fmt: skip
        theirs, other_counts = np.zeros_like(ours), np.zeros_like(counts)
        engine._score_in_python(
            qrels, results.table, matches, metrics, list(range(len(metrics))), rule,
            theirs, other_counts,
        )  # fmt: skip
        assert ours.tobytes() == theirs.tobytes()
        assert counts.tolist() == other_counts.tolist()


def test_ids_of_every_length_are_distinguished() -> None:
    names = {
        "".join(letters) for size in range(1, 4) for letters in itertools.product("ab", repeat=size)
    }
    for size in range(1, 26):
        for place in range(size):
            names.add("a" * place + "b" + "a" * (size - place - 1))
    run = Run.from_dict({"q": {name: float(rank) for rank, name in enumerate(sorted(names))}})
    for name in list(names)[::7]:
        scores = engine.evaluate({"q": {name: 1}}, run, ["P@1", "AP"])
        rank = len(names) - sorted(names).index(name)
        assert scores.mean["AP"] == 1 / rank
