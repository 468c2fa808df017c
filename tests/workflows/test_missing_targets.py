"""Judgments of documents that the benchmark does not have: an error or a warning, not zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import berryeval as be
from berryeval.cli.app import build_app, run
from berryeval.data.records import Anchor, Document, Hit, Judgment, Query
from berryeval.errors import DataError
from berryeval.workflows.verdicts import judge_result

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("apples", "bananas", "cherries")


def fruits(*judged: str, quote: str = "") -> be.Benchmark:
    """Return a benchmark with these documents as targets, one per query."""
    return be.Benchmark(
        "fruits",
        documents=tuple(Document(name, f"# {name}\n\nAll about {name}.") for name in NAMES),
        queries=tuple(Query(f"q{n}", f"about {name}") for n, name in enumerate(judged)),
        judgments=tuple(
            Judgment(f"q{n}", Anchor(document=name, quote=quote), 1)
            for n, name in enumerate(judged)
        ),
    )


@pytest.mark.parametrize(
    ("judged", "explanation"),
    [
        (
            ("apples.md", "bananas.md"),
            "there is 'apples'; the ids have a file extension: write 'apples';",
        ),
        (("Apples", "Bananas"), "'Apples' judged; there is 'apples'; the ids have other letter"),
        (("docs/apples.md",), "'docs/apples.md' judged; there is 'apples'; the ids have a path"),
        ((" apples ", "bananas\t"), "; the ids have blanks around them; remove"),
        (
            ("apples;bananas",),
            "'apples;bananas' judged; there is 'apples'; write one document per row;",
        ),
        (("apples, bananas",), "there is 'apples'; write one document per row;"),
        (("MARCO_1", "MARCO_2"), "'MARCO_1', 'MARCO_2' judged; there is 'apples', 'bananas', "),
    ],
)
def test_no_target_in_the_documents_is_an_error(judged: tuple[str, ...], explanation: str) -> None:
    with pytest.raises(DataError) as caught:
        be.run_benchmark(fruits(*judged), "bm25", ["RR"])
    message = str(caught.value)
    assert message.startswith(f"fruits: none of {len(judged)} target")
    assert explanation in message
    assert "strip" not in message


def test_no_quote_in_the_documents_is_an_error() -> None:
    with pytest.raises(DataError, match=r"none of 1 target is in the documents.*query 'q0': "):
        be.run_benchmark(fruits("apples", quote="the moon is made of cheese"), "bm25", ["RR"])


def test_some_targets_elsewhere_are_a_warning() -> None:
    (one,) = be.run_benchmark(fruits("apples", "bananas.md"), "bm25", ["RR"], k=1).providers
    assert one.scores.mean["RR"] == 0.5
    (warning,) = one.warnings
    assert warning == (
        "1 of 2 targets is not in the documents: 'bananas.md' judged; there is "
        "'bananas'; the ids have a file extension: write 'bananas'"
    )


def test_quotes_in_other_documents_are_reported_once() -> None:
    judged = fruits("apples", "bananas")
    moon = Judgment("q1", Anchor(document="bananas", quote="the moon is made of cheese"), 1)
    judged = replace(judged, judgments=(judged.judgments[0], moon))
    (one,) = be.run_benchmark(judged, "bm25", ["RR"], k=1).providers
    (warning,) = one.warnings
    assert warning.startswith("1 of 2 targets is not in the documents: query 'q1': ")
    assert one.scores.notes == ()
    scores = be.evaluate_hits(judged, {"q0": ["apples"]}, ["RR"])
    assert scores.notes == (warning,)


def test_a_level_above_every_grade_is_noted() -> None:
    result = be.run_benchmark(fruits("apples"), "bm25", ["P(rel=9)@5", "RR"])
    (one,) = result.providers
    assert one.scores.mean["RR"] == 1.0
    (note,) = one.scores.notes
    assert note.startswith("P(rel=9)@5 counts nothing as relevant: the highest grade of the")
    verdicts = judge_result(result, {"P(rel=9)@5": 0.1, "RR": 0.1}).verdicts
    assert [verdict.sentence.endswith(note) for verdict in verdicts] == [True, False]


def by_chunk(*ids: str, in_metadata: bool = False) -> be.Benchmark:
    """Return the benchmark with ids of chunks as judgments, or in the metadata of the queries."""
    judged = fruits(*ids)
    if not in_metadata:
        pairs = enumerate(ids)
        targets = tuple(Judgment(f"q{n}", Anchor(chunk=name), 1) for n, name in pairs)
        return replace(judged, judgments=targets)
    queries = (
        replace(query, metadata={"relevant_ids": [name]})
        for query, name in zip(judged.queries, ids, strict=True)
    )
    return replace(judged, queries=tuple(queries), judgments=())


CURE = "ids of chunks change with the chunker: choose the one that was judged, or judge documents"


@pytest.mark.parametrize("in_metadata", [False, True])
def test_no_judged_chunk_is_an_error(in_metadata: bool) -> None:
    with pytest.raises(DataError) as caught:
        be.run_benchmark(by_chunk("c-17", "c-18", in_metadata=in_metadata), "bm25", ["RR"])
    message = str(caught.value)
    assert message.startswith("fruits: none of 2 targets is in the documents, so every score")
    assert "'c-17', 'c-18' judged; there is the chunk 'apples', 'bananas', 'cherries'" in message
    assert CURE in message


@pytest.mark.parametrize("in_metadata", [False, True])
def test_some_judged_chunks_elsewhere_are_a_warning(in_metadata: bool) -> None:
    judged = by_chunk("apples", "bananas#4", in_metadata=in_metadata)
    (one,) = be.run_benchmark(judged, "bm25", ["RR"], k=1).providers
    assert one.scores.mean["RR"] == 0.5
    (warning,) = one.warnings
    assert warning.startswith("1 of 2 targets is not in the documents: 'bananas#4' judged; there")
    assert CURE in warning


def test_chunks_of_one_chunker_are_a_warning_for_others() -> None:
    chunk = "apples@2-5"
    judged = by_chunk(chunk)
    result = be.run_benchmark(judged, ["bm25:fixed-3", "bm25:whole"], ["RR"])
    words = f"1 of 1 target is not in the documents: '{chunk}' judged"
    assert [words in " ".join(one.warnings) for one in result.providers] == [False, True]


def test_systems_with_chunks_of_their_own_are_not_checked() -> None:
    def search(_: str, k: int) -> list[str]:
        return ["c-17"][:k]

    (one,) = be.run_benchmark(by_chunk("c-17", "c-18"), search, ["RR"], k=1).providers
    assert (one.scores.mean["RR"], one.warnings) == (0.5, ())


@pytest.mark.parametrize("in_metadata", [False, True])
@pytest.mark.parametrize("found", ["apples", Hit("a-1", doc_id="apples", text="about apples")])
def test_judged_ids_that_no_system_of_its_own_returns_are_a_warning(
    found: str | Hit, in_metadata: bool
) -> None:
    def search(_: str, k: int) -> list[str | Hit]:
        return [found][:k]

    judged = by_chunk("apples-1.md", "bananas-1.md", in_metadata=in_metadata)
    (one,) = be.run_benchmark(judged, search, ["RR"], k=1).providers
    (warning,) = one.warnings
    assert warning.startswith(
        "none of 2 judged ids is in the documents, and none was returned, so the scores may say "
        "nothing about the search: 'apples-1.md'"
    )
    scores = be.evaluate_hits(judged, {"q0": [found], "q1": [found]}, ["RR"])
    assert scores.notes == (warning,)
    assert be.evaluate_hits(judged, {"q0": [], "q1": []}, ["RR"]).notes == ()


def test_judged_sections_and_paths_of_chunks_match() -> None:
    judged = by_chunk("guides/apples#apples")
    named = replace(judged.documents[0], id="guides/apples")
    judged = replace(judged, documents=(named, *judged.documents[1:]))
    (one,) = be.run_benchmark(judged, "bm25", ["RR"], k=1).providers
    assert (one.scores.mean["RR"], one.warnings) == (1.0, ())


def test_benchmarks_that_do_not_list_their_targets_stay_as_they_are() -> None:
    def search(_: str, k: int) -> list[str]:
        return ["apples.md"][:k]

    (one,) = be.run_benchmark(replace(fruits("apples.md"), documents=()), search, ["RR"]).providers
    assert (one.scores.mean["RR"], one.warnings) == (1.0, ())
    chunks = replace(fruits("x"), judgments=(Judgment("q0", Anchor(chunk="apples.md"), 1),))
    (one,) = be.run_benchmark(chunks, search, ["RR"], k=1).providers
    assert (one.scores.mean["RR"], one.warnings) == (1.0, ())


def test_the_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "apples.md").write_text("# Apples\n\nIn orchards.\n", encoding="utf-8")
    lines = "question,doc_id\nWhere do apples grow?,apples.md\n"
    (tmp_path / "w1.csv").write_text(lines, encoding="utf-8")
    options = ["--options", "corpus=docs", "--providers", "bm25", "-m", "R@1", "--store", "none"]
    assert run(build_app(), ["eval", "w1.csv", *options]) == 2
    assert "w1: none of 1 target is in the documents" in capsys.readouterr().err
