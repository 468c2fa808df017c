"""Markdown, GitHub, LaTeX, JUnit and TREC exports."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import junitparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berryeval as be
from berryeval.errors import DataError
from berryeval.gates import Verdict
from berryeval.reports.exporters import github, junit, latex, markdown
from berryeval.reports.exporters.json import JSON
from berryeval.reports.exporters.trec import TREC
from berryeval.reports.sections import Report
from berryeval.runs.answers import AnswerRecord, HitRecord
from berryeval.runs.record import ProviderRecord
from tests.reports.world import (
    FAILURE,
    QUERIES,
    hard_report,
    hard_run,
    plain_run,
    provider,
    run_of,
)

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

ANY_TEXT = st.text(max_size=30)
few = settings(max_examples=40)  # each renders a whole report


def report_saying(text: str) -> Report:
    """Return a report with this text in every place."""
    named = replace(provider("bm25"), name=text, warnings=(text,), failure=text)
    run = run_of(named, provider("our|search_v2 <b>"), name=text)
    part = run.benchmarks[0]
    queries = tuple(replace(query, text=text, category=text) for query in QUERIES)
    run = replace(run, id=text, created=text, benchmarks=(replace(part, queries=queries),))
    verdict = Verdict("fail", text, text, text, text, group=text)
    return Report.of([run], title=text, verdicts=[verdict])


@few
@given(ANY_TEXT)
def test_no_text_breaks_a_markdown_table(text: str) -> None:
    """Every row has as many cells as its header, and no text becomes HTML."""
    lines = markdown.render(report_saying(text)).split("\n")
    tables = [line for line in lines if line.startswith("|")]
    assert tables
    for line in tables:
        cells = line.replace("\\\\", "").replace("\\|", "").count("|") - 1
        assert cells in {4, 5, 6, 7}, line
    assert "<script" not in "".join(lines)
    assert all(line.startswith(("| ", "## ", "### ", "<", "- ")) for line in lines if line)


def test_markdown_disables_mentions() -> None:
    assert markdown.escape("ask @octo-cat") == "ask @<!-- -->octo-cat"
    assert markdown.escape("nDCG@10") == "nDCG@10"


def test_the_best_is_bold_only_if_values_differ() -> None:
    assert "**" not in markdown.render(Report.of([plain_run()]))
    twins = run_of(provider("bm25"), replace(provider("bm25"), name="twin"))
    assert "**" not in markdown.render(Report.of([twins]))
    assert "**0.645**" in markdown.render(hard_report())


def test_several_runs_share_a_table() -> None:
    text = markdown.render(Report.of([plain_run(), run_of(provider("bm25"), second=1)]))
    assert "| bm25 (2026-02-21T14-30-00-drinks) |" in text
    assert "| bm25 (2026-02-21T14-30-01-drinks) |" in text
    assert text.count("### drinks") == 1


def test_runs_with_the_same_name_have_distinct_labels() -> None:
    report = Report.of([plain_run(), run_of(provider("our|search_v2 <b>")), plain_run()])
    labels = [system.label for system in report.sections[0].systems]
    assert len(set(labels)) == 3


def test_a_legend_explains_runs_with_the_same_name() -> None:
    """By start and plan; not if the names differ."""
    first, second = plain_run(), replace(plain_run(), created="2026-03-01T09:00:00+01:00")
    text = markdown.render(Report.of([first, second]))
    name = markdown.escape(first.id)
    assert f"\n- bm25 ({name}): run {name} of {first.created}, plan sha256:abc\n" in text
    assert f"\n- bm25 ({name}) #2: run {name} of {second.created}, plan sha256:abc\n" in text
    assert ": run" not in markdown.render(
        Report.of([plain_run(), run_of(provider("bm25"), second=1)])
    )


def test_a_legend_explains_only_what_the_table_has() -> None:
    whole = run_of(provider("bm25"))
    assert (
        "<sub>each value with its 95 % bootstrap confidence interval over the queries</sub>"
        in markdown.render(Report.of([whole]))
    )
    (part,) = whole.benchmarks
    scores = be.evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}}, ["RR"])
    worse = be.evaluate({"q1": {"a": 1}}, {"q1": {"b": 1.0}}, ["RR"])
    twins = tuple(ProviderRecord(name, "http", scores=scores) for name in ("one", "two"))
    few = replace(part, queries=part.queries[:1], providers=twins)
    text = markdown.render(Report.of([replace(whole, benchmarks=(few,))]))
    assert "bold: best" not in text
    assert "interval over the queries" not in text
    assert "best in bold" not in latex.render(Report.of([replace(whole, benchmarks=(few,))]))
    apart = (twins[0], ProviderRecord("two", "http", scores=worse))
    one_best = replace(whole, benchmarks=(replace(few, providers=apart),))
    assert "<sub>bold: best in column</sub>" in markdown.render(Report.of([one_best]))


def test_a_long_error_is_cut_in_formats_for_people() -> None:
    """With the number of characters left out; JSON and JUnit have all of it."""
    long = "no answer: " + "x" * 500 + " the end"
    broken = replace(provider("bm25"), warnings=(long,), failure=long)
    report = Report.of([run_of(broken)])
    for text in (markdown.render(report), latex.render(report)):
        assert "no answer: xxx" in text
        assert "the end" not in text
        assert "… (319 more characters)" in text
    assert json.dumps(long) in JSON.files(report, "")[0].text
    assert long in junit.render(report)


def tied(count: int) -> Report:
    """Return a report of two systems that differ by the same on each of `count` queries."""
    names = [f"q{number}" for number in range(count)]
    qrels = {name: {"d": 1} for name in names}
    good = be.evaluate(qrels, {name: {"d": 1.0} for name in names}, ["RR"])
    bad = be.evaluate(qrels, {name: {"x": 2.0, "d": 1.0} for name in names}, ["RR"])
    return Report.of([
        run_of(ProviderRecord("a", "http", scores=bad), ProviderRecord("b", "http", scores=good))
    ])  # fmt: skip


@pytest.mark.parametrize(("count", "shown"), [(9, False), (10, True)])
def test_equal_values_have_intervals_and_equal_differences_have_none(
    count: int, *, shown: bool
) -> None:
    """Ten queries with the same value have an interval, fewer have none."""
    report = tied(count)
    text = markdown.render(report)
    assert ("1.000** <sub>1.000-1.000</sub>" in text) is shown
    assert "[+0.500, +0.500]" not in text
    (row,) = report.sections[0].differences("RR")
    assert row.interval is None


def test_a_github_step_gets_the_summary_and_prints_only_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    printed = github.publish(hard_report())
    assert printed is not None
    assert summary.read_text(encoding="utf-8").startswith("before\n## Drinks")
    assert [line.split(" ")[0] for line in printed.splitlines()] == [
        "::error", "::warning", "::error",
    ]  # fmt: skip


def test_an_annotation_names_provider_benchmark_and_group() -> None:
    failed = next(one for one in hard_report().verdicts if one.status == "fail")
    for name, group in (("", ""), ("category=hard", " [category=hard]")):
        verdict = replace(failed, group=name)
        report = replace(hard_report(), verdicts=(verdict,))
        line = next(iter(github.build_commands(report)))
        assert f"::{verdict.provider} on {verdict.benchmark}{group}: " in line


def test_nothing_is_published_outside_a_github_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert github.publish(hard_report()) is None


def test_a_summary_that_cannot_be_written_names_file_and_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    with pytest.raises(DataError, match=r"GITHUB_STEP_SUMMARY\): cannot be written"):
        github.publish(hard_report())


@few
@given(ANY_TEXT)
def test_no_text_breaks_a_workflow_command(text: str) -> None:
    """A command is one line, and its title ends where it should."""
    for line in github.build_commands(report_saying(text)):
        assert not set(line) & set("\r\n")
        start, title = line.split("::")[1].split("=", 1)
        assert start == "error title"
        assert not set(title) & set(":,")


@few
@given(ANY_TEXT)
def test_no_text_breaks_the_junit_xml(text: str) -> None:
    found = junitparser.JUnitXml.fromstring(junit.render(report_saying(text)).encode())
    assert (found.tests, found.failures, found.errors) == (1 + bool(text), 1, bool(text))


def test_a_junit_parser_reads_the_verdicts() -> None:
    """A suite per benchmark, a case per verdict, and one for a failed provider."""
    found = junitparser.JUnitXml.fromstring(junit.render(hard_report()).encode())
    (suite,) = list(found)
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == (
        "drinks", 4, 1, 1, 1,
    )  # fmt: skip
    results = {case.name: [type(one).__name__ for one in case.result] for case in suite}
    assert results == {
        "broken": ["Error"],
        "RR >= 0.5": [],
        "nDCG@10 >= 0.9 (category=factual)": ["Failure"],
        "RR no worse": ["Skipped"],
    }
    (broken,) = [case for case in suite if case.name == "broken"]
    assert broken.result[0].text == FAILURE.replace("\x1b", "")


def test_junit_cases_are_providers_without_verdicts() -> None:
    found = junitparser.JUnitXml.fromstring(junit.render(Report.of([hard_run()])).encode())
    (suite,) = list(found)
    cases = {case.name: case for case in suite}
    assert list(cases) == ["bm25", "our|search_v2 <b>", "broken"]
    assert cases["bm25"].is_passed
    assert cases["bm25"].system_out.startswith("nDCG@10 0.6453\nRR 0.6250")
    assert not cases["broken"].is_passed
    assert cases["bm25"].time == 1.0


def test_latex_marks_significant_differences_with_letters() -> None:
    names = [f"q{number}" for number in range(12)]
    qrels = {name: {"d": 1} for name in names}
    good = be.evaluate(qrels, {name: {"d": 1.0} for name in names}, ["RR", "P@1"])
    bad = be.evaluate(qrels, {name: {"x": 2.0, "d": 1.0} for name in names}, ["RR", "P@1"])
    run = run_of(
        ProviderRecord("bad", "http", scores=bad), ProviderRecord("good", "http", scores=good)
    )
    text = latex.render(Report.of([run]))
    assert r"bad$^{a}$ & 0.500 & 0.000 \\" in text
    assert r"good$^{b}$ & \textbf{1.000}$^{a}$ & \textbf{1.000}$^{a}$ \\" in text
    how = "than the system with this letter (randomization test, exact, $"
    assert f"significantly better {how}" in text


@given(ANY_TEXT)
def test_no_text_breaks_latex(text: str) -> None:
    """No special character is left bare outside our own commands."""
    shown = latex.escape(text)
    bare = shown
    for command in sorted(latex._ESCAPES.values(), key=len, reverse=True):
        bare = bare.replace(command, "")
    assert not set(bare.replace("-{}", "-")) & set('\\{}$&#%_^~<>|"`')
    assert "\n" not in shown


PDFLATEX = shutil.which("pdflatex") or ""


@pytest.mark.skipif(not PDFLATEX, reason="LaTeX (pdflatex) is not installed")
@pytest.mark.parametrize(
    "text", ["plain", "\\input{x} $5 & #1 100 % _a^b~ {c} <d> | \" ' ` --- -- ?`"]
)
def test_latex_compiles(tmp_path: Path, text: str) -> None:
    body = latex.render(report_saying(text)) + latex.render(hard_report())
    document = (
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage[utf8]{inputenc}\n"
        f"\\usepackage{{booktabs,textcomp}}\n\\begin{{document}}\n{body}\\end{{document}}\n"
    )
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").exists()


def test_a_trec_run_survives_a_round_trip(tmp_path: Path) -> None:
    """Scores to the last bit; a query without hits is left out."""
    (file,) = TREC.files(Report.of([plain_run()]), "")
    path = tmp_path / file.name
    path.write_text(file.text, encoding="utf-8")
    found = be.Run.from_trec(path)
    assert found.name == "bm25"
    answers = plain_run().benchmarks[0].providers[0].answers
    assert found.to_dict() == {
        answer.query_id: {hit.id: hit.score for hit in answer.hits}
        for answer in answers
        if answer.hits
    }


@pytest.mark.parametrize("scores", [(0.0, 0.0, 0.0), (1.0, 5.0, 3.0)])
def test_a_trec_run_keeps_the_order_of_the_hits(scores: tuple[float, float, float]) -> None:
    """Scores that contradict the order are replaced."""
    hits = tuple(HitRecord(name, score) for name, score in zip("bca", scores, strict=True))
    answered = replace(provider("bm25"), answers=(AnswerRecord("q1", "ok", hits),))
    (file,) = TREC.files(Report.of([run_of(answered)]), "")
    assert [line.split()[2:5] for line in file.text.splitlines()] == [
        ["b", "1", "3.0"], ["c", "2", "2.0"], ["a", "3", "1.0"],
    ]  # fmt: skip


def test_ids_with_blanks_are_rejected_by_trec() -> None:
    hits = (HitRecord("two words", 1.0),)
    answered = replace(provider("bm25"), answers=(AnswerRecord("q1", "ok", hits),))
    with pytest.raises(DataError, match="cannot hold the document id 'two words'"):
        TREC.files(Report.of([run_of(answered)]), "")


def test_runs_with_other_queries_or_hits_get_their_own_section() -> None:
    whole = run_of(provider("bm25"), provider("our|search_v2 <b>"))
    (part,) = whole.benchmarks
    few = replace(part, queries=part.queries[:1], providers=part.providers[:1])
    shallow = replace(part, k=10, providers=part.providers[:1])
    same = replace(part, queries=part.queries[::-1])
    runs = [whole, *(replace(whole, benchmarks=(one,)) for one in (few, shallow, same))]
    report = Report.of(runs)
    assert [len(section.systems) for section in report.sections] == [4, 1, 1]
    text = markdown.render(report)
    assert "### drinks (4 queries, 20 hits)\n" in text
    assert "### drinks (1 query, 20 hits)\n" in text
    assert "### drinks (4 queries, 10 hits)\n" in text
    suites = {
        suite.name for suite in junitparser.JUnitXml.fromstring(junit.render(report).encode())
    }
    assert suites == {section.title for section in report.sections}


def test_sections_never_share_a_title() -> None:
    """Other data is named by its hash, other queries by a number."""
    whole = run_of(provider("bm25"))
    (part,) = whole.benchmarks
    first, second = (replace(part, queries=part.queries[place:][:2]) for place in (0, 1))
    other = replace(part, content_hash="sha256:9999", queries=part.queries[:2])
    report = Report.of([replace(whole, benchmarks=(one,)) for one in (first, second, other)])
    assert [section.title for section in report.sections] == [
        "drinks (2 queries, 20 hits, data sha256:0123)",
        "drinks (2 queries, 20 hits, data sha256:0123) #2",
        "drinks (2 queries, 20 hits, data sha256:9999)",
    ]


def test_a_category_of_one_query_has_no_interval() -> None:
    lines = markdown.render(hard_report()).splitlines()
    (one,) = [line for line in lines if line.startswith("| @<!-- -->conceptual | 1 | bm25 |")]
    assert "<sub>" not in one
    (two,) = [line for line in lines if line.startswith("| factual | 2 | our")]
    assert "<sub>" in two


def test_failed_queries_are_errors_in_junit() -> None:
    """Also if the provider as a whole did not fail, and beside verdicts."""
    one = provider("bm25")
    answers = tuple(replace(answer, outcome="timeout", error="late") for answer in one.answers)
    slow = replace(one, answers=answers, outcomes={"timeout": 3, "error": 1})
    for verdicts in ((), [Verdict("pass", "RR >= 0", "it is", "drinks", "bm25")]):
        report = Report.of([run_of(slow)], verdicts=verdicts)
        found = junitparser.JUnitXml.fromstring(junit.render(report).encode())
        assert found.errors == 1
        (case,) = [case for suite in found for case in suite if case.name == "bm25"]
        assert "4 of 4 queries failed" in case.result[0].message
        assert case.result[0].message.endswith("last error: late")


def test_failures_allowed_by_a_rule_are_no_errors_in_junit() -> None:
    """A rule that failed excuses nothing."""
    one = provider("bm25")
    slow = replace(one, outcomes={"ok": 3, "timeout": 1})
    dead = replace(one, outcomes={"error": 4}, failure="it is dead", scores=None)
    passed = Verdict("pass", "share <= 0.5", "it is", "drinks", "bm25", about="errors")
    for record, verdict, errors in (
        (slow, passed, 0),
        (slow, replace(passed, status="fail"), 1),
        (slow, replace(passed, about="latency"), 1),
        (dead, passed, 1),
    ):
        report = Report.of([run_of(record)], verdicts=[verdict])
        found = junitparser.JUnitXml.fromstring(junit.render(report).encode())
        assert found.errors == errors
        (case,) = [case for suite in found for case in suite if case.name == "bm25"]
        words = "1 of 4 queries failed (1 timeout)"
        assert (words in (case.system_out or "")) == (not errors)


def test_junit_names_a_group_once() -> None:
    rule = "RR (category=factual) >= 0.5"
    verdict = Verdict("pass", rule, "it is", "drinks", "bm25", group="category=factual")
    found = junitparser.JUnitXml.fromstring(
        junit.render(Report.of([run_of(provider("bm25"))], verdicts=[verdict])).encode()
    )
    assert [case.name for suite in found for case in suite] == [rule]


def test_no_text_changes_the_reading_direction() -> None:
    report = report_saying("user\u202egpj.exe")
    for text in (markdown.render(report), latex.render(report), junit.render(report)):
        assert "\u202e" not in text
        assert "U+202E" in text


@pytest.mark.parametrize("module", [markdown, github, latex, junit])
@pytest.mark.parametrize("verdicts", [(), (Verdict("pass", "RR >= 0", "fine", "drinks", "bm25"),)])
def test_every_format_has_the_notes_on_judging_once(
    module: ModuleType, verdicts: tuple[Verdict, ...]
) -> None:
    """Only the first few of many notes."""
    lost = "7 of 9 targets are not in the documents"
    notes = (lost, *(f"query q{place}: a doubt" for place in range(9)))
    names = ("bm25", "our|search_v2 <b>")
    doubted = [
        replace(one, scores=replace(one.scores, notes=notes))
        for one in map(provider, names)
        if one.scores is not None
    ]
    run = run_of(*doubted)
    part = replace(run.benchmarks[0], notes=("line 3 of the queries has no text",))
    text = module.render(Report.of([replace(run, benchmarks=(part,))], verdicts=verdicts))
    cases = 2 if module is junit and not verdicts else 1  # there, each provider has its own
    assert text.count(lost) == text.count("and 7 more notes") == cases
    assert text.count("line 3 of the queries has no text") == cases
    assert text.count(": a doubt") == 2 * cases
