"""What a notebook shows of scores and audits, and their frames."""

from __future__ import annotations

import numpy as np
import pytest

from berryeval import audit, evaluate
from berryeval.scoring import Scores
from berryeval.scoring.scores import OUTCOMES
from tests._internal.test_notebook import Reader

QRELS = {f"q{place}": {f"d{place}": 1.0, "e": 1.0} for place in range(9)} | {"<i>": {"a": 1.0}}
RUN = {f"q{place}": {f"d{place}": 2.0, "x": float(place % 3)} for place in range(8)}
METRICS = ["nDCG@5", "RR", "NumRet"]


def test_scores_show_values_intervals_outcomes_and_the_worst_queries() -> None:
    scores = evaluate(QRELS, RUN | {"new": {"a": 1.0}}, METRICS)
    shown = Reader(scores._repr_html_()).texts
    assert shown[0] == "Scores of run"
    assert "10 queries · 8 ok, 2 missing" in shown[1]
    assert "nDCG@5" in shown
    low, high = scores.ci("nDCG@5")
    assert f"{low:.2f}-{high:.2f}" in shown
    assert "not in the run, so they score 0: <i>, q8" in shown
    assert "without judgments, so not scored: new" in shown
    start = shown.index("Worst queries by nDCG@5")
    assert shown[start + 6 : start + 8] == ["<i>", "missing"]
    assert shown[-1] == "and 5 more queries"


def test_the_worst_queries_follow_the_direction_of_the_metric() -> None:
    worst = Reader(evaluate(QRELS, RUN, ["NumRet"])._repr_html_()).texts
    assert "First queries" in worst
    scores = evaluate(QRELS, RUN, ["RR"])
    turned = Scores(
        ("ERR",), scores.queries, np.linspace(1, 0, scores.count)[None], ("mean",),
        scores.outcomes, scores.counts,
    )  # fmt: skip
    shown = Reader(turned._repr_html_()).texts
    start = shown.index("Worst queries by ERR")
    assert shown[start + 4] == scores.queries[-1]


def test_the_scores_of_many_queries_are_shown_without_resampling() -> None:
    count = 100_000
    queries = tuple(f"q{place:06}" for place in range(count))
    scores = Scores(
        ("RR", "AP"), queries, np.random.default_rng(0).random((2, count)), ("mean", "mean"),
        (OUTCOMES[0],) * count, np.ones((count, 4), dtype=np.int64),
    )  # fmt: skip
    page = scores._repr_html_()
    assert len(page) < 6_000
    assert "ci(metric) computes the interval of 100,000 queries" in page
    assert "and 99,995 more queries" in page
    assert repr(scores).startswith("Scores('run', 100,000 queries, RR=0.")


def test_the_repr_names_the_first_metrics() -> None:
    scores = evaluate(QRELS, RUN, [f"P@{k}" for k in range(1, 31)])
    assert repr(scores).endswith("P@6=0.1333, and 24 more)")
    assert len(repr(scores)) < 150
    assert repr(evaluate({}, {}, ["AP"])) == "Scores('run', 0 queries, AP=0.0000)"
    assert evaluate({}, {}, ["AP"])._repr_html_()


def test_an_audit_shows_counts_examples_and_ranges() -> None:
    found = audit(QRELS, RUN | {"new": {"a": 1.0}}, ["nDCG@5"], k=5)
    shown = Reader(found._repr_html_()).texts
    assert shown[:2] == ["Audit of run", " · 10 judged queries · top 5"]
    start = shown.index("judged queries missing from the run")
    assert shown[start : start + 3] == ["judged queries missing from the run", "2", "<i>, q8"]
    assert "With ties broken in other ways" in shown
    text = "AuditReport('run', 10 judged queries, judged queries missing from the run: 2, "
    assert repr(found).startswith(text)
    assert len(repr(found)) < 300
    clean = audit({"q": {"a": 1}}, {"q": {"a": 1.0}})
    assert repr(clean) == "AuditReport('run', 1 judged query, nothing to report)"
    assert "nothing to report" in clean._repr_html_()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_an_audit_is_a_frame_with_a_row_per_finding(library: str) -> None:
    found = audit(QRELS, RUN, ["nDCG@5"], k=5)
    frame = found.to_frame(library)  # type: ignore[arg-type]
    assert list(frame.columns) == ["finding", "query", "document", "text"]
    pairs = list(zip(frame["finding"], frame["query"], strict=True))
    assert pairs[:2] == [("judged queries missing from the run", one) for one in ("<i>", "q8")]
    assert len(frame) == 2 + len(found.unjudged) + len(found.ties)
