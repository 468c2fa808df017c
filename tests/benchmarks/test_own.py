"""BerryEval's own formats: loading, atomic writing, and error messages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.benchmarks import Benchmark, load_benchmark, write_benchmark
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.errors import DataError
from tests.benchmarks.samples import COFFEE, JSONL, OWN, TEA, TEXT_FOLDER, as_json, as_lines

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_of_records_loads(tmp_path: Path) -> None:
    benchmark = load_benchmark(OWN.write(tmp_path))
    assert (benchmark.name, benchmark.version) == ("drinks", "1.2")
    assert benchmark.description == "Hot drinks."
    assert benchmark.thresholds == {"nDCG@10": 0.5}
    assert benchmark.metadata == {"language": "en"}
    assert benchmark.documents[0] == Document("tea", TEA, "Tea", extra={"licence": "none"})
    assert benchmark.queries[0].extra == {"weight": 2}
    assert benchmark.judgments[0] == Judgment(
        "q1", Anchor(document="tea", section=("Tea", "Green tea")), 2, extra={"judge": "me"}
    )
    assert benchmark.where("queries", 1) == f"{tmp_path / 'queries.jsonl'}:2"


def test_a_folder_of_texts_loads(tmp_path: Path) -> None:
    benchmark = load_benchmark(TEXT_FOLDER.write(tmp_path))
    assert benchmark.documents == (
        Document("coffee", COFFEE, source="coffee.txt"),
        Document("hot/tea", TEA, title="Tea", source="hot/tea.md"),
    )
    assert benchmark.judgments == ()


def test_one_file_loads(tmp_path: Path) -> None:
    benchmark = load_benchmark(JSONL.write(tmp_path))
    assert (benchmark.name, benchmark.version) == ("drinks", "3")
    assert benchmark.metadata == {"model": "by hand"}
    assert [document.id for document in benchmark.documents] == ["tea", "c7"]
    assert benchmark.queries[1] == Query("2", "What is coffee?", metadata={"asked": 1})
    assert benchmark.queries[2].metadata == {"chunk_text": "Both."}
    assert [judgment.target for judgment in benchmark.judgments] == [
        Anchor(document="tea", section=("Green tea",)),
        Anchor(document="c7"),
        Anchor(chunk="c1"),
        Anchor(chunk="c7"),
    ]


def test_one_chunk_id_with_two_texts_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        as_lines(
            {"_type": "metadata"},
            {"query": "a", "relevant_chunk_ids": ["c"], "chunk_text": "one"},
            {"query": "b", "relevant_chunk_ids": ["c"], "chunk_text": "two"},
        )
    )
    with pytest.raises(DataError, match=r"x\.jsonl:3: the document 'c' has a different text.*:2$"):
        load_benchmark(path)


BAD = [
    ("queries.jsonl", b'{"id": "q1", "text": 5}', ":1: text: expected a string, found number 5"),
    ("queries.jsonl", b'{"id": "q1"', ":1: not valid JSON"),
    ("queries.jsonl", b"\n[1]\n", ":2: expected an object, found array [1]"),
    ("queries.jsonl", b'{"text": "?"}', ":1: has no 'id'; found 'text'"),
    ("queries.jsonl", b'{"id": "q", "id": "r", "text": ""}', ":1: 'id' appears twice"),
    ("queries.jsonl", b"\xff\xfe", ":1: not UTF-8 text"),
    ("queries.jsonl", b"", "has no queries"),
    (
        "queries.jsonl",
        as_lines({"id": "q", "text": "a"}, {"id": "q", "text": "b"}),
        "queries.jsonl:2: the query id 'q' occurs twice; first in",
    ),
    (
        "documents.jsonl",
        as_lines({"id": "d", "text": "a"}, {"id": "d", "text": "b"}),
        "documents.jsonl:2: the document id 'd' occurs twice",
    ),
    (
        "judgments.jsonl",
        b'{"query_id": "q1", "target": "c1", "grade": "high"}',
        ":1: grade: expected a number, found string 'high'",
    ),
    (
        "judgments.jsonl",
        b'{"query_id": "q1", "target": "c1", "grade": NaN}',
        "NaN is not valid",
    ),
    ("judgments.jsonl", b'{"query_id": "q1", "target": "c1", "grade": 1e999}', "expected a number"),
    (
        "judgments.jsonl",
        b'{"query_id": "q1", "target": {"document": "tea", "start": 9, "end": 3}, "grade": 1}',
        ":1: target: expected a span with 0 <= start < end, found start=9 and end=3",
    ),
    (
        "judgments.jsonl",
        b'{"query_id": "q1", "target": {}, "grade": 1}',
        ":1: target: an anchor needs a chunk, a document or a quote",
    ),
    ("benchmark.json", b'{"name": 3}', "benchmark.json: name: expected a string, found number 3"),
    ("benchmark.json", b'{"thresholds": {"P": "0.5"}}', "thresholds.P: expected a number"),
    (
        "benchmark.json",
        b'{"a": 1, "metadata": {"a": 2}}',
        "'a' occurs both at the top and in",
    ),
    ("benchmark.json", b'{"name": "x"', "benchmark.json:1: not valid JSON"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_an_error_names_file_line_and_expectation(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    replace(OWN, files={**OWN.files, name: content}).write(tmp_path)
    with pytest.raises(DataError) as caught:
        load_benchmark(tmp_path)
    assert message in str(caught.value)


def test_a_missing_or_double_corpus_is_rejected(tmp_path: Path) -> None:
    OWN.write(tmp_path)
    (tmp_path / "documents.jsonl").rename(tmp_path / "kept.jsonl")
    with pytest.raises(DataError, match=r"documents\.jsonl: no such file"):
        load_benchmark(tmp_path)
    (tmp_path / "documents").mkdir()
    with pytest.raises(DataError, match="documents: has no documents; expected files that end"):
        load_benchmark(tmp_path)
    (tmp_path / "kept.jsonl").rename(tmp_path / "documents.jsonl")
    with pytest.raises(DataError, match=r"has both documents\.jsonl and a folder documents"):
        load_benchmark(tmp_path)


def test_compressed_files_load(tmp_path: Path) -> None:
    import gzip

    files = {
        f"{name}.gz" if name.endswith("jsonl") else name: gzip.compress(content)
        if name.endswith("jsonl")
        else content
        for name, content in OWN.files.items()
    }
    (tmp_path / "plain").mkdir()
    (tmp_path / "packed").mkdir()
    plain = load_benchmark(OWN.write(tmp_path / "plain"))
    assert load_benchmark(replace(OWN, files=files).write(tmp_path / "packed")) == plain


def test_writing_replaces_a_benchmark_and_nothing_else(tmp_path: Path) -> None:
    benchmark = load_benchmark(OWN.write(tmp_path / "in"))
    write_benchmark(benchmark, tmp_path / "out")
    smaller = replace(benchmark, judgments=())
    write_benchmark(smaller, tmp_path / "out")
    assert load_benchmark(tmp_path / "out") == smaller
    broken = replace(benchmark, metadata={"x": float("nan")})
    with pytest.raises(DataError, match="cannot be written as JSON"):
        write_benchmark(broken, tmp_path / "out")
    assert load_benchmark(tmp_path / "out") == smaller
    (tmp_path / "out" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(DataError, match=r"contains 'thesis\.txt', which is not"):
        write_benchmark(benchmark, tmp_path / "out")
    with pytest.raises(DataError, match="is a file; expected a folder"):
        write_benchmark(benchmark, tmp_path / "out" / "thesis.txt")
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)  # fmt: skip
OBJECTS = st.dictionaries(st.text(min_size=1).map("x-{}".format), JSON_VALUES, max_size=3)
TEXTS = st.text(st.characters())  # half surrogate pairs and line separators included


@given(
    texts=st.lists(TEXTS, min_size=1, max_size=4),
    extra=OBJECTS,
    metadata=OBJECTS,
    grade=st.floats(allow_nan=False, allow_infinity=False),
)
def test_any_text_round_trips(
    texts: list[str],
    extra: dict[str, Any],
    metadata: dict[str, Any],
    grade: float,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    benchmark = Benchmark(
        "any",
        tuple(Document(f"d{n}", text, metadata=metadata) for n, text in enumerate(texts)),
        tuple(Query(f"q{n}", text, extra=extra) for n, text in enumerate(texts)),
        (Judgment("q0", Anchor(document="d0"), grade, note=texts[0], extra=extra),),
        metadata=metadata,
    )
    folder = tmp_path_factory.mktemp("any") / "out"
    write_benchmark(benchmark, folder)
    again = load_benchmark(folder)
    assert again == benchmark
    assert again.content_hash == benchmark.content_hash


def test_unknown_names_of_benchmark_json_become_metadata(tmp_path: Path) -> None:
    about = {"name": "drinks", "homepage": "https://drinks.example", "metadata": {"a": 1}}
    replace(OWN, files={**OWN.files, "benchmark.json": as_json(about)}).write(tmp_path)
    benchmark = load_benchmark(tmp_path)
    assert benchmark.metadata == {"homepage": "https://drinks.example", "a": 1}
    write_benchmark(benchmark, tmp_path / "out")
    written = json.loads((tmp_path / "out" / "benchmark.json").read_text(encoding="utf-8"))
    assert written == {"name": "drinks", "metadata": benchmark.metadata}


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_one_file_round_trips(name: str, tmp_path: Path) -> None:
    benchmark = load_benchmark(OWN.write(tmp_path / "in"))
    write_benchmark(benchmark, tmp_path / name)
    again = load_benchmark(tmp_path / name)
    assert again == benchmark
    assert again.where("queries", 0) == f"{tmp_path / name}:4"


def test_a_record_with_its_own_type_field_is_rejected(tmp_path: Path) -> None:
    query = Query("q", "?", extra={"_type": "mine"})
    benchmark = Benchmark("x", (), (query,))
    with pytest.raises(DataError, match="a query has its own field '_type'; write a folder"):
        write_benchmark(benchmark, tmp_path / "x.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_two_judgments_of_one_target_must_agree(tmp_path: Path) -> None:
    """Repeating a judgment is allowed; different grades are an error that names both lines."""
    line = {"query_id": "q1", "target": {"document": "tea"}, "grade": 1}
    files = {**OWN.files, "judgments.jsonl": as_lines(line, line)}
    assert len(load_benchmark(replace(OWN, files=files).write(tmp_path)).judgments) == 2
    files["judgments.jsonl"] = as_lines(line, line, {**line, "grade": 2})
    message = r"judgments\.jsonl:3: the same target is judged twice for query 'q1', with grade 2"
    with pytest.raises(DataError, match=message):
        load_benchmark(replace(OWN, files=files).write(tmp_path))
    files["judgments.jsonl"] = as_lines(line, {**line, "grade": 2, "group": "a"})
    assert len(load_benchmark(replace(OWN, files=files).write(tmp_path)).judgments) == 2


def test_a_benchmark_with_changed_records_has_no_locations(tmp_path: Path) -> None:
    benchmark = load_benchmark(OWN.write(tmp_path))
    fewer = replace(benchmark, queries=benchmark.queries[1:])
    assert fewer.where("queries", 0) == ""
    assert fewer.where("documents", 0) == benchmark.where("documents", 0)


def test_extra_fields_with_reserved_names_are_kept(tmp_path: Path) -> None:
    files = {
        "corpus.jsonl": as_lines({"_id": "d", "text": "a", "id": 7, "id_": 8}),
        "queries.jsonl": as_lines({"_id": "q", "text": "b"}),
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq\td\t1\n",
    }
    benchmark = load_benchmark(replace(OWN, files=files).write(tmp_path))
    assert benchmark.documents[0].extra == {"id__": 7, "id_": 8}
    with pytest.raises(DataError, match="extra holds 'id', which is a field of Document itself"):
        Document("d", "a", extra={"id": 7}).to_json()


@pytest.mark.parametrize(("name", "what"), [("documents", "document"), ("queries", "query")])
def test_empty_ids_are_rejected(name: str, what: str, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "benchmark.json").write_text('{"name": "empty"}')
    for file in ("documents", "queries"):
        lines = ['{"id": "a", "text": "b"}', '{"id": "", "text": "c"}'][: 1 + (file == name)]
        (folder / f"{file}.jsonl").write_text("\n".join(lines))
    with pytest.raises(DataError, match=rf"{name}.jsonl:2: expected a {what} with an id"):
        load_benchmark(folder)
    records: dict[str, Any] = {"documents": (Document("a", "b"),), "queries": (Query("a", "b"),)}
    records[name] = (replace(records[name][0], id=""),)
    with pytest.raises(DataError, match=rf"x: {name}\[0\]: expected a {what} with an id"):
        Benchmark("x", **records)


def test_equal_benchmarks_have_equal_hashes() -> None:
    def made(grade: float, page: float) -> Benchmark:
        query = Query("q", "x", metadata={"pages": [{"page": page}]})
        return Benchmark("x", (), (query,), (Judgment("q", Anchor(chunk="c"), grade),))

    assert made(1, 2) == made(1.0, 2.0)
    assert made(1, 2).content_hash == made(1.0, 2.0).content_hash
    assert len({made(*one).content_hash for one in ((1, 2), (1.5, 2), (1, 2.5))}) == 3


@pytest.mark.parametrize("value", [{1, 2}, object(), {1: 0, "a": 0}])
def test_hashing_a_value_outside_json_names_the_record(value: object) -> None:
    changed = Benchmark("x", (), (Query("q", "x", metadata={"odd": value}),))
    with pytest.raises(DataError, match=r"queries\[0\]: cannot be written as JSON: "):
        _ = changed.content_hash


def test_further_files_are_written_with_the_folder(tmp_path: Path) -> None:
    benchmark = load_benchmark(OWN.write(tmp_path / "in"))
    place = tmp_path / "out"
    write_benchmark(benchmark, place, files={"datasheet.md": "one\n"})
    write_benchmark(benchmark, place, files={"datasheet.md": "two\n"})
    assert (place / "datasheet.md").read_text() == "two\n"
    assert load_benchmark(place) == benchmark
    with pytest.raises(DataError, match=r"contains 'datasheet\.md', which is not part"):
        write_benchmark(benchmark, place)
    with pytest.raises(DataError, match="a file has no place for"):
        write_benchmark(benchmark, tmp_path / "x.jsonl", files={"datasheet.md": "x"})


@pytest.mark.parametrize("place", ["out", "out.jsonl"])
def test_a_generated_benchmark_has_a_remark_until_it_is_reviewed(
    tmp_path: Path, place: str
) -> None:
    benchmark = load_benchmark(OWN.write(tmp_path / "in"))
    for reviewed, remarks in ((False, 1), ({"kept": 2}, 0)):
        about = {"generated": {"kind": "known-item", "reviewed": reviewed}}
        write_benchmark(replace(benchmark, metadata=about), tmp_path / place)
        found = load_benchmark(tmp_path / place).remarks
        assert len(found) == remarks
        assert all(one.endswith("generated (known-item), not reviewed") for one in found)
    dated = {"generated": "2026-02-21"}  # another meaning of the word
    write_benchmark(replace(benchmark, metadata=dated), tmp_path / place)
    assert load_benchmark(tmp_path / place).remarks == ()
