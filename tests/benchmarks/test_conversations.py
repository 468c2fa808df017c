"""LoCoMo, LongMemEval and code retrieval: labels for packs, and oddities."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.benchmarks import load_benchmark
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from tests.benchmarks.samples import CODE_RETRIEVAL, LOCOMO, LONGMEMEVAL, Sample, as_json

if TYPE_CHECKING:
    from pathlib import Path


def test_locomo_turns_become_documents(tmp_path: Path) -> None:
    benchmark = load_benchmark(LOCOMO.write(tmp_path))
    assert (benchmark.pack, benchmark.judgments) == ("locomo", ())
    assert [document.id for document in benchmark.documents] == [
        "conv-1/D1:1", "conv-1/D1:2", "conv-1/D2:1"
    ]  # fmt: skip
    cup = benchmark.documents[1]
    assert cup.text == "Ben: Look at my cup! [shares a picture: a red cup]"
    assert cup.metadata == {
        "conversation": "conv-1", "session": 1, "date": "9:00 am on 1 May, 2023",
        "dia_id": "D1:2", "speaker": "Ben",
    }  # fmt: skip
    assert cup.extra["img_url"] == ["https://cups.example/1.jpg"]
    assert [(query.id, query.category) for query in benchmark.queries] == [
        ("conv-1/q0", "multi-hop"),
        ("conv-1/q1", "temporal"),
        ("conv-1/q2", "adversarial"),
        ("conv-1/q3", "open-domain"),
    ]
    assert benchmark.queries[0].metadata["evidence"] == ["D1:1; D2:1"]
    assert benchmark.queries[1].metadata["answer"] == "2023"
    assert benchmark.queries[2].metadata["adversarial_answer"] == "It keeps him awake"
    assert "answer" not in benchmark.queries[2].metadata


def test_locomo_oddities_are_remarked(tmp_path: Path) -> None:
    remarks = load_benchmark(LOCOMO.write(tmp_path)).remarks
    found = [remark.split("locomo.json: ")[1] for remark in remarks]
    assert found == [
        "[0].conversation: 1 dates of missing sessions",
        "[0].qa[0].evidence[0]: 'D1:1; D2:1' is not a turn id",
        "[0].qa[2].evidence[1]: 'D' is not a turn id",
        "[0].qa[3]: has no evidence",
        "[0].qa[3]: has no answer",
    ]


def test_locomo_sessions_know_their_turns(tmp_path: Path) -> None:
    benchmark = load_benchmark(LOCOMO.write(tmp_path), granularity="session")
    first = benchmark.documents[0]
    assert first.id == "conv-1/session_1"
    turns = first.metadata["turns"]
    assert [turn["id"] for turn in turns] == ["D1:1", "D1:2"]
    assert [first.text[turn["start"] : turn["end"]] for turn in turns] == first.text.split("\n")


def test_locomo_categories_select_questions(tmp_path: Path) -> None:
    path = LOCOMO.write(tmp_path)
    benchmark = load_benchmark(path, categories=[1, 2])
    assert [query.id for query in benchmark.queries] == ["conv-1/q0", "conv-1/q1"]
    for wrong, expected in (
        ([6], "numbers from 1 to 5"),
        ("12", "a list"),
        (5, "numbers from 1 to 5"),
    ):
        with pytest.raises(ConfigurationError, match=f"categories.* must be {expected}"):
            load_benchmark(path, categories=wrong)
    with pytest.raises(ConfigurationError, match="granularity must be one of turn, session"):
        load_benchmark(path, granularity="word")


def test_locomo_ids_include_their_sample(tmp_path: Path) -> None:
    (sample,) = json.loads(LOCOMO.files["locomo.json"])
    both = [sample, {**sample, "sample_id": "conv-2"}]
    benchmark = load_benchmark(
        replace(LOCOMO, files={"locomo.json": as_json(both)}).write(tmp_path)
    )
    assert len(benchmark.documents) == 6
    assert benchmark.queries[4].id == "conv-2/q0"
    same = replace(LOCOMO, files={"locomo.json": as_json([sample, sample])}).write(tmp_path)
    with pytest.raises(DataError, match="the document id 'conv-1/D1:1' occurs twice; first in"):
        load_benchmark(same)


def _locomo(**change: Any) -> Sample:
    (sample,) = json.loads(LOCOMO.files["locomo.json"])
    return replace(LOCOMO, files={"locomo.json": as_json([{**sample, **change}])})


QA = {"question": "?", "answer": "!", "evidence": ["D1:1"], "category": 1}
BAD_LOCOMO: list[tuple[dict[str, Any], str]] = [
    ({"qa": [{**QA, "category": 7}]}, "[0].qa[0].category: expected a category from 1 to 5"),
    ({"qa": [{**QA, "category": "1"}]}, "[0].qa[0].category: expected a whole number"),
    ({"qa": [{**QA, "evidence": "D1:1"}]}, "[0].qa[0].evidence: expected an array, found string"),
    ({"qa": [{**QA, "evidence": [1]}]}, "[0].qa[0].evidence[0]: expected a string, found number"),
    ({"qa": [{**QA, "question": None}]}, "[0].qa[0].question: expected a string, found null"),
    ({"qa": {}}, "[0].qa: expected an array, found object"),
    ({"conversation": []}, "[0].conversation: expected an object, found array"),
    ({"conversation": {"session_1": [{"speaker": "A"}]}}, "session_1[0]: has no 'dia_id'"),
    ({"sample_id": ""}, "[0].sample_id: expected an id"),
]


@pytest.mark.parametrize(("change", "message"), BAD_LOCOMO)
def test_a_locomo_error_names_its_json_path(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(BerryEvalError) as caught:
        load_benchmark(_locomo(**change).write(tmp_path))
    assert message in str(caught.value)


def test_longmemeval_sessions_become_documents(tmp_path: Path) -> None:
    benchmark = load_benchmark(LONGMEMEVAL.write(tmp_path))
    assert (benchmark.pack, benchmark.judgments) == ("longmemeval", ())
    assert [document.id for document in benchmark.documents] == ["answer_1", "filler_1", "filler_2"]
    session = benchmark.documents[0]
    assert session.text == "user: My cup is red.\nassistant: Nice!"
    assert session.metadata["turns"] == [
        {"id": "answer_1_1", "start": 0, "end": 20, "role": "user", "has_answer": True},
        {"id": "answer_1_2", "start": 21, "end": 37, "role": "assistant", "has_answer": False},
    ]
    first, second = benchmark.queries
    assert first.category == "single-session-user"
    assert first.metadata == {
        "answer": "red", "question_date": "2023/05/30 (Tue) 10:00", "abstention": False,
        "answer_session_ids": ["answer_1"], "haystack": ["answer_1", "filler_1"],
        "haystack_session_ids": ["answer_1", "filler_1"],
        "haystack_dates": ["2023/05/01 (Mon) 10:00", "2023/05/02 (Tue) 10:00"],
    }  # fmt: skip
    assert (second.metadata["abstention"], second.metadata["answer"]) == (True, "0")


def test_longmemeval_turns_become_documents(tmp_path: Path) -> None:
    benchmark = load_benchmark(LONGMEMEVAL.write(tmp_path), granularity="turn")
    assert [document.id for document in benchmark.documents][:2] == ["answer_1_1", "answer_1_2"]
    assert benchmark.documents[0].metadata["has_answer"] is True
    labels = [query.metadata["answer_corpus_ids"] for query in benchmark.queries]
    assert labels == [["answer_1_1"], []]
    assert benchmark.queries[0].metadata["haystack"][-1] == "filler_1_1"


def _longmemeval(**change: Any) -> Sample:
    first, second = json.loads(LONGMEMEVAL.files["longmemeval_s.json"])
    return replace(
        LONGMEMEVAL, files={"longmemeval_s.json": as_json([first, {**second, **change}])}
    )


def test_a_session_that_recurs_with_another_text_is_kept(tmp_path: Path) -> None:
    sessions = [[{"role": "user", "content": "Something else."}]]
    again = _longmemeval(
        question_id="e3", haystack_session_ids=["filler_1"], haystack_dates=["x"],
        haystack_sessions=sessions, answer_session_ids=["gone"],
    )  # fmt: skip
    benchmark = load_benchmark(again.write(tmp_path))
    assert [document.id for document in benchmark.documents][2] == "e3/filler_1"
    assert benchmark.queries[1].metadata["haystack"] == ["e3/filler_1"]
    assert len(benchmark.remarks) == 2
    assert "'filler_1' has a different text than before: 'e3/filler_1'" in benchmark.remarks[0]
    assert "answer session 'gone' is not in the history" in benchmark.remarks[1]
    marked = [[{"role": "user", "content": "How is coffee made?", "has_answer": True}]]
    later = _longmemeval(
        question_id="e3", haystack_session_ids=["filler_1"], haystack_dates=["x"],
        haystack_sessions=marked, answer_session_ids=["filler_1"],
    )  # fmt: skip
    benchmark = load_benchmark(later.write(tmp_path))
    assert benchmark.documents[1].metadata["turns"][0]["has_answer"] is True


BAD_LONGMEMEVAL: list[tuple[dict[str, Any], str]] = [
    ({"haystack_dates": []}, "[1]: found 2 haystack_session_ids, 2 haystack_sessions and 0"),
    ({"haystack_sessions": [1, 2]}, "[1].haystack_sessions[0]: expected an array"),
    ({"haystack_sessions": [[{"role": "user"}], []]}, "haystack_sessions[0][0]: has no 'content'"),
    ({"answer_session_ids": None}, "[1].answer_session_ids: expected an array, found null"),
    ({"question_id": "e1"}, "the query id 'e1' occurs twice"),
    ({"answer": ["a"]}, "[1].answer: expected a string, found array"),
]


@pytest.mark.parametrize(("change", "message"), BAD_LONGMEMEVAL)
def test_a_longmemeval_error_names_its_json_path(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        load_benchmark(_longmemeval(**change).write(tmp_path))
    assert message in str(caught.value)


def test_code_retrieval_loads_a_folder(tmp_path: Path) -> None:
    benchmark = load_benchmark(CODE_RETRIEVAL.write(tmp_path))
    assert (benchmark.pack, benchmark.judgments) == ("code-retrieval", ())
    assert [document.id for document in benchmark.documents] == [
        "kitchen/coffee.py", "kitchen/tea.py"
    ]  # fmt: skip
    assert [query.metadata["locations"] for query in benchmark.queries] == [
        [{"path": "kitchen/tea.py", "start_line": 2, "end_line": 3}],
        [{"path": "kitchen/coffee.py"}],
    ]
    assert benchmark.queries[1].extra == {"repo": "home"}
    assert "cup.png" in benchmark.remarks[0]
    assert benchmark.remarks[0].endswith("skipped")


def test_code_retrieval_skips_pipes(tmp_path: Path) -> None:
    os.mkfifo(CODE_RETRIEVAL.write(tmp_path) / "source" / "pipe.py")
    benchmark = load_benchmark(tmp_path)
    assert len(benchmark.documents) == 2
    pipe = tmp_path / "source" / "pipe.py"
    assert f"{pipe}: is not a regular file; skipped" in benchmark.remarks


def test_code_retrieval_loads_a_file(tmp_path: Path) -> None:
    CODE_RETRIEVAL.write(tmp_path)
    (tmp_path / "source").rename(tmp_path / "repository")
    path = tmp_path / "queries.jsonl"
    with pytest.raises(DataError, match="source: no such folder"):
        load_benchmark(path)
    benchmark = load_benchmark(path, files=tmp_path / "repository", suffixes=[".py"])
    assert (len(benchmark.documents), benchmark.remarks) == (2, ())


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([{"file": "a", "start_line": 5, "end_line": 2}], "expected lines with 1 <= start_line"),
        ([{"file": "a", "start_line": 0}], "expected lines with 1 <= start_line"),
        ([{"file": "a", "end_line": 3}], "ground_truth[0]: has no 'start_line'"),
        ([{"lines": 3}], "ground_truth[0]: has no 'path'"),
        ([3], "ground_truth[0]: expected an object, found number 3"),
        ("a.py", "ground_truth: expected an array, found string"),
    ],
)
def test_a_code_retrieval_error_names_its_line(truth: Any, message: str, tmp_path: Path) -> None:
    line = json.dumps({"query": "x", "ground_truth": truth}).encode()
    files = {**CODE_RETRIEVAL.files, "queries.jsonl": b"\n" + line}
    with pytest.raises(DataError) as caught:
        load_benchmark(replace(CODE_RETRIEVAL, files=files).write(tmp_path))
    assert message in str(caught.value)
    assert "queries.jsonl:2: ground_truth" in str(caught.value)


def test_lines_beyond_the_end_are_remarked(tmp_path: Path) -> None:
    truth = [{"path": "kitchen/tea.py", "start_line": 3, "end_line": 9}, "gone.py"]
    line = json.dumps({"query": "x", "ground_truth": truth}).encode()
    files = {**CODE_RETRIEVAL.files, "queries.jsonl": line}
    benchmark = load_benchmark(replace(CODE_RETRIEVAL, files=files).write(tmp_path))
    assert benchmark.remarks[1].endswith("kitchen/tea.py has 3 lines, found lines 3 to 9")
    assert benchmark.remarks[2].endswith("there is no file 'gone.py'")
