"""Tests of credit: each target counts once, at the first hit that covers it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.targets import Targets
from berryeval.data.records import Anchor, Document, Hit, Judgment
from berryeval.metrics.grammar import parse_metric
from tests.anchors.worlds import chunkings, corpora, judged

if TYPE_CHECKING:
    from berryeval.data.judged import JudgedRanking
    from berryeval.data.records import Need

TEXT = "0123456789" * 10


def hit(start: int, end: int) -> Hit:
    """Create a hit at these characters."""
    return Hit(f"{start}-{end}", doc_id="d", start=start, end=end)


def judgment(
    start: int, end: int, grade: float = 1, group: str = "", need: Need = "any"
) -> Judgment:
    """Create a judgment of these characters."""
    return Judgment("q", Anchor(document="d", start=start, end=end), grade, group, need)


def ranking(judgments: list[Judgment], *hits: Hit) -> JudgedRanking:
    """Judge these hits."""
    return Targets.locate(judgments, [Document("d", TEXT)]).judge("q", hits)


def test_target_is_credited_once_at_the_first_covering_hit() -> None:
    """Overlapping chunks and repeats are judged with grade 0."""
    found = ranking([judgment(10, 20, 2)], hit(50, 60), hit(10, 20), hit(5, 25), hit(10, 20))
    assert found.hits == ((2, 2), (3, 0), (4, 0))
    assert found.also == ()
    assert found.grades == (2,)
    assert found.retrieved == 4


def test_hit_that_covers_several_targets_gets_the_best_grade_and_finds_all() -> None:
    found = ranking([judgment(10, 20, 1), judgment(20, 30, 3), judgment(30, 40, 2)], hit(0, 50))
    assert found.hits == ((1, 3),)
    assert found.also == ((1, 2), (1, 1))
    assert parse_metric("R@1")(found) == 1.0
    assert parse_metric("P@1")(found) == 1.0
    assert parse_metric("AP")(found) == 1.0
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert parse_metric("nDCG@5")(found) == pytest.approx(3 / ideal)


def test_any_member_of_a_group_is_enough() -> None:
    """The ideal grade is that of the best member, the gain that of the member found."""
    group = [judgment(0, 10, 3, "g"), judgment(20, 30, 1, "g"), judgment(40, 50, 1)]
    found = ranking(group, hit(20, 30), hit(0, 10), hit(40, 50))
    assert found.grades == (3, 1)
    assert found.hits == ((1, 1), (2, 0), (3, 1))
    assert parse_metric("R@3")(found) == 1.0
    assert ranking(group, hit(0, 30)).hits == ((1, 3),)


def test_group_that_needs_all_is_found_at_the_hit_that_completes_it() -> None:
    group = [judgment(0, 10, 1, "g", "all"), judgment(20, 30, 2, "g", "all")]
    found = ranking(group, hit(0, 10), hit(60, 70), hit(20, 30), hit(0, 30))
    assert found.grades == (2,)
    assert found.hits == ((1, 0), (3, 2), (4, 0))
    assert ranking(group, hit(0, 10)).hits == ((1, 0),)
    assert ranking(group, hit(0, 30)).hits == ((1, 2),)


def test_groups_are_separate_per_query() -> None:
    other = Judgment("p", Anchor(document="d", start=0, end=10), 1, "g", "all")
    targets = Targets.locate(
        [judgment(0, 10, 1, "g"), other, judgment(0, 10), judgment(30, 40, need="all")],
        [Document("d", TEXT)],
    )
    assert [len(target.members) for target in targets.of("q")] == [1, 1, 1]
    assert len(targets.of("p")) == 1
    assert targets.judge("q", [hit(0, 10)]).grades == (1, 1, 1)
    assert targets.judge("q", [hit(0, 10)]).also == ((1, 1),)


def test_hit_is_unjudged_only_if_it_covers_no_target() -> None:
    """Targets with a negative grade count as unjudged."""
    found = ranking(
        [judgment(0, 10, 0), judgment(20, 30, -1)], hit(0, 10), hit(20, 30), hit(60, 70)
    )
    assert found.hits == ((1, 0), (2, -1))
    assert ranking([judgment(20, 30, -1)], hit(20, 30), hit(20, 30)).hits == ((1, -1), (2, -1))
    both = [judgment(0, 10, 1), judgment(5, 15, -1)]
    assert ranking(both, hit(0, 4), hit(0, 15)).hits == ((1, 1), (2, 0))


def test_ideal_ranking_contains_all_targets() -> None:
    """Three relevant targets, k = 5: 1 + 1/log2(3) + 1/2."""
    judgments = [judgment(0, 10), judgment(20, 30), judgment(40, 50)]
    ideal = parse_metric("IDCG@5")
    assert round(ideal(ranking(judgments)), 4) == 2.1309
    assert round(ideal(ranking(judgments, hit(0, 10))), 4) == 2.1309
    assert round(ideal(ranking(judgments, hit(0, 50))), 4) == 2.1309
    assert parse_metric("IDCG@2")(ranking(judgments)) == 1 + 1 / math.log2(3)
    assert round(parse_metric("nDCG@5")(ranking(judgments, hit(0, 10))), 4) == round(1 / 2.1309, 4)


def test_unresolved_targets_lower_recall() -> None:
    judgments = [judgment(0, 10), judgment(900, 910)]
    found = ranking(judgments, hit(0, 10))
    assert parse_metric("R@10")(found) == 0.5
    group = [judgment(0, 10, 1, "g", "all"), judgment(900, 910, 1, "g", "all")]
    assert ranking(group, hit(0, 10)).hits == ((1, 0),)


@given(st.data())
def test_no_hits_give_a_target_credit_twice_or_a_metric_above_1(data: st.DataObject) -> None:
    documents = data.draw(corpora())
    chunks = data.draw(chunkings(documents))
    judgments = data.draw(judged(documents, chunks))
    hits = data.draw(st.lists(st.sampled_from(chunks), max_size=10)) if chunks else []
    targets = Targets.locate(judgments, documents)
    for query in targets.queries:
        join = targets.join(query, hits)
        found = join.ranking
        for target, covering, credit in zip(
            targets.of(query), join.covering, join.credits, strict=True
        ):
            firsts = [min(one, default=None) for one in covering]
            known = [first for first in firsts if first is not None]
            if target.need == "all":
                complete = len(known) == len(firsts)
                assert (credit.rank if credit else None) == (max(known) + 1 if complete else None)
            else:
                assert (credit.rank if credit else None) == (min(known) + 1 if known else None)
            assert credit is None or credit.grade <= target.grade
        positive = [credit for credit in join.credits if credit and credit.grade > 0]
        assert sum(one.grade > 0 for one in (*found.hits, *found.also)) == len(positive)
        assert len({one.rank for one in found.hits}) == len(found.hits)
        assert {one.rank for one in found.also} <= {one.rank for one in found.hits}
        touched = {number for target in join.covering for one in target for number in one}
        assert {one.rank - 1 for one in found.hits} == touched
        for name in ("R@1", "R@5", "R@100", "nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@5", "AP"):
            assert 0 <= parse_metric(name)(found) <= 1 + 1e-12, name


@given(st.data())
def test_more_hits_never_lower_recall(data: st.DataObject) -> None:
    documents = data.draw(corpora())
    chunks = data.draw(chunkings(documents))
    targets = Targets.locate(data.draw(judged(documents, chunks)), documents)
    recall: Any = parse_metric("SetR")
    for query in targets.queries:
        values = [recall(targets.judge(query, chunks[:count])) for count in range(len(chunks) + 1)]
        assert values == sorted(values)
