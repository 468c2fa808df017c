"""Benchmarks without documents, queries or judgments are errors, not zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.cli.app import build_app, run
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.errors import BerryEvalError

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = be.Benchmark(
    "whole",
    documents=(Document("d", "# Title\n\nText."),),
    queries=(Query("q", "title"),),
    judgments=(Judgment("q", Anchor(document="d"), 1),),
)
HYBRID = {"type": "hybrid", "options": {"providers": ["bm25", "dense"]}}


def searches_elsewhere(text: str, k: int) -> list[str]:
    """Find the document in an index of its own."""
    assert text
    return ["d"][:k]


@pytest.mark.parametrize("provider", ["bm25", HYBRID])
@pytest.mark.parametrize("documents", [(), (Document("d", " \n"),)])
def test_an_index_needs_documents(provider: Any, documents: tuple[Document, ...]) -> None:
    empty = replace(WHOLE, documents=documents)
    with pytest.raises(BerryEvalError, match=r"whole has no documents.*would search nothing"):
        be.run_benchmark(empty, [provider])


def test_an_external_search_needs_no_documents() -> None:
    result = be.run_benchmark(replace(WHOLE, documents=()), [searches_elsewhere], ["RR"])
    assert result.providers[0].scores.mean["RR"] == 1.0


def test_queries_are_needed() -> None:
    with pytest.raises(BerryEvalError, match=r"whole has no queries"):
        be.run_benchmark(replace(WHOLE, queries=()), ["bm25"])


def test_something_must_decide_what_is_relevant() -> None:
    with pytest.raises(BerryEvalError, match=r"none of 1 query has a judgment.*would be 0$"):
        be.run_benchmark(replace(WHOLE, judgments=()), ["bm25"])
    other = replace(WHOLE, judgments=(Judgment("q01", Anchor(document="d"), 1),))
    with pytest.raises(BerryEvalError, match=r"judgments are of other queries, such as 'q01'"):
        be.run_benchmark(other, ["bm25"])
    fields = {"relevant_ids": ["d"], "relevantChunkIds": ["d"], "expectedAnswer": "Text."}
    for field, value in fields.items():
        asked = (Query("q", "title", metadata={field: value}),)
        result = be.run_benchmark(replace(WHOLE, judgments=(), queries=asked), ["bm25"], ["RR"])
        assert result["bm25"].outcomes == {"ok": 1}


def test_the_command_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "topics.tsv").write_text("q\ttitle\n", encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n", encoding="utf-8")
    line = ["eval", "--benchmarks", str(tmp_path), "--providers", "bm25"]
    assert run(build_app(), [*line, "-o", str(tmp_path / "run")]) == 2
    assert "has no documents, so bm25 would search nothing" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
