"""What CI runs: the steps of action.yml, executed as the runner would; `quality/`, made to fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.cli.eval_world import write_drinks

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
CONFIG = """
benchmarks: [drinks]
providers: [bm25]
metrics: [nDCG@10, RR]
export: [none]
"""


def run_action(
    folder: Path, inputs: Mapping[str, str], env: dict[str, str], *, install: bool = False
) -> tuple[int, str]:
    """Execute the steps that are scripts, up to the first that fails.

    The package is installed already; `install` runs that step too, which takes pip two seconds.
    """
    values = {name: str(one["default"]) for name, one in ACTION["inputs"].items()} | dict(inputs)
    known = {f"inputs.{name}": value for name, value in values.items()}
    known["github.action_path"] = str(ROOT)
    path = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    ours = env | {
        "PATH": path, "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "PIP_NO_INDEX": "1",
    }  # fmt: skip
    shown = ""
    for step in ACTION["runs"]["steps"]:
        if "run" not in step or (step["name"] == "Install BerryEval" and not install):
            continue
        given = {
            name: re.sub(r"\$\{\{ *(.+?) *\}\}", lambda found: known[found[1]], text)
            for name, text in step["env"].items()
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=folder, env=ours | given, capture_output=True, text=True, check=False
        )
        shown += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, shown
    return 0, shown


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a benchmark and a configuration."""
    write_drinks(tmp_path)
    (tmp_path / "berryeval.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="the steps are written for bash")
def test_the_action_passes_fails_and_compares(
    project: Path, clean_environment: dict[str, str]
) -> None:
    package = {"package": "berryeval"}  # it is installed, so pip has nothing to do
    code, shown = run_action(
        project,
        {**package, "fail-below": "nDCG@10=0.5 RR=0.5"},
        clean_environment,
        install=True,
    )
    assert code == 0, shown
    assert (project / "outputs").read_text("utf-8").split() == [
        "output=berryeval-quality",
        "passed=true",
    ]
    assert "✅ pass" in (project / "summary.md").read_text("utf-8")
    names = {path.name for path in (project / "berryeval-quality").iterdir()}
    assert {"junit.xml", "report.md", "run"} <= names
    inputs = {
        **package, "run": "berryeval-quality/run", "baseline": "berryeval-quality/run/run.json",
        "fail-below": "nDCG@10=0.99", "strict": "true", "output": "again",
    }  # fmt: skip
    code, shown = run_action(project, inputs, clean_environment)
    assert code == 2, shown
    assert "which cannot drop below itself" in shown
    code, shown = run_action(project, {**inputs, "baseline": ""}, clean_environment)
    assert code == 1, shown
    assert "::error title=Retrieval quality" in shown
    assert (project / "outputs").read_text("utf-8").endswith("passed=false\n")


@pytest.mark.skipif(sys.platform == "win32", reason="the steps are written for bash")
def test_the_action_reads_all_that_it_is_given(
    project: Path, clean_environment: dict[str, str]
) -> None:
    inputs = {"package": "berryeval", "fail-below": "RR=0.5\n  nDCG@10=0.99\n"}
    code, shown = run_action(project, inputs, clean_environment)
    assert code == 1, shown
    assert "requires at least 0.99" in shown
    again = {**inputs, "run": "berryeval-quality/run", "fail-below": "nDCG@10=0.5"}
    code, shown = run_action(project, {**again, "config": "berryevel.yaml"}, clean_environment)
    assert code == 2, shown
    assert "berryevel.yaml" in shown
    code, shown = run_action(project, {**again, "strict": "yes"}, clean_environment)
    assert code == 2, shown
    assert "strict must be true or false, found 'yes'" in shown
    code, shown = run_action(project, {**again, "strict": "True"}, clean_environment)
    assert code == 0, shown
    code, shown = run_action(project, {**again, "strict-data": "1"}, clean_environment)
    assert code == 2, shown
    assert "strict-data must be true or false, found '1'" in shown
    (project / "berryeval.yaml").unlink()
    code, shown = run_action(project, again, clean_environment)
    assert code == 0, shown


@pytest.mark.skipif(sys.platform == "win32", reason="the steps are written for bash")
def test_the_action_can_refuse_other_data(project: Path, clean_environment: dict[str, str]) -> None:
    """With a run of its own, and with one that is given."""
    first = {"package": "berryeval", "fail-below": "RR=0.1", "output": "first"}
    code, shown = run_action(project, first, clean_environment)
    assert code == 0, shown
    queries = project / "drinks" / "queries.jsonl"
    text = queries.read_text("utf-8")
    queries.write_text(text.replace("?", " now?", 1), encoding="utf-8")
    inputs = {**first, "baseline": "first/run", "output": "second"}
    code, shown = run_action(project, inputs, clean_environment)
    assert code == 0, shown
    for more in ({"output": "third"}, {"run": "second/run"}):
        given = {**inputs, **more, "strict-data": "true"}
        code, shown = run_action(project, given, clean_environment)
        assert code == 2, shown
        assert "which --strict-data" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="the steps are written for bash")
@pytest.mark.parametrize("output", ["", "  "])
def test_the_action_refuses_an_empty_output(
    output: str, project: Path, clean_environment: dict[str, str]
) -> None:
    inputs = {"package": "berryeval", "fail-below": "RR=0.5", "output": output}
    code, shown = run_action(project, inputs, clean_environment)
    assert code == 2, shown
    assert "::error::output must name a folder" in shown
    evaluate = next(step["run"] for step in ACTION["runs"]["steps"] if step.get("id") == "evaluate")
    removed = [line for line in evaluate.splitlines() if "rm -rf" in line]
    assert all('"${OUTPUT:?}/run"' in line for line in removed)  # and bash itself refuses it


@pytest.mark.skipif(sys.platform == "win32", reason="the steps are written for bash")
def test_the_action_stops_where_the_configuration_is_wrong(
    project: Path, clean_environment: dict[str, str]
) -> None:
    inputs = {"package": "berryeval", "fail-below": "nDGC@10=0.5"}
    code, shown = run_action(project, inputs, clean_environment)
    assert code == 2
    assert "unknown metric 'nDGC@10'" in shown
    assert "passed=" not in (project / "outputs").read_text("utf-8")


def _quality(providers: list[Any], folder: Path) -> Path:
    """The configuration of `make quality` for bm25 on technical-docs alone."""
    data = yaml.safe_load((ROOT / "quality" / "berryeval.yaml").read_text(encoding="utf-8"))
    data["benchmarks"] = ["technical-docs"]
    data["providers"] = providers
    rules = data["gate"]["rules"]
    data["gate"]["rules"] = [
        rule
        for rule in rules
        if "technical-docs" in rule.get("benchmarks", ["technical-docs"])
        and "bm25" in rule.get("providers", ["bm25"])
    ]
    data["gate"]["baseline"] = str(ROOT / "quality" / "baseline.json")
    path = folder / "berryeval.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("provider", "code", "word"),
    [
        ("bm25", 0, "nDCG@10 is unchanged"),
        ({"type": "bm25", "name": "bm25", "chunker": "fixed-100"}, 1, "FAIL  nDCG@10 dropped by"),
    ],
    ids=["as it is", "worse"],
)
def test_our_quality_gate_sees_a_regression(
    provider: Any, code: int, word: str, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    config = _quality([provider], tmp_path)
    command = [sys.executable, "-m", "berryeval", "eval", "--config", str(config), "--quiet"]
    done = subprocess.run(
        command, cwd=tmp_path, env=clean_environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert word in done.stdout


def test_the_baseline_holds_all_that_the_rules_compare() -> None:
    from berryeval._internal.json import read_json_object
    from berryeval.gates import Baseline

    data = yaml.safe_load((ROOT / "quality" / "berryeval.yaml").read_text(encoding="utf-8"))
    path = ROOT / "quality" / "baseline.json"
    baseline = Baseline.read(read_json_object(path), str(path))
    names = [one if isinstance(one, str) else one["name"] for one in data["providers"]]
    wanted = {(benchmark, name) for benchmark in data["benchmarks"] for name in names}
    assert {(part.benchmark, part.provider) for part in baseline.parts} == wanted
    drops = {rule["metric"] for rule in data["gate"]["rules"] if "max_drop" in rule}
    assert drops
    assert all(drops <= set(part.values) for part in baseline.parts)


def test_a_nightly_run_is_scheduled() -> None:
    """PyYAML reads the key `on` as true."""
    own = yaml.safe_load((ROOT / ".github/workflows/quality-tests.yml").read_text())
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    nightly = page.partition("```yaml\nname: Nightly quality")[2].partition("```")[0]
    shown = yaml.safe_load(f"name: Nightly quality{nightly}")
    for workflow in (own, shown):
        (schedule,) = workflow[True]["schedule"]
        assert re.fullmatch(r"\d+ \d+ \* \* \*", schedule["cron"])
        assert "workflow_dispatch" in workflow[True]
    (action,) = [step for step in shown["jobs"]["quality"]["steps"] if "berryeval" in step["uses"]]
    assert set(action["with"]) <= set(ACTION["inputs"])


def test_every_metric_of_our_sets_has_a_floor() -> None:
    """A drop of precision or recall alone is seen, for all providers and for the best."""
    data = yaml.safe_load((ROOT / "quality" / "berryeval.yaml").read_text(encoding="utf-8"))
    for benchmark in data["benchmarks"]:
        floors = [
            rule
            for rule in data["gate"]["rules"]
            if "at_least" in rule and benchmark in rule.get("benchmarks", ())
        ]
        everyone = {rule["metric"] for rule in floors if "providers" not in rule}
        assert everyone == {"nDCG@10", "P@5", "R@10", "RR"}
        best = {rule["metric"] for rule in floors if "hybrid" in rule.get("providers", ())}
        assert best == {"nDCG@10", "P@5", "R@10"}
