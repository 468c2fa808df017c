"""The example notebooks run from top to bottom, and show tables and charts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import berryeval as be
from tests.browser import needs_browser

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))


def read_cells(path: Path) -> list[Any]:
    cells: list[Any] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def run(name: str, folder: Path) -> list[Any]:
    """Run a copy of a notebook in a process of its own; return the outputs of its cells."""
    copy = shutil.copy(EXAMPLES / name, folder)
    command = "from nbclient.cli import main; main()"
    homes = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    own = dict.fromkeys(homes, str(folder / ".jupyter"))
    done = subprocess.run(
        [sys.executable, "-c", command, "--inplace", str(copy)],
        cwd=folder, env={**os.environ, **own}, check=False,
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [one for cell in read_cells(folder / name) for one in cell.get("outputs", [])]


def collect_html(outputs: list[Any]) -> str:
    return "\n".join("".join(one.get("data", {}).get("text/html", [])) for one in outputs)


def collect_lines(outputs: list[Any], stream: str) -> list[str]:
    texts = ["".join(one["text"]) for one in outputs if one.get("name") == stream]
    return "".join(texts).splitlines()


def test_the_notebooks_have_no_stored_output() -> None:
    assert NAMES == ["benchmark.ipynb", "first_evaluation.ipynb"]
    for name in NAMES:
        for cell in read_cells(EXAMPLES / name):
            assert not cell.get("outputs")
            assert cell.get("execution_count") is None


def test_the_notebook_of_a_first_evaluation_runs(tmp_path: Path) -> None:
    outputs = run("first_evaluation.ipynb", tmp_path)
    page = collect_html(outputs)
    for title in ("Judgments", "Run keyword", "Audit of keyword", "Scores of keyword"):
        assert f"<b>{title}</b>" in page
    assert page.count("<figure") == 2
    (sentence,) = collect_lines(outputs, "stdout")
    assert sentence.startswith("hybrid is better than keyword: nDCG@5 +0.3")
    assert collect_lines(outputs, "stderr") == []
    assert (tmp_path / "comparison.svg").stat().st_size > 1_000


def test_the_notebook_of_a_benchmark_runs(tmp_path: Path) -> None:
    outputs = run("benchmark.ipynb", tmp_path)
    page = collect_html(outputs)
    assert page.count("<b>Benchmark technical-docs</b>") == 2
    assert page.count("<figure") == 4
    (verdict,) = collect_lines(outputs, "stdout")
    assert verdict.startswith("fail: nDCG@10 dropped by 0.12")
    warned = collect_lines(outputs, "stderr")
    assert len(warned) == 5, "a line for each search, and one for the rule"
    assert (tmp_path / "report.html").exists()


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_tables_and_charts_are_legible_in_both_themes(browser: Any, theme: str) -> None:
    """On the backgrounds of JupyterLab, axe finds no text with too little contrast."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    qrels = {f"q{place}": {"a": 1.0, "b": 2.0} for place in range(9)}
    run = {query: {"x": 3.0, "a": 2.0, "b": place % 4} for place, query in enumerate(qrels)}
    scores = be.evaluate(qrels, run, ["nDCG@5", "RR"])
    other = be.evaluate(qrels, qrels, ["nDCG@5", "RR"])
    comparison = be.compare({"old": scores, "new": other}, baseline="old")
    found: list[Any] = [be.Qrels(qrels), be.Run(run), be.audit(qrels, run)]
    found += [scores, comparison, scores.plot()]
    back, ink = {"light": ("#fff", "#212121"), "dark": ("#111", "#fff")}[theme]
    body = "".join(one._repr_html_() for one in found)
    page = browser.new_page()
    page.set_content(
        f'<body data-jp-theme-light="{str(theme == "light").lower()}" '
        f'style="background:{back};color:{ink}">{body}'
    )
    card = page.locator("figure").first.evaluate("one => getComputedStyle(one).backgroundColor")
    assert card == {"light": "rgb(255, 255, 255)", "dark": "rgb(29, 26, 32)"}[theme]
    only = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    assert axe.run(page, options=only).response["violations"] == []
    page.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_notebooks_name_no_machine(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert '"language_info": {\n   "name": "python"\n  }' in text
    assert "/home/" not in text
