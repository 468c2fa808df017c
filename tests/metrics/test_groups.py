"""Judgments in groups, as seen by metrics without subtopics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.data.qrels import Qrels
from berryeval.errors import DataError
from berryeval.scoring.engine import evaluate

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ["nDCG@5", "AP", "P@2", "Judged", "ERR", "Compat", "INST(max_rel=3)"]
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"b": 1.0}}
GROUPED = "q1 1 a 1\nq1 2 b -1\nq1 2 a 3\nq2 1 b 0\nq1 3 b 2\nq2 2 b 2\nq1 1 c 0\n"
FLAT = {"q1": {"a": 3.0, "b": 2.0, "c": 0.0}, "q2": {"b": 2.0}}


@settings(max_examples=50)
@given(
    st.dictionaries(
        st.tuples(
            st.sampled_from(["q1", "q2", "q3"]), st.sampled_from("abc"), st.sampled_from("12")
        ),
        st.floats(-2, 4),
        max_size=14,
    )
)
def test_a_document_has_the_highest_of_its_grades(
    records: dict[tuple[str, str, str], float],
) -> None:
    highest: dict[str, dict[str, float]] = {}
    for (query, document, _), grade in records.items():
        grades = highest.setdefault(query, {})
        grades[document] = max(grade, grades.get(document, grade))
    qrels = Qrels.from_records((q, d, grade, group) for (q, d, group), grade in records.items())
    assert qrels.to_dict() == highest
    found, expected = evaluate(qrels, RUN, METRICS), evaluate(highest, RUN, METRICS)
    assert found.values.tobytes() == expected.values.tobytes()
    assert found.counts.tobytes() == expected.counts.tobytes()


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "run.txt"
    lines = (
        f"{query} Q0 {document} 0 {score} tag\n"
        for query, row in RUN.items()
        for document, score in row.items()
    )
    path.write_text("".join(lines))
    return path


def qrels_file(folder: Path, text: str) -> Path:
    path = folder / "qrels.txt"
    path.write_text(text)
    return path


def test_the_second_column_of_a_file_is_the_group(tmp_path: Path, run_file: Path) -> None:
    path = qrels_file(tmp_path, GROUPED)
    assert Qrels.from_trec(path).to_dict() == FLAT
    for metrics in (METRICS, [*METRICS, "StRecall@1", "alpha_nDCG@2"]):
        from_files, from_dicts = evaluate(path, run_file, metrics), evaluate(path, RUN, metrics)
        assert from_files.values.tobytes() == from_dicts.values.tobytes()
        ordinary = evaluate(FLAT, RUN, METRICS).values
        assert from_dicts.values[: len(METRICS)].tobytes() == ordinary.tobytes()
    found = evaluate(path, run_file, ["StRecall@1", "StRecall@2"])
    assert found.per_query("StRecall@1") == {"q1": 2 / 3, "q2": 1.0}
    assert found.per_query("StRecall@2") == {"q1": 1.0, "q2": 1.0}


def test_a_table_without_repeats_is_not_copied(tmp_path: Path) -> None:
    for text in ("q 0 a 1\nq 0 b 2\n", "q 0 a 1\nq 1 b 2\nr 10 a 1\n"):
        qrels = Qrels.from_trec(qrels_file(tmp_path, text))
        assert qrels.flat is qrels.table
    assert Qrels.from_dict({"q": {"a": 1}}).flat.labels == {}


TWICE = {
    "one group": ("q1 0 a 1\nq1 0 b 1\nq1 0 a 1\n", 3, "q1"),
    "several groups": ("q1 1 a 1\nq1 2 a 1\nq1 2 b 1\nq1 2 a 0\n", 4, "q1"),
    "a query the run lacks": ("q1 0 a 1\nq9 0 a 1\nq9 0 a 1\n", 3, "q9"),
}


@pytest.mark.parametrize("metric", ["AP", "StRecall@5"])
@pytest.mark.parametrize("case", TWICE)
def test_a_repeated_document_in_a_group_is_rejected(
    tmp_path: Path, run_file: Path, case: str, metric: str
) -> None:
    text, line, query = TWICE[case]
    path = qrels_file(tmp_path, text)
    for run in (RUN, run_file):
        with pytest.raises(DataError) as caught:
            evaluate(path, run, [metric])
        assert str(caught.value) == f"{path}:{line}: document 'a' appears twice in query {query!r}"


def test_a_repeated_record_is_rejected() -> None:
    qrels = Qrels.from_records([("q", "a", 1, "1"), ("q", "a", 2, "1")])
    with pytest.raises(DataError, match="document 'a' appears twice in query 'q'"):
        evaluate(qrels, {"q": {"a": 1.0}}, ["AP"])


WRONG: list[tuple[Any, str]] = [
    (("q", "d", 1), r"a record must be \(query, document, grade, group\), found \('q', 'd', 1\)"),
    (5, r"a record must be .*, found 5"),
    (("q", "d", 1, 2), "a group id must be a str, found int 2"),
    ((1, "d", 1, "2"), "a query id must be a str, found int 1"),
    (("q", None, 1, "2"), "a document id must be a str, found NoneType None"),
    (("q", "d", "1", "2"), "the grade of document 'd' for query 'q' must be a number, found str"),
    (("q", "d", float("nan"), "2"), "the grade of document 'd' for query 'q' must not be NaN"),
]


@pytest.mark.parametrize(("record", "words"), WRONG)
def test_an_invalid_record_is_rejected(record: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Qrels.from_records([record])
