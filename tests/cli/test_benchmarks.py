"""`berryeval validate` and `berryeval inspect`: text, JSON and exit codes."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from berryeval.benchmarks import Benchmark, write_benchmark
from berryeval.cli.app import build_app, run
from berryeval.data.records import Anchor, Document, Judgment, Query
from tests.benchmarks.checks.faulty import JUDGMENTS, write_faulty
from tests.cli.eval_world import data_of
from tests.cli.terminal import on_a_terminal

DATA = Path(__file__).parents[1] / "golden" / "benchmarks"


@pytest.fixture(autouse=True)
def _in_a_folder_with_benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two benchmarks: `faulty` and `good`."""
    monkeypatch.chdir(tmp_path)
    write_faulty(Path("faulty"))
    good = Benchmark(
        "good", (Document("d", "Tea is hot."),), (Query("q", "What is tea?"),),
        (Judgment("q", Anchor(document="d"), 1),), version="2", description="One fact.",
        thresholds={"nDCG@10": 0.5},
    )  # fmt: skip
    write_benchmark(good, Path("good"))


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """Return stdout without trailing white space."""
    return re.sub(r" +$", "", capsys.readouterr().out, flags=re.MULTILINE)


def test_validate_lists_the_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["validate", "faulty"]) == 1
    assert printed(capsys) == (DATA / "validate-faulty.txt").read_text(encoding="utf-8")


def test_validate_passes_a_good_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["validate", "good"]) == 0
    assert printed(capsys) == (
        "good: 1 document, 1 query, 1 judgment\n\n"
        "info: size (1)\n"
        "  good\n"
        "    only 1 query; each can change a mean by up to 1.000\n"
        "    → check confidence intervals before you compare two systems\n\n"
        "0 errors, 0 warnings, 1 note\n"
    )


def test_validate_shows_the_first_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        json.dumps({**JUDGMENTS[0], "target": {"document": f"gone {place}"}}) for place in range(12)
    ]
    Path("faulty/judgments.jsonl").write_text("\n".join(lines))
    assert run(build_app(), ["validate", "faulty"]) == 1
    text = printed(capsys)
    assert "error: target (12)\n" in text
    assert text.count("there is no document 'gone") == 5
    assert "  … and 7 more; --all shows them\n" in text
    assert run(build_app(), ["validate", "faulty", "--all"]) == 1
    text = printed(capsys)
    assert text.count("there is no document 'gone") == 12
    assert "--all" not in text


def test_validate_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["validate", "faulty", "--json"]) == 1
    data = data_of(capsys, "validate")
    assert data["benchmark"] == "faulty"
    assert data["passed"] is False
    assert data["counts"] == {"error": 8, "warning": 12, "info": 4}
    assert len(data["findings"]) == 24
    assert data["findings"][1] == {
        "check": "empty text", "severity": "error",
        "where": str(Path("faulty") / "queries.jsonl:5"),
        "message": "query 'q5' has no text", "advice": "write the query or remove it",
    }  # fmt: skip
    assert data["summary"]["documents"] == 5


def test_inspect_shows_a_summary_and_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["inspect", "faulty", "--query", "q3"]) == 0
    assert printed(capsys) == (DATA / "inspect-faulty.txt").read_text(encoding="utf-8")


def test_inspect_shows_version_description_and_thresholds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(build_app(), ["inspect", "good"]) == 0
    text = printed(capsys)
    assert text.startswith("good 2\nOne fact.\n\ndocuments     1; 3 words per document\n")
    assert "\nthresholds    nDCG@10 ≥ 0.5\n" in text
    assert text.endswith("\nquery q\n  What is tea?\n\n  grade 1: 'd'\n    Tea is hot.\n")


def test_inspect_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["inspect", "good", "--json"]) == 0
    data = data_of(capsys, "inspect")
    assert (data["name"], data["version"], data["thresholds"]) == ("good", "2", {"nDCG@10": 0.5})
    assert data["grades"] == [{"grade": 1, "count": 1}]
    assert data["content_hash"].startswith("sha256:")
    assert data["example"] == {
        "query": {"id": "q", "text": "What is tea?"},
        "targets": [{"grade": 1, "name": "'d'", "texts": ["Tea is hot."]}],
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["validate", "nowhere"], "nowhere: no such file or folder, and no bundled benchmark"),
        (["inspect", "nowhere"], "nowhere: no such file or folder, and no bundled benchmark"),
        (["validate", "faulty", "--format", "bier"], "unknown loader 'bier'; did you mean 'beir'?"),
        (["inspect", "faulty", "--query", "q33"], "faulty has no query 'q33'; did you mean 'q3'"),
        (["validate", "broken"], "queries.jsonl:1: "),
        (["validate"], "BENCHMARK"),
        (["validate", "good", "--options", "corpus=docs"], "berryeval has no option 'corpus'; it"),
        (["inspect", "rows.csv", "--options", "corpsu=docs"], "csv has no option 'corpsu'; did"),
        (["inspect", "rows.csv", "--options", "corpus"], "--options: expected NAME=VALUE, found"),
        (["validate", "good", "--options"], "--options has no value; write it as NAME=VALUE"),
        (["validate", "rows.csv", "--options", "text=a", "text=b"], "text has two values, 'a' and"),
        (["validate", "rows.csv", "--options", "text=[a"], "text must be a list like [1, 4] or"),
        (["validate", "rows.csv", "--options", "text=[a]"], "text of the loader csv must be a te"),
    ],
)  # fmt: skip
def test_unreadable_input_is_rejected(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rows.csv").write_text("query_id,doc_id,grade\n1,d,1\n")
    Path("broken").mkdir()
    Path("broken/benchmark.json").write_text('{"name": "broken"}')
    Path("broken/documents.jsonl").write_text('{"id": "d", "text": "x"}\n')
    Path("broken/queries.jsonl").write_text('{"id": "q1", "text"')
    assert run(build_app(), arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert said in err
    assert err.count("\n") == 1


def test_options_reach_the_loader(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs").mkdir()
    Path("docs/d.md").write_text("Tea is hot.")
    Path("rows.csv").write_text("query_id,ask,doc_id,grade\n1,What is tea?,d,1\n")
    options = ["--options", "corpus=docs", "text=ask"]
    assert run(build_app(), ["validate", "rows.csv", "--json", *options]) == 0
    assert data_of(capsys, "validate")["summary"]["documents"] == 1
    assert run(build_app(), ["inspect", "rows.csv", "--json", *options]) == 0
    found = data_of(capsys, "inspect")
    assert (found["documents"], found["example"]["query"]["text"]) == (1, "What is tea?")


def test_an_option_may_be_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    Path("code/source").mkdir(parents=True)
    Path("code/source/a.py").write_text("x = 1\n")
    Path("code/source/b.c").write_text("int x;\n")
    truth = {"file": "a.py", "start_line": 1, "end_line": 1}
    row = {"id": "q", "query": "Where is x?", "ground_truth": [truth]}
    Path("code/queries.jsonl").write_text(json.dumps(row) + "\n")
    arguments = ["inspect", "code", "--json", "--options"]
    assert run(build_app(), [*arguments, "suffixes=[.py]"]) == 0
    assert data_of(capsys, "inspect")["documents"] == 1
    assert run(build_app(), [*arguments, "suffixes=.py"]) == 2
    assert "suffixes of the loader code-retrieval must be a list" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("command", ["validate", "inspect"])
def test_texts_fit_the_terminal(
    command: str, width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "xterm"}
    code, text = on_a_terminal(command, "faulty", **environment)
    assert code == (1 if command == "validate" else 0)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(len(line.rstrip()) for line in plain.splitlines()) <= width
    assert run(build_app(), [command, "faulty"]) == code
    whole = capsys.readouterr().out
    assert "".join(plain.split()) == "".join(whole.split())
