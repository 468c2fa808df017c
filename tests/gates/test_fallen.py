"""A failing rule names the queries that fell, what was wanted and what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from berryeval.gates import Baseline, Gate, Rule, judge
from berryeval.reports import Report
from berryeval.reports.exporters import github, junit, markdown
from berryeval.reports.html import page as html
from berryeval.runs.answers import AnswerRecord, FoundTarget, HitRecord, MissedTarget
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from berryeval.gates import Verdict
    from berryeval.runs.record import RunRecord

BEFORE = [1.0] * 8 + [0.5] * 2
AFTER = [0.0] * 7 + [0.25] + [0.5] * 2
HIT = HitRecord("tea#2", 3.5, grade=1.0)
FELL = (
    "the queries of bm25 on drinks that fell most:",
    "  RR 1.000 → 0.000  q00: ?",
    "    1. tea#2 (grade 1)",
    "    2. milk (not judged)",
    "    wanted: tea/brewing, not found, grade 3",
    "    wanted: tea#2, rank 1, grade 1",
    "  RR 1.000 → 0.000  q01: ?",
    "    returned no hits",
)


def answered(values: list[float]) -> RunRecord:
    run = run_of({"RR": values})
    (part,) = run.benchmarks
    (provider,) = part.providers
    missed = (MissedTarget("tea/brewing", 3.0),)
    answers = (
        AnswerRecord("q00", "ok", hits=(HIT, HitRecord("milk", 1.0)), missed=missed),
        *(AnswerRecord(f"q{place:02}", "ok") for place in range(1, len(values))),
    )
    provider = replace(provider, answers=answers)
    return replace(run, benchmarks=(replace(part, providers=(provider,)),))


def verdicts(run: RunRecord, *rules: dict[str, Any], worst: int = 2) -> list[Verdict]:
    gate = Gate(baseline="given", rules=[Rule(**rule) for rule in rules])
    return judge(gate, run, Baseline.of(run_of({"RR": BEFORE}, name="old")), worst=worst)


def test_a_failing_drop_names_the_queries_that_fell_most() -> None:
    first, second = verdicts(
        answered(AFTER), {"metric": "RR", "max_drop": 0.0}, {"metric": "RR", "at_least": 0.9}
    )
    assert (first.status, first.fallen) == ("fail", FELL)
    assert (second.status, second.fallen) == ("fail", ())  # once for each provider
    assert first.to_dict()["fallen"] == list(FELL)
    (few,) = verdicts(answered(AFTER), {"metric": "RR", "max_drop": 0.0}, worst=20)
    assert sum(" → " in line for line in few.fallen) == 8  # the other two did not fall


def test_a_failing_limit_names_the_worst_queries_of_its_group() -> None:
    easy = {"metric": "RR", "at_least": 0.9, "where": {"difficulty": "easy"}}
    (found,) = verdicts(answered(AFTER), easy)
    assert found.fallen[:2] == ("the worst queries of bm25 on drinks:", "  RR 0.000  q01: ?")
    assert "  RR 0.000  q03: ?" in found.fallen


def test_a_target_that_slipped_is_named_with_its_rank() -> None:
    hits = (*(HitRecord(f"banana{place}", 9.0 - place) for place in range(5)), HIT)
    found = (FoundTarget("tea/brewing", 3.0, rank=6),)
    lines = answered_with(AnswerRecord("q00", "ok", hits, found=found))
    assert lines[1:6] == (
        "  RR 1.000 → 0.000  q00: ?",
        *(f"    {place + 1}. banana{place} (not judged)" for place in range(3)),
        "    wanted: tea/brewing, rank 6, grade 3",
    )


def test_many_targets_are_counted() -> None:
    found = tuple(FoundTarget(f"tea/{place}", 1.0, rank=place + 1) for place in range(8))
    missed = tuple(MissedTarget(f"milk/{place}", 1.0) for place in range(8))
    hits = tuple(HitRecord(f"tea#{place}", 1.0, grade=1.0) for place in range(8))
    lines = answered_with(AnswerRecord("q00", "ok", hits, missed, found=found))
    assert sum(line.startswith("    wanted: ") for line in lines) == 10
    assert "    … and 6 more were wanted, 6 of them not found" in lines


def answered_with(first: AnswerRecord) -> tuple[str, ...]:
    """Return the lines about a run with this answer to its first query."""
    run = answered(AFTER)
    (part,) = run.benchmarks
    (provider,) = part.providers
    provider = replace(provider, answers=(first, *provider.answers[1:]))
    changed = replace(run, benchmarks=(replace(part, providers=(provider,)),))
    (verdict,) = verdicts(changed, {"metric": "RR", "max_drop": 0.0})
    return verdict.fallen


def test_a_passing_rule_names_no_query() -> None:
    assert not any(
        one.fallen for one in verdicts(answered(BEFORE), {"metric": "RR", "max_drop": 0})
    )


def test_every_report_names_them() -> None:
    run = answered(AFTER)
    report = Report.of([run], verdicts=verdicts(run, {"metric": "RR", "max_drop": 0.0}))
    assert "\n".join(FELL) in junit.render(report)
    assert "%0A".join(FELL) in github.render(report)
    shown = markdown.render(report)
    assert "<summary>the queries of bm25 on drinks that fell most:</summary>" in shown
    assert "- RR 1.000 → 0.000 q00: ?\n  - 1. tea#2 (grade 1)\n" in shown


def test_queries_with_a_perfect_score_are_not_among_the_worst() -> None:
    (found,) = verdicts(answered([1.0] * 9 + [0.5]), {"metric": "RR", "at_least": 0.99}, worst=3)
    assert [line for line in found.fallen if line.startswith("  RR")] == ["  RR 0.500  q09: ?"]


def test_the_page_and_strict_reports_name_them() -> None:
    run = answered(AFTER)
    failed = verdicts(run, {"metric": "RR", "max_drop": 0.0})
    page = html.render(Report.of([run], verdicts=failed))
    assert f"<summary><bdi>{FELL[0]}</bdi></summary>" in page
    assert "<bdi>RR 1.000 → 0.000 q00: ?</bdi>" in page
    assert "<bdi>wanted: tea/brewing, not found, grade 3</bdi>" in page
    unclear = [replace(one, status="inconclusive") for one in failed]
    for strict in (False, True):
        report = Report.of([run], verdicts=unclear, strict=strict)
        shown = (html.render(report), junit.render(report), github.render(report),
                 markdown.render(report))  # fmt: skip
        assert [FELL[0] in one for one in shown] == [strict] * 4
