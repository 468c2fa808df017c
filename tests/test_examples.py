"""The examples run as their pages say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(command: list[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    env = env | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"}
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )


def type_commands(name: str, folder: Path, env: dict[str, str]) -> str:
    """Type the commands of the first block of an example's page, in a copy, as from a clone."""
    shutil.copytree(EXAMPLES / name, folder / "examples" / name)
    page = (EXAMPLES / name / "README.md").read_text("utf-8")
    block = re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)[0]
    made = run(["bash", "-e", "-c", block], folder, env)
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rag_service", "our RAG service: {'ok': 9, 'error': 1}"),
        ("langchain_retriever", "no significant difference between chunks of 1200 and chunks of"),
        ("recommendations", "personal gains +0.0229 nDCG@10, 95 % interval +0.0218 to +0.0241"),
    ],
)
def test_a_program_runs(
    name: str, said: str, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    program = str(EXAMPLES / f"{name}.py")
    made = run([sys.executable, program], tmp_path, clean_environment)
    assert made.returncode == 0, made.stderr
    assert said in made.stdout


def test_code_is_found_by_its_lines(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    out = type_commands("code_search", tmp_path, clean_environment)
    assert "code_search: 10 queries, 20 hits each; relevance decided by pack" in out
    assert re.search(r"bm25:fixed-400 +0\.751", out)
    page = (EXAMPLES / "code_search" / "README.md").read_text("utf-8")
    (options,) = re.findall(r"`(--options .*?)`", page)
    source = EXAMPLES / "code_search" / "source"
    shutil.copytree(source, tmp_path / "my-project" / "src")
    (tmp_path / "here").mkdir()
    line = f"berryeval eval ../examples/code_search --providers bm25:fixed-400 {options}"
    made = run(["bash", "-c", line], tmp_path / "here", clean_environment)
    assert re.search(r"bm25:fixed-400 +0\.751", made.stdout), made.stderr


def test_every_language_has_its_scores(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    out = type_commands("multilingual", tmp_path, clean_environment)
    assert re.findall(r"^language (..): 3 queries", out, flags=re.MULTILINE) == [
        "de", "en", "es", "fr",
    ]  # fmt: skip


def test_a_repository_passes_its_gate_and_fails_a_higher_one(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    out = type_commands("ci_repository", tmp_path, clean_environment)
    assert "nDCG@5 is unchanged: all 13 queries score as in the baseline" in out
    assert "gate passed: 3 pass" in out
    folder = tmp_path / "examples" / "ci_repository"
    rules = folder / "berryeval.yaml"
    rules.write_text(rules.read_text("utf-8").replace("at_least: 0.6", "at_least: 0.9"), "utf-8")
    made = run(["berryeval", "eval", "--output", "build/again"], folder, clean_environment)
    assert made.returncode == 1
    assert "FAIL  R@3 is 0.769" in made.stdout


def test_commands_in_the_list_of_examples_run(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    commands = re.findall(
        r"\| `((?:berryeval|pytest) .*?)` \|", (EXAMPLES / "README.md").read_text("utf-8")
    )
    assert len(commands) == 2
    for command in commands:
        made = run(["bash", "-c", command], tmp_path, clean_environment)
        assert made.returncode == 0, made.stdout + made.stderr


def test_examples_import_only_what_users_may() -> None:
    private = re.compile(r"berryeval[.\w]*\._[a-z]")
    programs = [*EXAMPLES.rglob("*.py"), *EXAMPLES.rglob("*.ipynb")]
    assert [one.name for one in programs if private.search(one.read_text("utf-8"))] == []


def test_the_page_lists_every_example() -> None:
    listed = set(re.findall(r"\]\((\w+)", (EXAMPLES / "README.md").read_text("utf-8")))
    there = {
        path.stem
        for path in EXAMPLES.iterdir()
        if path.suffix in {".py", ".ipynb"} or (path / "README.md").is_file()
    }
    assert listed == there
