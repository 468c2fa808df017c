"""`Report` under the name of ranx: tables, files and labels."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from berryeval.compat import ranx
from berryeval.compat.ranx.comparison_report import FrozensetDict, OptimizationReport, Report
from tests.ranx_oracle import load_ranx


def build_report(models: int = 2, **options: Any) -> Report:
    """Compare runs that find the only relevant document at ranks 1, 2, 3 and so on."""
    chance = random.Random(0)
    documents = [f"d{place}" for place in range(models + 3)]
    qrels = ranx.Qrels({f"q{place}": {"d0": 1} for place in range(20)})
    runs = []
    for model in range(models):
        rows = {}
        for place in range(20):
            others = documents[1:]
            chance.shuffle(others)
            ranking = others[: model + chance.randint(0, 1)]
            rows[f"q{place}"] = {name: -float(rank) for rank, name in enumerate([*ranking, "d0"])}
        runs.append(ranx.Run(rows, name=f"model_{model + 1}"))
    return ranx.compare(qrels, runs, ["mrr", "map@100-l1"], **options)


def test_the_table_marks_the_runs_that_are_beaten() -> None:
    assert str(build_report(3)).splitlines()[:3] == [
        "#    Model    MRR      MAP@100-l1",
        "---  -------  -------  ------------",
        "a    model_1  0.675ᵇᶜ  0.675ᵇᶜ",
    ]


@pytest.mark.parametrize(
    "options",
    [{}, {"rounding_digits": 4}, {"show_percentages": True}, {"max_p": 0.0}],
)
def test_tables_equal_those_of_ranx(options: dict[str, Any]) -> None:
    ours = build_report(3, **options)
    theirs = load_ranx("ranx.data_structures").Report(**vars(ours))
    assert str(ours) == repr(ours) == str(theirs)
    assert ours.to_dict() == theirs.to_dict()
    numbers = r"\d+\.\d+"
    assert (
        re.findall(numbers, ours.to_latex().partition("midrule")[2])
        == re.findall(numbers, theirs.to_latex().partition("midrule")[2])[: 3 * 2]
    )


def test_latex_escapes_names_and_marks_the_best() -> None:
    report = build_report()
    text = report.to_latex()
    assert r"a & model\_1 & \textbf{0.750}$^{b}$ & \textbf{0.750}$^{b}$ \\" in text
    assert r"b & model\_2 & 0.417\hphantom{$^{a}$}" in text
    assert "paired Student's t-test, $p \\le 0.01$" in text
    assert text.count("{") == text.count("}")


def test_reports_are_saved_and_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = build_report()
    report.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == report.to_dict()
    report.print_results()
    assert json.loads(capsys.readouterr().out) == report.results


def test_more_than_26_runs_can_be_compared() -> None:
    """The tables of ranx end with an IndexError."""
    lines = build_report(28).to_table().splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["aa", "ab"]
    assert r"\begin{table*}" in build_report(28).to_latex()


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("ndcg@10", "NDCG@10"),
        ("ndcg_burges@10-l2", "NDCG Burges@10-l2"),
        ("r-precision", "R-Prec"),
        ("f1", "F1"),
        ("rbp.95", "RBP.95"),
        ("ERR@20", "ERR@20"),
    ],
)
def test_labels_of_metrics(name: str, label: str) -> None:
    assert build_report().get_metric_label(name) == label


def test_keys_in_any_order() -> None:
    found = FrozensetDict({("a", "b"): 1})
    assert found["b", "a"] == found[{"a", "b"}] == 1
    found["c", "a"] = 2
    del found["b", "a"]
    assert (len(found), list(found)) == (1, [frozenset("ac")])


def test_the_best_configuration_is_marked() -> None:
    report = OptimizationReport("rrf", ["{'k': 10}", "{'k': 20}"], [0.5, 0.75], "ndcg@10")
    assert str(report).splitlines()[2:] == ["{'k': 10}  0.500", "{'k': 20}  0.750*"]
