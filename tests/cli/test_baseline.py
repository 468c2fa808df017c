"""`berryeval baseline set|show|diff`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from berryeval.cli.app import build_app, run
from tests.cli.gate_world import outcome_of, write_runs

FILE = "berryeval-baseline.json"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with runs."""
    monkeypatch.chdir(tmp_path)
    write_runs(tmp_path)


def test_set_writes_a_file_to_commit(capsys: pytest.CaptureFixture[str]) -> None:
    """A line per measure, the same bytes each time, and it says what is in it."""
    assert run(build_app(), ["baseline", "set", "before.json"]) == 0
    assert capsys.readouterr().out == f"baseline written to {FILE}: bm25 on drinks\n"
    first = Path(FILE).read_bytes()
    assert run(build_app(), ["baseline", "set", "before.json", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["run"], data["left_out"]) == ("before", [])
    assert data["parts"][0]["queries"] == 40
    assert Path(FILE).read_bytes() == first
    assert sum(b'"nDCG@10": [' in line for line in first.splitlines()) == 1


def test_a_run_without_scores_overwrites_no_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    """It would hold nothing, and every later run would pass or fail by it."""
    assert run(build_app(), ["baseline", "set", "before.json"]) == 0
    kept = Path(FILE).read_bytes()
    assert run(build_app(), ["baseline", "set", "failed.json"]) == 2
    assert "no provider of failed has scores" in capsys.readouterr().err
    assert Path(FILE).read_bytes() == kept


@pytest.mark.parametrize("place", ["folder", "taken/b.json"])
def test_a_file_that_cannot_be_written_is_named(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder, or a path through a file."""
    Path("folder").mkdir()
    Path("taken").write_text("", encoding="utf-8")
    assert run(build_app(), ["baseline", "set", "before.json", "--output", place]) == 2
    shown = capsys.readouterr()
    assert place.split("/", maxsplit=1)[0] in shown.err
    assert "bug" not in shown.err
    assert not shown.out


def test_show_has_the_means(capsys: pytest.CaptureFixture[str]) -> None:
    """By benchmark, provider and measure."""
    run(build_app(), ["baseline", "set", "before.json"])
    capsys.readouterr()
    assert run(build_app(), ["baseline", "show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{FILE}: run before of 2026-11-15T10:00:00+00:00"
    assert [line.split()[:4] for line in lines[3:]] == [
        ["drinks", "bm25", "40", "nDCG@10"],
        ["drinks", "bm25", "40", "RR"],
    ]
    assert run(build_app(), ["baseline", "show", "--json"]) == 0
    (part,) = json.loads(capsys.readouterr().out)["data"]["parts"]
    assert lines[3].split()[4] == f"{part['means']['nDCG@10']:.4f}"


@pytest.mark.parametrize(
    ("name", "strict", "code", "word"),
    [
        ("same", False, 0, "did not change"),
        ("worse", False, 1, "FAIL  nDCG@10 fell by 0.1"),
        ("noisy", False, 0, "INCONCLUSIVE  nDCG@10 fell"),
        ("noisy", True, 1, "INCONCLUSIVE  nDCG@10 fell"),
        ("other-data", False, 2, "measured on other data of drinks"),
        ("failed", False, 2, "share no provider, benchmark and measure"),
    ],
)
def test_diff_tells_what_changed(
    name: str,
    strict: bool,  # noqa: FBT001 - a parameter of the test
    code: int,
    word: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every measure of both, with the exit code of a gate that allows no drop."""
    run(build_app(), ["baseline", "set", "before.json"])
    flags = ["--strict"] if strict else []
    found = outcome_of(capsys, "baseline", "diff", f"{name}.json", *flags)
    assert word in found
    assert found.endswith(f"exit code {code}\n")


def test_diff_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The verdicts, and whether they let pass."""
    assert run(build_app(), ["baseline", "diff", "worse.json", "--baseline", "before.json",
                             "--json"]) == 1  # fmt: skip
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["passed"], data["strict"]) == (False, False)
    assert [one["status"] for one in data["verdicts"]] == ["fail", "pass"]


@pytest.mark.parametrize("text", ["{", "[]", '{"schema_version": 9, "parts": []}', "{}"])
def test_a_broken_file_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With its name and what was expected, and no traceback."""
    Path("broken.json").write_text(text, encoding="utf-8")
    assert run(build_app(), ["baseline", "show", "broken.json"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: broken.json")
    assert "bug" not in shown
