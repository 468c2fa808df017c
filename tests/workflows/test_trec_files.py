"""The TREC files of a run: `score` on them gives the numbers of `eval`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.cli.app import build_app, run
from berryeval.data.records import Anchor, Document, Judgment, Query
from tests.workflows.worlds import benchmark

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ["nDCG@10", "AP", "R@10"]


def score(folder: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """Score the files of one kind with the command."""
    capsys.readouterr()
    files = [str(folder / f"{name}{kind}.trec") for name in ("qrels", "run")]
    assert run(build_app(), ["score", *files, "-m", *METRICS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data"]["metrics"]
    return {name: found[name]["value"] for name in METRICS}


@pytest.mark.parametrize(
    ("source", "provider"),
    [
        ("technical-docs", "bm25"),
        ("technical-docs", "bm25:fixed-400"),
        ("spring-boot", "bm25"),
        ("rag-template", "bm25"),
    ],
)
def test_score_gives_the_numbers_of_eval(
    source: str, provider: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = be.run_benchmark(source, [provider], METRICS, folder=tmp_path / "run")[provider]
    assert score(result.folder, "", capsys) == pytest.approx(result.scores.mean, abs=1e-12)


def test_documents_of_one_chunk_fit_the_judgments_of_the_benchmark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Chunks, documents and the judgments of the benchmark itself give the same numbers."""
    source = benchmark(tmp_path, 30)
    result = be.run_benchmark(source, ["bm25"], METRICS, folder=tmp_path / "run")["bm25"]
    expected = pytest.approx(result.scores.mean, abs=1e-12)
    assert (
        score(result.folder, "", capsys) == score(result.folder, ".documents", capsys) == expected
    )
    own = {f"q{number}": {f"d{number}": 1} for number in range(30)}
    ranked = be.Run.from_trec(result.folder / "run.trec")
    assert be.evaluate(own, ranked, METRICS).mean == expected
    assert "#" not in (result.folder / "run.trec").read_text(encoding="utf-8")


SECTIONS = be.Benchmark(
    "sections",
    documents=(
        Document("a", "# One\n\nApples and pears.\n\n# Two\n\nApples again.\n"),
        Document("b", "# Three\n\nPlums, and one apple: apples.\n"),
        Document("c", "# Four\n\nNothing here.\n\n# Five\n\nApples apples apples.\n"),
    ),
    queries=(Query("q1", "apples"), Query("q2", "nothing to be found"), Query("q3", "plums")),
    judgments=(
        Judgment("q1", Anchor(document="a", section=("One",)), 1),
        Judgment("q1", Anchor(document="a", section=("Two",)), 3),
        Judgment("q1", Anchor(document="b"), 2),
        Judgment("q2", Anchor(document="b"), 0),
    ),
)


def test_documents_stand_at_their_best_chunk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand: each document once, at its first hit, with the best grade of what is in it."""
    result = be.run_benchmark(SECTIONS, ["bm25"], METRICS, folder=tmp_path / "run")["bm25"]
    assert score(result.folder, "", capsys) == pytest.approx(result.scores.mean, abs=1e-12)
    qrels = be.Qrels.from_trec(result.folder / "qrels.documents.trec").to_dict()
    assert qrels["q1"] == {"a": 3.0, "b": 2.0}
    assert qrels["q2"] == {"b": 0.0}
    ranked = be.Run.from_trec(result.folder / "run.documents.trec").ranked().to_dict()
    answers = {answer.query_id: answer for answer in result.record.answers}
    for query in ("q1", "q2", "q3"):
        first = dict.fromkeys(hit.id.partition("#")[0] for hit in answers[query].hits)
        assert list(ranked[query]) == list(first)
    expected: Any = be.evaluate({**qrels, "q3": {"x": 0}}, ranked, METRICS).mean
    assert score(result.folder, ".documents", capsys) == pytest.approx(expected)


def test_missed_targets_count_in_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def one(text: str, k: int) -> list[str]:
        assert text
        return ["c#five"][:k]

    result = be.run_benchmark(SECTIONS, {"s": one}, METRICS, folder=tmp_path / "run")["s"]
    assert be.Qrels.from_trec(result.folder / "qrels.trec").to_dict()["q1"] == {
        "a#Two": 3.0, "b": 2.0, "a#One": 1.0
    }  # fmt: skip
    assert score(result.folder, "", capsys) == result.scores.mean


def test_a_failed_or_empty_query_counts_in_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def odd(text: str, k: int) -> list[str]:
        if text == "apples":
            raise ValueError(k)
        return ["b"] if text == "plums" else []

    options: Any = {"folder": tmp_path / "run", "error_budget": 1.0}
    result = be.run_benchmark(SECTIONS, {"s": odd}, METRICS, **options)["s"]
    assert score(result.folder, "", capsys) == result.scores.mean
