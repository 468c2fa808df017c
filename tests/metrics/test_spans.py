"""Passage metrics: values by hand, sets of characters as the oracle, and edge cases."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berryeval as be
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment, Query
from berryeval.data.spans import Territory, count_tokens
from berryeval.errors import MetricError
from berryeval.metrics.catalogue import definitions
from berryeval.relevance.strategies import Relevance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.data.spans import SpanRanking

Place = tuple[str, int, int]

# Ten words of four letters, each with a blank behind it: word n is [5n, 5n + 4).
TEXT = " ".join(f"wor{n}" for n in range(10)) + " "
SPANS = ["CharIoU", "TokenR", "TokenP", "PrecisionOmega", "FileR@3", "FileRR", "CharIoU@2"]


def target(start: int, end: int, document: str = "d", grade: float = 1, **group: str) -> Judgment:
    anchor = Anchor(document=document, start=start, end=end)
    return Judgment("q", anchor, grade, **group)  # type: ignore[arg-type]


def hit(rank: int, start: int, end: int, document: str = "d") -> Hit:
    return Hit(f"{document}{rank}", rank=rank, doc_id=document, start=start, end=end)


def value(
    name: str,
    judgments: list[Judgment],
    hits: list[Hit],
    *,
    chunks: list[Chunk] | None = None,
    texts: tuple[str, ...] = (TEXT, TEXT),
) -> float:
    """Compute a metric for the documents d and e."""
    documents = tuple(Document(name, text) for name, text in zip("de", texts, strict=True))
    benchmark = be.Benchmark("t", documents, (Query("q", "?"),), tuple(judgments))
    return be.evaluate_hits(benchmark, {"q": hits}, [name], chunks=chunks).mean[name]


def test_character_iou_by_hand() -> None:
    """20 wanted, 30 retrieved, 10 of them in common: 10 / 40."""
    assert value("CharIoU", [target(0, 20)], [hit(1, 10, 40)]) == 10 / 40
    assert value("iou@1", [target(0, 20)], [hit(1, 30, 40), hit(2, 0, 20)]) == 0.0
    assert value("CharIoU", [target(0, 20)], [hit(1, 0, 20)]) == 1.0


def test_touching_passages_share_nothing() -> None:
    for name in ("CharIoU", "TokenR", "TokenP"):
        assert value(name, [target(0, 20)], [hit(1, 20, 40)]) == 0.0
    chunks = [Chunk("a", "d", TEXT[:20], 0, 20), Chunk("b", "d", TEXT[20:], 20, 50)]
    assert value("PrecisionOmega", [target(20, 30)], [], chunks=chunks) == 10 / 30


def test_a_character_in_two_chunks_counts_once() -> None:
    hits = [hit(1, 0, 20), hit(2, 10, 30), hit(3, 0, 20)]
    assert value("CharIoU", [target(0, 30)], hits) == 1.0
    assert value("TokenP", [target(0, 15)], hits) == 3 / 6
    assert value("CharIoU", [target(0, 20), target(10, 30)], [hit(1, 0, 15)]) == 15 / 30


def test_a_token_belongs_to_the_passage_where_it_starts() -> None:
    assert count_tokens("Don't panic!") == 5
    assert value("TokenR", [target(0, 25)], [hit(1, 0, 6)]) == 2 / 5
    assert value("TokenR", [target(0, 25)], [hit(1, 1, 6)]) == 1 / 5
    assert value("TokenP", [target(0, 25)], [hit(1, 20, 35)]) == 1 / 3
    assert value("token_precision@1", [target(0, 25)], [hit(1, 26, 29), hit(2, 0, 5)]) == 0.0


def test_precision_omega_by_hand() -> None:
    chunks = [
        Chunk(f"c{start}", "d", TEXT[start : start + 10], start, start + 10)
        for start in (0, 10, 20, 30)
    ]
    assert value("PrecisionOmega", [target(5, 15)], [], chunks=chunks) == 10 / 20
    assert value("precision_omega", [target(5, 15), target(8, 12)], [], chunks=chunks) == 10 / 20
    assert value("PrecisionOmega", [target(35, 45)], [], chunks=chunks) == 5 / 15
    assert value("PrecisionOmega", [target(41, 45)], [], chunks=chunks) == 0.0
    overlapping = [*chunks, Chunk("o", "d", TEXT[5:15], 5, 15)]
    assert value("PrecisionOmega", [target(0, 10)], [], chunks=overlapping) == 10 / 15
    with pytest.raises(MetricError, match=r"PrecisionOmega of query 'q': .*pass them as chunks"):
        value("PrecisionOmega", [target(0, 10)], [])


def test_tokens_to_hit_by_hand() -> None:
    wanted = [target(40, 50)]
    assert value("TokensToHit", wanted, [hit(1, 0, 20), hit(2, 40, 50)]) == 4 + 2
    assert value("TokensToHit", wanted, [hit(1, 40, 50)]) == 2
    assert value("TokensToHit", wanted, [hit(1, 0, 20), hit(2, 0, 20, "e"), hit(3, 40, 50)]) == 10
    assert value("TokensToHit", wanted, [hit(1, 0, 20)]) == 8192
    assert value("TokensToHit", wanted, []) == 8192
    assert value("TokensToHit(budget=5)", wanted, [hit(1, 0, 20), hit(2, 40, 50)]) == 5


def test_file_metrics_by_hand() -> None:
    wanted = [target(0, 10, "d"), target(20, 30, "d"), target(0, 10, "e")]
    hits = [hit(1, 0, 5, "x"), hit(2, 5, 9, "x"), hit(3, 40, 45, "e")]
    assert value("FileRR", wanted, hits) == 1 / 2
    assert value("file_mrr@1", wanted, hits) == 0.0
    assert value("FileR@1", wanted, hits) == 0.0
    assert value("FileR@2", wanted, hits) == 1 / 2
    assert value("FileR@9", wanted, [*hits, hit(4, 40, 45, "d")]) == 1.0
    assert value("FileR@9", wanted, []) == value("FileRR", wanted, []) == 0.0


def test_evidence_completeness_by_hand() -> None:
    both = [target(0, 10), target(20, 30)]
    assert value("AllFound@1", both, [hit(1, 0, 30)]) == 1.0
    assert value("AllFound@1", both, [hit(1, 0, 10), hit(2, 20, 30)]) == 0.0
    assert value("evidence_completeness@2", both, [hit(1, 0, 10), hit(2, 20, 30)]) == 1.0
    assert value("AllFound@2", [], [hit(1, 0, 10)]) == 0.0
    run = {"q": {"a": 2.0, "b": 1.0}}
    scores = be.evaluate({"q": {"a": 1, "b": 2}}, run, ["AllFound@1", "AllFound(rel=2)@2"])
    assert list(scores.values[:, 0]) == [0.0, 1.0]


def test_repeated_text_counts_at_its_best_place() -> None:
    text = "same here. other text. same here. the end. "
    second = text.rindex("same here.")
    loose = Hit("h", rank=1, doc_id="d", text="same here.")
    wanted = [target(second, second + 10)]
    assert value("CharIoU", wanted, [loose], texts=(text, "")) == 1.0
    quote = [Judgment("q", Anchor(document="d", quote="same here."), 1)]
    assert value("CharIoU", quote, [hit(1, second, second + 10)], texts=(text, "")) == 1.0
    assert value("TokenR", quote, [hit(1, 0, 10)], texts=(text, "")) == 1.0


def test_groups_need_any_or_all_passages() -> None:
    of_any = [target(0, 10, group="g"), target(20, 30, group="g")]
    assert value("CharIoU", of_any, [hit(1, 20, 30)]) == 1.0
    of_all = [target(0, 10, group="g", need="all"), target(20, 30, group="g", need="all")]
    assert value("CharIoU", of_all, [hit(1, 20, 30)]) == 0.5
    assert value("TokenR", of_all, [hit(1, 0, 30)]) == 1.0


def test_grades_below_rel_are_not_wanted() -> None:
    graded = [target(0, 10, grade=1), target(20, 30, grade=2)]
    assert value("CharIoU(rel=2)", graded, [hit(1, 20, 30)]) == 1.0
    assert value("TokenR(rel=3)", graded, [hit(1, 20, 30)]) == 0.0
    assert value("FileR(rel=3)@5", graded, [hit(1, 20, 30)]) == 0.0


def test_documents_sections_and_chunks_have_characters() -> None:
    whole = [Judgment("q", Anchor(document="d"), 1)]
    assert value("CharIoU", whole, [hit(1, 0, 25)]) == 0.5
    text = "# A\n\none two\n\n# B\n\nthree\n"
    section = [Judgment("q", Anchor(document="d", section=("A",)), 1)]
    start = text.index("# B")
    assert value("CharIoU", section, [hit(1, 0, start)], texts=(text, "")) == 1.0
    chunks = [Chunk("c", "d", TEXT[:10], 0, 10)]
    judged = [Judgment("q", Anchor(chunk="c"), 1)]
    assert value("CharIoU", judged, [hit(1, 0, 20)], chunks=chunks) == 0.5


def test_the_file_of_a_judged_chunk_is_that_of_its_hit() -> None:
    chunk = [Judgment("q", Anchor(chunk="c9"), 1), Judgment("q", Anchor(chunk="f/g#s"), 1)]
    found = Hit("c9", rank=1, doc_id="d")
    assert value("FileR@5", chunk, [found]) == 0.5
    assert value("FileR@5", chunk, [found, Hit("f/g#t", rank=2)]) == 1.0
    assert value("FileRR", chunk, [Hit("x", rank=1, doc_id="c9")]) == 1.0


def test_texts_outside_documents_are_separate_passages() -> None:
    loose = Hit("x", rank=1, text="four words of noise")
    assert value("TokenP", [target(0, 20)], [loose, hit(2, 0, 20)]) == 4 / 8
    lost = [target(0, 20), Judgment("q", Anchor(document="d", quote="zzz yyy xxx vvv"), 1)]
    assert value("TokenR", lost, [hit(1, 0, 20)]) == 4 / 8


def test_an_empty_document_has_no_characters() -> None:
    empty = Hit("e", rank=1)
    assert value("CharIoU", [target(0, 10)], [empty, hit(2, 0, 10)], texts=(TEXT, "")) == 1.0
    assert value("TokensToHit", [target(0, 10)], [empty, hit(2, 0, 10)], texts=(TEXT, "")) == 2
    wanted = [Judgment("q", Anchor(document="e"), 1)]
    assert value("TokenR", wanted, [empty], texts=(TEXT, "")) == 0.0
    assert value("R@1", wanted, [empty], texts=(TEXT, "")) == 1.0


def test_a_hit_without_a_position_is_rejected() -> None:
    with pytest.raises(MetricError, match="hit 'ghost' has neither text nor a position"):
        value("CharIoU", [target(0, 10)], [Hit("ghost", rank=1)])
    with pytest.raises(MetricError, match="hit 'ghost' has neither text nor a position"):
        value("TokensToHit", [target(0, 10)], [Hit("ghost", rank=1), hit(2, 0, 10)])
    with pytest.raises(MetricError, match="the position of 'c9' is unknown"):
        value("TokenR", [Judgment("q", Anchor(chunk="c9"), 1)], [hit(1, 0, 10)])
    benchmark = be.Benchmark("t", (), (Query("q", "?"),), (target(0, 10),))
    assert be.evaluate_hits(benchmark, {"q": [hit(1, 0, 20)]}, ["CharIoU"]).mean["CharIoU"] == 0.5
    with pytest.raises(MetricError, match="the text of document 'd' is unknown"):
        be.evaluate_hits(benchmark, {"q": [hit(1, 0, 20)]}, ["TokenR"])


def test_hits_relevant_by_token_overlap_are_wanted() -> None:
    query = Query("q", "?", metadata={"answer": "blue whale"})
    hits = [Hit("a", 2.0, text="a red fox here"), Hit("b", 1.0, text="the blue whale")]
    scores = be.evaluate_hits(
        be.Benchmark("t", (), (query,)), {"q": hits}, ["TokenR", "TokenP", "FileRR"]
    )
    assert dict(scores.mean) == {"TokenR": 1.0, "TokenP": 3 / 7, "FileRR": 0.5}


def test_a_passage_metric_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    from berryeval.metrics import catalogue

    monkeypatch.setattr(catalogue, "_registered", {})

    @be.metric("Passages", kind="spans")
    def passages(ranking: SpanRanking) -> float:
        return len(ranking.passages)

    assert passages.__name__ == "passages"
    hits = [hit(1, 0, 10), hit(2, 30, 40)]
    assert value("Passages", [target(0, 10)], hits) == 2
    assert value("Passages(judged_only=True)", [target(0, 10)], hits) == 1


# Against sets of characters: slow, and plainly right.

documents = st.sampled_from(["d", "e"])
spans = st.tuples(documents, st.integers(0, 49), st.integers(1, 25)).map(
    lambda span: (span[0], span[1], min(50, span[1] + span[2]))
)
many = st.lists(spans, max_size=6, unique=True)
TOKENS = [match.start() for match in re.finditer(r"\w+|[^\w\s]", TEXT)]


def letters(passages: Iterable[Place]) -> set[tuple[str, int]]:
    return {(document, at) for document, start, end in passages for at in range(start, end)}


def divided(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0


@given(many, many, many, st.integers(1, 4))
@settings(max_examples=150)
def test_values_equal_sets_of_characters(
    wanted: list[Place],
    found: list[Place],
    cut: list[Place],
    k: int,
) -> None:
    judgments = [target(start, end, document) for document, start, end in wanted]
    hits = [hit(rank, s, e, d) for rank, (d, s, e) in enumerate(found, start=1)]
    chunks = [Chunk(f"c{n}", d, TEXT[s:e], s, e) for n, (d, s, e) in enumerate(cut)]
    benchmark = be.Benchmark(
        "t", (Document("d", TEXT), Document("e", TEXT)), (Query("q", "?"),), tuple(judgments)
    )
    names = [*SPANS, f"CharIoU@{k}", f"TokenR@{k}", f"TokenP@{k}"]
    values = be.evaluate_hits(benchmark, {"q": hits}, names, chunks=chunks).mean
    want, got = letters(wanted), letters(found[:k])
    assert values[f"CharIoU@{k}"] == divided(len(want & got), len(want | got))
    want_tokens = {one for one in want if one[1] in TOKENS}
    got_tokens = {one for one in got if one[1] in TOKENS}
    assert values[f"TokenR@{k}"] == divided(len(want_tokens & got_tokens), len(want_tokens))
    assert values[f"TokenP@{k}"] == divided(len(want_tokens & got_tokens), len(got_tokens))
    holding = letters([one for one in cut if letters([one]) & want])
    assert values["PrecisionOmega"] == divided(len(want & holding), len(want | holding))
    files = list(dict.fromkeys(document for document, _, _ in found))
    wanted_files = {document for document, _, _ in wanted}
    assert values["FileR@3"] == divided(len(wanted_files & set(files[:3])), len(wanted_files))
    assert all(0.0 <= one <= 1.0 for one in values.values())


@given(many, many)
def test_territories_behave_like_sets(one: list[Place], other: list[Place]) -> None:
    from berryeval.data.spans import Span

    first, second = (Territory(Span(*span) for span in spans) for spans in (one, other))
    both = first & second
    assert letters(both) == letters(one) & letters(other)
    parts = sorted(first)
    for before, after in itertools.pairwise(parts):
        assert before.document != after.document or before.end < after.start
    assert letters(parts) == letters(one)


def test_the_page_describes_passage_metrics() -> None:
    kinds = [definition for definition in definitions().values() if definition.kind == "spans"]
    assert len(kinds) == 7
    assert not any(definition.native for definition in kinds)


def test_relevance_returns_the_passages_of_a_ranking() -> None:
    benchmark = be.Benchmark("t", (Document("d", TEXT),), (Query("q", "?"),), (target(0, 10),))
    judge = Relevance(benchmark)
    ranking = judge.as_spans(judge.judge("q", [hit(1, 5, 15)]))
    assert ranking.shared(1.0) == (5, 10, 10)
    assert ranking.passages[0].files == ("d",)
