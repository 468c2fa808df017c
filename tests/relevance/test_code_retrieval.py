"""Tests of the code-retrieval pack."""

from __future__ import annotations

from typing import Any

import pytest

import berryeval as be
from berryeval.data.records import Document, Hit, Query
from berryeval.errors import DataError
from berryeval.relevance.strategies import Relevance

CODE = "".join(f"line {n}\n" for n in range(1, 21))
FILE = Document("src/app.py", CODE)


def ask(*documents: Document, **metadata: Any) -> be.Benchmark:
    """Create a query about code."""
    query = Query("q", "Where?", metadata=metadata)
    return be.Benchmark("code", documents, (query,), pack="code-retrieval")


def lines(path: str, first: int, last: int, identity: str = "h") -> Hit:
    """Create a hit with lines."""
    return Hit(identity, metadata={"path": path, "start_line": first, "end_line": last})


def found(benchmark: be.Benchmark, *hits: Hit) -> list[int]:
    """Return the ranks of relevant hits."""
    return Relevance(benchmark).judge("q", hits).ranking.relevant_ranks(1)


TARGET = {"locations": [{"path": "src/app.py", "start_line": 10, "end_line": 15}]}


@pytest.mark.parametrize(
    ("hit", "relevant"),
    [
        (lines("src/app.py", 1, 10), True),
        (lines("src/app.py", 15, 99), True),
        (lines("src/app.py", 1, 9), False),
        (lines("src/app.py", 16, 20), False),
        (lines("/repo/src/app.py", 12, 12), True),
        (lines("app.py", 12, 12), True),
        (lines("src\\app.py", 12, 12), True),
        (lines("lib/app.py", 12, 12), False),
        (lines("src/myapp.py", 12, 12), False),
        (Hit("h", metadata={"filepath": "src/app.py", "startLine": 9, "endLine": 11}), True),
        (Hit("h", metadata={"file": "src/app.py", "start_line": 12}), True),
        (Hit("h", metadata={"path": "src/app.py"}), False),
        (Hit("src/app.py"), False),
        (Hit("src/app.py:15-20"), True),
        (Hit("src/app.py:12"), True),
        (Hit("src/app.py#L10-L11"), True),
        (Hit("src/app.py#L16-L17"), False),
        (Hit("src/app.py:16-17"), False),
        (Hit("src/app.py:12-11"), False),
    ],
)
def test_one_shared_line_is_enough(hit: Hit, relevant: bool) -> None:
    assert found(ask(**TARGET), hit) == ([1] if relevant else [])


def test_lines_follow_from_characters_or_text() -> None:
    benchmark = ask(FILE, **TARGET)
    at = CODE.index
    early = Hit("a", doc_id="src/app.py", start=0, end=at("line 10\n"))
    inside = Hit("b", doc_id="src/app.py", start=at("line 15\n"), end=at("line 17\n"))
    text = Hit("c", doc_id="src/app.py", text="line 11\nline 12\n")
    assert found(benchmark, early) == []
    assert (
        found(benchmark, inside) == found(benchmark, text) == found(benchmark, Hit(FILE.id)) == [1]
    )


def test_metrics_of_text_use_the_lines() -> None:
    benchmark = ask(FILE, **TARGET)
    hit = Hit("h", doc_id="src/app.py", start=0, end=CODE.index("line 12\n"))
    scores = be.evaluate_hits(
        benchmark, {"q": [hit]}, ["TokenR", "TokenP", "FileR@1", "FileRR", "CharIoU"]
    )
    assert scores.mean["TokenR"] == pytest.approx(2 / 6)
    assert scores.mean["TokenP"] == pytest.approx(2 / 11)
    assert scores.mean["CharIoU"] == pytest.approx(16 / (7 * 9 + 6 * 8))
    assert scores.mean["FileR@1"] == scores.mean["FileRR"] == 1.0


@pytest.mark.parametrize("field", ["files", "modified_files", "locations", "ground_truth"])
def test_any_piece_of_a_file_finds_it_once(field: str) -> None:
    benchmark = ask(**{field: ["src/app.py", "src/db.py"]})
    hits = [lines("src/x.py", 1, 2, "a"), lines("/r/src/db.py", 1, 2, "b"),
            lines("/r/src/db.py", 5, 6, "c"), lines("src/app.py", 5, 6, "d")]  # fmt: skip
    ranked = [Hit(hit.id, -float(n), metadata=hit.metadata) for n, hit in enumerate(hits)]
    assert found(benchmark, *ranked) == [2, 4]
    scores = be.evaluate_hits(benchmark, {"q": ranked}, ["FileR@2", "FileR@3", "FileRR", "R@3"])
    assert dict(scores.mean) == {"FileR@2": 0.5, "FileR@3": 1.0, "FileRR": 0.5, "R@3": 0.5}


def test_ambiguous_hit_matches_no_file() -> None:
    benchmark = ask(files=["src/app.py", "lib/app.py"])
    scores = be.evaluate_hits(benchmark, {"q": [lines("app.py", 1, 2)]}, ["R@5"])
    assert scores.mean["R@5"] == 0.0
    assert scores.notes == (
        "query 'q': hit 'h' is ambiguous: lib/app.py or src/app.py; it counts as none of them",
    )
    assert found(benchmark, lines("lib/app.py", 1, 2)) == [1]


def test_ambiguous_label_matches_no_file() -> None:
    both = (Document("x/a.py", CODE), Document("y/a.py", CODE))
    scores = be.evaluate_hits(ask(*both, files=["a.py"]), {"q": ["x/a.py", "y/a.py"]}, ["R@5"])
    assert scores.mean["R@5"] == 0.0
    assert scores.notes == (
        "query 'q': a.py is ambiguous: x/a.py or y/a.py; it counts as none of them",
    )
    root = ask(*both, Document("a.py", CODE), files=["a.py"])
    assert found(root, Hit("x/a.py"), Hit("/repo/y/a.py"), Hit("a.py")) == [3]
    scores = be.evaluate_hits(ask(*both, files=["x/a.py"]), {"q": ["a.py"]}, ["R@5"])
    assert (scores.mean["R@5"], len(scores.notes)) == (0.0, 1)


def test_labels_missing_from_the_corpus_are_noted() -> None:
    far = {"path": "src/app.py", "start_line": 30, "end_line": 31}
    benchmark = ask(FILE, locations=["src/none.py", far, "app.py"])
    scores = be.evaluate_hits(benchmark, {"q": ["src/app.py"]}, ["R@1"])
    assert scores.mean["R@1"] == pytest.approx(1 / 3)
    assert scores.notes == (
        "query 'q': the corpus has no src/none.py, which is labelled relevant",
        "query 'q': the corpus has no src/app.py:30-31, which is labelled relevant",
    )


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"locations": "src/app.py"}, "metadata.locations of query 'q': expected an array"),
        ({"files": [7]}, "metadata.files of query 'q', place 0: expected a path"),
        ({"locations": [{"start_line": 1}]}, "place 0: expected a path"),
        ({"locations": [{"path": "a", "start_line": 0}]}, "expected lines with 1 <= start_line"),
        ({"locations": [{"path": "a", "start_line": 3, "end_line": 2}]}, "expected lines with"),
        ({"locations": [{"path": "a", "start_line": "3"}]}, "expected lines with"),
        ({"locations": [{"path": "a", "end_line": 3}]}, "expected lines with"),
    ],
)
def test_malformed_locations_are_rejected(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        found(ask(**metadata))


def test_hit_with_line_0_is_rejected() -> None:
    with pytest.raises(DataError, match="metadata of hit 'h': expected lines with 1 <= start_line"):
        found(ask(**TARGET), lines("src/app.py", 0, 5))


def test_textual_ground_truth_is_not_a_location() -> None:
    assert found(ask(ground_truth="in app.py"), lines("in app.py", 1, 2)) == []
