"""The exporter `wandb`, read back from the offline folders of Weights & Biases."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import wandb

import berryeval as be
from berryeval.errors import ConfigurationError
from tests.cli.eval_world import berryeval, write_drinks
from tests.reports.tracker_world import quiet_trackers, read_wandb_run, tracked_run
from tests.reports.world import FAILURE, provider


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Return the folder in which Weights & Biases collects its runs; end its process."""
    quiet_trackers(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "wandb"
    wandb.teardown()


def read(folder: Path) -> dict[str, Any]:
    """Return the runs by provider, once everything is written."""
    wandb.teardown()
    runs = [read_wandb_run(one) for one in folder.glob("offline-run-*")]
    found = {run["config"]["provider"]: run for run in runs}
    assert len(found) == len(runs)
    return found


def test_settings_metrics_and_names_are_logged(folder: Path) -> None:
    record = tracked_run()
    assert be.write_report(record, "team/search", "wandb", label="nightly") == []
    found = read(folder)["bm25"]
    run, config, summary = found["run"], found["config"], found["summary"]
    assert (run.entity, run.project, run.run_group) == ("team", "search", record.id)
    assert run.display_name == "nightly drinks bm25"
    assert list(run.tags) == ["model=small"]
    assert config["options.headers.api_key"] == "***"
    assert (config["k"], config["content_hash"]) == (20, "sha256:0123")
    scores = record["drinks"]["bm25"].scores
    assert scores is not None
    assert summary["nDCG_at_10"] == scores.mean["nDCG@10"]
    assert (summary["nDCG_at_10_low"], summary["nDCG_at_10_high"]) == scores.ci("nDCG@10")
    assert (summary["latency_p50_seconds"], summary["latency_p95_seconds"]) == (0.0123, 0.045)
    assert (summary["cost_usd"], summary["queries_ok"], summary["queries_empty"]) == (0.25, 3, 1)
    assert summary["berryeval_metrics"] == {"nDCG_at_10": "nDCG@10", "RR": "RR"}
    assert found["exit"] == 0


def test_the_report_the_scores_and_a_table_of_queries_are_attached(folder: Path) -> None:
    record = tracked_run()
    be.write_report(record, "", "wandb")
    (path,) = (
        path
        for path in folder.glob("offline-run-*/files/media/table/queries*.json")
        if "RR" in json.loads(path.read_text("utf-8"))["columns"]
    )
    table = json.loads(path.read_text("utf-8"))
    place = table["columns"].index("RR")
    scores = record["drinks"]["bm25"].scores
    assert scores is not None
    assert {row[0]: row[place] for row in table["data"]} == scores.per_query("RR")
    reports = [one for one in read(folder)["bm25"]["artifacts"] if one.type == "report"]
    assert {entry.path for entry in reports[0].manifest.contents} == {"report.html", "scores.json"}


def test_a_provider_that_failed_is_a_failed_run(folder: Path) -> None:
    be.write_report(tracked_run(), "", "wandb")
    found = read(folder)["broken"]
    assert found["exit"] == 1
    assert found["summary"]["berryeval_failure"] == FAILURE
    assert found["run"].project == "berryeval"


def test_nothing_of_the_machine_is_logged(folder: Path) -> None:
    be.write_report(tracked_run(), "", "wandb")
    assert {run["run"].host for run in read(folder).values()} == {""}
    names = {path.name for path in folder.glob("offline-run-*/files/*")}
    assert names == {"berryeval.json", "media"}


def test_a_second_export_writes_nothing_and_reports_that(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "berryeval")
    record = tracked_run()
    for _ in range(2):
        be.write_report(record, "", "wandb")
    assert len(read(folder)) == 2
    told = [one.getMessage() for one in caplog.records if one.name == "berryeval"]
    assert told == [
        f"Weights & Biases: 2 runs in {folder}",
        f"Weights & Biases: 2 runs in {folder}, 2 of them already there",
    ]
    part = record["drinks"]
    changed = replace(part["bm25"], scores=provider("our|search_v2 <b>").scores)
    again = replace(record, benchmarks=(replace(part, providers=(changed, part["broken"])),))
    be.write_report(again, "", "wandb")
    names = [path.name for path in folder.glob("offline-run-*")]
    ids = [name.split("-")[3] for name in names]  # a number follows if two are of one second
    assert (len(ids), len(set(ids))) == (3, 2), names  # the changed one again, under its old id
    unchanged = replace(record, benchmarks=(replace(part, providers=(part["broken"],)),))
    be.write_report(unchanged, "elsewhere", "wandb")  # it is not there in another project
    assert len(list(folder.glob("offline-run-*"))) == 4


def test_an_active_run_of_the_application_stays_active(folder: Path) -> None:
    quiet = wandb.Settings(console="off", x_disable_stats=True, silent=True)
    with wandb.init(project="own", settings=quiet) as own:
        be.write_report(tracked_run(), "", "wandb")
        assert wandb.run is own
    assert len(list(folder.glob("offline-run-*"))) == 3


def test_eval_exports_offline(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_drinks(tmp_path)
    command = ("eval", "drinks", "--providers", "bm25", "--metrics", "RR", "--output", "run")
    assert berryeval(*command, "--export", "wandb") == 0
    assert f"Weights & Biases: 1 run in {folder}\n" in capsys.readouterr().out
    assert set(read(folder)) == {"bm25"}


@pytest.mark.parametrize(
    ("mode", "told"), [("disabled", "is switched off"), ("online", "has no API key; run")]
)
def test_a_tracker_that_cannot_be_used_says_why_and_asks_nothing(
    mode: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wandb.teardown()  # its settings are read once per process
    monkeypatch.setenv("WANDB_MODE", mode)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=told):
        be.write_report(tracked_run(), "", "wandb")
