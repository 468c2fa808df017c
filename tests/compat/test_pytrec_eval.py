"""The floor of pytrec_eval has its names, types, numbers and errors."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import pytrec_eval as peer

from berryeval.compat import pytrec_eval as ours
from tests.compat.peers import agree, draw

PARAMETERS = {
    "P_3,7", "P.1", "map_cut.2", "iprec_at_recall.0.15,0", "set_F.0.5", "Rprec_mult.0.3",
    "11pt_avg.0.25,0.5", "utility.1,2,3,4", "ndcg", "success_2",
}  # fmt: skip
SAFE = {name: chosen - {"runid"} for name, chosen in peer.supported_nicknames.items()}
CHOICES = [SAFE["all_trec"], SAFE["official"], SAFE["set"] | {"ndcg_cut"}, PARAMETERS]


@pytest.mark.parametrize("seed", range(40))
def test_every_value_is_that_of_the_peer(seed: int) -> None:
    qrels, run = draw(seed)
    level, judged_only = 1 + seed % 3, seed % 2 == 1
    chosen = CHOICES[seed % len(CHOICES)]
    expected = peer.RelevanceEvaluator(qrels, chosen, level, judged_only).evaluate(run)
    found = ours.RelevanceEvaluator(qrels, chosen, level, judged_only).evaluate(run)
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert list(found[query]) == list(values)
        assert all(type(value) is float for value in found[query].values())
        wrong = {
            name: (found[query][name], value)
            for name, value in values.items()
            if name != "runid" and not agree(found[query][name], value)
        }
        assert not wrong


@pytest.mark.parametrize("size", [2, 63, 64, 200])
@pytest.mark.parametrize("levels", [1, 2])
def test_scores_from_the_worst_to_the_best_are_ranked_as_by_the_peer(
    size: int, levels: int
) -> None:
    """With and without ties."""
    qrels = {"q": {f"d{number}": number % 3 for number in range(0, size, 2)}}
    run = {"q": {f"d{number}": float(number // levels) for number in range(size)}}
    expected = peer.RelevanceEvaluator(qrels, {"ndcg", "map"}).evaluate(run)
    found = ours.RelevanceEvaluator(qrels, {"ndcg", "map"}).evaluate(run)
    assert found["q"] == pytest.approx(expected["q"], abs=1e-12)


@pytest.mark.parametrize("nickname", ["official", "set", "all_trec"])
def test_a_nickname_means_its_measures(nickname: str) -> None:
    """The peer may crash for `runid`, which is in each."""
    qrels, run = draw(1)
    found = ours.RelevanceEvaluator(qrels, {nickname}).evaluate(run)
    named = ours.RelevanceEvaluator(qrels, peer.supported_nicknames[nickname]).evaluate(run)
    assert repr(found) == repr(named)
    assert all(values["runid"] == 0.0 for values in found.values())


def test_nothing_to_evaluate_is_no_error() -> None:
    qrels, run = draw(1)
    assert ours.RelevanceEvaluator({}, {"map"}).evaluate(run) == {}
    found = ours.RelevanceEvaluator(qrels, set()).evaluate(run)
    assert found == {query: {} for query in run if query in qrels}


def test_the_names_are_those_of_the_peer() -> None:
    assert set(peer.__all__) <= set(vars(ours))
    assert ours.supported_measures == peer.supported_measures
    assert ours.supported_nicknames == peer.supported_nicknames
    assert ours.__version__ == peer.__version__


@pytest.mark.parametrize(
    ("qrels", "measures"),
    [
        ({"q": [1]}, {"map"}),
        ({1: {"d": 1}}, {"map"}),
        ({"q": {1: 1}}, {"map"}),
        ({"q": {"d": 1.5}}, {"map"}),
        ({"q": {"d": "1"}}, {"map"}),
        ({"q": {"d": 1}}, {"nothing"}),
        ({"q": {"d": 1}}, "map"),
    ],
)
def test_wrong_judgments_and_measures_raise_the_errors_of_the_peer(
    qrels: Any, measures: Any
) -> None:
    with pytest.raises((TypeError, ValueError)) as expected:
        peer.RelevanceEvaluator(qrels, measures)
    with pytest.raises(expected.type):
        ours.RelevanceEvaluator(qrels, measures)


@pytest.mark.parametrize(
    "run", [5, [1], {1: {}}, {"q": []}, {"q": {1: 1.0}}, {"q": {"d": "x"}}, {"q": {"d": None}}]
)
def test_wrong_runs_raise_the_errors_of_the_peer(run: Any) -> None:
    with pytest.raises(TypeError):
        peer.RelevanceEvaluator({"q": {"d": 1}}, {"map"}).evaluate(run)
    with pytest.raises(TypeError, match="found"):
        ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"}).evaluate(run)


@pytest.mark.parametrize("run", [{}, [], None])
def test_an_empty_run_has_no_values(run: Any) -> None:
    assert ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"}).evaluate(run) == {}


@pytest.mark.parametrize("level", [0, -1, "1"])
def test_a_level_below_one_is_a_type_error(level: Any) -> None:
    with pytest.raises(TypeError, match="relevance_level"):
        ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"}, relevance_level=level)


@pytest.mark.parametrize("measures", [{"P.0"}, {"P.5,05"}, {"ndcg.1"}])
def test_parameters_that_end_the_process_of_the_peer_are_errors(measures: set[str]) -> None:
    with pytest.raises(ValueError, match=r"P|ndcg"):
        ours.RelevanceEvaluator({"q": {"d": 1}}, measures)


def test_judgments_are_copied_and_an_evaluator_scores_many_runs() -> None:
    qrels = {"q": {"d1": 1}}
    evaluator = ours.RelevanceEvaluator(qrels, ["recip_rank"])
    qrels["q"]["d2"] = 1
    assert evaluator.evaluate({"q": {"d2": 2.0, "d1": 1.0}}) == {"q": {"recip_rank": 0.5}}
    assert evaluator.evaluate({"q": {"d1": 1}}) == {"q": {"recip_rank": 1.0}}


class Word(str):
    """A str that is no plain one."""

    __slots__ = ()


def test_ids_may_be_of_a_subclass_of_str() -> None:
    evaluator = ours.RelevanceEvaluator({Word("q"): {Word("d"): True}}, {"map"})
    assert evaluator.evaluate({"q": {Word("d"): True}}) == {"q": {"map": 1.0}}


def test_a_score_that_is_no_number_is_an_error() -> None:
    evaluator = ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"})
    with pytest.raises(ValueError, match="NaN"):
        evaluator.evaluate({"q": {"d": float("nan")}})


def test_files_are_parsed_as_by_the_peer() -> None:
    run = "q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1 tag\nq2 Q0 d1 1 1e-3 tag\n"
    qrels = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 -1\n"
    for text, parse, expected in (
        (run, ours.parse_run, peer.parse_run),
        (qrels, ours.parse_qrel, peer.parse_qrel),
    ):
        found = parse(io.StringIO(text))
        assert found == expected(io.StringIO(text))
        assert found == parse(text.splitlines())
        assert type(found) is type(expected(io.StringIO(text)))
        values = [type(value) for row in found.values() for value in row.values()]
        assert values == [
            type(value) for row in expected(io.StringIO(text)).values() for value in row.values()
        ]


def test_a_file_that_repeats_a_document_is_rejected() -> None:
    with pytest.raises(AssertionError):
        ours.parse_qrel(["q 0 d 1", "q 0 d 1"])
    with pytest.raises(ValueError, match="q 0"):
        ours.parse_run(["q 0 d", "q 0 e"])
    assert ours.parse_run([]) == {}


@pytest.mark.parametrize("measure", ["num_ret", "gm_map", "map"])
def test_aggregates_are_those_of_the_peer(measure: str) -> None:
    values = [0.1, -0.7, 3.0]
    expected = peer.compute_aggregated_measure(measure, values)
    assert ours.compute_aggregated_measure(measure, values) == expected


@pytest.mark.parametrize("grade", ["0.5", "99999999999999999999"])
def test_grades_that_would_change_are_rejected(grade: str) -> None:
    with pytest.raises(ValueError, match="whole"):
        ours.parse_qrel([f"q 0 d {grade}"])


def test_a_grade_beyond_64_bits_is_scored() -> None:
    """The peer raises a SystemError; the query must not vanish."""
    evaluator = ours.RelevanceEvaluator({"q": {"d": 2**70, "e": 0}}, {"map"})
    assert evaluator.evaluate({"q": {"e": 2.0, "d": 1.0}}) == {"q": {"map": 0.5}}


def test_a_level_may_be_of_numpy() -> None:
    level: Any = np.int64(2)
    evaluator = ours.RelevanceEvaluator({"q": {"d": 1, "e": 2}}, {"num_rel"}, level)
    assert evaluator.evaluate({"q": {}}) == {"q": {"num_rel": 1.0}}
