"""`berryeval.run_benchmark`: the whole job from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.errors import ConfigurationError
from berryeval.workflows.provider_run import SilentListener
from tests.cli.eval_world import DRINKS

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.runner.outcome import Ranking


def test_a_benchmark_in_memory_needs_no_file() -> None:
    result = be.run_benchmark(DRINKS, ["bm25"], ["RR"], limit=3)
    assert result.benchmark is DRINKS
    assert [query.id for query in result.queries] == ["q1", "q2", "q3"]
    scores = result["bm25"].scores
    assert scores is not None
    assert scores.mean["RR"] == 1.0


def test_arguments_can_give_all_settings_of_a_file() -> None:
    named = {"name": "strict", "type": "bm25", "chunker": "fixed-5", "options": {"k1": 0.5}}
    result = be.run_benchmark(
        DRINKS, ["bm25", named], k=3, filter={"category": "factual"}, concurrency=1, timeout=5
    )
    assert [one.name for one in result.providers] == ["bm25", "strict"]
    assert len(result.queries) == 2


def test_a_folder_is_reused(tmp_path: Path) -> None:
    first, second = _Counting(), _Counting()
    one = be.run_benchmark(DRINKS, ["bm25"], folder=tmp_path / "run", listener=first)
    two = be.run_benchmark(DRINKS, ["bm25"], folder=tmp_path / "run", listener=second)
    assert (first.answers, second.answers) == (4, 0)
    assert one["bm25"].scores == two["bm25"].scores
    assert (tmp_path / "run" / "drinks" / "bm25" / "scores.json").exists()
    with pytest.raises(ConfigurationError, match="holds another run"):
        be.run_benchmark(DRINKS, ["bm25"], folder=tmp_path / "run", k=2)


def test_a_folder_with_all_answers_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = f"{tmp_path / 'run'} holds the whole run of "
    be.run_benchmark(DRINKS, _found_first, ["RR"], folder=tmp_path / "run")
    assert not [line for line in caplog.messages if line.startswith(said)]
    be.run_benchmark(DRINKS, _found_first, ["RR"], folder=tmp_path / "run")
    (line,) = [line for line in caplog.messages if line.startswith(said)]
    assert "nothing was asked" in line
    assert line.endswith("give another folder or remove this one")


def _found_first(text: str, k: int) -> list[str]:
    del text
    return ["tea"][:k]


def test_a_result_has_a_one_line_repr() -> None:
    result = be.run_benchmark(DRINKS, ["bm25", "bm25:fixed-5"], ["RR", "P@5"], limit=3)
    means = [one.scores.mean for one in result.providers]
    rr, shorter = (f"{mean['RR']:.4f}" for mean in means)
    assert repr(result) == (
        f"BenchmarkResult('drinks', 3 queries, 'bm25' RR={rr}, 'bm25:fixed-5' RR={shorter})"
    )
    assert repr(result["bm25"]) == f"ProviderResult('bm25', RR={rr}, P@5={means[0]['P@5']:.4f})"
    report = be.compare_runs(result)
    for one in (result.record, result.run, report, report.sections[0].systems[0]):
        assert len(repr(one)) < 250


class _Counting:
    def __init__(self) -> None:
        self.answers = 0

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        assert (benchmark, provider, total) == ("drinks", "bm25", 4)
        assert done in {0, 4}

    def indexing(self, done: int, total: int) -> None:
        assert 0 <= done <= total

    def answered(self, ranking: Ranking) -> None:
        assert ranking.outcome in {"ok", "empty"}
        self.answers += 1

    def end(self) -> None:
        pass


class _Indexing(SilentListener):
    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def indexing(self, done: int, total: int) -> None:
        self.seen.append((done, total))


def test_the_progress_of_indexing_is_reported() -> None:
    documents = tuple(Document(f"d{n}", f"Number {n}.") for n in range(1200))
    judged = (Judgment("q", Anchor(document="d1"), 1),)
    made = be.Benchmark("many", documents, (Query("q", "number 1"),), judged)
    parts = [(512, 1200), (1024, 1200), (1200, 1200)]
    for provider, expected in [("bm25", [(1000, 1200)]), ("dense", parts)]:
        listener = _Indexing()
        be.run_benchmark(made, provider, ["RR"], listener=listener)
        assert listener.seen == [(0, 1200), *expected]
    listener = _Indexing()
    be.run_benchmark(made, "hybrid", ["RR"], listener=listener)
    assert listener.seen == [(0, 1200), (1000, 1200), *parts]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"providers": ["bm52"]}, "unknown provider 'bm52'; did you mean 'bm25'"),
        ({"providers": ["bm25"], "metrics": ["ndgc"]}, "unknown metric 'ndgc'"),
        ({"providers": ["bm25"], "limt": 3}, "unknown key 'limt'; did you mean 'limit'"),
        ({"providers": []}, "providers: "),
    ],
)
def test_wrong_arguments_are_rejected(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        be.run_benchmark(DRINKS, **options)


def test_an_unknown_provider_of_a_result_lists_the_known_ones() -> None:
    result = be.run_benchmark(DRINKS, ["bm25"], limit=1)
    with pytest.raises(KeyError, match="no provider 'dense'; there are bm25"):
        result["dense"]


def test_relevance_options_are_part_of_the_plan() -> None:
    answered = be.Benchmark(
        "tea",
        documents=(Document("d", "Green tea steeps at 80 degrees in a warm pot."),),
        queries=(Query("q", "green tea", metadata={"expected_answer": "80 degrees"}),),
    )
    scores = {}
    for threshold in (0.2, 0.9):
        options = {"threshold": threshold}
        result = be.run_benchmark(answered, "bm25", ["RR"], relevance=options, warm_up=0)
        scores[threshold] = result["bm25"].scores
    assert [one.mean["RR"] for one in scores.values() if one] == [1.0, 0.0]
    assert [one.details("RR").threshold for one in scores.values() if one] == [0.2, 0.9]
    with pytest.raises(ConfigurationError, match=r"relevance\.threshold: .* less than or equal"):
        be.run_benchmark(answered, "bm25", relevance={"threshold": 2.0})


def test_a_sealed_pack_rejects_relevance_options_before_the_run() -> None:
    asked: list[str] = []

    def search(query: str, k: int) -> list[str]:
        asked.append(query)
        return ["D1"][:k]

    talk = be.Benchmark(
        "talk",
        documents=(Document("D1", "Ann: tea."),),
        queries=(Query("q", "tea", metadata={"evidence": ["D1:1"]}),),
        pack="locomo",
    )
    with pytest.raises(ConfigurationError, match=r"seals relevance: 'relevance.threshold' cannot"):
        be.run_benchmark(talk, search, ["RR"], relevance={"threshold": 0.5})
    assert asked == []


def test_the_record_has_the_text_of_targets_that_no_system_found() -> None:
    part = be.run_benchmark("technical-docs", ["bm25"], ["nDCG@10"], k=3).record
    texts = {one.name: one.text for one in part.passages}
    missed = {one.name for answer in part.providers[0].answers for one in answer.missed}
    assert len(missed) > 100
    assert all(texts.get(name, "").strip() for name in missed)
