"""The tutorial, the explanations and the how-to guides do what they say."""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import ir_measures
import psycopg
import pytest
import pytrec_eval
import yaml
from ir_measures import RR

from berryeval.providers.embedders.base import build_embedder, embed_texts
from berryeval.providers.postgres_server import LocalPostgres
from tests.cli.eval_world import berryeval
from tests.judging.chat_server import chat_server
from tests.pages import DOCS, find_steps, is_same, split_commands, type_commands
from tests.providers.loopback import Asked, loopback
from tests.ranx_oracle import load_ranx

TIED_QRELS = {"q1": {"apple": 1}, "q2": {"melon": 1}}
TIED_RUN = {
    "q1": {"apple": 1.0, "banana": 1.0, "cherry": 1.0},
    "q2": {"melon": 0.5, "apple": 0.5},
}
posix_shell = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None,
    reason="the commands of the page are written for a POSIX shell",
)


@posix_shell
def test_the_tutorial_works_as_typed(tmp_path: Path) -> None:
    """From an empty folder to a gate in CI, and every output is the one shown."""
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    steps = [step for step in find_steps(page) if "python -m pip" not in step.commands]
    assert len(steps) > 12
    for commands, shown in steps:
        printed = type_commands(commands, tmp_path)
        assert shown is None or is_same(shown, printed), f"{commands}\n{printed}"
    (workflow,) = (tmp_path / ".github" / "workflows").iterdir()
    job = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]["search"]
    written = [step["run"] for step in job["steps"] if "run" in step]
    assert written == ["pip install ./berryeval-*.whl", "berryeval eval"]


@pytest.mark.parametrize("name", ["anchors", "judging", "significance", "ties", "unjudged"])
def test_the_examples_of_the_explanations_run(name: str) -> None:
    page = DOCS / f"explain-{name}.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert (results.failed, results.attempted > 5) == (0, True)


def test_the_page_on_ties_has_the_values_of_the_other_tools() -> None:
    page = (DOCS / "explain-ties.md").read_text(encoding="utf-8")
    found = ir_measures.calc_aggregate([RR, RR @ 10], TIED_QRELS, TIED_RUN)
    own = pytrec_eval.RelevanceEvaluator(TIED_QRELS, {"recip_rank"}).evaluate(TIED_RUN)
    assert f"`RR` | {found[RR]:.3f} |" in page
    assert f"`RR@10` | {found[RR @ 10]:.3f} |" in page
    assert f"(trec_eval 9) | {sum(one['recip_rank'] for one in own.values()) / 2:.3f} |" in page


def test_the_page_on_ties_has_the_values_of_ranx() -> None:
    ranx = load_ranx()
    page = (DOCS / "explain-ties.md").read_text(encoding="utf-8")
    moved = {
        "q1": {"banana": 1.0, "apple": 1.0, "cherry": 1.0},
        "q2": {"apple": 0.5, "melon": 0.5},
    }
    given, other = (
        ranx.evaluate(ranx.Qrels(TIED_QRELS), ranx.Run(run), "mrr") for run in (TIED_RUN, moved)
    )
    assert f"`mrr` | {given:.3f} |" in page
    assert f"`mrr`, documents given in another order | {other:.3f} |" in page


def answer_search(asked: Asked) -> dict[str, Any]:
    """Answer as the endpoint of the page does: two pages for every question."""
    found = [{"page": "returns", "relevance": 2.0}, {"page": "orders", "relevance": 1.0}]
    return {"results": found[: asked.body["size"]]} if asked.body["q"] else {}


def fill_passages(dsn: str, folder: Path) -> None:
    """Write the pages of the folder to the table of the page, with their vectors."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (folder / "help").iterdir()}
    vectors = embed_texts(build_embedder("wordllama"), list(texts.values()))
    with psycopg.connect(dsn) as database:
        database.execute("CREATE EXTENSION IF NOT EXISTS vector")
        database.execute(
            "CREATE TABLE passages (passage_id text, page text, body text, embedding vector(256))"
        )
        for (page, text), vector in zip(texts.items(), vectors, strict=True):
            row = (f"{page}-1", page, text, str(vector.tolist()))
            database.execute("INSERT INTO passages VALUES (%s, %s, %s, %s)", row)


def judge(monkeypatch: pytest.MonkeyPatch, name: str, *options: str) -> None:
    """Grade every pair of the pool as this person."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("0\n" * 200))
    assert berryeval("judge", "next", "--judge", name, *options) == 0


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the tutorial, with documents and questions."""
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    for commands, _ in find_steps(page):
        if "> help/orders.md" in commands or "> questions.csv" in commands:
            type_commands(commands, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERRYEVAL_EXPORT", "none")
    monkeypatch.setenv("CLICOLOR", "0")
    return tmp_path


@posix_shell
def test_the_recipes_work_as_typed(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command of the ten recipes; servers of the reader are small ones on this machine."""
    page = (DOCS / "how-to.md").read_text(encoding="utf-8")
    assert page.count("\n## ") == 10
    said: dict[str, str] = {}
    with ExitStack() as stack:
        server = LocalPostgres()
        stack.callback(server.stop)
        fill_passages(server.dsn, shop)
        monkeypatch.setenv("DATABASE_URL", server.dsn)
        monkeypatch.setenv("SEARCH_URL", stack.enter_context(loopback(answer_search)).url)
        monkeypatch.setenv("CHAT_URL", stack.enter_context(chat_server(models=("llama3.1",))).url)
        for commands, _ in find_steps(page):
            for command in split_commands(commands):
                if "judge calibrate" in command:
                    judge(monkeypatch, "ann")
                elif "judge status" in command:
                    judge(monkeypatch, "bob", "--ledger", ".berryeval/results.db")
                if not command.startswith("berryeval "):
                    said[command] = type_commands(command, shop)
                    continue
                words = shlex.split(os.path.expandvars(command), comments=True)
                assert berryeval(*words[1:]) == 0, f"{command}: {capsys.readouterr()}"
                said[command] = capsys.readouterr().out
    text = "\n".join(said.values())
    rows = re.findall(r"^(our\S+|bm25:fixed-200\S+) +(\d\.\d+).* 24 ok", text, re.MULTILINE)
    assert [name for name, value in rows if float(value) > 0] == [
        "our-search", "ours", "our-table", "bm25:fixed-200-overlap-50",
    ]  # fmt: skip
    assert "FirstPage@1" in said["python my_metric.py"]
    assert "do not use it" in text


@posix_shell
def test_the_site_of_the_recipe_starts(shop: Path) -> None:
    page = (DOCS / "how-to.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\$ berryeval (serve.*)$", page, re.MULTILINE)
    words = [sys.executable, "-m", "berryeval", *command.split(), "--port", "0"]
    with subprocess.Popen(words, cwd=shop, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.terminate()
    assert "is the first administrator" in first


def test_the_workflow_of_the_recipe_uses_inputs_that_exist() -> None:
    page = (DOCS / "how-to.md").read_text(encoding="utf-8")
    (workflow,) = re.findall(r"```yaml\n(name: Search quality.*?)```", page, re.DOTALL)
    (job,) = yaml.safe_load(workflow)["jobs"].values()
    (step,) = [step for step in job["steps"] if "berryeval" in step.get("uses", "")]
    action = yaml.safe_load((DOCS.parent / "action.yml").read_text(encoding="utf-8"))
    assert set(step["with"]) <= set(action["inputs"])
