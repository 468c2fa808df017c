"""A canary in every place of a secret: no artefact and no output has a part of it."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
import yaml

import berryeval as be
from berryeval.benchmarks import write_benchmark
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.errors import ProviderError
from berryeval.providers.http import Http
from tests.cli.canaries import KEY, MODES, PATH, answer, find_leak, make_key, read_all
from tests.cli.eval_world import berryeval
from tests.providers.loopback import loopback
from tests.pytest_plugin.test_pytest_plugin import run_pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HTTP: dict[str, Any] = {
    "token": {"token": KEY},
    "key header": {"headers": {"X-Api-Key": KEY}},
    "bearer": {"headers": {"Authorization": f"Bearer {KEY}"}},
    "own header": {"headers": {"X-Mine": KEY}},
    "cookie": {"headers": {"Cookie": f"session={KEY}"}},
    "parameter": {"params": {"q": "{query}", "key": KEY}},
    "named parameter": {"params": {"q": "{query}", "api_key": KEY}},
    "unnamed parameter": {"params": {"q": "{query}", "v": KEY}},
    "body": {"body": {"q": "{query}", "token": KEY}},
    "nested body": {"body": {"q": "{query}", "a": [{"auth": {"b": KEY}}]}},
    "unnamed in the body": {"body": {"q": "{query}", "a": [KEY]}},
    "password": {"user": "me", "password": KEY},
    "password of the address": {"url": f"AT//me:{PATH}@PLACE/s"},
    "query of the address": {"url": f"AT//PLACE/s?api_key={PATH}"},
    "signature": {"url": f"AT//PLACE/s?k=1&sig={PATH}"},
    "path": {"url": f"AT//PLACE/v1/{PATH}/s"},
    "end of the path": {"url": f"AT//PLACE/{PATH}"},
}
ELASTICSEARCH: dict[str, Any] = {
    name: HTTP[name] for name in ("own header", "bearer", "password", "password of the address")
} | {"key": {"api_key": KEY}, "path": {"url": f"AT//PLACE/{PATH}"}}
OPENAI: dict[str, Any] = {
    "key": {"api_key": KEY},
    "header": {"headers": {"X-Mine": KEY}},
    "address": {"base_url": f"AT//me:{PATH}@PLACE/v1"},
    "path": {"base_url": f"AT//PLACE/{PATH}/v1"},
}
POSTGRES: dict[str, Any] = {
    "address": {"dsn": f"postgresql://me:{PATH}@127.0.0.1:1/x", "mode": "text"},
    "pairs": {"dsn": f"host=127.0.0.1 port=1 password='{KEY}'", "mode": "text"},
}
PLACES: dict[str, tuple[str, Any]] = {
    **{f"http {name}": ("http", options) for name, options in HTTP.items()},
    **{f"elasticsearch {name}": ("elasticsearch", one) for name, one in ELASTICSEARCH.items()},
    **{
        f"openai {name}": (
            "dense",
            {"embedder": "openai", "embedder_options": {**one, "attempts": 1}},
        )
        for name, one in OPENAI.items()
    },
    **{f"postgres {name}": ("postgres", options) for name, options in POSTGRES.items()},
    "qdrant key": ("qdrant", {"url": "AT//PLACE", "api_key": KEY}),
    "qdrant path": ("qdrant", {"url": f"AT//PLACE/{PATH}"}),
    "hybrid": (
        "hybrid",
        {"providers": ["bm25", {"type": "http", "options": {"url": "AT//PLACE/s", "token": KEY}}]},
    ),
    "hybrid options": (
        "hybrid",
        {"providers": ["bm25", "http"], "options": {"http": {"url": "AT//PLACE", "token": KEY}}},
    ),
    "function": ("callable", {"function": f"search:{KEY}"}),
}
EXPORTS = ["html", "csv", "json", "markdown", "github", "latex", "junit", "trec"]
WHOLE = {"http token", "http path", "http unnamed in the body", "elasticsearch password"}
FEW = ["csv", "json", "markdown"]  # charts take most of the time


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    """Start the echoing server."""
    with loopback(answer) as server:
        yield server.url.partition("//")[2]


@pytest.fixture
def folder(drinks_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a benchmark that asks for every mode of the server."""
    monkeypatch.setenv("CANARY", KEY)
    monkeypatch.setenv("BERRYEVAL_EVAL_DIR", str(drinks_folder / "evals"))
    monkeypatch.setenv("BERRYEVAL_STORE", "results.db")
    monkeypatch.delenv("BERRYEVAL_EXPORT")
    modes = be.Benchmark(
        "modes",
        (Document("tea", "Tea is steeped."), Document("milk", "Milk is white.")),
        tuple(Query(mode, f"mode {mode} ") for mode in MODES),
        tuple(Judgment(mode, Anchor(document="tea"), 1) for mode in MODES),
    )
    write_benchmark(modes, drinks_folder / "modes")
    return drinks_folder


def fill(options: Any, place: str, key: str, path: str) -> Any:
    """Put the address of the server, a key, and the key for an address into options."""
    if isinstance(options, dict):
        return {name: fill(one, place, key, path) for name, one in options.items()}
    if isinstance(options, list):
        return [fill(one, place, key, path) for one in options]
    if not isinstance(options, str):
        return options
    text = options.replace("AT//PLACE", f"http://{place}").replace("AT//", "http://")
    return text.replace("PLACE", place).replace(KEY, key).replace(PATH, path)


def build_provider(where: str, place: str, key: str, path: str) -> dict[str, Any]:
    """Return a provider with a key, or with the name of its variable, in one place."""
    kind, options = PLACES[where]
    if kind in {"http", "elasticsearch"}:
        options = {"url": "AT//PLACE/s", **options}
    return {"type": kind, "chunker": "whole", "options": fill(options, place, key, path)}


def write_config(providers: list[dict[str, Any]], **settings: Any) -> None:
    """Write a configuration."""
    plan = {
        "benchmarks": ["modes"],
        "providers": providers,
        "run": {"attempts": 1, "error_budget": 1.0, "warm_up": 0},
        **settings,
    }
    Path("berryeval.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")


def check_output(capsys: pytest.CaptureFixture[str], log: pytest.LogCaptureFixture) -> None:
    """Fail if the output or the log has a part of the key."""
    out, err = capsys.readouterr()
    lines = [f"{one.getMessage()} {one.args} {one.exc_text}" for one in log.records]
    for name, text in {"stdout": out, "stderr": err, "the log": "\n".join(lines)}.items():
        assert not find_leak(text), name
    log.clear()


def check_files(folder: Path) -> None:
    """Fail if a file other than the configuration has a part of the key."""
    Path("berryeval.yaml").unlink()
    for name, text in read_all(folder):
        assert not find_leak(text), name


@pytest.mark.parametrize("where", PLACES)
def test_an_echoed_secret_is_masked_everywhere(
    where: str,
    folder: Path,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In files, store, exports, output, and the debug lines of all packages.

    Each place has a key of its own, and another one in a variable, so that a leak names its place.
    """
    literal, named = make_key(f"{where}, literal"), make_key(f"{where}, variable")
    monkeypatch.setenv("CANARY", named)
    monkeypatch.setenv("CANARY_PATH", quote(named, safe=""))
    providers = [
        {"name": "literal", **build_provider(where, place, literal, quote(literal, safe=""))},
        {"name": "variable", **build_provider(where, place, "${CANARY}", "${CANARY_PATH}")},
    ]
    write_config(providers, export=EXPORTS if where in WHOLE else FEW)
    with caplog.at_level(logging.DEBUG):
        code = berryeval("eval", "--output", "run", "--verbose", "--debug")
    assert code == (2 if where == "function" else 3)
    check_output(capsys, caplog)
    if where != "function":
        files = {file.name for file in Path("run").rglob("*") if file.is_file()}
        assert {"manifest.json", "results.jsonl", "run.json"} <= files
        assert where not in WHOLE or {"report.html", "report.md", "report.tex"} <= files
        journals = [file.read_text(encoding="utf-8") for file in Path("run").rglob("results.jsonl")]
        enough = all if PLACES[where][0] in {"http", "elasticsearch"} else any  # others fail early
        assert enough("***" in journal for journal in journals)
    check_files(folder)


COMMANDS = [
    "runs list",
    "runs show run",
    "runs show run --json",
    "runs trend RR",
    "runs export --all records",
    "runs rescore run --metrics P@1",
    "compare run again",
    "baseline set run --allow-errors",
    "gate run --baseline again",
    "eval --resume run --retry-errors",
    *(f"report run --format {name} --output -" for name in EXPORTS if name not in {"html", "csv"}),
    "report run --format html --output page.html",
]


def test_commands_about_a_run_show_no_secret(
    folder: Path,
    place: str,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Comparisons, gates, baselines, exports, stores and runs that are asked again."""
    rules = {"rules": [{"metric": "RR", "at_least": 0.9}]}
    provider = build_provider("http token", place, "${CANARY}", "")
    write_config([provider], export=[], gate=rules)
    for name in ("run", "again"):
        assert berryeval("eval", "--output", name) in {1, 3}
    for command in COMMANDS:
        assert berryeval(*command.split()) in {0, 1, 3}, command
        check_output(capsys, caplog)
    check_files(folder)


def test_objects_and_errors_of_the_library_show_no_secret(folder: Path, place: str) -> None:
    """A provider that was built by hand knows its secrets too."""
    provider = Http(f"http://{place}/s", token=KEY)
    result = be.run_benchmark(str(folder / "modes"), provider, folder=folder / "run", attempts=1)
    assert not find_leak(f"{provider!r} {result!r} {result.record!r}")
    for mode in MODES.keys() - {"hits"}:
        with pytest.raises(ProviderError) as caught:
            provider.search(Query("q", f"mode {mode} "), 3)
        assert not find_leak("".join(traceback.format_exception(caught.value))), mode
    provider.close()
    for name, text in read_all(folder):
        assert not find_leak(text), name


SUITE = """
def test_quality(evaluation):
    spec = {"type": "http", "options": {"url": "URL/s", "token": "${CANARY}"}}
    result = evaluation.run("modes", [spec], attempts=1, error_budget=1.0, warm_up=0)
    evaluation.check(result, {"RR": 1.0}, worst=19)
"""


def test_quality_tests_of_pytest_show_no_secret(
    folder: Path, place: str, clean_environment: dict[str, str]
) -> None:
    suite = SUITE.replace("URL", f"http://{place}")
    Path("test_suite.py").write_text(suite, encoding="utf-8")
    env = clean_environment | {"CANARY": KEY}
    code, shown = run_pytest(folder, "--eval", "--junitxml", "junit.xml", env=env)
    assert code == 1
    assert "***" in shown
    assert not find_leak(shown)
    for name, text in read_all(folder):
        assert not find_leak(text), name
