"""A corpus that is too large to be held is evaluated as one that is held."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import berryeval as be
from berryeval.anchors import Corpus
from berryeval.benchmarks import Benchmark, Summary, build_example
from berryeval.benchmarks.named_data import LazyDocuments
from berryeval.data import HELD, Document, Hit, RecordFile
from berryeval.errors import DataError
from berryeval.relevance import Relevance
from berryeval.runs import mark_corpus
from berryeval.workflows.selection import chunk_documents

COUNT = 40


def write_lines(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BEIR folder of few long documents, which is quick to read."""
    folder, random = tmp_path_factory.mktemp("beir"), Random(0)
    words = [f"word{number}" for number in range(500)]
    filler = "x" * (HELD // COUNT)
    rows = []
    for number in range(COUNT):
        text = f"{' '.join(random.choices(words, k=40))}\n{filler}"
        rows.append({"_id": f"d{number}", "title": f"Title{number}", "text": text})
    write_lines(folder / "corpus.jsonl", rows)
    asked = [{"_id": f"q{n}", "text": f"title{n}"} for n in range(5)]
    write_lines(folder / "queries.jsonl", asked)
    (folder / "qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore", *(f"q{n}\td{n}\t1" for n in range(5))]
    (folder / "qrels/test.tsv").write_text("\n".join(lines), "utf-8")
    return folder


@pytest.fixture(scope="module")
def stored(folder: Path) -> Benchmark:
    found = be.load_benchmark(folder)
    assert isinstance(found.documents, RecordFile)
    return found


def test_facts_about_the_corpus_are_the_same(stored: Benchmark) -> None:
    held = replace(stored, documents=tuple(stored.documents))
    assert held == stored
    assert held.content_hash == stored.content_hash
    assert mark_corpus(held.documents) == mark_corpus(stored.documents)
    assert Summary.of(held) == Summary.of(stored)
    assert build_example(held) == build_example(stored)
    assert stored.document_of["d3"] == held.document_of["d3"]
    assert "d40" not in stored.document_of


def test_relevance_and_texts_are_the_same(stored: Benchmark) -> None:
    held = replace(stored, documents=tuple(stored.documents))
    chunks = chunk_documents(stored, "section")
    assert isinstance(chunks, RecordFile)
    assert list(chunks) == list(chunk_documents(held, "section"))
    one, other = Relevance(stored, chunks=chunks), Relevance(held, chunks=list(chunks))
    hits = [Hit("d3"), Hit("d9", doc_id="d9"), Hit("zz")]
    assert one.judge("q3", hits).ranking == other.judge("q3", hits).ranking
    assert list(Corpus(stored.documents).ids) == list(Corpus(held.documents).ids)


@pytest.mark.parametrize("provider", [{"type": "sqlite", "options": {"mode": "text"}}, "bm25"])
def test_scores_and_records_are_the_same(stored: Benchmark, provider: object) -> None:
    """The title of a document is searched: it is all that its query asks for."""
    held = replace(stored, documents=tuple(stored.documents))
    results = [be.run_benchmark(one, provider, ["RR", "nDCG@10"]) for one in (stored, held)]
    records = [result.record.providers[0] for result in results]
    assert records[0].scores is not None
    assert records[0].scores.mean["RR"] == 1.0
    assert records[0].scores == records[1].scores
    assert records[0].fingerprints == records[1].fingerprints
    assert results[0].record.corpus == results[1].record.corpus


def test_a_repeated_id_of_a_large_corpus_is_an_error(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "corpus.jsonl").read_text("utf-8")
    for name in ("queries.jsonl", "qrels"):
        (tmp_path / name).symlink_to(folder / name)
    again = json.dumps({"_id": "d2", "text": "again"})
    file = tmp_path / "corpus.jsonl"
    file.write_text(f"{lines}{again}\n", "utf-8")
    with pytest.raises(DataError, match=r"corpus.jsonl:41: the document id 'd2' occurs twice; fi"):
        be.load_benchmark(tmp_path)
    file.write_text(lines + json.dumps({"_id": "", "text": "none"}) + "\n", "utf-8")
    with pytest.raises(DataError, match=r"corpus.jsonl:41.*id"):
        be.load_benchmark(tmp_path)


def test_a_large_corpus_of_a_named_dataset_is_read_once() -> None:
    reads = []

    def read() -> list[Document]:
        reads.append(1)
        return [Document(f"d{number}", "x" * (HELD // 3)) for number in range(4)]

    lazy = LazyDocuments("test", read, ["d1"])
    assert [one.id for one in lazy] == [one.id for one in lazy] == ["d0", "d1", "d2", "d3"]
    assert isinstance(lazy.held, RecordFile)
    assert len(reads) == 1
    twice = LazyDocuments("test", lambda: [*read(), Document("d3", "")])
    with pytest.raises(DataError, match="'d3' occurs twice"):
        list(twice)
