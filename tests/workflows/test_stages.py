"""A search in two stages: recorded, scored and shown stage by stage."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data import Hit
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers import Answer, Reranking, Stage
from berryeval.reports import Report, list_stage_tables
from berryeval.reports.exporters.markdown import render
from berryeval.reports.html.page import render as render_page
from berryeval.runs import RunRecord, open_store
from berryeval.workflows.rescoring import rescore
from berryeval.workflows.resumption import require_trust
from tests.providers.loopback import loopback
from tests.workflows.worlds import benchmark, plan_of, results_of

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.runs import ProviderRecord

METRICS = ["RR", "R@3", "nDCG@5"]
COUNT = 12


def shifted(text: str, k: int) -> Answer:
    """Find the wanted document at rank 1, 2, ..., 8 and then not at all, for a cent."""
    number = int(text.split()[1])
    ranked = [f"d{(number + 1 + place) % COUNT}" for place in range(COUNT - 1)]
    if number < 8:
        ranked.insert(number, f"d{number}")
    return Answer([(name, 1.0 - place / 100) for place, name in enumerate(ranked[:k])], {"usd": 1})


def wanted_first(text: str, texts: list[str]) -> Reranking:
    """Put the wanted document first if it is there, for two cents."""
    number = text.split()[1]
    scores = [float(f"Number {number} is" in one) for one in texts]
    return Reranking([one - place / 1000 for place, one in enumerate(scores)], {"usd": 2})


def spec(reranker: Any = wanted_first, name: str = "two", **options: Any) -> dict[str, Any]:
    given = {"provider": shifted, "reranker": reranker, "depth": 4, **options}
    return {"type": "rerank", "name": name, "options": given}


def run(tmp_path: Path, *specs: dict[str, Any], **settings: Any) -> dict[str, ProviderRecord]:
    source = benchmark(tmp_path, COUNT)
    plan = plan_of(source, *(specs or [spec()]), metrics=METRICS, **settings)
    return {name: one.record for name, one in results_of(plan, tmp_path / "run").items()}


def test_the_record_has_the_ranking_time_and_cost_of_each_stage(tmp_path: Path) -> None:
    record = run(tmp_path)["two"]
    for answer in record.answers:
        search, rerank = answer.stages
        assert (search.name, rerank.name) == ("shifted", "wanted_first")
        assert (len(search.ids), len(search.scores), rerank.ids) == (5, 5, ())
        assert (search.cost, rerank.cost, answer.cost) == ({"usd": 1}, {"usd": 2}, {"usd": 3})
        assert answer.latency is not None
        assert 0 < search.latency + rerank.latency <= answer.latency
    search_all, rerank_all = record.stages
    assert (search_all.cost, rerank_all.cost, record.cost) == (
        {"usd": 1.0}, {"usd": 2.0}, {"usd": 3.0},
    )  # fmt: skip
    assert (search_all.reranked, rerank_all.reranked) == (0, 4)
    assert search_all.latency is not None
    assert rerank_all.latency is not None


def test_the_first_stage_scores_as_the_provider_alone(tmp_path: Path) -> None:
    alone = {"type": "callable", "name": "alone", "options": {"function": shifted}}
    records = run(tmp_path, spec(), alone)
    stage, scores = records["two"].stages[0], records["alone"].scores
    assert stage.scores is not None
    assert scores is not None
    for metric in METRICS:
        assert stage.scores.per_query(metric) == scores.per_query(metric)


def test_the_ceiling_is_what_a_perfect_reranker_reaches(tmp_path: Path) -> None:
    record = run(tmp_path)["two"]
    stage = record.stages[0]
    assert stage.recall == 4 / COUNT  # found at the ranks 1 to 4, which are reranked
    assert stage.ideal is not None
    assert record.scores is not None
    assert stage.ideal.per_query("R@3") == record.scores.per_query("R@3")
    assert stage.ideal.mean["RR"] == record.scores.mean["RR"] == (4 + 1 / 5) / COUNT


def test_the_perfect_order_is_never_below_another(tmp_path: Path) -> None:
    record = run(tmp_path, spec(lambda _text, texts: range(len(texts))))["two"]
    assert record.scores is not None
    ideal = record.stages[0].ideal
    assert ideal is not None
    for metric in METRICS:
        assert ideal.mean[metric] >= record.scores.mean[metric]
    assert ideal.mean["nDCG@5"] > record.scores.mean["nDCG@5"]


def test_a_failed_reranker_keeps_the_first_stage_of_its_query(tmp_path: Path) -> None:
    def picky(text: str, texts: list[str]) -> list[float]:
        return [math.nan if text == "number 2" else 1.0 for _ in texts]

    record = run(tmp_path, spec(picky))["two"]
    assert record.outcomes == {"ok": COUNT - 1, "error": 1}
    failed = record.answers[2]
    assert "expected a finite number as the score of hit 1, found nan" in failed.error
    assert [one.name for one in failed.stages] == ["shifted"]
    assert failed.stages[0].ids[2] == "d2"
    stage = record.stages[0]
    assert stage.scores is not None
    assert stage.scores.count == COUNT
    assert stage.scores.per_query("RR")["q2"] == 1 / 3


def test_queries_without_stages_are_named_in_a_warning(tmp_path: Path) -> None:
    def slow(text: str, texts: list[str]) -> list[float]:
        time.sleep(3 if text == "number 2" else 0)
        return [1.0] * len(texts)

    settings = {"timeout": 1, "attempts": 1, "warm_up": 0}
    record = run(tmp_path, spec(slow), run=settings)["two"]
    assert record.answers[2].outcome == "timeout"
    assert record.stages[0].scores is not None
    lost = COUNT - record.stages[0].scores.count
    assert lost >= 1
    (warning,) = [one for one in record.warnings if "the table of stages leaves them out" in one]
    assert warning.startswith(f"{lost} quer")


def test_a_resumed_run_has_the_same_stages(tmp_path: Path) -> None:
    asked = []

    def once(text: str, texts: list[str]) -> list[float]:
        asked.append(text)
        if text == "number 5" and asked.count(text) == 1:
            raise ProviderError("not yet")
        return list(wanted_first(text, texts).scores)

    source = benchmark(tmp_path, COUNT)
    plan = plan_of(source, spec(once), metrics=METRICS)
    results_of(plan, tmp_path / "run")
    again = results_of(plan, tmp_path / "run", retry_errors=True)["two"].record
    assert len(asked) == COUNT + 1
    assert again.outcomes == {"ok": COUNT}
    third = results_of(plan, tmp_path / "run")["two"].record
    assert third.stages == again.stages
    assert third.to_json() == again.to_json()


@pytest.mark.parametrize("settings", [{"concurrency": 5}, {"batch": 5}])
def test_results_do_not_depend_on_concurrency_or_batches(
    settings: dict[str, int], tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = run(tmp_path / "a", run={"concurrency": 1})["two"]
    other = run(tmp_path / "b", run=settings)["two"]
    assert other.scores == one.scores
    for stage, same in zip(one.stages, other.stages, strict=True):
        assert (stage.scores, stage.ideal, stage.recall) == (same.scores, same.ideal, same.recall)
    for answer, equal in zip(one.answers, other.answers, strict=True):
        assert answer.hits == equal.hits
        assert [stage.ids for stage in answer.stages] == [stage.ids for stage in equal.stages]


def test_runs_are_rescored_and_stored_with_their_stages(tmp_path: Path) -> None:
    record = run(tmp_path)["two"]
    folder = str(tmp_path / "run")
    done = rescore(folder, ["P@1"], save=True, store=tmp_path / "store.db")
    assert done.parts[0].scores["two"].mean["P@1"] == 4 / COUNT
    with open_store(tmp_path / "store.db") as store:
        kept = store.get(done.run.record.id).benchmarks[0].providers[0]
    assert kept.answers == record.answers
    assert kept.scores is not None
    assert "P@1" in kept.scores.metrics
    (tables,) = list_stage_tables({"two": kept})
    assert [cell.text for cell in tables.quality.cells("metric")] == [*METRICS, "P@1"]
    assert kept.stages == run(tmp_path)["two"].stages  # resumed, and judged by all metrics


def test_a_saved_metric_reaches_the_stages_of_the_folder(tmp_path: Path) -> None:
    """The record in the folder and its exports show the new metric for each stage."""
    run(tmp_path)
    rescore(str(tmp_path / "run"), ["P@1", "RR"], save=True)
    text = (tmp_path / "run" / "run.json").read_text(encoding="utf-8")
    stage = RunRecord.from_json(json.loads(text)).benchmarks[0].providers[0].stages[0]
    assert stage.scores is not None
    assert stage.ideal is not None
    assert [*stage.scores.metrics] == [*stage.ideal.metrics] == [*METRICS, "P@1"]
    assert stage.scores.mean["P@1"] == 1 / COUNT


def test_stages_that_cannot_be_scored_again_are_named(tmp_path: Path) -> None:
    """Without the journal, a saved metric says that the table of stages lacks it."""
    record = run(tmp_path)["two"]
    next((tmp_path / "run").rglob("results.jsonl")).unlink()
    done = rescore(str(tmp_path / "run"), ["P@1"], save=True)
    (note,) = [one for one in done.parts[0].notes if "stages" in one]
    assert note.startswith("two: the table of its stages lacks the new metrics")
    text = (tmp_path / "run" / "run.json").read_text(encoding="utf-8")
    assert RunRecord.from_json(json.loads(text)).benchmarks[0].providers[0].stages == record.stages


def test_a_reranker_that_always_fails_has_a_table_of_stages(tmp_path: Path) -> None:
    """It shows the scores of the first stage, and the number of queries that failed after it."""

    def broken(_text: str, _texts: list[str]) -> list[float]:
        raise ProviderError("down")

    record = run(tmp_path, spec(broken))["two"]
    assert record.outcomes == {"error": COUNT}
    search, rerank = record.stages
    assert (search.name, search.failed, rerank.name, rerank.failed) == ("shifted", 0, "two", COUNT)
    assert search.scores is not None
    assert search.scores.mean["R@3"] == 3 / COUNT
    assert (search.recall, search.ideal) == (None, None)  # the depth is not known
    (tables,) = list_stage_tables({"two": record})
    assert tables.quality.cells("baseline_value")[1].value == 3 / COUNT
    assert tables.quality.cells("system_value")[1].value == 0
    speed = [[cell.text for cell in row[:4]] for row in tables.speed.rows]
    assert speed == [
        ["shifted", "", "", "-"], ["two", "", f"{COUNT}", "-"], ["all", "", f"{COUNT}", "-"],
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", ["many", 1.5, -1, None])
def test_a_wrong_count_of_unplaced_hits_is_reported(tmp_path: Path, wrong: Any) -> None:
    """The error says which value was expected, and where."""

    def miscount(_text: str, texts: list[str]) -> Reranking:
        return Reranking([1.0] * len(texts), {}, wrong)

    def untrue(text: str, k: int) -> Answer:
        found = list(shifted(text, k))
        return Answer(found, stages=[Stage("s", found), Stage("t", (), 0.5, {}, 3, wrong)])

    own = {"type": "callable", "name": "own", "options": {"function": untrue}}
    records = run(tmp_path, spec(miscount), own)
    for name, where in (("two", "unplaced of the reranker miscount"), ("own", "unplaced of the")):
        error = records[name].answers[0].error
        assert "expected a whole number from 0 up" in error
        assert where in error


def test_records_without_stages_are_read_and_written_as_before(tmp_path: Path) -> None:
    run(tmp_path, {"type": "bm25", "name": "bm25"})
    text = (tmp_path / "run" / "run.json").read_text(encoding="utf-8")
    assert '"stages"' not in text
    assert '"stages"' not in next((tmp_path / "run").rglob("results.jsonl")).read_text("utf-8")
    record = RunRecord.from_json(json.loads(text))
    assert record.benchmarks[0].providers[0].stages == ()
    assert list(list_stage_tables({"bm25": record.benchmarks[0].providers[0]})) == []
    assert "What does each stage add" not in render_page(Report.of([record]))


def test_reports_compare_the_stages(tmp_path: Path) -> None:
    record = run(tmp_path)["two"]
    whole = RunRecord.from_json(
        json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    )
    assert whole.benchmarks[0].providers[0] == record
    (tables,) = list_stage_tables({"two": record})
    titles = ["metric", "shifted", "wanted_first", "delta", "95 % CI", "p", "finding", "best order"]
    assert tables.quality.titles == titles
    before, after, best = (
        [cell.value for cell in tables.quality.cells(key)]
        for key in ("baseline_value", "system_value", "ideal")
    )
    assert after == best
    assert before[0] == pytest.approx(sum(1 / rank for rank in range(1, 6)) / COUNT)
    speed = [[cell.text for cell in row] for row in tables.speed.rows]
    assert [row[:3] for row in speed] == [
        ["shifted", "", "0.333"], ["wanted_first", "4", "-"], ["all", "", "-"],
    ]  # fmt: skip
    assert [row[-1] for row in speed] == ["1", "2", "3"]
    report = Report.of([whole])
    assert "#### Stages of two" in render(report)
    assert "What does each stage add?" in render_page(report)


def test_hits_that_a_reranker_leaves_out_are_counted_in_a_warning(tmp_path: Path) -> None:
    def first_only(_query: Any, hits: list[Any]) -> list[str]:
        return [hits[-1].id]

    record = run(tmp_path, spec(first_only))["two"]
    (warning,) = [one for one in record.warnings if "left out" in one]
    assert warning.startswith(f"first_only left out {3 * COUNT} hits in {COUNT} queries; ")


def test_providers_of_users_may_tell_their_stages(tmp_path: Path) -> None:
    def own(text: str, k: int) -> Answer:
        found = shifted(text, k)
        stages = [Stage("sparse", list(found), 0.25), Stage("dense", (), 0.5, {}, k)]
        return Answer(list(reversed(found)), stages=stages)

    record = run(tmp_path, {"type": "callable", "name": "own", "options": {"function": own}})["own"]
    assert [one.name for one in record.stages] == ["sparse", "dense"]
    assert record.stages[0].latency is not None
    assert record.stages[0].latency.p50 == 0.25


def test_ids_of_stages_are_rewritten_like_those_of_hits(tmp_path: Path) -> None:
    def fail(text: str, texts: list[str]) -> list[float]:
        if text == "number 1":
            raise ProviderError("busy")
        return [1.0] * len(texts)

    def read(text: str, k: int) -> Answer:
        found: list[Any] = list(shifted(text, k))
        return Answer([Hit(f"x-{name}", score, text="t") for name, score in found])

    given = {**spec(fail, provider=read), "strip": ["x-"]}
    record = run(tmp_path, given)["two"]
    assert {one.stages[0].ids[0] for one in record.answers} >= {"d0", "d2"}
    assert record.answers[1].outcome == "error"
    assert record.answers[1].stages[0].ids[1] == "d1"


def test_a_resumed_plan_that_names_a_foreign_reranker_needs_trust(tmp_path: Path) -> None:
    plan = plan_of("technical-docs", spec("json:loads"))
    with pytest.raises(ConfigurationError, match="its plan runs 'json:loads'"):
        require_trust(plan, tmp_path)


def test_the_key_of_a_reranker_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "s3cret-of-the-reranker"
    monkeypatch.setenv("RERANK_KEY", key)

    def answer(asked: Any) -> Any:
        assert asked.headers["authorization"] == f"Bearer {key}"
        count = len(asked.body["documents"])
        return {"results": [{"index": at, "relevance_score": 0.1 * at} for at in range(count)]}

    with loopback(answer) as server:
        options = {"url": server.url, "api_key": "${RERANK_KEY}"}
        record = run(tmp_path, spec({"type": "http", "options": options}))["two"]
    assert record.outcomes == {"ok": COUNT}
    assert record.stages[-1].name == "http"
    for file in (tmp_path / "run").rglob("*"):
        assert not file.is_file() or key.encode() not in file.read_bytes()
