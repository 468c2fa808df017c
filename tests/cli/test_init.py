"""`berryeval init`, and the schema of the file it writes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from berryeval.workflows.plan import Plan, config_schema
from berryeval.workflows.run_folder import RunFolder
from tests.cli.eval_world import COFFEE, TEA, berryeval, write_drinks


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_init_accepts_a_folder_of_documents(capsys: pytest.CaptureFixture[str]) -> None:
    Path("my docs/hot").mkdir(parents=True)
    Path("my docs/hot/tea.md").write_text(TEA)
    Path("my docs/coffee.md").write_text(COFFEE)
    assert berryeval("init", "my docs") == 0
    assert capsys.readouterr().out.startswith(
        "written: berryeval.yaml\nwritten: questions.csv\n"
        "written: .berryeval/berryeval.schema.json\n"
        "next: replace the titles in questions.csv with questions of your users, then:\n"
        "berryeval eval\n"
        "before you rely on a gate: with 15 queries a drop fails only if at least 6 get worse. "
    )
    assert Path("questions.csv").read_text() == (
        "query_id,question,doc_id,grade,category\n"
        "q1,Coffee,coffee,1,example\nq2,Tea,hot/tea,1,example\n"
    )
    assert berryeval("eval", "--quiet") == 0
    assert capsys.readouterr().out.startswith("questions: 2 queries, 20 hits each\n")
    assert berryeval("eval", "--quiet", "--by", "category", "--filter", "category=example") == 0
    assert "example" in capsys.readouterr().out


def test_init_rejects_a_folder_that_eval_would_reject(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs").mkdir()
    Path("docs/tea.md").write_text(TEA)
    Path("docs/more.jsonl").write_text('{"id": "j", "text": "x"}\n')
    assert berryeval("init", "docs") == 2
    assert "docs: has collections (more.jsonl) and single texts" in capsys.readouterr().err
    assert not Path("berryeval.yaml").exists()


def test_init_accepts_a_folder_of_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs").mkdir()
    Path("docs/more.jsonl").write_text('{"id": "j", "title": "Green tea", "text": "x"}\n')
    assert berryeval("init", "docs") == 0
    assert "q1,Green tea,j,1,example\n" in Path("questions.csv").read_text()
    assert berryeval("eval", "--quiet") == 0
    assert "questions: 1 query" in capsys.readouterr().out


@pytest.mark.parametrize("flag", ["--foo", "-x"])
def test_an_unknown_option_is_not_a_folder(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("init", flag) == 2
    assert flag in capsys.readouterr().err
    assert not list(Path().iterdir())


def test_json_names_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs").mkdir()
    Path("docs/tea.md").write_text(TEA)
    assert berryeval("init", "docs", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["command"] == "init"
    assert found["data"]["files"][:2] == ["berryeval.yaml", "questions.csv"]
    assert found["data"]["has_examples"] is True


def test_nothing_is_replaced_unless_forced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("berryeval.yaml").write_text("mine")
    assert berryeval("init") == 2
    said = "error: berryeval.yaml: exists already; --force replaces it\n"
    assert capsys.readouterr().err == said
    assert Path("berryeval.yaml").read_text() == "mine"
    assert berryeval("init", "--force") == 0
    assert "technical-docs" in Path("berryeval.yaml").read_text()


def test_init_accepts_an_existing_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    write_drinks(Path())
    shutil.move("drinks", "technical-docs")
    assert berryeval("init", "technical-docs") == 0
    assert not Path("questions.csv").exists()
    assert yaml.safe_load(Path("berryeval.yaml").read_text())["benchmarks"] == ["./technical-docs"]
    capsys.readouterr()
    assert berryeval("eval", "--quiet") == 0
    assert capsys.readouterr().out.startswith("drinks: 4 queries")


@pytest.mark.parametrize(
    ("folder", "said"),
    [("nowhere", "nowhere: no such file or folder"), ("empty", "empty: has no documents")],
)
def test_init_rejects_a_folder_without_documents(
    folder: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    assert berryeval("init", folder) == 2
    assert said in capsys.readouterr().err
    assert not Path("berryeval.yaml").exists()


def test_every_comment_that_is_a_setting_can_be_used() -> None:
    assert berryeval("init") == 0
    lines = Path("berryeval.yaml").read_text().splitlines()
    settings = [line.replace("# ", "", 1) if _is_setting(line) else line for line in lines]
    plan = Plan.model_validate(yaml.safe_load("\n".join(settings)))
    assert plan.thresholds == {"R@10": 0.8}
    assert [spec.label for spec in plan.providers][-1] == "our postgres"
    assert plan.providers[-1].options["dsn"] == "${DATABASE_URL}"
    assert plan.run.error_budget == 0.5
    assert plan.filter == {"category": "factual"}


def _is_setting(line: str) -> bool:
    text = line.strip()
    names = ("k:", "limit:", "filter:", "seed:", "thresholds:", "  R@10", "run:", "  concurrency",
             "  timeout", "  attempts", "  error_budget", "- name", "  type", "  chunker",
             "  options", "    dsn", "    mode", "- dense", "- hybrid")  # fmt: skip
    return text.startswith("# ") and text[2:].startswith(names)


def test_the_schema_is_the_published_one() -> None:
    page = Path(__file__).parents[2] / "docs" / "berryeval.schema.json"
    assert json.loads(page.read_text()) == config_schema()
    assert set(config_schema()["properties"]) == set(Plan.model_fields)
    assert berryeval("init") == 0
    assert Path(".berryeval/berryeval.schema.json").read_text() == page.read_text()
    first = Path("berryeval.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=.berryeval/berryeval.schema.json"


def test_the_schema_accepts_valid_settings(tmp_path: Path) -> None:
    import subprocess
    import sys

    assert berryeval("init") == 0
    check = [
        sys.executable, "-m", "check_jsonschema", "--schemafile",
        ".berryeval/berryeval.schema.json", "berryeval.yaml",
    ]  # fmt: skip
    assert subprocess.run(check, check=False, cwd=tmp_path).returncode == 0
    with Path("berryeval.yaml").open("a") as stream:
        stream.write("metric: [AP]\n")
    done = subprocess.run(check, check=False, cwd=tmp_path, capture_output=True)
    assert done.returncode == 1


def test_a_folder_with_other_files_works_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs").mkdir()
    Path("docs/tea.md").write_text(TEA)
    Path("docs/logo.PNG").write_bytes(b"\x89PNG\x00")
    assert berryeval("init", "docs") == 0
    capsys.readouterr()
    assert berryeval("eval") == 0
    assert "not text and skipped: logo.PNG" in " ".join(capsys.readouterr().out.split())


def test_questions_alone_say_where_their_corpus_goes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("docs").mkdir()
    Path("docs/tea.md").write_text(TEA)
    Path("q2.csv").write_text("query_id,question,doc_id,grade\nq1,Tea,tea,1\n")
    assert berryeval("init", "q2.csv") == 0
    text = Path("berryeval.yaml").read_text()
    assert yaml.safe_load(text)["benchmarks"] == [{"source": "./q2.csv"}]
    capsys.readouterr()
    assert berryeval("eval", "--providers", "bm25") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "q2 has no documents, so bm25 would search nothing" in said
    assert "options: {corpus: FOLDER}" in said
    Path("berryeval.yaml").write_text(text.replace("# options: {corpus", "options: {corpus"))
    assert berryeval("eval", "--providers", "bm25", "--output", "run") == 0
    scores = RunFolder("run").read_record()["q2"]["bm25"].scores
    assert scores is not None
    assert scores.mean["RR"] == 1.0
