"""Each check, on benchmarks with and without the problem it looks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.benchmarks import CHECKS, Benchmark, Subject, check_benchmark, load_benchmark
from berryeval.benchmarks.checks.similarity import longest_shared_run
from berryeval.benchmarks.checks.summary import Spread, Summary, build_example
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.errors import DataError
from tests.benchmarks.checks.faulty import write_faulty
from tests.benchmarks.samples import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = (
    Document("tea", "# Tea\n\nGreen tea steeps at eighty degrees for three minutes only.\n"),
    Document("coffee", "Beans are ground, then brewed with water that nearly boils."),
)
QUERIES = (Query("q1", "How hot should tea be?"), Query("q2", "What is done to beans?"))
JUDGMENTS = (
    Judgment("q1", Anchor(document="tea"), 2),
    Judgment("q2", Anchor(document="coffee"), 1),
)


def benchmark(**changed: Any) -> Benchmark:
    """Build a valid benchmark with these changes."""
    fields = {"documents": DOCUMENTS, "queries": QUERIES, "judgments": JUDGMENTS, **changed}
    return Benchmark("drinks", **fields)


def found(check: str, **changed: Any) -> list[tuple[str, str]]:
    """Return severity and message of a check's findings."""
    subject = Subject(benchmark(**changed))
    return [(one.severity, one.message) for one in CHECKS.get(check)(subject)]


def test_a_good_benchmark_has_only_a_note_on_its_size() -> None:
    report = check_benchmark(benchmark())
    assert report.counts == {"error": 0, "warning": 0, "info": 1}
    assert report.passed


@pytest.mark.parametrize("name", list(CHECKS))
def test_every_check_finds_something(name: str, tmp_path: Path) -> None:
    subject = Subject(load_benchmark(write_faulty(tmp_path / "faulty")))
    if name == "remark":
        subject = Subject(benchmark(remarks=("a.json: [0].qa[3]: has no answer",)))
    if name == "label":
        subject = Subject(benchmark(pack="locomoo"))
    if name == "scope":
        subject = Subject(benchmark(queries=(replace(QUERIES[0], scope={"doc_id": "x"}),)))
    if name == "near-duplicate sections":
        twice = f"# Hot\n\n{DOCUMENTS[1].text}\n\n# Cold\n\nIce.\n\n# Hot\n\n{DOCUMENTS[1].text}\n"
        subject = Subject(benchmark(documents=(*DOCUMENTS, Document("twice", twice))))
    findings = list(CHECKS.get(name)(subject))
    assert findings
    for finding in findings:
        assert finding.where
        assert finding.message
        assert finding.advice


def test_scopes_that_hide_everything_or_a_target_are_errors() -> None:
    def ask(*documents: str) -> tuple[Query, ...]:
        return replace(QUERIES[0], scope={"doc_id": documents}), QUERIES[1]

    assert found("scope", queries=ask("tea", "coffee")) == []
    assert found("scope", queries=ask("tee", "milk")) == [
        ("error", "no document is in the scope of query 'q1': doc_id 'tee' or 'milk'")
    ]
    assert found("scope", queries=ask("coffee")) == [
        ("error", "'tea', relevant to query 'q1', is outside its scope")
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_can_be_checked(name: str, tmp_path: Path) -> None:
    format_, sample = SAMPLES[name]
    loaded = load_benchmark(sample.write(tmp_path), format=format_, **sample.options)
    report = check_benchmark(loaded)
    assert [one for one in report.findings if one.severity == "error"] == []
    assert build_example(loaded).query in loaded.queries
    assert Summary.of(loaded).to_json()["queries"] == len(loaded.queries)


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("green tea steeps at eighty degrees for three minutes", True),
        ("Why: tea steeps at eighty DEGREES", True),  # five of six words
        ("and so the beans go; tea steeps at eighty degrees, did they say so", False),
        ("how hot should the tea be", False),
        ("tea steeps eighty degrees at", False),
    ],
)
def test_queries_that_copy_a_passage_are_found(text: str, copied: bool) -> None:
    assert bool(found("copied query", queries=(Query("q1", text),))) == copied


def test_copies_are_compared_with_the_passage_only() -> None:
    document = Document("d", "# A\n\nsomething else\n\n# B\n\ngreen tea steeps at eighty degrees\n")
    query = Query("q1", "green tea steeps at eighty degrees")
    for section, expected in ((("A",), 0), (("B",), 1)):
        judged = Judgment("q1", Anchor(document="d", section=section), 1)
        findings = found(
            "copied query", documents=(document,), queries=(query,), judgments=(judged,)
        )
        assert len(findings) == expected


def test_the_longest_shared_run_is_found() -> None:
    words = list("abcdefg")
    assert longest_shared_run(words, " x b c d e f g y ") == tuple("bcdefg")
    assert longest_shared_run(words, " a b c d x ") == ()
    assert longest_shared_run(words, " a b c d ee ") == ()


@pytest.mark.parametrize(
    ("grade", "declared", "expected"),
    [
        (3, None, []),
        (0, None, []),
        (-2, None, [("info", "the grade -2 is negative and counts as not relevant")]),
        (1.5, None, [("info", "the grade 1.5 is not a whole number")]),
        (80, None, [("warning", "the grade 80 is unusually high; is it a score?")]),
        (80, [0, 80], []),
        (4, [0, 1, 2, 3], [("error", "the grade 4 is not declared; declared: 0, 1, 2, 3")]),
        (4, "0-3", []),
    ],
)
def test_suspicious_grades_are_found(
    grade: float, declared: Any, expected: list[tuple[str, str]]
) -> None:
    judged = (Judgment("q1", Anchor(document="tea"), grade),)
    metadata = {} if declared is None else {"grades": declared}
    assert found("grade", judgments=judged, metadata=metadata) == expected


def test_queries_with_labels_need_no_judgments() -> None:
    labels: list[dict[str, Any]] = [
        {"evidence": ["D1:1"]},
        {"answer": "tea"},
        {"relevant_ids": ["x"]},
        {},
    ]
    queries = tuple(Query(f"q{place}", "?", metadata=one) for place, one in enumerate(labels))
    queries += (Query("none", "?", metadata={"abstention": True}),)
    findings = found("nothing relevant", queries=queries, judgments=())
    assert findings == [("warning", "query 'q3' has no judgment, so every system scores 0")]


def memories(evidence: Any) -> dict[str, Any]:
    """Return the fields of a benchmark whose labels a pack reads."""
    turns = tuple(
        Document(f"c1/D1:{number}", text, metadata={"conversation": "c1"})
        for number, text in enumerate(["Hello, how are you today then?", "I like green tea."], 1)
    )
    metadata = {"conversation": "c1", "evidence": evidence}
    query = Query("q1", "hello, how are you today?", metadata=metadata)
    return {"documents": turns, "queries": (query,), "judgments": (), "pack": "locomo"}


UNREADABLE = (
    "metadata.evidence of query 'q1': expected a string or an array of strings, found number 7"
)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (["D1:2"], []),
        (["D1:2", "D"], [("warning", "query 'q1': 'D' in its evidence is not a turn")]),
        (["D7:1"], [("warning", "query 'q1': the corpus has no turn D7:1 of its evidence")]),
        (7, [("error", UNREADABLE)]),
    ],
)  # fmt: skip
def test_labels_are_read_by_the_pack(evidence: Any, expected: list[tuple[str, str]]) -> None:
    assert found("label", **memories(evidence)) == expected


def test_labels_of_a_pack_name_passages() -> None:
    assert found("nothing relevant", **memories(["D1:2"])) == []
    assert found("nothing relevant", **memories([])) == [
        ("warning",
         "query 'q1' has no labels that its pack can read, so every system scores 0")
    ]  # fmt: skip
    assert found("copied query", **memories(["D1:2"])) == []
    assert len(found("copied query", **memories(["D1:1"]))) == 1
    shown = build_example(benchmark(**memories(["D1:2"])))
    assert [(one.name, one.texts) for one in shown.targets] == [("D1:2", ("I like green tea.",))]


def test_unknown_chunk_ids_are_a_warning() -> None:
    for chunk, expected in (("tea", 0), ("tea#tea", 0), ("tea#x", 1), ("7", 1), ("#tea", 1)):
        judged = (Judgment("q1", Anchor(chunk=chunk), 1),)
        assert len(found("target", judgments=judged)) == expected


def test_targets_are_not_checked_without_documents() -> None:
    report = check_benchmark(benchmark(documents=()))
    assert report.passed
    assert "no documents, so" in report.findings[0].message


@pytest.mark.parametrize(
    ("remark", "where", "message"),
    [
        ("a/b.json: [0].qa[3]: has no answer", "a/b.json: [0].qa[3]", "has no answer"),
        ("b.jsonl:12: odd: very", "b.jsonl:12", "odd: very"),
        ("a.json: data[2].x: odd", "a.json: data[2].x", "odd"),
        (
            "a.tsv: 3 queries not in queries.jsonl: 'q'",
            "a.tsv",
            "3 queries not in queries.jsonl: 'q'",
        ),
        ("odd", "drinks", "odd"),
    ],
)
def test_a_remark_is_split_into_location_and_message(remark: str, where: str, message: str) -> None:
    (finding,) = CHECKS.get("remark")(Subject(benchmark(remarks=(remark,))))
    assert (finding.where, finding.message) == (where, message)


def test_findings_without_files_name_the_record() -> None:
    judged = (Judgment("q9", Anchor(document="tea"), 1),)
    report = check_benchmark(benchmark(judgments=judged, queries=(Query("q1", ""), QUERIES[1])))
    errors = [finding.where for finding in report.findings if finding.severity == "error"]
    assert errors == ["query 'q1'", "judgment of query 'q9'"]


def test_a_spread_has_minimum_median_maximum_and_mean() -> None:
    assert Spread.of([3, 1, 2, 10]) == Spread(1, 2.5, 10, 4.0)
    assert Spread.of([]) == Spread()


def test_an_example_has_relevant_passages_by_grade() -> None:
    judged = (
        Judgment("q2", Anchor(document="tea"), 1),
        Judgment("q2", Anchor(document="coffee"), 3),
        Judgment("q2", Anchor(chunk="tea#tea"), 2),
    )
    shown = build_example(benchmark(judgments=judged))
    assert shown.query.id == "q2"
    assert [one.grade for one in shown.targets] == [3, 2, 1]
    assert shown.targets[0].texts == (DOCUMENTS[1].text,)
    assert build_example(benchmark(judgments=()), "q1").targets == ()
    with pytest.raises(DataError, match="drinks has no query 'q11'; did you mean 'q1'"):
        build_example(benchmark(), "q11")


@pytest.mark.parametrize("grade", [float("inf"), float("-inf"), float("nan")])
def test_infinite_grades_are_errors(grade: float) -> None:
    changed = (Judgment("q1", Anchor(document="tea"), grade), JUDGMENTS[1])
    report = check_benchmark(benchmark(judgments=changed))
    errors = [one for one in report.findings if one.severity == "error"]
    assert [one.check for one in errors] == ["grade"]
    assert "is not finite" in errors[0].message


@pytest.mark.parametrize(
    ("ids", "check", "severity", "message"),
    [
        ("tea", "label", "error", "metadata.relevant_ids of query 'q1': expected an array of ids"),
        ([3], "label", "error", "place 0: expected an id, a non-empty string, found number 3"),
        ({"tea": "high"}, "label", "error", "'tea': expected a grade, a finite number"),
        (
            ["tea", "te", "tea#gone"],
            "label",
            "warning",
            "2 ids in the metadata of queries",
        ),
        ([], "nothing relevant", "warning", "query 'q1' has no id above grade 0"),
        ({"tea": 0}, "nothing relevant", "warning", "query 'q1' has no id above grade 0"),
    ],
)
def test_ids_in_query_metadata_are_checked(
    ids: Any, check: str, severity: str, message: str
) -> None:
    metadata = {"relevant_ids": ids, "expected_answer": "Eighty degrees."}
    queries = (replace(QUERIES[0], metadata=metadata), QUERIES[1])
    changed = benchmark(queries=queries, judgments=JUDGMENTS[1:])
    others = ("size", "info")
    found = [
        one for one in check_benchmark(changed).findings if (one.check, one.severity) != others
    ]
    assert [(one.check, one.severity) for one in found] == [(check, severity)]
    assert message in found[0].message
    assert found[0].where == "query 'q1'"
    assert check_benchmark(benchmark(queries=queries)).passed


def test_valid_ids_in_query_metadata_pass() -> None:
    queries = (replace(QUERIES[0], metadata={"relevant_ids": ["coffee", "tea#tea"]}), QUERIES[1])
    changed = benchmark(queries=queries, judgments=JUDGMENTS[1:])
    assert check_benchmark(changed).counts == {"error": 0, "warning": 0, "info": 1}
