"""`evaluate`: its policy, and equal scores for every source and number of threads."""

from __future__ import annotations

import random
import re
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run
from berryeval.errors import ConfigurationError, DataError, MetricError, NotScoredError
from berryeval.metrics.grammar import parse_metric
from berryeval.scoring.engine import evaluate
from berryeval.scoring.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Rows = Mapping[str, Mapping[str, float]]

METRICS = ["AP", "P@2", "nDCG@3", "Success@1"]
QRELS: Rows = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}, "q3": {"x": 0}, "q4": {"y": 1}}
RUN: Rows = {
    "q1": {"b": 3.0, "z": 2.0, "a": 1.0},
    "q2": {"z": 1.0},
    "q3": {"x": 1.0},
    "q9": {"a": 1.0},
}


def write_run(path: Path, run: Rows) -> Path:
    lines = [
        f"{query} Q0 {document} 0 {score!r} test\n"
        for query, documents in run.items()
        for document, score in documents.items()
    ]
    path.write_text("".join(lines))
    return path


def write_qrels(path: Path, qrels: Rows) -> Path:
    lines = [
        f"{query} 0 {document} {grade}\n"
        for query, documents in qrels.items()
        for document, grade in documents.items()
    ]
    path.write_text("".join(lines))
    return path


def test_every_judged_query_counts() -> None:
    """A query missing from the run scores 0 and is listed."""
    scores = evaluate(QRELS, RUN, METRICS)
    assert scores.queries == ("q1", "q2", "q3", "q4")
    assert scores.outcomes == ("ok", "ok", "no relevant documents", "missing")
    assert scores.extra_queries == ("q9",)
    assert scores.per_query("P@2") == {"q1": 0.5, "q2": 0.0, "q3": 0.0, "q4": 0.0}
    assert scores.mean["P@2"] == 0.125


def test_the_trec_eval_profile_skips_missing_queries() -> None:
    scores = evaluate(QRELS, RUN, METRICS, profile="trec_eval")
    assert scores.queries == ("q1", "q2", "q3")
    assert scores.mean["P@2"] == pytest.approx(0.5 / 3)


def test_an_unknown_profile_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match=r"^unknown profile 'nope'; there are berryeval, "):
        evaluate(QRELS, RUN, METRICS, profile="nope")


def test_ties_rank_the_higher_id_first() -> None:
    """By bytes, as in trec_eval."""
    scores = evaluate({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["Success@1"])
    assert scores.mean["Success@1"] == 1.0
    scores = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["Success@1"])
    assert scores.mean["Success@1"] == 0.0
    # U+FF5E sorts behind U+1F600 in UTF-16, and before it in bytes.
    scores = evaluate({"q": {"\U0001f600": 1}}, {"q": {"\uff5e": 1.0, "\U0001f600": 1.0}}, ["P@1"])
    assert scores.mean["P@1"] == 1.0


def test_single_precision_creates_ties() -> None:
    """trec_eval 9 compares scores as float32, trec_eval 10 as float64."""
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 1.00000002, "b": 1.00000001}}
    assert evaluate(qrels, run, ["P@1"], profile="trec_eval-9").mean["P@1"] == 1.0
    assert evaluate(qrels, run, ["P@1"], profile="trec_eval").mean["P@1"] == 0.0


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("document descending", [2, 1, 0]),
        ("document ascending", [0, 1, 2]),
        ("given order", [1, 0, 2]),
    ],
)
def test_ranking_rules(ties: Any, expected: list[int]) -> None:
    documents, scores = [b"a", b"b", b"c"], [1.0, 1.0, 1.0]
    if ties == "given order":
        documents, scores = [b"a", b"b", b"c"], [1.0, 2.0, 1.0]
    assert RankingRule(ties=ties).order(documents, scores) == expected
    assert RankingRule(ties=ties, depth=1).order(documents, scores) == expected[:1]


def test_metrics_are_found_in_any_spelling() -> None:
    scores = evaluate(QRELS, RUN, ["ndcg_cut_3", parse_metric("map")])
    assert scores.metrics == ("nDCG@3", "AP")
    assert scores.mean["ndcg_cut_3"] == scores.mean["nDCG@3"]
    for spelling in ("ndcg_at_3", "ndcg@3", "ndcg_3", "ndcg_cut.3", "nDCG(dcg='log2')@3"):
        assert scores.mean[spelling] == scores.mean["nDCG@3"]
        assert scores.per_query(spelling) == scores.per_query("nDCG@3")
        assert scores.ci(spelling) == scores.ci("nDCG@3")
    assert scores.sum[parse_metric("map")] == scores.sum["AP"]  # type: ignore[index]
    assert Scores.from_dict(scores.to_dict()).std["MAP"] == scores.std["AP"]
    assert "average_precision" in scores.mean
    with pytest.raises(KeyError, match=r"'P@1' was not computed; computed are nDCG@3, AP"):
        scores.mean["P@1"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            "ndcg_cut_30",
            "'ndcg_cut_30' was not computed; computed are nDCG@3, AP; did you mean nDCG@3?",
        ),
        ("nDGC@3", "'nDGC@3' was not computed; computed are nDCG@3, AP; did you mean nDCG@3?"),
        ("Bpref", "'Bpref' was not computed; computed are nDCG@3, AP"),
        ("P.5,10", "'P.5,10' was not computed; computed are nDCG@3, AP"),
        ("", "'' was not computed; computed are nDCG@3, AP"),
    ],
)
def test_an_unscored_metric_suggests_the_closest(key: str, message: str) -> None:
    scores = evaluate(QRELS, RUN, ["ndcg_cut_3", "AP"])
    for look in (scores.mean.__getitem__, scores.per_query, scores.row_of, scores.without):
        with pytest.raises(NotScoredError) as caught:
            look(key)
        assert str(caught.value) == message
        assert isinstance(caught.value, KeyError)
    assert key not in scores.mean
    assert scores.mean.get(key) is None


def test_an_unknown_metric_is_rejected() -> None:
    with pytest.raises(MetricError, match=r"^unknown metric 'ndgc@3'; did you mean nDCG"):
        evaluate(QRELS, RUN, ["ndgc@3"])


def test_files_tables_and_dicts_give_the_same_scores(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", RUN)
    qrels = write_qrels(tmp_path / "qrels", QRELS)
    expected = evaluate(QRELS, RUN, METRICS)
    for scores in (
        evaluate(qrels, run, METRICS),
        evaluate(str(qrels), Run.from_trec(run), METRICS),
        evaluate(Qrels.from_trec(qrels), RUN, METRICS),
    ):
        assert scores.queries == expected.queries
        assert scores.values.tobytes() == expected.values.tobytes()
        assert scores.outcomes == expected.outcomes
        assert scores.extra_queries == expected.extra_queries


def test_a_run_need_not_be_grouped_by_query(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", RUN)
    lines = path.read_text().splitlines(keepends=True)
    random.Random(5).shuffle(lines)
    path.write_text("".join(lines))
    scores = evaluate(QRELS, path, METRICS)
    assert scores.values.tobytes() == evaluate(QRELS, RUN, METRICS).values.tobytes()


def test_a_repeated_document_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q1 Q0 a 1 2 t\n\nq1 Q0 b 2 1 t\nq1 Q0 a 3 0 t\n")
    message = f"{path}:4: document 'a' appears twice in"
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        evaluate(QRELS, path, METRICS)
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        evaluate(QRELS, Run.from_trec(path), METRICS)
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 a 1\nq1 0 a 1\n")
    with pytest.raises(DataError, match=f"^{re.escape(str(qrels))}:2: document 'a' appears twice"):
        evaluate(qrels, RUN, METRICS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0\n",
            "2: expected 6 columns (query Q0 document rank score tag), found 5: 'q1 Q0 b 2 1.0'",
        ),
        ("# comment\nq1 Q0 a 1 high t\n", "2: the score must be a number, found 'high'"),
        ("q1 Q0 a 1 nan t\n", "1: the score must not be NaN"),
    ],
)
def test_faulty_lines_are_reported(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text(text)
    expected = f"^{re.escape(f'{path}:{message}')}$"
    with pytest.raises(DataError, match=expected):
        evaluate(QRELS, path, METRICS)
    with pytest.raises(DataError, match=expected):
        Run.from_trec(path)


def random_rows(seed: int, queries: int, documents: int) -> tuple[Rows, Rows]:
    """Generate judgments and a run with many ties."""
    rng = random.Random(seed)
    names = [f"doc{number}" for number in range(documents)]
    qrels = {
        f"q{query}": {name: rng.randint(-1, 3) for name in rng.sample(names, documents // 2)}
        for query in range(queries)
    }
    run = {
        f"q{query}": {name: float(rng.randint(0, 9)) for name in rng.sample(names, documents // 2)}
        for query in range(queries)
    }
    return qrels, run


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_the_number_of_threads_does_not_change_the_scores(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run = random_rows(1, queries=120, documents=200)
    path = write_run(tmp_path / "run", run)
    monkeypatch.setenv("BERRYEVAL_THREADS", "1")
    expected = evaluate(qrels, run, METRICS).values.tobytes()
    monkeypatch.setenv("BERRYEVAL_THREADS", threads)
    assert evaluate(qrels, run, METRICS).values.tobytes() == expected
    assert evaluate(qrels, path, METRICS).values.tobytes() == expected


def test_eight_threads_evaluate_different_runs(tmp_path: Path) -> None:
    cases = [random_rows(seed, queries=10, documents=60) for seed in range(8)]
    paths = [write_run(tmp_path / str(seed), run) for seed, (_, run) in enumerate(cases)]
    alone = [evaluate(qrels, run, METRICS).values.tobytes() for qrels, run in cases]
    together: dict[int, set[bytes]] = {}

    def work(seed: int) -> None:
        qrels, run = cases[seed]
        together[seed] = {
            evaluate(qrels, source, METRICS).values.tobytes()
            for _ in range(5)
            for source in (run, paths[seed])
        }

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [together[seed] for seed in range(8)] == [{expected} for expected in alone]


documents = st.text("abcé😀-", min_size=1, max_size=9)


@given(
    st.dictionaries(st.sampled_from("pqr"), st.dictionaries(documents, st.integers(-1, 3))),
    st.dictionaries(
        st.sampled_from("pqrs"), st.dictionaries(documents, st.floats(-1e3, 1e3) | st.just(1.0))
    ),
)
def test_no_value_is_nan_and_every_query_is_accounted_for(qrels: Rows, run: Rows) -> None:
    scores = evaluate(qrels, run, METRICS)
    assert set(scores.queries) == set(qrels)
    assert set(scores.extra_queries) == set(run) - set(qrels)
    assert len(scores.outcomes) == len(scores.queries)
    assert np.isfinite(scores.values).all()
    assert all(np.isfinite(value) for value in scores.mean.values())


def test_an_overflow_is_rejected() -> None:
    qrels, run = {"q": {"a": 1e308, "b": 1e308}}, {"q": {"b": 2.0, "a": 1.0}}
    message = r"^Utility\(a=1e\+308,b=1e\+308\) of query 'q' must be a finite number, found inf$"
    with pytest.raises(MetricError, match=message):
        evaluate(qrels, {"q": {"a": 1.0, "b": 2.0, "c": 3.0}}, ["Utility(a=1e308,b=1e308)"])
    with pytest.raises(MetricError, match=r"must be a finite number, found nan$"):
        evaluate(qrels, run, ["G"])


def test_a_text_that_names_several_metrics_is_not_a_key() -> None:
    scores = evaluate(QRELS, RUN, ["P.5,10"])
    assert scores.metrics == ("P@5", "P@10")
    with pytest.raises(KeyError, match=r"was not computed"):
        scores.mean["P.5,10"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"depth": 0}, "depth must be an integer from 1 up, or None; found 0"),
        ({"depth": -1}, "depth must be an integer from 1 up, or None; found -1"),
        ({"ties": "foo"}, "ties must be one of document descending, "),
    ],
)
def test_invalid_ranking_rules_are_rejected(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{re.escape(message)}"):
        RankingRule(**rule)


def test_a_huge_cutoff_is_rejected() -> None:
    with pytest.raises(MetricError, match=r"^cutoff of SDCG must be an integer from 1 to 10000000"):
        evaluate(QRELS, RUN, ["SDCG(max_rel=3)@1000000000000"])


def test_levels_above_every_grade_are_noted_once(caplog: pytest.LogCaptureFixture) -> None:
    judged = {"q": {"a": 2, "b": 1}, "r": {"c": 1}}
    scores = evaluate(judged, {"q": {"a": 1.0}}, ["P(rel=9)@5", "R(rel=3)@5", "AP(rel=2)", "RR"])
    (note,) = scores.notes
    assert note == (
        "P(rel=9)@5, R(rel=3)@5 count nothing as relevant: the highest grade of the judgments is "
        "2; choose a level (rel) up to it"
    )
    assert [record.getMessage() for record in caplog.records] == [f"{scores.run_name}: {note}"]
    assert evaluate(judged, {"q": {"a": 1.0}}, ["P(rel=2)@5", "nDCG", "NumRet"]).notes == ()
    (note,) = evaluate({"q": {"a": 0.5}}, {"q": {"a": 1.0}}, ["RR"]).notes
    assert note.startswith(
        "RR counts nothing as relevant: the highest grade of the judgments is 0.5"
    )
    assert evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, ["RR"]).notes == ()
