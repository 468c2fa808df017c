"""How far the judges of a benchmark agree, and whether a model may judge for them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from berryeval.data import Anchor
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import Ledger, Vote
from berryeval.workflows import PoolRequest, calibrate_judge, measure_judges, pool_runs
from tests.cli.eval_world import berryeval
from tests.workflows.judged_world import (
    COUNT,
    judge_world,
    list_strays,
    list_votes,
    write_world,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_world(folder)
        judge_world(folder)
    return folder


@pytest.fixture(autouse=True)
def _inside(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def test_judges_are_compared_all_and_in_pairs() -> None:
    """Three judges: each two share pairs, and the benchmark's own are left out."""
    found = measure_judges().agreement
    assert found.judges == ("ann", "bob", "bot")
    assert [(one.judges, one.items) for one in found.pairs] == [
        (("ann", "bob"), 90),
        (("ann", "bot"), 120),
        (("bob", "bot"), 90),
    ]
    assert found.scale == (0, 1, 2, 3)
    kappa = found.measures["kappa quadratic"]
    assert kappa.value is not None
    assert kappa.interval is not None
    assert found.disputes[0].distance >= found.disputes[-1].distance > 0


def test_only_the_named_judges_count() -> None:
    """`judges` selects them; an unknown one is named with the nearest."""
    assert measure_judges(judges=["ann", "bot"]).agreement.judges == ("ann", "bot")
    with pytest.raises(ConfigurationError, match=r"'anne'.*'ann'"):
        measure_judges(judges=["anne", "bot"])


def test_those_without_a_grade_of_their_own_are_no_judges() -> None:
    """Neither who only adjudicated, nor who took the vote back or could not tell, stops it."""
    target = Anchor(document="d1-1")
    Ledger("quiz.judged").append([
        Vote("q1", target, 2, "cy", adjudicates=True),
        Vote("q1", target, 2, "dan"),
        Vote("q1", target, None, "dan", withdrawn=True),
        Vote("q1", target, None, "eve"),
    ])  # fmt: skip
    assert measure_judges().agreement.judges == ("ann", "bob", "bot")


def test_conclusions_under_each_judge() -> None:
    """Systems are scored under every judge; only pairs that all graded differ."""
    found = measure_judges(runs=["run"], metric="nDCG@5").conclusions
    assert found is not None
    assert found.metric == "nDCG@5"
    assert found.pairs == 90
    assert list(found.scores) == ["ann", "bob", "bot"]
    assert all(own["new"] > own["old"] for own in found.scores.values())
    assert found.correlations["ann", "bot"] == (1.0, 1.0)
    assert set(found.findings["old", "new"]) == {"ann", "bob", "bot"}
    assert found.changes == {}


def test_a_finding_that_depends_on_the_judge() -> None:
    """A judge with the opposite taste turns the ranking round."""
    opposite = [
        Vote(one.query_id, one.target, 3 - one.grade, "contrary")
        for one in list_votes("x", 9, noise=0, ranks=range(4), queries=range(COUNT))
        if one.grade is not None
    ]
    plain = list_votes("plain", 9, noise=0, ranks=range(4), queries=range(COUNT))
    Ledger("quiz.judged").append([*plain, *opposite])
    found = measure_judges(judges=["plain", "contrary"], runs=["run"], metric="nDCG@5").conclusions
    assert found is not None
    assert found.correlations["plain", "contrary"] == (-1.0, -1.0)
    assert found.findings["old", "new"] == {"plain": "better", "contrary": "worse"}
    assert list(found.changes) == [("old", "new")]


def test_the_runs_of_the_pool_are_the_default() -> None:
    """Without runs the systems of the pool are scored, by its metric."""
    pool_runs(PoolRequest(("run",), depth=3, everything=True))
    found = measure_judges().conclusions
    assert found is not None
    assert found.metric == "nDCG@3"
    assert set(found.scores["ann"]) == {"old", "new"}


def test_one_judge_is_compared_with_the_benchmark() -> None:
    """With one judge the benchmark's own judgments are the other; unlisted pairs do not count."""
    shutil.rmtree("quiz.judged")
    Ledger("quiz.judged").append(list_votes("ann", 1, ranks=range(3), queries=range(COUNT)))
    found = measure_judges("quiz").agreement
    assert found.judges == ("benchmark", "ann")
    assert found.items == COUNT


def test_the_second_judge_of_a_bundled_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The grades recorded with a bundled set are compared with its own; unlisted pairs are 0."""
    monkeypatch.chdir(tmp_path)
    found = measure_judges("spring-boot").agreement
    assert found.judges == ("benchmark", "second")
    assert found.items == 220
    assert sum(map(sum, found.confusion)) == 220
    assert (found.measures["kappa relevant"].value or 0) > 0.8


@pytest.mark.parametrize(
    ("judges", "error", "text"),
    [
        (["ann"], DataError, "two judges, found only ann"),
        (["ann", "far"], DataError, "ann and far have no pair in common"),
    ],
)
def test_judges_that_cannot_be_compared(
    judges: list[str], error: type[Exception], text: str
) -> None:
    """One judge alone, or two without a common pair, are named in one line."""
    Ledger("quiz.judged").append([Vote("q50", Anchor(document="d50-1"), 1, "far")])
    with pytest.raises(error, match=text):
        measure_judges(judges=judges)


LEFT_OUT = (
    "40 votes left out, such as one of ann on query 'q0': the text of 'd0-0' has changed since it "
    "was judged"
)


def test_votes_that_do_not_count_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """`eval` leaves out votes on texts that have changed or are gone; so do these commands."""
    before = measure_judges(), calibrate_judge("bot", runs=["run"])
    Ledger("quiz.judged").append([*list_strays("ann"), *list_strays("bot", "llm")])
    after = measure_judges(), calibrate_judge("bot", runs=["run"])
    assert after[0].agreement.items == before[0].agreement.items
    assert after[1].calibration == before[1].calibration
    assert after[0].notes == after[1].notes == (LEFT_OUT,)
    for words in (("agree",), ("calibrate", "--judge", "bot")):
        assert berryeval("judge", *words) == 0
        assert f"note: {LEFT_OUT}" in " ".join(capsys.readouterr().out.split())
        assert berryeval("judge", *words, "--json") == 0
        assert json.loads(capsys.readouterr().out)["data"]["notes"] == [LEFT_OUT]


def test_votes_that_do_not_count_are_an_error() -> None:
    shutil.rmtree("quiz.judged")
    Ledger("quiz.judged").append(list_strays("ann"))
    with pytest.raises(DataError, match=r"none of 20 votes is on a pair of quiz, such as one of"):
        measure_judges("quiz")


def test_a_benchmark_without_votes() -> None:
    """Nobody has judged: the message says how to begin."""
    shutil.rmtree("quiz.judged")
    with pytest.raises(DataError, match=r"nobody has judged.*judge pool RUN"):
        measure_judges("quiz")


# Calibration.


def test_a_good_model_may_be_used() -> None:
    """A model that errs as people do: use it."""
    shutil.rmtree("quiz.judged")
    judge_world(Path(), noise=0.05)
    found = calibrate_judge("bot", runs=["run"], metric="nDCG@5").calibration
    assert found.advice == "use it"
    assert found.agreement.judges == ("human", "bot")
    assert [one.name for one in found.categories] == ["easy", "hard"]
    assert [one.name for one in found.systems] == ["old", "new"]
    assert [one.name for one in found.favours] == ["new over old"]
    assert found.systems[0].count == 40


def test_a_model_without_runs_is_not_trusted_blindly() -> None:
    """Without systems it is unknown whether the model favours one: correct it."""
    found = calibrate_judge("bot").calibration
    assert found.advice == "use it with correction"
    assert "not known" in found.sentence


def test_a_lenient_model_is_corrected() -> None:
    """A model that is too high on average is used with correction, and the bias is shown."""
    shutil.rmtree("quiz.judged")
    judge_world(Path(), bias=1)
    found = calibrate_judge("bot", runs=["run"]).calibration
    assert found.advice == "use it with correction", found.sentence
    assert found.overall.value > 0.5
    assert found.overall.significant
    assert "off on average" in found.sentence


def test_a_model_that_favours_a_system() -> None:
    """A model that overrates what one system ranks first is caught."""
    shutil.rmtree("quiz.judged")
    top = {
        query: min(ranking, key=lambda one: -ranking[one])
        for query, ranking in json.loads(Path("old.json").read_text("utf-8")).items()
    }
    human = list_votes("ann", 1, noise=0, ranks=range(4))
    model = [
        Vote(one.query_id, one.target, 3, "bot", "llm")
        if top[one.query_id] == one.target.document
        else Vote(one.query_id, one.target, one.grade, "bot", "llm")
        for one in human
    ]
    Ledger("quiz.judged").append([*human, *model])
    found = calibrate_judge("bot", runs=["run"], metric="P(rel=3)@1").calibration
    (favour,) = found.favours
    assert favour.significant
    assert favour.value < 0
    assert "it favours old over new by P(rel=3)@1" in found.sentence
    assert found.advice != "use it"


def test_a_random_model_is_not_used() -> None:
    """A model that grades at random has a kappa near 0."""
    shutil.rmtree("quiz.judged")
    judge_world(Path())
    random = [
        Vote(one.query_id, one.target, (place * 7919) % 4, "dice", "llm")
        for place, one in enumerate(list_votes("x", 1))
    ]
    Ledger("quiz.judged").append(random)
    found = calibrate_judge("dice", runs=["run"]).calibration
    assert found.advice == "do not use it"
    assert "may be below 0.2" in found.sentence


def test_few_pairs_are_not_enough() -> None:
    """Fewer than 50 pairs do not show whether a model can be used."""
    shutil.rmtree("quiz.judged")
    ledger = Ledger("quiz.judged")
    ledger.append(list_votes("ann", 1, queries=range(5)))
    ledger.append(list_votes("bot", 1, kind="llm", queries=range(5)))
    found = calibrate_judge("bot").calibration
    assert found.advice == "do not use it"
    assert "only 15 pairs" in found.sentence


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"judge": "bott"}, ConfigurationError, "no votes of the judge 'bott'.*'bot'"),
        ({"judge": "bot", "against": "an"}, ConfigurationError, "no votes of the judge 'an'"),
        ({"judge": "bot", "against": "bot"}, ConfigurationError, "with itself"),
        ({"judge": "bot", "against": "benchmark"}, DataError, "no votes|no pair in common"),
    ],
)
def test_bad_calibrations_are_named(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    """Unknown judges and judges without a common pair are named in one line."""
    with pytest.raises((error, ConfigurationError), match=text):
        calibrate_judge(**options)


def test_a_model_without_human_votes() -> None:
    """A model alone cannot be calibrated; the message says what to do."""
    shutil.rmtree("quiz.judged")
    Ledger("quiz.judged").append(list_votes("bot", 1, kind="llm"))
    with pytest.raises(DataError, match=r"no human has judged.*judge next"):
        calibrate_judge()


def list_answer_votes(judge: str, kind: str, step: int) -> list[Vote]:
    """Votes on how far the answers of a system are faithful to their passages."""
    return [
        Vote(f"q{place}", Anchor(quote=f"Answer {place}."), (place * step) % 4, judge, kind,  # type: ignore[arg-type]
             question="faithfulness")
        for place in range(COUNT)
    ]  # fmt: skip


def test_judges_of_answers_are_compared() -> None:
    """With `what`, the votes on answers count, and those on passages do not."""
    ledger = Ledger("quiz.judged")
    ledger.append(list_answer_votes("ann", "human", 1))
    ledger.append(list_answer_votes("bot", "llm", 5))
    found = measure_judges(what="faithfulness", runs=["run"])
    assert found.agreement.judges == ("ann", "bot")
    assert found.agreement.items == COUNT
    assert found.agreement.measures["agreement"].value == 1
    assert found.conclusions is None
    with pytest.raises(DataError, match="two judges, found no votes"):
        measure_judges(what="answer")


def test_answers_that_no_human_judged() -> None:
    """The advice is what works for answers, for which there is no form yet."""
    shutil.rmtree("quiz.judged")
    with pytest.raises(DataError, match=r"nobody has judged an answer.*llm RUN --what answer"):
        calibrate_judge(benchmark="quiz", what="answer")
    Ledger("quiz.judged").append(list_answer_votes("bot", "llm", 1))
    with pytest.raises(DataError, match=r"no human has judged an answer.*Ledger\.append") as found:
        calibrate_judge(what="faithfulness")
    assert "judge next" not in str(found.value)


# Commands.


def test_agree_prints_the_measures(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints coefficients, a confusion table, disputes and conclusions."""
    assert berryeval("judge", "agree", "run", "--judges", "ann", "bob", "-m", "nDCG@5") == 0
    out = capsys.readouterr().out
    for text in (
        "ann and bob: 90 pairs in common",
        "Cohen's kappa, quadratic weights",
        "Krippendorff's alpha, ordinal",
        "ann \\ bob",
        "to adjudicate",
        "systems under each judge, by nDCG@5; 90 pairs regraded",
        "Kendall's tau-b 1.000, tau_AP 1.000",
        "no finding of 1 comparison depends on the judge",
    ):
        assert text in out


def test_agree_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has every number, and all pairs to adjudicate."""
    assert berryeval("judge", "agree", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["agreement"]["measures"]["kappa"]["value"] > 0.3
    assert len(data["agreement"]["pairs"]) == 3
    assert {"query_id", "query", "target", "grades"} <= data["adjudicate"][0].keys()
    assert data["conclusions"] is None


def test_calibrate_prints_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict comes first, then agreement and bias by grade, category and system."""
    assert berryeval("judge", "calibrate", "run", "--judge", "bot", "-m", "nDCG@5") == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "quiz: bot against human"
    assert out.splitlines()[1].startswith("use it")
    for text in ("human \\ bot", "by grade of human", "by category", "does the model favour"):
        assert text in out
    assert berryeval("judge", "calibrate", "run", "--judge", "bot", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["advice"] in {"use it", "use it with correction"}
    assert len(data["favours"]) == 1


def test_a_bad_judge_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The command line says what is wrong, without a traceback."""
    assert berryeval("judge", "agree", "--judges", "anne", "bob") == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "did you mean 'ann'?" in err
