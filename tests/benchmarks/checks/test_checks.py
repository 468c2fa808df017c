"""Each check on benchmarks that have what it looks for, and on those that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.benchmarks.benchmark import Benchmark
from berryeval.benchmarks.checks.catalogue import CHECKS, check_benchmark
from berryeval.benchmarks.checks.similarity import longest_shared_run
from berryeval.benchmarks.checks.subject import Subject
from berryeval.benchmarks.checks.summary import Spread, Summary, example_of
from berryeval.benchmarks.loading import load_benchmark
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
    """A benchmark without faults, changed."""
    fields = {"documents": DOCUMENTS, "queries": QUERIES, "judgments": JUDGMENTS, **changed}
    return Benchmark("drinks", **fields)


def found(check: str, **changed: Any) -> list[tuple[str, str]]:
    """Severity and message of what a check finds."""
    subject = Subject(benchmark(**changed))
    return [(one.severity, one.message) for one in CHECKS.get(check)(subject)]


def test_a_good_benchmark_has_nothing_but_its_size() -> None:
    """Nothing is found, but that there are few queries."""
    report = check_benchmark(benchmark())
    assert report.counts == {"error": 0, "warning": 0, "info": 1}
    assert report.passed


@pytest.mark.parametrize("name", list(CHECKS))
def test_every_check_finds_something(name: str, tmp_path: Path) -> None:
    """The faulty benchmark has every fault, each with a place, a message and advice."""
    subject = Subject(load_benchmark(write_faulty(tmp_path / "faulty")))
    if name == "remark":
        subject = Subject(benchmark(remarks=("a.json: [0].qa[3]: has no answer",)))
    if name == "label":
        subject = Subject(benchmark(pack="locomoo"))
    if name == "near-duplicate sections":
        twice = f"# Hot\n\n{DOCUMENTS[1].text}\n\n# Cold\n\nIce.\n\n# Hot\n\n{DOCUMENTS[1].text}\n"
        subject = Subject(benchmark(documents=(*DOCUMENTS, Document("twice", twice))))
    findings = list(CHECKS.get(name)(subject))
    assert findings
    for finding in findings:
        assert finding.where
        assert finding.message
        assert finding.advice


@pytest.mark.parametrize("name", SAMPLES)
def test_all_formats_can_be_checked(name: str, tmp_path: Path) -> None:
    """Whatever the format, the checks run through, and the small samples have no errors."""
    format_, sample = SAMPLES[name]
    loaded = load_benchmark(sample.write(tmp_path), format=format_, **sample.options)
    report = check_benchmark(loaded)
    assert [one for one in report.findings if one.severity == "error"] == []
    assert example_of(loaded).query in loaded.queries
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
def test_copied_queries(text: str, copied: bool) -> None:
    """Eight words in a row are copied, five if they are most of the query."""
    assert bool(found("copied query", queries=(Query("q1", text),))) == copied


def test_copied_from_the_passage_not_from_the_document() -> None:
    """With a section as the target, the text of others does not count."""
    document = Document("d", "# A\n\nsomething else\n\n# B\n\ngreen tea steeps at eighty degrees\n")
    query = Query("q1", "green tea steeps at eighty degrees")
    for section, expected in ((("A",), 0), (("B",), 1)):
        judged = Judgment("q1", Anchor(document="d", section=section), 1)
        said = found("copied query", documents=(document,), queries=(query,), judgments=(judged,))
        assert len(said) == expected


def test_longest_shared_run() -> None:
    """The longest run counts, wherever it begins; words are whole."""
    words = list("abcdefg")
    assert longest_shared_run(words, " x b c d e f g y ") == tuple("bcdefg")
    assert longest_shared_run(words, " a b c d x ") == ()
    assert longest_shared_run(words, " a b c d ee ") == ()


@pytest.mark.parametrize(
    ("grade", "announced", "expected"),
    [
        (3, None, []),
        (0, None, []),
        (-2, None, [("info", "the grade -2 is below 0 and counts as not relevant")]),
        (1.5, None, [("info", "the grade 1.5 is not whole")]),
        (80, None, [("warning", "the grade 80 is high: is it a score?")]),
        (80, [0, 80], []),
        (4, [0, 1, 2, 3], [("error", "the grade 4 is none of those announced: 0, 1, 2, 3")]),
        (4, "0-3", []),
    ],
)
def test_grades(grade: float, announced: Any, expected: list[tuple[str, str]]) -> None:
    """Grades that nobody announced, or that look like something else."""
    judged = (Judgment("q1", Anchor(document="tea"), grade),)
    metadata = {} if announced is None else {"grades": announced}
    assert found("grade", judgments=judged, metadata=metadata) == expected


def test_labels_are_judgments_too() -> None:
    """A query that says itself what is relevant, or that has no answer on purpose, is no fault."""
    labels: list[dict[str, Any]] = [
        {"evidence": ["D1:1"]},
        {"answer": "tea"},
        {"relevant_ids": ["x"]},
        {},
    ]
    queries = tuple(Query(f"q{place}", "?", metadata=one) for place, one in enumerate(labels))
    queries += (Query("none", "?", metadata={"abstention": True}),)
    said = found("nothing relevant", queries=queries, judgments=())
    assert said == [("warning", "the query 'q3' has no judgment: every system scores 0 for it")]


def memories(evidence: Any) -> dict[str, Any]:
    """A benchmark of which a pack reads the labels."""
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
        (["D1:2", "D"], [("warning", "the query 'q1': 'D' in its evidence is not a turn")]),
        (["D7:1"], [("warning", "the query 'q1': the corpus has no turn D7:1 of its evidence")]),
        (7, [("error", UNREADABLE)]),
    ],
)  # fmt: skip
def test_labels_of_packs(evidence: Any, expected: list[tuple[str, str]]) -> None:
    """What a pack cannot read, or not find, is said at the query."""
    assert found("label", **memories(evidence)) == expected


def test_passages_of_packs() -> None:
    """Labels are what is relevant: a query copied from one is noticed, one without any too."""
    assert found("nothing relevant", **memories(["D1:2"])) == []
    assert found("nothing relevant", **memories([])) == [
        ("warning",
         "the query 'q1' has no labels that its pack can read: every system scores 0 for it")
    ]  # fmt: skip
    assert found("copied query", **memories(["D1:2"])) == []
    assert len(found("copied query", **memories(["D1:1"]))) == 1
    shown = example_of(benchmark(**memories(["D1:2"])))
    assert [(one.name, one.texts) for one in shown.targets] == [("D1:2", ("I like green tea.",))]


def test_chunk_ids() -> None:
    """Ids of documents and their sections are fine; other ids mean one chunking only."""
    for chunk, expected in (("tea", 0), ("tea#tea", 0), ("tea#x", 1), ("7", 1), ("#tea", 1)):
        judged = (Judgment("q1", Anchor(chunk=chunk), 1),)
        assert len(found("target", judgments=judged)) == expected


def test_targets_without_documents_are_not_looked_for() -> None:
    """Judgments alone are no fault; it is said that nothing was looked up."""
    report = check_benchmark(benchmark(documents=()))
    assert report.passed
    assert "there are no documents" in report.findings[0].message


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
def test_remarks(remark: str, where: str, message: str) -> None:
    """What a loader noticed is shown at its place."""
    (finding,) = CHECKS.get("remark")(Subject(benchmark(remarks=(remark,))))
    assert (finding.where, finding.message) == (where, message)


def test_places_without_files() -> None:
    """Records that no file said are named by their ids."""
    judged = (Judgment("q9", Anchor(document="tea"), 1),)
    report = check_benchmark(benchmark(judgments=judged, queries=(Query("q1", ""), QUERIES[1])))
    errors = [finding.where for finding in report.findings if finding.severity == "error"]
    assert errors == ["query 'q1'", "judgment of query 'q9'"]


def test_spread() -> None:
    """Least, middle, greatest; nothing of nothing."""
    assert Spread.of([3, 1, 2, 10]) == Spread(1, 2.5, 10, 4.0)
    assert Spread.of([]) == Spread()


def test_example() -> None:
    """The first query with something relevant, or the one asked for; the highest grade first."""
    judged = (
        Judgment("q2", Anchor(document="tea"), 1),
        Judgment("q2", Anchor(document="coffee"), 3),
        Judgment("q2", Anchor(chunk="tea#tea"), 2),
    )
    shown = example_of(benchmark(judgments=judged))
    assert shown.query.id == "q2"
    assert [one.grade for one in shown.targets] == [3, 2, 1]
    assert shown.targets[0].texts == (DOCUMENTS[1].text,)
    assert example_of(benchmark(judgments=()), "q1").targets == ()
    with pytest.raises(DataError, match="drinks has no query 'q11'; did you mean q1"):
        example_of(benchmark(), "q11")


@pytest.mark.parametrize("grade", [float("inf"), float("-inf"), float("nan")])
def test_grades_that_are_not_finite(grade: float) -> None:
    """An error of one check; the others run through."""
    changed = (Judgment("q1", Anchor(document="tea"), grade), JUDGMENTS[1])
    report = check_benchmark(benchmark(judgments=changed))
    errors = [one for one in report.findings if one.severity == "error"]
    assert [one.check for one in errors] == ["grade"]
    assert "is no finite number" in errors[0].message


@pytest.mark.parametrize(
    ("ids", "check", "severity", "message"),
    [
        ("tea", "label", "error", "metadata.relevant_ids of query 'q1': expected an array of ids"),
        ([3], "label", "error", "place 0: expected an id, a non-empty string, found number 3"),
        ({"tea": "high"}, "label", "error", "'tea': expected a grade, a finite number"),
        (["tea", "te", "tea#gone"], "label", "warning", "2 ids in metadata of queries that are"),
        ([], "nothing relevant", "warning", "the query 'q1' has no id above grade 0"),
        ({"tea": 0}, "nothing relevant", "warning", "the query 'q1' has no id above grade 0"),
    ],
)
def test_ids_in_the_metadata_of_queries(ids: Any, check: str, severity: str, message: str) -> None:
    """They are looked at as judgments are, where there are none."""
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


def test_good_ids_in_the_metadata_are_no_fault() -> None:
    """A document, and a section of one."""
    queries = (replace(QUERIES[0], metadata={"relevant_ids": ["coffee", "tea#tea"]}), QUERIES[1])
    changed = benchmark(queries=queries, judgments=JUDGMENTS[1:])
    assert check_benchmark(changed).counts == {"error": 0, "warning": 0, "info": 1}
