"""The page of the commands: options from the command tree, examples from a session that is run."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.app import build_app, run
from scripts.website.markdown import code, cut, table

if TYPE_CHECKING:
    from cyclopts import App

FILES: Final = {
    "qrels.txt": "q1 0 d1 2\nq1 0 d2 1\nq2 0 d7 1\n",
    "bm25.run": "q1 Q0 d1 1 9 bm25\nq1 Q0 d5 2 8 bm25\nq2 Q0 d8 1 3 bm25\nq2 Q0 d7 2 2 bm25\n",
    "dense.run": "q1 Q0 d2 1 0.9 dense\nq1 Q0 d1 2 0.8 dense\nq2 Q0 d7 1 0.7 dense\n",
    "docs/tea.md": "# Tea\n\nSteep green tea at 80 degrees for two minutes.\n",
    "docs/coffee.md": "# Coffee\n\nGrind the beans right before you brew them.\n",
}
# Run in this order in one folder with these files.
SESSION: Final = (
    "version",
    "eval rag-template --providers bm25 bm25:fixed-400 -m nDCG@5 RR --export csv",
    "compare latest --moved 1",
    "baseline set latest",
    "baseline show",
    "baseline diff latest",
    "gate latest --baseline berryeval-baseline.json --max-drop nDCG@5=0.02",
    "report latest --format markdown",
    "runs list",
    "runs show latest",
    "runs trend nDCG@5 --benchmark rag-template",
    "runs export latest --output run.json",
    "runs import run.json",
    "runs rescore latest -m AP P@1",
    "runs prune --keep 5 --dry-run",
    "score qrels.txt bm25.run -m nDCG@10 AP --per-query",
    "fuse bm25.run dense.run --method rrf -o fused.run",
    "trec-eval -m map -m P.1,5 qrels.txt bm25.run",
    "validate rag-template",
    "inspect rag-template",
    "init docs",
    "generate docs --count 2 --output drinks",
    "judge pool latest --benchmark rag-template --depth 3",
    "judge next --judge ann --json",
    "judge export --judge ann --output sheet.csv",
    "judge import sheet.csv --judge ann",
    "judge import sheet.csv --judge small --kind llm",
    "judge status",
    "judge agree",
    "judge calibrate --judge small",
    "judge apply --output judged.jsonl",
    "judge llm latest --model other --price-in 0.1 --price-out 0.4 --dry-run",
    "list chunkers",
    "list providers",
    "list metrics",
    "list benchmarks",
    "list formats",
    "list exporters",
)
# Need a server that runs; serve.md shows both.
APART: Final = {
    "serve": "berryeval serve --port 8642",
    "runs push": "berryeval runs push https://eval.example.org/berry latest",
}
LONGEST: Final = 16  # lines of output


def render_commands() -> str:
    """Return the page of all commands."""
    app = build_app()
    files = "\n".join(f"==> {name} <==\n{text}" for name, text in FILES.items())
    return "".join([INTRODUCTION, code(files), *_render_tree(app, ())])


INTRODUCTION: Final = """\
# Commands

Every command with its options, generated from the command line, and an example with the output of
the day this page was built. `berryeval COMMAND --help` shows the same options.

Exit codes: 0 passed, 1 quality failed, 2 wrong usage or configuration, 3 the run failed. Every
command accepts `--quiet` (no warnings or hints), `--verbose` (log lines) and `--debug` (traceback
of an error).

The examples ran one after another, in a folder with these files:

"""


def _render_tree(app: App, path: tuple[str, ...]) -> Iterator[str]:
    for name in app:
        if name.startswith("-") or name == "evaluate":
            continue
        inner = app[name]
        words = (*path, name)
        title = f"\n{'#' * (2 + len(path))} {' '.join(words)}\n\n{inner.help}\n\n"
        if inner.default_command is None:
            yield title
            yield from _render_tree(inner, words)
        else:
            yield (
                title
                + _render_options(inner)
                + render_example(" ".join(words), inner.help_epilogue or "")
            )


def _render_options(app: App) -> str:
    found = app.assemble_argument_collection(parse_docstring=True) if app.help_flags else ()
    rows = [
        (", ".join(f"`{name}`" for name in one.names), _default(one), one.parameter.help or "")
        for one in found
        if one.show
    ]
    return table(("option", "default", "description"), rows) + "\n" if rows else ""


def _default(argument: Any) -> str:
    if argument.required:
        return "required"
    default = argument.field_info.default
    left_out = default is argument.field_info.empty or default is False
    return "" if left_out or default in (None, "", ()) else f"`{default}`"


def render_example(command: str, epilogue: str = "") -> str:
    """Return what was typed for a command, and its output; else the example of its help."""
    runs = [one for one in run_session() if f"{one[0]} ".startswith(f"berryeval {command} ")]
    text = "\n".join(f"$ {line}\n{cut(output, LONGEST)}" for line, output in runs)
    last = epilogue.rpartition("\n")[2]
    return code(text, "console") if text else code(APART.get(command, last), "sh")


@cache
def run_session() -> tuple[tuple[str, str], ...]:
    """Run every example; return the command lines with their output."""
    found = []
    with session_folder():
        for line in SESSION:
            if line.startswith("judge import"):
                fill_in(Path("sheet.csv"))
            found.append((f"berryeval {line}", run_line(line)))
    return tuple(found)


@contextmanager
def session_folder() -> Iterator[None]:
    """Work in a folder with the files of the examples."""
    before, environment = Path.cwd(), dict(os.environ)
    for name in [name for name in os.environ if name.startswith("BERRYEVAL_")]:
        del os.environ[name]
    os.environ |= {"COLUMNS": "96", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, text in FILES.items():
                Path(name).parent.mkdir(exist_ok=True)
                Path(name).write_text(text, encoding="utf-8")
            yield
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ |= environment


def run_line(line: str) -> str:
    """Run a command line in this process and return its output."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(output), redirect_stderr(output):
        exit_code = run(build_app(), shlex.split(line))
    output.seek(0)
    text = re.sub(r" +$", "", output.read(), flags=re.MULTILINE)
    if exit_code:
        raise RuntimeError(f"berryeval {line} ended with {exit_code}: {text}")
    return text


def fill_in(sheet: Path) -> None:
    """Grade every pair of a sheet, as a judge does in a spreadsheet."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "grade": str(place % 3)} for place, row in enumerate(rows))
