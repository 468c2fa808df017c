"""The exporter `mlflow`, read back from real stores of MLflow."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mlflow import MlflowClient

import berryeval as be
from berryeval.errors import ConfigurationError, DataError, MissingDependencyError
from berryeval.reports.exports import EXPORTERS
from berryeval.reports.sections import Report
from berryeval.reports.tracking import describe_place
from tests.cli.eval_world import berryeval, write_drinks
from tests.reports.tracker_world import quiet_trackers, tracked_run
from tests.reports.world import FAILURE, provider, run_of

if TYPE_CHECKING:
    from berryeval.runs.record import RunRecord


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Return the address of an empty file store."""
    quiet_trackers(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    yield f"file:{tmp_path}/mlruns"
    logging.getLogger("alembic").handlers.clear()


def read(store: str, experiment: str = "berryeval") -> dict[str, Any]:
    """Return the runs of an experiment by provider."""
    client = MlflowClient(store)
    found = client.get_experiment_by_name(experiment)
    assert found is not None
    runs = client.search_runs([found.experiment_id])
    assert len({run.data.tags["berryeval.provider"] for run in runs}) == len(runs)
    return {run.data.tags["berryeval.provider"]: run for run in runs}


def read_artifact(store: str, run: Any, name: str) -> str:
    path = MlflowClient(store).download_artifacts(run.info.run_id, name)
    return Path(path).read_text(encoding="utf-8")


def test_parameters_metrics_and_names_are_logged(store: str) -> None:
    record = tracked_run()
    assert be.write_report(record, store, "mlflow", label="nightly") == []
    run = read(store)["bm25"]
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "nightly drinks bm25"
    assert run.info.start_time == 1771680600000  # when our run was started
    assert run.data.params == {
        "run_id": record.id, "created": record.created, "benchmark": "drinks", "provider": "bm25",
        "provider_type": "bm25", "k": "20", "queries": "4", "seed": "3",
        "content_hash": "sha256:0123", "config_hash": "sha256:abc",
        "options.url": "http://search.invalid", "options.headers.api_key": "***",
        "options.fields": '["a", "b"]', "version.berryeval": "0.1.0", "version.python": "3.12.1",
    }  # fmt: skip
    scores = record["drinks"]["bm25"].scores
    assert scores is not None
    low, high = scores.ci("nDCG@10")
    values = run.data.metrics
    assert values["nDCG_at_10"] == scores.mean["nDCG@10"]
    assert (values["nDCG_at_10_low"], values["nDCG_at_10_high"]) == (low, high)
    assert (values["latency_p50_seconds"], values["latency_p95_seconds"]) == (0.0123, 0.045)
    assert (values["cost_usd"], values["queries_ok"], values["queries_empty"]) == (0.25, 3, 1)
    assert run.data.tags["berryeval.metric.nDCG_at_10"] == "nDCG@10"
    assert run.data.tags["model"] == "small"


def test_the_report_the_scores_and_a_table_of_queries_are_attached(store: str) -> None:
    record = tracked_run()
    be.write_report(record, store, "mlflow")
    run = read(store)["bm25"]
    scores = record["drinks"]["bm25"].scores
    assert scores is not None
    assert json.loads(read_artifact(store, run, "scores.json")) == json.loads(
        json.dumps(scores.to_dict())
    )
    (page,) = EXPORTERS.get("html").files(Report.of([record]), "")
    assert read_artifact(store, run, "report.html") == page.text
    table = MlflowClient(store).load_table(
        run.info.experiment_id, "queries.json", [run.info.run_id]
    )
    assert table["query_id"].tolist() == ["q1", "q2", "q3", "q4"]
    assert dict(zip(table["query_id"], table["RR"], strict=True)) == scores.per_query("RR")
    assert table["outcome"].tolist() == ["ok", "ok", "ok", "empty"]


def test_a_provider_that_failed_is_a_failed_run_without_scores(store: str) -> None:
    be.write_report(tracked_run(), store, "mlflow")
    run = read(store)["broken"]
    assert run.info.status == "FAILED"
    assert run.data.metrics == {"queries_error": 1}
    assert run.data.tags["berryeval.failure"] == FAILURE


def test_a_second_export_changes_nothing_and_reports_that(
    store: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "berryeval")
    for _ in range(2):
        be.write_report(tracked_run(), store, "mlflow")
    run = read(store)["bm25"]
    history = MlflowClient(store).get_metric_history(run.info.run_id, "RR")
    assert len(history) == 1
    first, second = caplog.messages
    assert first.startswith("MLflow: 2 runs in the experiment berryeval at file:")
    assert second == f"{first}, 2 of them already there"


def test_a_run_that_was_scored_again_updates_its_runs(store: str) -> None:
    record = tracked_run()
    be.write_report(record, store, "mlflow")
    part = record["drinks"]
    better = replace(part["bm25"], scores=provider("our|search_v2 <b>").scores)
    again = replace(record, benchmarks=(replace(part, providers=(better, part["broken"])),))
    be.write_report(again, store, "mlflow")
    assert better.scores is not None
    assert read(store)["bm25"].data.metrics["RR"] == better.scores.mean["RR"]


def test_a_label_that_is_given_later_renames_the_runs(store: str) -> None:
    for label in ("", "nightly"):
        be.write_report(plain(), store, "mlflow", label=label)
    assert read(store)["bm25"].info.run_name == "nightly drinks bm25"


def test_runs_with_one_name_but_another_start_are_two(store: str) -> None:
    first = run_of(provider("bm25"))
    second = replace(first, created="2026-02-22T14:30:00+01:00")
    be.write_report(first, store, "mlflow")
    be.write_report(second, store, "mlflow")
    client = MlflowClient(store)
    experiment = client.get_experiment_by_name("berryeval")
    assert experiment is not None
    assert len(client.search_runs([experiment.experiment_id])) == 2


def test_metrics_with_signs_get_names_that_do_not_collide(store: str) -> None:
    scores = be.evaluate(
        {"q": {"d": 1}}, {"q": {"d": 1.0}}, ["P(rel=2)@5", "AP(rel=2)@5", "R@1000"]
    )
    be.write_report(scores, store, "mlflow")
    (run,) = read(store).values()
    spelled = {
        name.removeprefix("berryeval.metric."): metric
        for name, metric in run.data.tags.items()
        if name.startswith("berryeval.metric.")
    }
    assert spelled == {
        "P_rel_2_at_5": "P(rel=2)@5", "AP_rel_2_at_5": "AP(rel=2)@5", "R_at_1000": "R@1000",
    }  # fmt: skip
    assert spelled.keys() <= run.data.metrics.keys()


def test_odd_names_and_texts_are_logged_under_names_that_are_allowed(store: str) -> None:
    """A tag of the user never costs the export, and no file of the store becomes unreadable."""
    costly = replace(provider("bm25"), name="b\ud800m", cost={"€": 1.0, "£": 2.0})
    tags = {"team@home": "größe ☕", "../a": "b", "berryeval.key": "mine", "long" * 90: "c"}
    record = replace(run_of(costly), plan={"k": 20, "tags": tags})
    for _ in range(2):
        be.write_report(record, store, "mlflow")
    (run,) = read(store).values()
    assert run.info.status == "FINISHED"
    assert run.data.params["provider"] == "b?m"
    found = run.data.tags
    assert (found["team_home"], found["___a"], found[("long" * 90)[:250]]) == ("größe ☕", "b", "c")
    assert sorted(run.data.metrics[name] for name in run.data.metrics if "cost" in name) == [1, 2]


def test_eval_exports_to_the_store_of_the_environment(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_drinks(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "search")
    command = ("eval", "drinks", "--providers", "bm25", "--metrics", "RR", "--output", "run")
    assert berryeval(*command, "--export", "mlflow") == 0
    assert f"MLflow: 1 run in the experiment search at {store}\n" in capsys.readouterr().out
    assert set(read(store, "search")) == {"bm25"}
    assert berryeval("report", "run", "--format", "mlflow", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["data"]["files"]
    assert told["place"].endswith(", 1 of them already there")


def test_run_benchmark_exports_to_a_tracker(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    be.run_benchmark("rag-template", ["bm25"], ["RR"], export="mlflow")
    assert set(read(store)) == {"bm25"}
    with pytest.raises(ConfigurationError, match="csv is written to the folder of the run"):
        be.run_benchmark("rag-template", ["bm25"], ["RR"], export=["mlflow", "csv"])


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_missing_package_is_found_before_the_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    told = rf'the exporter {name} needs {name}: pip install ".*{name}[a-z-]*>='
    with pytest.raises(MissingDependencyError, match=told):
        be.run_benchmark("rag-template", ["bm25"], ["RR"], export=name)


def test_no_secret_reaches_the_store(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("SEARCH_KEY", "s3cr3t-k3y-of-ours")
    url = "http://me:hunter22@127.0.0.1:9/?q={query}"
    options = {
        "url": url,
        "headers": {"X-Key": "${SEARCH_KEY}", "Authorization": "Bearer t0k3nt0k3n"},
    }
    provider = {"type": "http", "options": options}
    be.run_benchmark(
        "rag-template", [provider, "bm25"], ["RR"], export="mlflow", attempts=1, limit=2
    )
    files = [path for path in (tmp_path / "mlruns").rglob("*") if path.is_file()]
    logged = "".join(path.read_text("utf-8") for path in files)
    assert set(read(store)) == {"http", "bm25"}
    assert not [one for one in ("s3cr3t", "hunter22", "t0k3n") if one in logged]
    assert read(store)["http"].data.params["options.headers.Authorization"] == "***"


def test_a_store_that_refuses_leaves_the_run_and_one_line(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_drinks(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "false")
    command = ("eval", "drinks", "--providers", "bm25", "--metrics", "RR", "--output", "run")
    assert berryeval(*command, "--export", "mlflow") == 0
    told = capsys.readouterr().err
    assert "error: mlflow was not written: MLflow did not take the run (MlflowException:" in told
    assert "again: berryeval report run --format mlflow" in told
    assert Path("run/run.json").exists()
    assert berryeval("report", "run", "--format", "mlflow") == 2


def test_an_export_that_fails_halfway_leaves_no_run_that_seems_to_go_on(
    store: str, tmp_path: Path
) -> None:
    """The run is ended as failed; the next export completes it."""
    (tmp_path / "taken").write_text("a file where the artifacts should go")
    client = MlflowClient(store)
    number = client.create_experiment("berryeval", f"file:{tmp_path}/taken/artifacts")
    with pytest.raises(DataError, match="MLflow did not take the run"):
        be.write_report(plain(), store, "mlflow")
    (run,) = client.search_runs([number])
    assert run.info.status == "FAILED"
    (tmp_path / "taken").unlink()
    be.write_report(plain(), store, "mlflow")
    (again,) = client.search_runs([number])
    assert (again.info.run_id, again.info.status) == (run.info.run_id, "FINISHED")


@pytest.mark.parametrize("password", ["hunter22", "p@hunter22", "p/hunter22"])
def test_a_server_that_is_not_there_is_one_line_without_its_password(
    password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(DataError, match=r"MLflow did not take the run \(") as caught:
        be.write_report(plain(), f"http://me:{password}@127.0.0.1:9/", "mlflow")
    assert "hunter22" not in str(caught.value)
    assert "hunter22" not in describe_place("MLflow", f"mysql://me:{password}@host/x", 1, 1)
    assert "\n" not in str(caught.value)


def plain() -> RunRecord:
    return run_of(provider("bm25"))


def test_other_commands_and_files_refuse_a_tracker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.json"
    path.write_text(plain().dumps(), encoding="utf-8")
    for command in (
        ("report", str(path), "--format", "mlflow", "csv", "--output", "out"),
        ("report", str(path), "--format", "mlflow", "--output", "-"),
        ("runs", "export", str(path), "--format", "mlflow"),
    ):
        assert berryeval(*command) == 2
        assert "writes no file" in capsys.readouterr().err


# MLflow uses a part of SQLAlchemy that newer versions of it will remove.
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning")
def test_a_sqlite_store_takes_runs(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/mlflow.db"
    be.write_report(tracked_run(), database, "mlflow")
    be.write_report(tracked_run(), database, "mlflow")
    assert set(read(database)) == {"bm25", "broken"}
