"""Rankings with hits that cover several judged passages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.data.judged import JudgedHit, JudgedRanking
from berryeval.metrics.base import REQUIRED
from berryeval.metrics.catalogue import definitions
from berryeval.metrics.grammar import parse_metric

# Not shares of anything: counts, sums of gains, log odds.
UNBOUNDED = {
    "NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelJudgedRet",
    "Utility", "DCG", "IDCG", "Yaap",
}  # fmt: skip
REQUIRED_VALUES = {"cutoff": 3, "recall": 0.5, "mult": 0.5, "max_rel": 3.0}
METRICS = [
    definition(
        **{
            parameter.name: REQUIRED_VALUES[parameter.name]
            for parameter in definition.parameters
            if parameter.default is REQUIRED
        }
    )
    for definition in definitions().values()
    if definition.kind == "ranking" and definition.name not in UNBOUNDED
]


@st.composite
def covered(draw: st.DrawFn) -> JudgedRanking:
    """Draw targets that one hit may cover together."""
    ideal = draw(st.lists(st.sampled_from([0, 1, 2, 3]), max_size=7))
    retrieved = draw(st.integers(0, 8))
    found: dict[int, list[float]] = {}
    for grade in ideal:
        rank = draw(st.integers(0, retrieved))
        if rank:
            worth = draw(st.integers(min(grade, 1), grade))
            found.setdefault(rank, []).append(worth)
    for rank in draw(st.sets(st.integers(1, retrieved))) if retrieved else ():
        found.setdefault(rank, [0])  # repeats something found above, or a part of a group
    hits, also = [], []
    for rank in sorted(found):
        best, *others = sorted(found[rank], reverse=True)
        hits.append(JudgedHit(rank, best))
        also += [JudgedHit(rank, grade) for grade in others]
    return JudgedRanking(hits, retrieved, sorted(ideal, reverse=True), also)


@settings(max_examples=500)
@given(judged=covered())
def test_shares_stay_between_0_and_1(judged: JudgedRanking) -> None:
    """However many passages one hit covers."""
    values = {str(metric): metric(judged) for metric in METRICS}
    assert not {name: value for name, value in values.items() if not 0 <= value <= 1}


@given(judged=covered())
def test_recall_counts_every_passage_of_a_hit(judged: JudgedRanking) -> None:
    found = [*judged.hits, *judged.also]
    total = judged.relevant_total(1)
    expected = sum(hit.grade >= 1 for hit in found) / total if total else 0.0
    assert parse_metric("SetR")(judged) == expected
    assert parse_metric("NumRelRet")(judged) == sum(hit.grade >= 1 for hit in found)


ONE_OF_TWO = JudgedRanking(
    [JudgedHit(1, 0), JudgedHit(2, 2), JudgedHit(4, 1)], 4, [2, 1, 1, 1], [JudgedHit(2, 1)]
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("R@2", 2 / 4),
        ("R@4", 3 / 4),
        ("P@4", 2 / 4),
        ("RelP@2", 2 / 2),
        ("F1@4", 2 * (2 / 4) * (3 / 4) / (2 / 4 + 3 / 4)),
        ("Rprec", 3 / 4),
        ("RprecMult(mult=0.25)", 0.0),
        ("RprecMult(mult=0.5)", 2 / 2),
        ("SetP", 2 / 4),
        ("SetR", 3 / 4),
        ("SetRelP", 3 / 4),
        ("SetAP", 2 * 3 / (4 * 4)),
        ("AP", (1 / 2 + 1 / 2 + 2 / 4) / 4),
        ("IPrec@0.5", 1 / 2),
        ("IPrec@0.75", 2 / 4),
        ("IPrec@1", 0.0),
        ("NumRelRet", 3),
        ("NumRelRet@2", 2),
        ("Utility", 3 - 2),
        ("RR", 1 / 2),
        ("Bpref", 3 / 4),  # the hit above is a repeat, and nothing was judged nonrelevant
        ("Judged@4", 3 / 4),
        ("Success@1", 0.0),
    ],
)
def test_a_hit_of_two_passages_by_hand(name: str, expected: float) -> None:
    assert parse_metric(name)(ONE_OF_TWO) == pytest.approx(expected)
