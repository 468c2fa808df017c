"""`berryeval gate`: text and exit code of every verdict, and its files."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from berryeval.cli.app import build_app, run
from tests.cli.gate_world import outcome_of, write_runs

GOLDEN = Path(__file__).parents[1] / "golden" / "gate"
AGAIN = os.environ.get("BERRYEVAL_GOLDEN") == "write"
RULES = """gate:
  baseline: before.json
  rules:
    - {metric: nDCG@10, max_drop: 0.02}
    - {metric: nDCG@10, at_least: 0.3, where: {difficulty: easy}}
    - {latency: p95, at_most: 0.05}
    - {errors: true, at_most: 0}
thresholds: {RR: 0.5}
"""
DROP = ("--baseline", "before.json", "--max-drop", "nDCG@10=0.02")
CASES: dict[str, tuple[str, ...]] = {
    "pass": ("same.json", "--config", "rules.yaml"),
    "fail": ("worse.json", "--config", "rules.yaml"),
    "fail-below": ("same.json", "--fail-below", "nDCG@10=0.9", "RR=0.2"),
    "inconclusive": ("noisy.json", *DROP),
    "strict": ("noisy.json", *DROP, "--strict"),
    "json": ("noisy.json", *DROP, "--json"),
    "failed-provider": ("failed.json", "--fail-below", "nDCG@10=0.5"),
    "self-check": ("noisy.json", *DROP, "--self-check"),
    "self-check-strict": ("noisy.json", *DROP, "--self-check", "--strict"),
    "two-limits": ("same.json", "--fail-below", "nDCG@10=0.99", "nDCG@10=0.1"),
    "drop-beyond-the-metric": ("same.json", "--baseline", "before.json", "--max-drop", "RR=5"),
    "fewer-queries": ("few.json", *DROP),
    "more-queries": ("same.json", "--baseline", "few.json", "--max-drop", "nDCG@10=0.02"),
    "no-providers": ("empty.json", "--fail-below", "nDCG@10=0.5"),
    "unknown-key": ("same.json", "--config", "typo.yaml"),
    "no-rules": ("same.json",),
    "two-names": ("same.json", "--fail-below", "RR=0.1", "recip_rank=0.2"),
    "two-names-in-the-file": ("same.json", "--config", "twice.yaml"),
    "gate-is-a-list": ("same.json", "--config", "list.yaml"),
    "flag-without-value": ("same.json", "--config", "rules.yaml", "--fail-below"),
    "drop-without-value": ("same.json", "--config", "rules.yaml", "--max-drop"),
    "empty-baseline": ("same.json", "--config", "rules.yaml", "--baseline", ""),
    "never-fails": ("same.json", "--fail-below", "nDCG@10=-1"),
    "percent": ("same.json", "--fail-below", "nDCG@10=80"),
    "no-room-to-fall": ("worse.json", "--baseline", "before.json", "--max-drop", "nDCG@10=0.7"),
    "significance-out-of-reach": ("worse.json", "--config", "sure.yaml"),
    "new-provider": ("two.json", *DROP),
    "new-provider-failed": ("two-lost.json", *DROP),
    "self-check-of-failed": ("failed.json", *DROP, "--self-check"),
    "self-check-without-drop": ("same.json", "--fail-below", "RR=0.1", "--self-check"),
    "unknown-metric": ("same.json", "--fail-below", "nDGC@10=0.5"),
    "metric-not-in-run": ("same.json", "--fail-below", "P@3=0.5"),
    "not-a-number": ("same.json", "--fail-below", "nDCG@10=high"),
    "nan": ("same.json", "--fail-below", "nDCG@10=nan"),
    "negative-drop": ("same.json", "--baseline", "before.json", "--max-drop", "nDCG@10=-1"),
    "other-data": ("same.json", "--baseline", "other-data.json", "--max-drop", "RR=0"),
    "no-baseline": ("same.json", "--max-drop", "RR=0"),
    "baseline-without-drop": ("same.json", "--baseline", "before.json", "--fail-below", "RR=0.1"),
    "baseline-alone": ("worse.json", "--baseline", "before.json"),
    "baseline-alone-self-check": ("noisy.json", "--baseline", "before.json", "--self-check"),
    "metric-with-brackets": ("same.json", "--fail-below", "P(rel=2)@5=0.5"),
    "baseline-missing": ("same.json", "--baseline", "none.json", "--max-drop", "RR=0"),
    "baseline-is-the-run": ("same.json", "--baseline", "same.json", "--max-drop", "RR=0"),
    "no-run": ("yesterday", "--fail-below", "RR=0"),
    "unknown-format": ("same.json", "--fail-below", "RR=0", "--export", "jnuit"),
    "output-alone": ("same.json", "--fail-below", "RR=0", "--output", "reports"),
}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with runs, and no GitHub around it."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    write_runs(tmp_path)
    Path("rules.yaml").write_text(RULES, encoding="utf-8")
    Path("twice.yaml").write_text("thresholds: {R@10: 0.8, recall@10: 0.9}", encoding="utf-8")
    sure = RULES.replace("max_drop: 0.02", "max_drop: 0.02, significance: 0.000001")
    Path("sure.yaml").write_text(sure, encoding="utf-8")
    Path("list.yaml").write_text("gate: []", encoding="utf-8")
    Path("typo.yaml").write_text(RULES.replace("gate:", "gates:"), encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_the_outcome_is_the_golden_one(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = outcome_of(capsys, "gate", *CASES[case])
    if AGAIN:
        (GOLDEN / f"{case}.txt").write_text(found, encoding="utf-8")
    assert found == (GOLDEN / f"{case}.txt").read_text(encoding="utf-8")


def test_every_exit_code_and_status_has_a_golden_file() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.txt")}
    assert set(texts) == set(CASES)
    ends = {text.splitlines()[-1] for text in texts.values()}
    assert ends == {"exit code 0", "exit code 1", "exit code 2"}
    for status in ("PASS", "FAIL", "INCONCLUSIVE"):
        assert any(f"  {status}" in text for text in texts.values())


def test_files_hold_the_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    files = ("--export", "junit", "markdown", "--output", "reports")
    assert run(build_app(), ["gate", "worse.json", "--config", "rules.yaml", *files]) == 1
    shown = capsys.readouterr().out
    root = ET.parse("reports/junit.xml").getroot()  # noqa: S314 - our own file
    assert (root.get("tests"), root.get("failures")) == ("5", "1")
    failure = root.find(".//failure")
    assert failure is not None
    assert str(failure.get("message")) in shown
    assert ", more than the allowed 0.020" in Path("reports/report.md").read_text("utf-8")
    assert "junit: reports/junit.xml" in shown


def test_files_go_to_the_folder_of_the_run(tmp_path: Path) -> None:
    asked = ["gate", "same.json", "--fail-below", "RR=0.1", "--export", "junit"]
    assert run(build_app(), asked) == 0
    assert (tmp_path / "junit.xml").exists()


def test_a_file_that_cannot_be_written_hides_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken").write_text("", encoding="utf-8")
    asked = ["gate", "worse.json", "--config", "rules.yaml", "--export", "junit", "-o", "taken/in"]
    assert run(build_app(), asked) == 2
    shown = capsys.readouterr()
    assert "gate failed" in shown.out
    assert "taken" in shown.err


@pytest.mark.parametrize("json_too", [False, True])
def test_on_github_the_step_has_a_summary_and_notes(
    json_too: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("summary.md").write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    asked = ["gate", "worse.json", "--config", "rules.yaml", *(["--json"] if json_too else [])]
    assert run(build_app(), asked) == 1
    shown = capsys.readouterr()
    notes = shown.err if json_too else shown.out
    assert notes.count("::error title=Retrieval quality") == 1
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert summary.startswith("before\n")
    assert "❌ fail" in summary
    if json_too:
        assert json.loads(shown.out)["data"]["passed"] is False


def test_metrics_missing_from_the_run_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("gate", "errors.json", "--baseline", "before.json")
    found = outcome_of(capsys, *asked)
    words = " ".join(found.split())
    assert (
        "INCONCLUSIVE the baseline has RR of bm25 on drinks, the run does not measure it; nothing "
        "was compared. To compute it from the answers of the run: berryeval runs rescore "
        "errors.json -m RR --save; for every run: add it to metrics"
    ) in words
    assert outcome_of(capsys, *asked, "--strict").endswith("exit code 1\n")


def test_a_missing_provider_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("gate",), ("baseline", "diff")):
        found = outcome_of(capsys, *words, "same.json", "--baseline", "two.json")
        assert found.count("the baseline has hybrid on drinks") == 1


def test_verdicts_beside_a_file_on_stdout_are_whole_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    asked = ["gate", "worse.json", "--baseline", "before.json", "--export", "junit", "-o", "-"]
    assert run(build_app(), asked) == 1
    shown = capsys.readouterr().err
    assert "95 % CI [-0.188, -0.150]; the gate allows no drop (p < 0.001)\n" in shown
    assert shown.count("::error title=") == 1


def test_several_files_for_stdout_are_rejected_before_verdicts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["gate", "worse.json", "--baseline", "before.json", "--export", "csv", "-o", "-"]
    assert run(build_app(), asked) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1


def test_the_note_on_a_gate_without_drop_rules_is_everywhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    words = "no rule about drops: any significant drop fails"
    asked = ["gate", "same.json", "--baseline", "before.json"]
    assert run(build_app(), asked) == 0
    assert f"{words}\nbm25 on drinks\n" in capsys.readouterr().out
    assert words in Path("summary.md").read_text("utf-8")
    assert run(build_app(), [*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["note"] == words
    assert run(build_app(), [*asked, "--max-drop", "RR=0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["note"] == ""


def test_the_configuration_decides_what_an_inconclusive_rule_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["gate", "noisy.json", "--config", "rules.yaml"]
    assert run(build_app(), asked) == 0
    assert "power: with 40 queries a drop fails only if" in capsys.readouterr().out
    rules = Path("rules.yaml")
    strict = RULES.replace("gate:", "gate:\n  on_inconclusive: fail", 1)
    rules.write_text(strict, encoding="utf-8")
    assert run(build_app(), asked) == 1
    assert "(strict: inconclusive rules fail)" in capsys.readouterr().out
    rules.write_text(strict.replace(": fail", ": warn"), encoding="utf-8")
    assert run(build_app(), asked) == 2
    assert "on_inconclusive" in capsys.readouterr().err
