"""Tags of a run: from flags, variables, the file and Python, to reports and trends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import berryeval as be
from berryeval.benchmarks import write_benchmark
from berryeval.data.records import Document
from berryeval.workflows.run_folder import RunFolder
from tests.cli.eval_world import DRINKS, berryeval, write_drinks

EVAL = ("eval", "drinks", "--providers", "bm25", "-m", "RR", "--quiet")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_drinks(tmp_path)


def tags_of(folder: str) -> dict[str, str]:
    """Return the tags in the record of a run."""
    return RunFolder(folder).read_record().tags


def test_tags_come_from_flags_variables_and_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("berryeval.yaml").write_text("tags: {model: small, version: 2}\n", encoding="utf-8")
    assert berryeval(*EVAL, "--output", "file") == 0
    assert tags_of("file") == {"model": "small", "version": "2"}
    monkeypatch.setenv("BERRYEVAL_TAGS", "model=medium")
    assert berryeval(*EVAL, "--output", "variable") == 0
    assert tags_of("variable") == {"model": "medium", "version": "2"}
    assert berryeval(*EVAL, "--output", "flag", "--tag", "model=large", "prompt=v2") == 0
    assert tags_of("flag") == {"model": "large", "version": "2", "prompt": "v2"}


@pytest.mark.parametrize(
    "text", ["1.10", "0012", "2026-03-01", "True", "yes", "1e3", "1_000", "0x1F", "12:30", ".inf"]
)
def test_tags_keep_the_text_of_the_file(text: str) -> None:
    Path("berryeval.yaml").write_text(f"tags: {{version: {text}, on: x}}\n", encoding="utf-8")
    assert berryeval(*EVAL, "--output", "run") == 0
    assert tags_of("run") == {"version": text, "on": "x"}


def test_a_text_that_yaml_reads_as_something_else_is_to_be_quoted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("berryeval.yaml").write_text("# mine\nlabel: 1.10\n", encoding="utf-8")
    assert berryeval(*EVAL) == 2
    assert "berryeval.yaml:2: label: " in (error := capsys.readouterr().err)
    assert "found 1.1; put it into quotes" in error


def test_tags_that_are_no_text_are_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    Path("berryeval.yaml").write_text("tags:\n  model:\n", encoding="utf-8")
    assert berryeval(*EVAL) == 2
    error = capsys.readouterr().err
    assert "berryeval.yaml:2: tags.model: input should be a valid string, found nothing" in error


@pytest.mark.parametrize("flags", [(), ("--tag", "model=large")])
@pytest.mark.parametrize("name", ["null", "~"])
def test_the_name_of_a_tag_is_text(
    name: str, flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("berryeval.yaml").write_text(f"tags:\n  a: b\n  {name}: c\n", encoding="utf-8")
    assert berryeval(*EVAL, *flags) == 2
    error = " ".join(capsys.readouterr().err.split())
    expected = "tags: the name of a tag must be text, found null; put it into quotes"
    assert f"berryeval.yaml:3: {expected}" in error
    Path("berryeval.yaml").write_text(f"tags: {{'{name}': c}}\n", encoding="utf-8")
    assert berryeval(*EVAL, "--output", "run") == 0
    assert tags_of("run") == {name: "c"}


@pytest.mark.parametrize("text", ["[a]", "small"])
def test_a_tag_is_added_only_to_a_mapping(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("berryeval.yaml").write_text(f"# mine\ntags: {text}\n", encoding="utf-8")
    assert berryeval(*EVAL, "--tag", "model=large") == 2
    assert "berryeval.yaml:2: tags: input should be a mapping" in capsys.readouterr().err


def test_a_tag_without_a_value_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(*EVAL, "--tag", "large") == 2
    assert "--tag" in capsys.readouterr().err


def test_run_benchmark_takes_tags() -> None:
    result = be.run_benchmark("drinks", "bm25", ["RR"], folder="run", tags={"model": "small"})
    assert result.providers
    assert tags_of("run") == {"model": "small"}


@pytest.fixture
def tagged(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Return two runs that differ in one of their tags."""
    for model in ("small", "large"):
        tags = ("--tag", f"model={model}", "prompt=v2")
        assert berryeval(*EVAL, "--output", model, *tags) == 0
    capsys.readouterr()
    return "small", "large"


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_a_report_tells_runs_apart_by_their_tags(
    tagged: tuple[str, str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval("report", *tagged, "--format", name, "--output", "-") == 0
    out = capsys.readouterr().out
    for model in tagged:
        assert f"bm25 (model={model})" in out
        assert f"model={model}, prompt=v2" in out


def test_a_trend_has_a_line_for_each_value_of_a_tag(
    tagged: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval("runs", "trend", "RR", "--tag", "model", "--json") == 0
    lines = json.loads(capsys.readouterr().out)["data"]["lines"]
    assert [line["provider"] for line in lines] == [
        f"bm25 (model={model})" for model in sorted(tagged)
    ]
    assert berryeval("runs", "trend", "RR", "--json") == 0
    (line,) = json.loads(capsys.readouterr().out)["data"]["lines"]
    assert len(line["points"]) == 2


def test_a_trend_by_tag_compares_runs_on_changed_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval(*EVAL, "--output", "before", "--tag", "model=small") == 0
    more = (*DRINKS.documents, Document("milk", "# Milk\n\nMilk is white.\n"))
    write_benchmark(replace(DRINKS, documents=more), tmp_path / "more" / "drinks")
    again = (EVAL[0], "more/drinks", *EVAL[2:])
    assert berryeval(*again, "--output", "after", "--tag", "model=small") == 0
    capsys.readouterr()
    assert berryeval("runs", "trend", "RR", "--tag", "model", "--json") == 0
    (line,) = json.loads(capsys.readouterr().out)["data"]["lines"]
    assert line["provider"] == "bm25 (model=small)"
    assert len(line["points"]) == 2


def test_a_tag_that_no_run_has_is_rejected(
    tagged: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert berryeval("runs", "trend", "RR", "--tag", "nix") == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "has a tag 'nix'; there are model, prompt" in err
    assert tagged


@pytest.mark.parametrize("option", ["--tag", "--filter"])
def test_two_values_of_one_name_are_rejected(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval(*EVAL, option, "model=a", "model=b") == 2
    assert f"{option}: model has two values, 'a' and 'b'; give one" in capsys.readouterr().err
