"""Answers that a system wrote beside its hits: kept, masked, bounded and shown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.providers import Answer
from berryeval.runner.journal import read_journal
from berryeval.workflows import write_report
from tests.providers.loopback import Asked, loopback
from tests.workflows.worlds import PATIENT, benchmark, plan_of, results_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT = "It is a plum. \u2603"


@dataclass
class Found:
    """An answer as a class of the user's."""

    hits: list[str]
    answer: Any
    cost: Any = None


FORMS: dict[str, Callable[[Any], Any]] = {
    "mapping": lambda text: {"hits": ["d0"], "answer": text},
    "mapping of scores": lambda text: {"hits": {"d0": 0.5}, "answer": text},
    "object": lambda text: Found(["d0"], text),
    "Answer": lambda text: Answer(["d0"], answer=text),
}


def run(tmp_path: Path, search: Any) -> Any:
    result = be.run_benchmark(
        benchmark(tmp_path, 2), search, ["RR"], folder=tmp_path / "run", run=PATIENT
    )
    return result.providers[0].record.answers


@pytest.mark.parametrize("form", FORMS)
def test_answer_is_recorded_with_the_hits(form: str, tmp_path: Path) -> None:
    """A function, an object or a mapping may say more than its hits."""
    answers = run(tmp_path, lambda _text, _k: FORMS[form](TEXT))
    assert [one.answer for one in answers] == [TEXT, TEXT]
    assert [one.hits[0].id for one in answers] == ["d0", "d0"]
    (journal,) = (tmp_path / "run").rglob("results.jsonl")
    assert {one.answer for one in read_journal(journal)} == {TEXT}


@pytest.mark.parametrize("form", FORMS)
def test_no_answer_is_empty(form: str, tmp_path: Path) -> None:
    answers = run(tmp_path, lambda _text, _k: FORMS[form](None))
    assert [(one.outcome, one.answer) for one in answers] == [("ok", "")] * 2


@pytest.mark.parametrize(
    ("given", "words"),
    [(7, "expected the answer as text, found int 7"), ("x" * 100_001, "100,000 characters")],
    ids=["number", "endless"],
)
def test_odd_answer_is_the_error_of_its_query(given: Any, words: str, tmp_path: Path) -> None:
    answers = run(tmp_path, lambda _text, _k: FORMS["mapping"](given))
    assert [one.outcome for one in answers] == ["error", "error"]
    assert words in answers[0].error


def test_answer_of_a_server(tmp_path: Path) -> None:
    """The provider http has a path to the answer."""

    def answer(_request: Asked) -> Any:
        return {"hits": [{"id": "d0"}], "rag": {"answer": TEXT}}

    with loopback(answer) as server:
        options = {"url": server.url, "hits": "hits", "answer": "rag.answer"}
        plan = plan_of(benchmark(tmp_path, 2), {"type": "http", "options": options})
        (found,) = results_of(plan, tmp_path / "run").values()
        assert [one.answer for one in found.record.answers] == [TEXT, TEXT]
        options["answer"] = "nowhere"
        plan = plan_of(benchmark(tmp_path, 2), {"type": "http", "options": options})
        (found,) = results_of(plan, tmp_path / "other").values()
    assert "nothing at the path 'nowhere'" in found.record.answers[0].error


def test_secret_in_an_answer_is_masked(tmp_path: Path) -> None:
    canary = "c4nary-0123456789"
    echo = {"hits": [{"id": "d0"}], "answer": f"the token is {canary}"}
    with loopback(lambda _request: echo) as server:
        options = {"url": server.url, "hits": "hits", "answer": "answer", "token": canary}
        plan = plan_of(benchmark(tmp_path, 2), {"type": "http", "options": options})
        (found,) = results_of(plan, tmp_path / "run").values()
    assert found.record.answers[0].answer == "the token is ***"
    files = [one for one in (tmp_path / "run").rglob("*") if one.is_file()]
    assert files
    assert not [one for one in files if canary.encode() in one.read_bytes()]


def test_answer_is_in_the_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows it, escaped; the record in JSON has it whole, and so has the store."""
    monkeypatch.chdir(tmp_path)
    text = "<b>It</b> is a plum."
    run(tmp_path, lambda _text, _k: {"hits": ["d1"], "answer": text})
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert text in json.dumps(record)
    write_report(str(tmp_path / "run"), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;It&lt;/b&gt; is a plum." in page
