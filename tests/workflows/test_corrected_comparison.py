"""`compare` and `gate` on estimates that people's judgments correct."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import Ledger
from berryeval.workflows import compare_runs
from tests.cli.eval_world import berryeval
from tests.workflows.judged_world import (
    COUNT,
    HUMAN,
    judge_world,
    list_strays,
    list_votes,
    write_world,
)

LABEL = f"corrected: {HUMAN} human-judged and {COUNT} model-judged queries, weight 0."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_world(folder)
        judge_world(folder, bias=1, second=False)
    return folder


@pytest.fixture(autouse=True)
def _inside(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def test_a_comparison_is_corrected() -> None:
    """The row has the corrected difference with interval and p, and says what it rests on."""
    report = compare_runs("run", judged_by="bot", metrics=["nDCG@5"])
    (one,) = report.compared
    row = one.comparison.row("nDCG@5")
    assert (row.baseline, row.system) == ("old", "new")
    assert row.n == COUNT
    assert row.interval is not None
    assert row.interval.low < row.difference < row.interval.high
    assert row.better
    assert row.test == "corrected t test"
    assert row.notes[0].startswith(LABEL)
    assert row.system_interval is not None
    assert row.system_interval.low < row.system_value < row.system_interval.high


def test_a_lenient_model_does_not_shift_the_value() -> None:
    """The model gives a grade more than people; the corrected value is that of people."""
    options: dict[str, Any] = {"judged_by": "bot", "metrics": ["P(rel=2)@2"]}
    row = compare_runs("run", **options).compared[0].comparison.rows[0]
    shutil.rmtree("quiz.judged")
    ledger = Ledger("quiz.judged")
    ledger.append(list_votes("ann", 1, noise=0, queries=range(COUNT)))
    ledger.append(list_votes("bot", 1, noise=0, queries=range(COUNT), kind="llm"))
    truth = compare_runs("run", **options).compared[0].comparison.rows[0]
    assert "weight 0.00" in truth.notes[0]
    assert row.baseline_value == pytest.approx(truth.baseline_value, abs=0.08)
    assert row.difference == pytest.approx(truth.difference, abs=0.08)


def test_people_who_disagree_have_not_judged() -> None:
    """A pair on which people are undecided is not judged by them: the note counts the queries."""
    Ledger("quiz.judged").append(list_votes("bob", 2, queries=range(30)))
    row = compare_runs("run", judged_by="bot", metrics=["nDCG@5"]).compared[0].comparison.rows[0]
    assert row.notes[0].startswith("corrected: 34 human-judged and 60 model-judged queries")
    assert any("6 queries that people judged in part or disagree on" in one for one in row.notes)


def test_votes_that_do_not_count_are_left_out() -> None:
    """Only pairs that count make a query complete, or judged by the model."""
    before = compare_runs("run", judged_by="bot", metrics=["nDCG@5"]).compared[0].comparison.rows[0]
    Ledger("quiz.judged").append(list_strays("bot", "llm"))
    row = compare_runs("run", judged_by="bot", metrics=["nDCG@5"]).compared[0].comparison.rows[0]
    assert (row.interval, row.notes[0]) == (before.interval, before.notes[0])
    assert any(note.startswith("20 votes left out, such as one of bot on") for note in row.notes)


def test_the_command_prints_the_label_of_a_corrected_comparison(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`compare --judged-by` prints what the estimate rests on, also in JSON and in a report."""
    assert berryeval("compare", "run", "--judged-by", "bot", "-m", "nDCG@5") == 0
    assert LABEL in capsys.readouterr().out
    assert berryeval("compare", "run", "--judged-by", "bot", "-m", "nDCG@5", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    (row,) = data["compared"][0]["comparison"]["rows"]
    assert row["notes"][0].startswith(LABEL)
    assert berryeval("compare", "run", "--judged-by", "bot", "-o", "report.md") == 0
    assert LABEL in Path("report.md").read_text(encoding="utf-8")
    assert berryeval("compare", "run", "--judged-by", "bot", "-o", "report.html") == 0


def test_partly_judged_queries_do_not_count_as_human() -> None:
    """A query counts as judged by people if they graded every pair that the model graded."""
    shutil.rmtree("quiz.judged")
    ledger = Ledger("quiz.judged")
    ledger.append(list_votes("ann", 1, queries=range(12)))
    ledger.append(list_votes("ann", 2, queries=range(12, 30), ranks=range(1, 3)))
    ledger.append(list_votes("bot", 4, kind="llm", queries=range(50)))
    row = compare_runs("run", judged_by="bot", metrics=["nDCG@5"]).compared[0].comparison.rows[0]
    assert row.notes[0].startswith("corrected: 12 human-judged and 50 model-judged queries")
    assert any("18 queries that people judged in part or disagree on" in note for note in row.notes)
    assert any("10 queries that the model did not judge" in note for note in row.notes)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"judged_by": "bott"}, ConfigurationError, r"no votes of the judge 'bott'.*'bot'"),
        ({"judged_by": "bot", "by": "category"}, ConfigurationError, "--by"),
        ({"judged_by": "bot", "test": "sign"}, ConfigurationError, "--test"),
        ({"judged_by": "bot", "correction": "tukey"}, ConfigurationError, "tukey"),
        ({"judged_by": "bot", "ledger": "nowhere"}, DataError, "nobody has judged"),
    ],
)
def test_unknown_judges_and_contradictory_options_are_rejected(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    """Unknown judges, and options that a corrected comparison has no use for, are named."""
    with pytest.raises(error, match=text):
        compare_runs("run", **options)


def test_too_few_human_queries() -> None:
    """Fewer than ten human-judged queries cannot correct anything."""
    shutil.rmtree("quiz.judged")
    ledger = Ledger("quiz.judged")
    ledger.append(list_votes("ann", 1, queries=range(5)))
    ledger.append(list_votes("bot", 4, kind="llm"))
    with pytest.raises(DataError, match="at least 10 human-judged queries, found 5"):
        compare_runs("run", judged_by="bot")


def test_no_query_that_people_judged_completely() -> None:
    """If the model judged deeper than people, the message says what is missing and what to do."""
    shutil.rmtree("quiz.judged")
    ledger = Ledger("quiz.judged")
    ledger.append(list_votes("ann", 1, queries=range(30), ranks=range(1, 3)))
    ledger.append(list_votes("bot", 4, kind="llm", queries=range(COUNT)))
    with pytest.raises(DataError, match="found 0") as caught:
        compare_runs("run", judged_by="bot")
    text = str(caught.value)
    assert "people judged 30 more in part: 30 pairs" in text
    assert "berryeval judge pool RUN --all --depth N" in text
    assert "berryeval judge llm --judge NAME, without runs" in text


# The gate.


def test_a_limit_is_judged_by_the_corrected_mean(capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict has the corrected value and its interval, and says what it rests on."""
    words = ("gate", "run", "--judged-by", "bot")
    assert berryeval(*words, "--fail-below", "nDCG@5=0.5") == 0
    assert LABEL in capsys.readouterr().out
    assert berryeval(*words, "--fail-below", "nDCG@5=0.99", "--json") == 1
    verdicts = json.loads(capsys.readouterr().out)["data"]["verdicts"]
    assert [one["provider"] for one in verdicts] == ["old", "new"]
    low, high = verdicts[0]["interval"]
    assert low < verdicts[0]["value"] < high
    assert verdicts[0]["n"] == COUNT
    row = compare_runs("run", judged_by="bot", metrics=["nDCG@5"]).compared[0].comparison.rows[0]
    assert [one["value"] for one in verdicts] == [row.baseline_value, row.system_value]


def test_a_drop_is_judged_by_the_corrected_difference(capsys: pytest.CaptureFixture[str]) -> None:
    """A run that is worse than the baseline run fails, by corrected differences."""
    text = Path("berryeval.yaml").read_text(encoding="utf-8")
    swapped = text.replace("path: new.json", "path: old.json")
    Path("worse.yaml").write_text(swapped, encoding="utf-8")
    assert berryeval("eval", "--config", "worse.yaml", "--output", "worse", "-q") == 0
    capsys.readouterr()
    words = ("gate", "worse", "--judged-by", "bot", "--baseline", "run")
    assert berryeval(*words, "--max-drop", "nDCG@5=0.01", "--json") == 1
    verdicts = json.loads(capsys.readouterr().out)["data"]["verdicts"]
    found = {one["provider"]: one for one in verdicts}
    assert found["new"]["status"] == "fail"
    assert found["new"]["value"] < -0.05
    assert found["new"]["p"] < 0.05
    assert "corrected:" in found["new"]["sentence"]
    assert found["old"]["status"] != "fail"


def test_a_baseline_file_cannot_be_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    """A baseline without rankings cannot be judged again: the message says what to give."""
    assert berryeval("baseline", "set", "run", "-o", "base.json") == 0
    capsys.readouterr()
    words = ("gate", "run", "--judged-by", "bot", "--baseline", "base.json")
    assert berryeval(*words, "--max-drop", "nDCG@5=0.01") == 2
    assert "a run as baseline" in capsys.readouterr().err


def test_the_same_run_has_not_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    """A run whose every query scores as in the baseline passes, whatever the sample shows."""
    assert berryeval("eval", "--output", "again", "-q") == 0
    capsys.readouterr()
    words = ("gate", "again", "--judged-by", "bot", "--baseline", "run")
    assert berryeval(*words, "--max-drop", "nDCG@5=0.01", "--json") == 0
    verdicts = json.loads(capsys.readouterr().out)["data"]["verdicts"]
    assert [one["status"] for one in verdicts] == ["pass", "pass"]
    assert "is unchanged" in verdicts[0]["sentence"]


def test_one_small_group_does_not_end_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    """A rule about too few human-judged queries is inconclusive; the others are judged."""
    shutil.rmtree("quiz.judged")
    ledger = Ledger("quiz.judged")
    ledger.append(list_votes("ann", 1, queries=range(0, 30, 2)))
    ledger.append(list_votes("ann", 2, queries=range(1, 7, 2)))
    ledger.append(list_votes("bot", 4, kind="llm", queries=range(COUNT)))
    with Path("berryeval.yaml").open("a", encoding="utf-8") as file:
        file.write(
            "gate:\n  rules:\n"
            '    - {metric: "nDCG@5", at_least: 0.1, where: {category: hard}}\n'
            '    - {metric: "nDCG@5", at_least: 0.1}\n'
        )
    assert berryeval("gate", "run", "--judged-by", "bot", "--json") == 0
    verdicts = json.loads(capsys.readouterr().out)["data"]["verdicts"]
    assert [one["status"] for one in verdicts] == ["inconclusive", "inconclusive", "pass", "pass"]
    assert "at least 10 human-judged queries, found 3" in verdicts[0]["sentence"]
    assert verdicts[0]["group"] == "category=hard"
