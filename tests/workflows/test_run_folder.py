"""The folder of a run: names, manifest, and what is rejected."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

import berryeval
import tests.workflows.scripted  # noqa: F401 - registers the provider
from berryeval.errors import ConfigurationError, DataError
from berryeval.runs.stages import Latency
from berryeval.scoring.scores import Scores
from berryeval.workflows.plan import ProviderSpec
from berryeval.workflows.run_folder import RunFolder, config_hash, new_folder, write_json_file
from tests.workflows.worlds import benchmark, plan_of, results_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("bm25:fixed-400", "bm25-fixed-400"),
        ("my provider/2", "my-provider-2"),
        ("../../etc", "etc"),
        ("...", "unnamed"),
        ("ünï", "ünï"),
    ],
)
def test_labels_become_names_of_folders(tmp_path: Path, label: str, name: str) -> None:
    """No label leads out of the folder of the run."""
    part = RunFolder(tmp_path).part("b", ProviderSpec.model_validate({"type": "x", "name": label}))
    assert part == tmp_path / "b" / name


def test_long_labels_stay_distinct(tmp_path: Path) -> None:
    specs = [ProviderSpec.model_validate({"type": "x", "name": "ü" * 300 + end}) for end in "ab"]
    first, second = (RunFolder(tmp_path).part("b", spec) for spec in specs)
    assert first != second
    first.mkdir(parents=True)


def test_a_run_leaves_manifest_journal_scores_and_run(tmp_path: Path) -> None:
    plan = plan_of(benchmark(tmp_path, 4), {"type": "scripted", "name": "s"})
    result = results_of(plan, tmp_path / "run")["s"]
    manifest = RunFolder(tmp_path / "run").read_manifest()
    assert manifest["plan"]["k"] == 5
    assert manifest["config_hash"] == config_hash(plan)
    assert manifest["versions"]["berryeval"] == berryeval.__version__
    assert manifest["benchmarks"]["fruit"].startswith("sha256:")
    part = tmp_path / "run" / "fruit" / "s"
    assert result.folder == part
    assert Scores.from_dict(json.loads((part / "scores.json").read_bytes())) == result.scores
    assert len(berryeval.Run.from_trec(part / "run.trec")) == 4


def test_new_folders_are_unique_and_keep_their_time(tmp_path: Path) -> None:
    plan = plan_of("drinks", {"type": "scripted"})
    now = datetime(2026, 2, 21, 14, 30, tzinfo=timezone.utc)
    folders = [RunFolder(tmp_path / "runs" / "name", new_at=now) for _ in range(3)]
    assert not (tmp_path / "runs").exists()
    for folder in folders:
        with folder.locked():
            folder.write_manifest(plan, {})
    assert [folder.path.name for folder in folders] == ["name", "name-2", "name-3"]
    for folder in folders:
        assert folder.read_manifest()["created"] == "2026-02-21T14:30:00+00:00"
    with folders[0].locked():
        assert folders[0].path.name == "name"


def test_the_name_of_a_new_run_has_its_start_time(tmp_path: Path) -> None:
    plan = plan_of("drinks", {"type": "scripted"})
    folder = new_folder(plan, tmp_path / "runs")
    with folder.locked():
        folder.write_manifest(plan, {})
    created = str(folder.read_manifest()["created"])
    assert folder.path.name.startswith(created[:19].replace(":", "-"))


def test_an_invalid_manifest_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    for text, message in (
        ("{", "not valid JSON"),
        ("[]", "expected an object, found array"),
        ('{"schema_version": 99}', "expected a manifest of schema version 1, found 99; a newer"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            RunFolder(tmp_path).read_manifest()


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot create the folder"):
        write_json_file(tmp_path / "file" / "x" / "y.json", {})
    plan = plan_of(benchmark(tmp_path, 2), {"type": "scripted"})
    with pytest.raises(DataError, match=r"file.*cannot be written"):
        results_of(plan, tmp_path / "file" / "run")


def test_a_filter_that_matches_nothing_lists_the_values(tmp_path: Path) -> None:
    plan = plan_of(benchmark(tmp_path, 2), {"type": "scripted"}, filter={"category": "nut"})
    with pytest.raises(ConfigurationError, match="category=nut; there are apple, pear"):
        results_of(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_unknown_options_and_providers_are_rejected_before_the_run(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 2)
    for spec, message in (
        ({"type": "bm52"}, "unknown provider 'bm52'; did you mean 'bm25'"),
        ({"type": "scripted", "options": {"dealy": 1}}, "no option 'dealy'; did you mean 'delay'"),
        ({"type": "bm25", "chunker": "fxed-400"}, "did you mean"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            results_of(plan_of(source, spec), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_latencies_are_percentiles() -> None:
    assert Latency.of([]) is None
    found = Latency.of([n / 100 for n in range(101)])
    assert found is not None
    assert (found.p50, found.p95, found.p99, found.max) == pytest.approx((0.5, 0.95, 0.99, 1.0))
    assert found.to_json()["max"] == 1.0


@pytest.mark.parametrize("name", ["run.json", "fruit", "fruit/s/results.jsonl", ".lock"])
def test_a_run_writes_nothing_through_a_link_that_leads_out(tmp_path: Path, name: str) -> None:
    plan = plan_of(benchmark(tmp_path, 4), {"type": "scripted", "name": "s"})
    (tmp_path / "mine").mkdir()
    target = tmp_path / "mine" / "file"
    target.write_text("mine")
    link = tmp_path / "run" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(target.parent if name == "fruit" else target)
    with pytest.raises(DataError, match="is a link that leads out of the folder of the run, to "):
        results_of(plan, tmp_path / "run")
    assert target.read_text() == "mine"
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_labels_that_name_the_same_folder_are_rejected(tmp_path: Path) -> None:
    """Some file systems ignore case."""
    source = benchmark(tmp_path, 4)
    for first, second in (("a b", "a-b"), ("BM25", "bm25"), ("../x", "x")):
        providers = [{"type": "scripted", "name": name} for name in (first, second)]
        with pytest.raises(ValueError, match="would have the same folder"):
            plan_of(source, *providers)
