"""Tests of `compare`: results, notes, errors and sentences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import berryeval as be
from berryeval import stats
from berryeval.errors import ConfigurationError, DataError, NotScoredError
from berryeval.stats.comparison import Comparison
from berryeval.stats.corrections import tukey_hsd
from berryeval.stats.intervals import difference_interval
from berryeval.stats.pairwise import compare
from berryeval.stats.tests import paired_test
from tests.stats.worlds import drawn, scores_of, table

if TYPE_CHECKING:
    from berryeval.scoring.scores import Scores

A, B = drawn(1, 60, shift=0.05)
C = drawn(2, 60, shift=0.0)[1]
SYSTEMS = {"one": table("one", A), "two": table("two", B), "three": table("three", C)}


def test_row_agrees_with_the_underlying_functions() -> None:
    row = compare(SYSTEMS, baseline="one", correction="none").row("AP", "two")
    assert (row.baseline, row.system, row.n) == ("one", "two", 60)
    assert (row.baseline_value, row.system_value) == (
        SYSTEMS["one"].mean["AP"], SYSTEMS["two"].mean["AP"],
    )  # fmt: skip
    assert row.difference == pytest.approx(float(np.mean(B - A)))
    assert row.interval == pytest.approx(difference_interval(A, B))
    assert row.baseline_interval == SYSTEMS["one"].ci("AP")
    assert row.p == row.p_corrected == paired_test("randomization", A, B).p
    assert row.effect is not None
    assert row.effect == stats.effect_sizes(A, B)
    assert row.wins + row.ties + row.losses == 60
    assert row.wins == int((B > A).sum())
    largest = int(np.argmax(B - A))
    assert row.raised[0][0] == f"q{largest:03}"
    assert row.raised[0][1] == pytest.approx(B[largest] - A[largest])
    assert len(row.lowered) == 5
    assert row.lowered[0][1] == pytest.approx(float(np.min(B - A)))


def test_baseline_is_compared_with_every_other_system() -> None:
    """Without a baseline all pairs are compared; Holm corrects within a metric."""
    found = compare(SYSTEMS, baseline="two")
    assert [(row.baseline, row.system) for row in found.rows] == [("two", "one"), ("two", "three")]
    found = compare(SYSTEMS)
    assert [(row.baseline, row.system) for row in found.rows] == [
        ("one", "two"), ("one", "three"), ("two", "three"),
    ]  # fmt: skip
    assert {row.comparisons for row in found.rows} == {3}
    p_values = [row.p for row in found.rows]
    assert [row.p_corrected for row in found.rows] == stats.correct_p_values(p_values, "holm")


def test_tukey_correction_uses_all_systems() -> None:
    square = tukey_hsd([A, B, C])
    found = compare(SYSTEMS, correction="tukey")
    assert [row.p_corrected for row in found.rows] == [square[0, 1], square[0, 2], square[1, 2]]
    small = table("small", C[:30])
    noted = compare({**SYSTEMS, "small": small}, correction="tukey").rows[0]
    assert noted.notes[-1] == "Tukey's test uses the 30 queries that all systems have"
    single = compare({**SYSTEMS, "small": table("small", C[:1])}, correction="tukey").rows[0]
    assert single.p is not None
    assert single.p_corrected is None
    assert single.sentence == (
        "two cannot be compared with one by AP: Tukey's test needs two or more queries that all "
        "systems have, found only one; use the Holm correction"
    )
    apart = {
        name: scores_of(name, {"AP": dict.fromkeys(queries, value)})
        for name, queries, value in (("a", "xyz", 0.1), ("b", "yzw", 0.5), ("c", "wx", 0.3))
    }
    found = compare(apart, correction="tukey")
    assert [row.cannot.endswith("found none; use the Holm correction") for row in (
        found.row("AP", "b", "a"), found.row("AP", "c", "a"))] == [True, False]  # fmt: skip
    assert found.row("AP", "c", "a").cannot == "one query is not enough for a test"
    with pytest.raises(ConfigurationError, match="'tukey' needs the test 'randomization'"):
        compare(SYSTEMS, correction="tukey", test="t")


def test_only_shared_queries_count() -> None:
    one = scores_of("one", {"AP": {"a": 0.1, "b": 0.2, "c": 0.3, "only": 1.0}})
    two = scores_of("two", {"AP": {"a": 0.2, "b": 0.2, "c": 0.9, "x": 0.0, "y": 0.0}})
    found = compare([one, two], baseline="one")
    row = found.row("AP")
    assert (row.n, row.wins, row.ties, row.losses) == (3, 2, 1, 0)
    assert row.baseline_value == pytest.approx(0.2)
    assert row.system_value == pytest.approx(1.3 / 3)
    assert found.notes == (
        "excluded 1 query of one that two does not have: only",
        "excluded 2 queries of two that one does not have: x, y",
    )
    assert set(found.notes) < set(row.notes)


def test_no_shared_query_is_an_error_with_examples() -> None:
    one = scores_of("one", {"AP": {"1": 0.1, "2": 0.2}})
    two = scores_of("two", {"AP": {"q1": 0.1, "q2": 0.2}})
    with pytest.raises(DataError, match="share no queries: one has 1, 2 and two has q1, q2"):
        compare([one, two])


def test_shared_metrics_are_compared() -> None:
    row = {"q1": 0.1, "q2": 0.4, "q3": 0.2}
    one = scores_of("one", {"nDCG@10": row, "AP": row})
    two = scores_of("two", {"AP": row, "nDCG@10": row, "RR": row})
    found = compare([one, two])
    assert found.metrics == ("nDCG@10", "AP")
    assert found.notes == ("excluded metrics that not every system has: RR",)
    assert compare([one, two], metrics=["ndcg_cut_10", "ndcg@10"]).metrics == ("nDCG@10",)
    assert compare([one, two], metrics="map").metrics == ("AP",)
    with pytest.raises(NotScoredError):
        compare([one, two], metrics=["RR"])
    with pytest.raises(DataError, match="no metric in common: one has nDCG@10, AP; two has RR"):
        compare([one, two.without("AP").without("nDCG@10")])


def test_one_query_and_constant_scores_have_no_p_and_a_reason() -> None:
    row = compare([table("one", [0.1]), table("two", [0.9])]).row("AP")
    assert (row.p, row.p_corrected, row.interval, row.effect) == (None, None, None, None)
    assert row.difference == pytest.approx(0.8)
    assert row.sentence == (
        "two cannot be compared with one by AP: one query is not enough for a test"
    )
    same = compare([table("one", [0.5] * 10), table("two", [0.5] * 10)]).row("AP")
    assert (same.p, same.interval, same.notes) == (1.0, None, ("no query differs",))
    assert same.sentence == (
        "no significant difference between two and one: AP +0.000, no query differs, "
        "p = 1.000, no effect, 10 queries"
    )
    by_t = compare([table("one", [0.5] * 9), table("two", [0.7] * 9)], test="t").row("AP")
    assert by_t.p is None
    assert "every query differs by 0.2: the t test needs" in by_t.sentence


def test_two_queries_have_no_effect_and_no_interval_without_width() -> None:
    row = compare([table("one", [0.5, 0.9]), table("two", [0.49, 0.89])]).row("AP")
    assert (row.p, row.interval, row.effect, row.detectable) == (0.5, None, None, None)
    assert row.sentence == (
        "no significant difference between two and one: AP -0.010, p = 0.500, 2 queries"
    )
    row = compare([table("one", [0.1, 0.2]), table("two", [0.4, 0.3])]).row("AP")
    assert "effect" not in row.sentence
    assert "power" not in row.sentence


@pytest.mark.parametrize("interval", ["bca", "percentile"])
def test_fewer_than_20_queries_have_no_bootstrap_interval(interval: Any) -> None:
    few, enough = (
        compare([table("one", A[:size]), table("two", B[:size])], interval=interval).row("AP")
        for size in (19, 20)
    )
    assert few.interval is None
    (note,) = few.notes
    assert note == (
        "no interval: bootstrap intervals of fewer than 20 queries are too narrow; use the t "
        "interval"
    )
    assert "CI" not in few.sentence
    assert enough.interval is not None
    assert enough.notes == ()


@pytest.mark.parametrize(
    ("test", "other"), [("sign", True), ("wilcoxon", True), ("t", False), ("randomization", False)]
)
def test_sentence_names_the_t_test_where_power_is_not_that_of_the_test_used(
    test: str, *, other: bool
) -> None:
    wobbly = table("b", A + 0.0001 * np.resize([1, -1], 60))
    sentence = compare({"a": SYSTEMS["one"], "b": wobbly}, test=test).row("AP").sentence
    assert "80 % power for a difference of 4e-05" in sentence
    assert ("the t test has 80 % power" in sentence) == other


def test_rounding_differences_are_not_changes() -> None:
    noise = np.where(np.arange(12) == 3, 0.1 + 0.2, 0.3)
    row = compare([table("one", [0.3] * 12), table("two", noise)]).row("AP")
    assert (row.wins, row.ties, row.losses) == (0, 12, 0)
    assert row.raised == row.lowered == ()


def test_unanswered_queries_are_noted() -> None:
    qrels = {f"q{n:02}": {"d": 1} for n in range(10)}
    answered = {query: {"d": 1.0} for query in qrels}
    some = {query: answered[query] for query in list(qrels)[:4]}
    systems = {
        "all": be.evaluate(qrels, answered, ["RR"]),
        "some": be.evaluate(qrels, some, ["RR"]),
    }
    found = compare(systems)
    assert found.row("RR").n == 10
    assert found.row("RR").difference == pytest.approx(-0.6)
    (note,) = found.notes
    assert note == (
        "some has no answers to 6 of 10 queries (q04, q05, q06, q07, q08 and 1 more); these score "
        "0, so a difference may come from missing answers, not from the rankings"
    )


def test_nan_is_an_error_that_names_the_query() -> None:
    with pytest.raises(DataError, match="two: AP of query 'q001' is nan"):
        compare([table("one", [0.1, 0.2]), table("two", [0.1, float("nan")])])


@pytest.mark.parametrize(
    ("systems", "options", "error", "words"),
    [
        ({"one": SYSTEMS["one"]}, {}, DataError, "needs two or more systems, found one"),
        ([SYSTEMS["one"], SYSTEMS["one"]], {}, DataError, "two systems are named 'one'"),
        (
            {"one": {"q": 1}, "two": {}},
            {},
            TypeError,
            "one must be Scores, as returned by `evaluate`",
        ),
        ({1: SYSTEMS["one"], "1": SYSTEMS["two"]}, {}, DataError, "same name: 1, '1'"),
        (3, {}, TypeError, "systems must be a dict of scores by name, found int"),
        (SYSTEMS, {"metrics": []}, ConfigurationError, "metrics is empty: name one or more, or"),
        (SYSTEMS, {"baseline": "on"}, ConfigurationError, "'on'; did you mean 'one'"),
        (SYSTEMS, {"test": "anova"}, ConfigurationError, "unknown test 'anova'"),
        (SYSTEMS, {"correction": "x"}, ConfigurationError, "unknown correction 'x'"),
        (SYSTEMS, {"correction": "tuky"}, ConfigurationError, "did you mean 'tukey'"),
        (SYSTEMS, {"seed": 1.5}, TypeError, "integer"),
        (SYSTEMS, {"interval": "x"}, ConfigurationError, "unknown interval 'x'"),
        (SYSTEMS, {"level": 95}, ValueError, "level must be between 0 and 1"),
        (SYSTEMS, {"samples": 0}, ValueError, "samples must be at least 1"),
    ],
)
def test_bad_arguments_are_errors(
    systems: Any, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        compare(systems, **options)


def test_sums_are_compared_as_sums() -> None:
    one, two = np.arange(12.0) % 5, np.arange(12.0) % 4 + 1
    row = compare([table("a", one, "NumRelRet", "sum"), table("b", two, "NumRelRet", "sum")]).row(
        "NumRelRet"
    )
    assert (row.baseline_value, row.difference) == (one.sum(), two.sum() - one.sum())
    mean = difference_interval(one, two)
    assert mean is not None
    assert row.interval == pytest.approx([12 * end for end in mean])
    assert row.p == paired_test("randomization", one, two).p


@pytest.mark.parametrize("interval", ["t", "bca", "percentile"])
def test_geometric_means_are_tested_on_logarithms(interval: Any) -> None:
    one, two = A[:40] + 0.01, A[:40] * 1.4 + 0.02
    tables = [table("a", one, "GMAP", "geometric mean"), table("b", two, "GMAP", "geometric mean")]
    row = compare(tables, interval=interval).row("GMAP")
    assert row.p == paired_test("randomization", np.log(one), np.log(two)).p
    expected = np.exp(np.log(two).mean()) - np.exp(np.log(one).mean())
    assert row.difference == pytest.approx(expected)
    assert row.interval is not None
    assert row.interval.low < row.difference < row.interval.high
    assert row.notes == ("a geometric mean is tested on the logarithms of its values",)
    assert row.detectable is None
    zero = table("b", [0.0, *two[1:]], "GMAP", "geometric mean")
    third = table("c", one * 1.1, "GMAP", "geometric mean")
    zero2 = table("z", [0.0, *one[1:]], "GMAP", "geometric mean")
    shuffled = compare([*tables, third], correction="tukey").rows[0].p_corrected
    assert shuffled == tukey_hsd([np.log(one), np.log(two), np.log(one * 1.1)])[0, 1]
    with_zero = compare([tables[0], zero, third], correction="tukey")
    assert [row.p_corrected is None for row in with_zero.rows] == [True, False, True]
    alone = compare([tables[0], zero, zero2], correction="tukey")
    why = "a geometric mean with a value of 0 has no logarithms to test"
    assert [row.cannot for row in alone.rows] == [why] * 3
    assert "too few" not in " ".join(note for row in alone.rows for note in row.notes)
    found = compare([tables[0], zero]).row("GMAP")
    assert found.wins + found.losses == 40
    assert found.p is None
    assert found.cannot.startswith("a geometric mean with a value of 0")
    with pytest.raises(DataError, match="aggregate GMAP differently: a by geometric mean"):
        compare([tables[0], table("b", two, "GMAP")])


def test_each_group_has_a_comparison_of_its_own() -> None:
    groups: dict[str, str | None] = {f"q{n:03}": "odd" if n % 2 else "even" for n in range(59)}
    found = compare(SYSTEMS, baseline="one", groups={**groups, "q059": "last"})
    assert list(found.groups) == ["even", "last", "odd"]
    odd = found.groups["odd"].row("AP", "two")
    assert (odd.n, odd.comparisons) == (29, 2)
    assert odd.p == paired_test("randomization", A[1:59:2], B[1:59:2]).p
    assert found.groups["last"].row("AP", "two").cannot == "one query is not enough for a test"
    (note,) = found.notes
    assert note.startswith("p-values are corrected within each of the 3 groups, not")


def test_group_that_one_system_lacks_has_no_p() -> None:
    one = scores_of("one", {"AP": {"a": 0.1, "b": 0.2, "c": 0.3}})
    two = scores_of("two", {"AP": {"a": 0.2, "b": 0.2}})
    found = compare([one, two], groups={"a": "x", "b": "x", "c": "y"}, correction="tukey")
    row = found.groups["y"].row("AP")
    assert (row.n, row.p, row.cannot) == (0, None, "the two share no query")
    assert found.groups["x"].row("AP").n == 2


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_results_do_not_depend_on_the_unit(scale: float) -> None:
    """Values near the limits of floats give the same p and effects and a scaled interval."""
    plain = compare(SYSTEMS, interval="bca").rows[0]
    scaled = {name: table(name, scale * row) for name, row in {"one": A, "two": B}.items()}
    row = compare({**scaled, "three": table("three", scale * C)}, interval="bca").rows[0]
    assert (row.p, row.p_corrected, row.wins) == (plain.p, plain.p_corrected, plain.wins)
    assert row.effect is not None
    assert plain.effect is not None
    assert row.effect.g == pytest.approx(plain.effect.g)
    assert row.interval is not None
    assert [end / scale for end in row.interval] == pytest.approx(list(plain.interval or ()))
    by_t = difference_interval(scale * A, scale * B)
    assert by_t is not None
    assert [end / scale for end in by_t] == pytest.approx(list(difference_interval(A, B) or ()))


def test_comparison_round_trips_through_json() -> None:
    groups: dict[str, str | None] = {"q000": "single"}
    found = compare(SYSTEMS, baseline="one", groups=groups)
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert Comparison.from_dict(json.loads(text)) == found
    assert json.loads(text)["rows"][0]["sentence"] == found.rows[0].sentence
    for wrong in ({}, {**found.to_dict(), "rows": [{}]}, {**found.to_dict(), "groups": 3}):
        with pytest.raises(DataError, match="a comparison as written by `to_dict`"):
            Comparison.from_dict(wrong)


def test_better_and_worse_follow_the_direction_of_the_metric() -> None:
    shifted = A + 0.5

    def row(metric: str) -> stats.PairedDifference:
        tables = {"old": table("old", A, metric), "new": table("new", shifted, metric)}
        return compare(tables, baseline="old").row(metric)

    assert (row("AP").better, row("AP").worse) == (True, False)
    down = row("TokensToHit(budget=500)")
    assert (down.better, down.worse) == (False, True)
    assert down.sentence.startswith("new is worse than old: TokensToHit(budget=500) +0.500")
    assert row("NumRet").sentence.startswith("new is higher than old: NumRet +0.500")
    found = compare(SYSTEMS, baseline="one")
    assert [one.system for one in found.better] == ["two"]
    assert found.worse == ()


def test_sentences_contain_the_finding_and_its_numbers() -> None:
    found = compare(SYSTEMS, baseline="one")
    better = found.row("AP", "two")
    assert better.sentence == (
        f"two is better than one: AP {better.difference:+.3f}, 95 % CI "
        f"[{better.interval[0]:+.3f}, {better.interval[1]:+.3f}], p < 0.001 "  # type: ignore[index]
        f"(Holm, 2 comparisons), medium effect, 60 queries"
    )
    wobbly = table("b", A + 0.0001 * np.resize([1, -1], 60))
    nothing = compare({"a": SYSTEMS["one"], "b": wobbly}).row("AP")
    assert nothing.sentence.startswith("no significant difference between b and a: AP ")
    assert "with 60 queries this test has 80 % power for a difference of 4e-05" in (
        nothing.sentence
    )


def test_registered_test_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats.TESTS, "_homes", dict(stats.TESTS._homes))

    @stats.TESTS.register("coin")
    def coin(pair: stats.Pair, seed: int, samples: int) -> stats.TestResult:
        return stats.TestResult(0.01 if pair.mean > 0.02 else 0.5, float(seed), f"{samples} coins")

    found = compare(SYSTEMS, baseline="one", test="coin", seed=4, samples=7)
    assert [(row.p, row.p_corrected, row.test) for row in found.rows] == [
        (0.01, 0.02, "7 coins"), (0.5, 0.5, "7 coins"),
    ]  # fmt: skip


def test_unknown_row_is_an_error_that_lists_the_rows() -> None:
    found = compare(SYSTEMS, baseline="one")
    with pytest.raises(KeyError, match=r"expected one row of 'AP', found 2; .* AP two against one"):
        found.row("AP")
    with pytest.raises(KeyError, match="expected one row of 'AP', found 0"):
        found.row("AP", "four")
    with pytest.raises(NotScoredError):
        found.row("RR")
    assert found.row("map", "two") == found.rows[0]


def test_default_options_do_not_need_scipy(clean_environment: dict[str, str]) -> None:
    script = (
        "import sys; sys.modules['scipy'] = None\n"
        "from tests.stats.worlds import drawn, table\n"
        "from berryeval.stats import compare, equivalence, tukey_hsd\n"
        "a, b = drawn(1, 60, 0.05)\n"
        "tables = [table('one', a), table('two', b)]\n"
        "for how in ('randomization', 't', 'bootstrap'): compare(tables, test=how)\n"
        "for how in ('t', 'bca', 'percentile'): compare(tables, interval=how, correction='tukey')\n"
        "equivalence(a, b, 0.1)\n"
        "try: compare(tables, test='wilcoxon')\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env={**clean_environment, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout == 'the Wilcoxon test needs scipy: pip install "scipy>=1.10"\n'


def test_scores_of_evaluate_are_compared() -> None:
    qrels = {f"q{n}": {"d": 1} for n in range(10)}
    old: Scores = be.evaluate(qrels, {q: {"x": 2.0, "d": 1.0} for q in qrels}, ["RR", "P@1"])
    new: Scores = be.evaluate(qrels, {q: {"d": 2.0, "x": 1.0} for q in qrels}, ["RR", "P@1"])
    found = be.compare({"old": old, "new": new}, baseline="old")
    assert [row.p for row in found.better] == [2 / 2**10, 2 / 2**10]
