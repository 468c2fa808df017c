"""The work behind every report format: linear in queries and hits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import berryeval as be
from berryeval.reports.exports import EXPORTERS
from berryeval.reports.sections import Report
from berryeval.runs.answers import AnswerColumns, AnswerRecord, HitRecord, MissedTarget
from berryeval.runs.record import STANDARD, RunRecord
from tests.reports.html_records import changed, run_record

if TYPE_CHECKING:
    from collections.abc import Callable

HITS, SYSTEMS = 5, 2


def build_run(queries: int) -> RunRecord:
    """Return a run with standard scores, which CSV needs."""
    run = run_record(queries, (0.3, 0.5), hits=HITS)
    providers = []
    for one in run.benchmarks[0].providers:
        ranked = {one.query_id: {hit.id: hit.score for hit in one.hits} for one in one.answers}
        standard = be.evaluate({"q-000": {"x": 1}}, ranked, list(STANDARD))
        providers.append(replace(one, standard=standard))
    return changed(run, providers=tuple(providers))


def counting(kind: type, built: dict[str, int]) -> Callable[..., None]:
    """Return the constructor of a class, which also counts its calls."""
    build = kind.__init__  # type: ignore[misc]

    def count(self: object, *args: object, **options: object) -> None:
        built[kind.__name__] += 1
        build(self, *args, **options)

    return count


def count_builds(name: str, queries: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Count the records that one export of a run builds."""
    report = Report.of([build_run(queries)])
    built = {"HitRecord": 0, "AnswerRecord": 0}
    with monkeypatch.context() as patch:
        for kind in (HitRecord, AnswerRecord):
            patch.setattr(kind, "__init__", counting(kind, built))
        EXPORTERS.get(name).files(report, "")
    return built


@pytest.mark.parametrize("name", [one for one in EXPORTERS if EXPORTERS.get(one).track is None])
def test_an_export_builds_every_hit_at_most_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for queries in (40, 80):
        built = count_builds(name, queries, monkeypatch)
        assert built["HitRecord"] <= queries * HITS * SYSTEMS
        assert built["AnswerRecord"] <= 2 * queries * SYSTEMS  # once without hits, once with them


def test_a_page_builds_only_the_hits_that_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    built = count_builds("html", 300, monkeypatch)
    assert built["HitRecord"] == 200 * HITS * SYSTEMS


def test_answers_without_hits_have_everything_else() -> None:
    """An answer with fields of a later version is stored apart from the columns."""
    usual = run_record(3, (0.5,), hits=4).benchmarks[0].providers[0].answers
    odd = AnswerRecord("odd", "ok", (HitRecord("a", 1.0, 9.0, extra={"new": 1}),), latency=2.0)
    answers = AnswerColumns((*usual, odd))
    assert list(answers.without_hits()) == [replace(one, hits=(), missed=()) for one in answers]
    assert (answers.highest_grade, answers.most_hits) == (9.0, 4)
    missed = AnswerColumns([replace(odd, missed=(MissedTarget("b", 12.0),))])
    assert (missed.highest_grade, missed.most_hits) == (12.0, 1)
    assert (AnswerColumns().highest_grade, AnswerColumns().most_hits) == (None, 0)
