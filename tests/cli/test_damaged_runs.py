"""One damaged run, file or row among intact ones: it is named and left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, select, type_coerce, update
from sqlalchemy.types import NullType

from berryeval.runs import open_store
from berryeval.runs.store.schema import parts, results, runs
from tests.cli.eval_world import STORE, berryeval, data_of, enter_folder
from tests.runs.kept import run_of

RUNS = Path(".berryeval") / "runs"
DEEP = '{"schema_version": 1, "id": "deep", "created": "x", "plan": ' + '{"a":' * 5000
INTACT = run_of(1)
TEXT = INTACT.dumps().encode(errors="backslashreplace").decode()
DAMAGED = {
    "deep": (DEEP, "nested too deep"),
    "balanced": (TEXT.replace('"k": 5', '"x": ' + "[" * 3000 + "]" * 3000, 1), "nested too deep"),
    "nan": (TEXT.replace('"k": 5', '"k": NaN', 1), "NaN is not valid JSON"),
    "infinite": (TEXT.replace('"k": 5', '"k": 5, "y": 1e999', 1), "expected a finite number"),
    "inner": (TEXT.replace('"colour": "red"', '"c": {"d": [-1e999]}', 1), "a finite number"),
    "digits": (TEXT.replace('"k": 5', f'"k": {"9" * 5000}', 1), "not valid JSON"),
    "passage": (TEXT.replace('"passage": 0', '"passage": 7', 1), "a passage that is not one of"),
    "counts": (
        TEXT.replace('"outcomes": {"ok"', '"outcomes": {"a": "b", "ok"', 1),
        "a whole number",
    ),
    "large": (TEXT.replace('"k": 5', f'"k": {"9" * 30}', 1), "expected"),
    "bytes": ("\ufeff\ud800", "not UTF-8"),
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter_folder(tmp_path, monkeypatch)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(errors="surrogatepass"))


def keep_folders(*numbers: int) -> None:
    """Write the folders of these runs."""
    for number in numbers:
        record = run_of(number)
        write(RUNS / record.id / "run.json", escape(record.dumps()))
        manifest = {"schema_version": 1, "created": record.created}
        write(RUNS / record.id / "manifest.json", json.dumps(manifest))


def escape(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_does_not_stop_an_import(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, problem = DAMAGED[kind]
    write(Path("backup/a.json"), text)
    write(Path("backup/b.json"), escape(run_of(2).dumps()))
    assert berryeval("runs", "import", "backup") == 2
    printed = capsys.readouterr()
    assert printed.out == "run-0002: added\n"
    assert "error: backup/a.json" in printed.err
    assert problem in printed.err
    assert "bug" not in printed.err
    assert berryeval("runs", "show", "backup/a.json") == 2
    assert "bug" not in capsys.readouterr().err


def test_a_damaged_run_is_not_the_latest(capsys: pytest.CaptureFixture[str]) -> None:
    keep_folders(1, 2, 3, 4)
    write(RUNS / "run-0004" / "run.json", DEEP)
    write(RUNS / "run-0002" / "run.json", "{}")
    for name, wanted in (("latest", "run-0003"), ("latest~1", "run-0001")):
        assert berryeval("runs", "show", name, "--json") == 0
        printed = capsys.readouterr()
        assert json.loads(printed.out)["data"]["run"] == wanted
        assert "warning: run-0004 is damaged and does not count as a run: " in printed.err
        assert ("run-0002 is damaged" in printed.err) == (name == "latest~1")
    assert berryeval("compare", "latest~1", "latest", "--json") in {0, 1}
    capsys.readouterr()
    assert berryeval("runs", "show", "latest~2") == 2
    assert "no run 'latest~2': 2 runs can be read" in capsys.readouterr().err


def test_a_damaged_folder_is_read_from_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    keep_folders(1, 2)
    with open_store(STORE) as store:
        store.add(run_of(2))
    write(RUNS / "run-0002" / "run.json", "")
    for name in ("latest", "run-0002"):
        assert berryeval("runs", "show", name, "--json") == 0
        printed = capsys.readouterr()
        assert json.loads(printed.out)["data"]["run"] == "run-0002"
        assert "using the copy of run-0002 in the store" in printed.err


def test_a_damaged_manifest_keeps_the_order(capsys: pytest.CaptureFixture[str]) -> None:
    keep_folders(1, 2, 3)
    write(RUNS / "run-0003" / "manifest.json", "{")
    assert berryeval("runs", "show", "latest", "--json") == 0
    assert data_of(capsys, "runs show")["run"] == "run-0003"


SPOILT: dict[str, tuple[Any, Any]] = {
    "outcomes": (results.c.outcomes, "["),
    "wrong outcomes": (results.c.outcomes, '{"error": []}'),
    "cost": (results.c.cost, "[1"),
    "latency": (results.c.p95, "soon"),
    "body": (results.c.body, b"0"),
    "data": (results.c.data, b"0"),
    "head": (runs.c.head, b"0"),
    "created": (runs.c.created, "never"),
}


def spoil(column: Any, value: Any) -> None:
    """Change a column of run-0002 behind the back of the store."""
    chosen = select(runs.c.key).where(runs.c.id == "run-0002")
    of_run = runs.c.key.in_(chosen)
    if column.table is results:
        of_run = results.c.part.in_(select(parts.c.key).where(parts.c.run.in_(chosen)))
    wanted = update(column.table).where(of_run).values({column: type_coerce(value, NullType())})
    engine = create_engine(f"sqlite:///{STORE}")
    with engine.begin() as connection:
        assert connection.execute(wanted).rowcount
    engine.dispose()


@pytest.mark.parametrize("kind", SPOILT)
def test_a_damaged_row_hides_no_other(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    with open_store(STORE) as store:
        for number in (1, 2, 3):
            store.add(run_of(number, content_hash=f"sha256:{number}"))
    spoil(*SPOILT[kind])
    for words in (
        ("runs", "list"), ("runs", "list", "--json"), ("runs", "trend", "RR"),
        ("runs", "trend", "--latency", "p95"), ("runs", "trend", "--cost", "usd"),
        ("runs", "trend", "RR", "--tag", "model"), ("runs", "show", "latest~2"),
    ):  # fmt: skip
        code = berryeval(*words)
        printed = capsys.readouterr()
        assert code in {0, 2}, words
        assert "bug" not in printed.err, (words, printed.err)
        if words[:2] == ("runs", "list"):
            assert code == 0
            assert "run-0001" in printed.out
            assert "run-0003" in printed.out
        if words == ("runs", "trend", "RR"):
            assert code == 0, printed.err
    code = berryeval("runs", "export", "--all", "backup")
    printed = capsys.readouterr()
    files = sorted(path.name for path in Path("backup").iterdir())
    if kind in {"body", "head"}:
        assert code == 2
        assert files == ["run-0001.json", "run-0003.json"]
        assert "run-0002" in printed.err
        assert "2 runs written to backup" in printed.out
    else:
        assert (code, len(files)) == (0, 3)


def test_half_a_character_in_an_id_breaks_no_export(capsys: pytest.CaptureFixture[str]) -> None:
    """Only a TREC run cannot hold it, and names the id."""
    text = TEXT.replace('"query_id": "q0000"', '"query_id": "q\\ud800"').replace(
        '"id": "d', '"id": "\\ud800d'
    )
    write(Path("run.json"), text)
    for kind in ("json", "html", "markdown", "junit", "latex", "github", "trec"):
        code = berryeval("runs", "export", "run.json", "--format", kind, "-o", f"out.{kind}")
        printed = capsys.readouterr()
        assert code == (2 if kind == "trec" else 0), printed.err
        assert "bug" not in printed.err
        assert ("must be valid Unicode text" in printed.err) == (kind == "trec")


def test_tags_of_any_kind_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("run.json"), escape(replace(INTACT, plan={"tags": {"model": ["small"]}}).dumps()))
    write(Path("other.json"), escape(replace(run_of(2), plan={"tags": ["odd"]}).dumps()))
    assert berryeval("report", "run.json", "other.json", "--format", "markdown") == 0
    assert "run-0001" in capsys.readouterr().out
