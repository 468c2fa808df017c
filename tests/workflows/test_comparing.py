"""Runs are compared only by what they share."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import berryeval as be
from berryeval.errors import ConfigurationError, DataError, NotScoredError
from berryeval.reports.exporters.json import read_report, to_json
from berryeval.workflows.run_comparison import all_scores
from berryeval.workflows.systems import Source
from tests.workflows.compare_world import BEST, POOR, mixed, run_of, save, without_scores

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.runs.record import RunRecord


def old_and_new(*better: int) -> list[RunRecord]:
    """Build two runs of one provider; the new one is best for these queries."""
    return [run_of("old", {"bm25": mixed()}), run_of("new", {"bm25": mixed(*better)})]


def test_two_runs_compare_the_provider_they_share() -> None:
    """The first run is the baseline."""
    [one] = be.compare_runs(old_and_new(*range(15))).compared
    assert one.comparison.systems == ("bm25 (old)", "bm25 (new)")
    assert one.comparison.baseline == "bm25 (old)"
    assert [row.metric for row in one.comparison.better] == ["nDCG@3", "RR"]
    assert not one.warnings


def test_one_run_compares_its_providers() -> None:
    run = run_of("one", {"bm25": mixed(), "dense": mixed(1), "hybrid": mixed(*range(20))})
    [one] = be.compare_runs(run).compared
    assert [(row.baseline, row.system) for row in one.comparison.rows[:2]] == [
        ("bm25", "dense"),
        ("bm25", "hybrid"),
    ]
    assert one.comparison.row("RR", "hybrid").comparisons == 2


def test_all_pairs_can_be_compared() -> None:
    run = run_of("one", {"a": mixed(), "b": mixed(1), "c": mixed(2)})
    [one] = be.compare_runs(run, baseline="all", correction="tukey").compared
    assert one.comparison.baseline is None
    assert len(one.comparison.rows) == 6


def test_runs_without_a_common_provider_compare_all() -> None:
    runs = [run_of("old", {"bm25": mixed()}), run_of("new", {"hybrid": mixed(3)})]
    [one] = be.compare_runs(runs).compared
    assert one.comparison.systems == ("bm25", "hybrid")


def test_each_common_provider_has_its_own_comparison() -> None:
    """A warning names what is left out and how to compare it."""
    runs = [
        run_of("old", {"bm25": mixed(), "hybrid": mixed(1)}),
        run_of("new", {"bm25": mixed(2), "hybrid": mixed(1), "dense": mixed(3)}),
    ]
    first, second = be.compare_runs(runs).compared
    assert first.comparison.systems == ("bm25 (old)", "bm25 (new)")
    assert second.comparison.systems == ("hybrid (old)", "hybrid (new)")
    assert first.warnings == (
        "only new has dense, which is left out; to compare it, name it: new#dense",
    )


def test_providers_are_named_with_a_mark(tmp_path: Path) -> None:
    """A mark in the name of a folder is part of the name."""
    path = save(run_of("run#1", {"bm25": mixed(), "hybrid": mixed(1)}), tmp_path)
    [one] = be.compare_runs([f"{path}#hybrid", f"{path}#bm25"]).compared
    assert one.comparison.systems == ("hybrid", "bm25")
    assert Source.find(path).provider == ""
    with pytest.raises(ConfigurationError, match=r"has no provider 'bm52'; did you mean .*#bm25"):
        be.compare_runs([f"{path}#bm52"])


def test_a_baseline_may_be_named_in_many_ways(tmp_path: Path) -> None:
    """An ambiguous name is rejected."""
    first, second = (save(run, tmp_path) for run in old_and_new(1, 2))
    for name in (second, "new", "bm25 (new)"):
        [one] = be.compare_runs([first, second], baseline=name).compared
        assert one.comparison.baseline == "bm25 (new)"
    with pytest.raises(ConfigurationError, match=r"may be bm25 \(old\) or bm25 \(new\)"):
        be.compare_runs([first, second], baseline="bm25")
    with pytest.raises(
        ConfigurationError,
        match=r"baseline 'nwe' is no system .* did you mean 'new'",
    ):
        be.compare_runs([first, second], baseline="nwe")


def test_an_argument_wins_over_a_run_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for run, name in zip(old_and_new(1, 2), ("new", "old"), strict=True):
        (tmp_path / name).write_text(run.dumps(), encoding="utf-8")
    [one] = be.compare_runs(["new", "old"], baseline="new").compared
    assert one.comparison.baseline == "bm25 (old)"  # as the file "new" has the run "old"


def test_a_copy_of_a_run_is_rejected(tmp_path: Path) -> None:
    run = run_of("old", {"bm25": mixed()})
    copy = tmp_path / "copy.json"
    copy.write_text(run.dumps(), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"bm25 of the run old is given twice \(.*copy"):
        be.compare_runs([save(run, tmp_path), str(copy)])


def test_a_missing_metric_names_the_command_that_adds_it(tmp_path: Path) -> None:
    """The command is quoted; a misspelled name gets a suggestion."""
    first, second = (save(run, tmp_path) for run in old_and_new(1, 2))
    lines = "; ".join(
        f"berryeval runs rescore {run} -m 'P(rel=2)@5' --save" for run in (first, second)
    )
    with pytest.raises(NotScoredError, match=re.escape(f"To compute it: {lines}")):
        be.compare_runs([first, f"{second}#bm25"], metrics=["P(rel=2)@5"])
    with pytest.raises(NotScoredError, match=r"did you mean nDCG@3\?$"):
        be.compare_runs([first, second], metrics=["nDGC@3"])


def test_different_data_are_rejected() -> None:
    """Records without fingerprints have nothing in common; `anyway` compares the shared queries."""
    old, _ = old_and_new()
    new = run_of("new", {"bm25": mixed(1)}, world=("drinks", "sha256:two"))
    with pytest.raises(
        DataError, match=r"no query of drinks is the same .*no fingerprint.*--anyway"
    ):
        be.compare_runs([old, new])
    [one] = be.compare_runs([old, new], anyway=True).compared
    assert one.content_hashes == ("sha256:one", "sha256:two")
    assert one.warnings[1].startswith("20 changed queries are compared too: a difference may come")


def test_different_depths_are_a_warning() -> None:
    old, _ = old_and_new()
    new = run_of("new", {"bm25": mixed(1)}, k=5)
    [one] = be.compare_runs([old, new]).compared
    assert one.warnings[0].endswith("deeper than 5 favour those that were asked for more")


def test_failed_queries_are_a_warning() -> None:
    new = run_of("new", {"bm25": [(), *[BEST] * 19]})
    [one] = be.compare_runs([run_of("old", {"bm25": [BEST] * 20}), new]).compared
    assert one.warnings[0].startswith("1 query has no answer of bm25 (new) (1 timeout)")
    assert one.moved[0].notes == ("bm25 (new) failed: timeout",)


def test_only_shared_queries_count() -> None:
    new = run_of("new", {"bm25": [BEST] * 12})
    [one] = be.compare_runs([run_of("old", {"bm25": mixed()}), new]).compared
    assert one.comparison.row("RR").n == 12
    assert one.comparison.notes[0].startswith(
        "excluded 8 queries of bm25 (old) that bm25 (new) does"
    )


def test_runs_without_shared_queries_are_rejected() -> None:
    old, new = old_and_new(1)
    part = new.benchmarks[0]
    scores = part.providers[0].scores
    assert scores is not None
    renamed = replace(scores, queries=tuple(f"x{query}" for query in scores.queries))
    provider = replace(part.providers[0], scores=renamed, standard=None)
    other = replace(new, benchmarks=(replace(part, providers=(provider,)),))
    with pytest.raises(DataError, match="share no queries"):
        be.compare_runs([old, other])


def test_one_query_has_no_p_value() -> None:
    runs = [run_of("old", {"bm25": [POOR]}), run_of("new", {"bm25": [BEST]})]
    [one] = be.compare_runs(runs).compared
    row = one.comparison.row("RR")
    assert (row.p, row.p_corrected, row.interval) == (None, None, None)
    assert row.cannot == "one query is not enough for a test"


def test_constant_scores_show_no_difference() -> None:
    [one] = be.compare_runs(old_and_new()).compared
    assert one.comparison.row("RR").p == 1.0
    assert not one.moved


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("NaN", "run.json: NaN is not valid JSON"),
        ("Infinity", "run.json: Infinity is not valid JSON"),
        ("null", "RR of query 'q03': expected"),
        ('"high"', "RR of query 'q03': expected"),
    ],
)
def test_a_record_with_an_invalid_number_is_rejected(
    tmp_path: Path, number: str, message: str
) -> None:
    old, new = old_and_new(1)
    first, second = save(old, tmp_path), save(new, tmp_path)
    data = new.to_json()
    data["benchmarks"][0]["providers"][0]["scores"]["values"]["RR"][3] = "@"
    text = json.dumps(data).replace('"@"', number)
    (tmp_path / "new" / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        be.compare_runs([first, second])


def test_a_failed_run_is_left_out_unless_it_is_named() -> None:
    run = run_of("one", {"bm25": mixed(), "hybrid": mixed(1)})
    part = run.benchmarks[0]
    broken = replace(part, providers=(part.providers[0], without_scores(part.providers[1])))
    with pytest.raises(DataError, match=r"nothing to compare.*hybrid \(failed\)"):
        be.compare_runs(replace(run, benchmarks=(broken,)))


def test_a_run_is_not_compared_with_itself() -> None:
    run = run_of("one", {"bm25": mixed()})
    with pytest.raises(ConfigurationError, match="given twice"):
        be.compare_runs([run, run])


def test_metrics_of_every_run_can_be_compared() -> None:
    """A metric that only some runs have is left out and named."""
    old = run_of("old", {"bm25": mixed()})
    new = run_of("new", {"bm25": mixed(1)}, metrics=("RR", "AP"))
    [one] = be.compare_runs([old, new]).compared
    assert one.comparison.metrics == ("RR",)
    assert one.warnings == ("not asked for in every run, and left out: nDCG@3, AP",)
    [asked] = be.compare_runs([old, new], metrics=["recall@10"]).compared
    assert asked.comparison.metrics == ("R@10",)
    assert not asked.warnings


def test_moved_queries_are_explained() -> None:
    """Documents that entered and left the top, with grades and ranks, the largest change first."""
    old = run_of("old", {"bm25": [POOR, POOR, *[BEST] * 18]})
    new = run_of("new", {"bm25": [POOR, BEST, *[BEST] * 17, ("cup", "tea")]})
    [one] = be.compare_runs([old, new], moved=2).compared
    first, second = one.moved
    assert (first.query_id, first.text, first.depth) == ("q01", "Question q01?", 3)
    assert [(hit.name, hit.grade, hit.before, hit.after) for hit in first.entered] == [
        ("guide > Tea", 2.0, None, 1)
    ]
    assert [(hit.id, hit.grade, hit.before) for hit in first.left] == [("rain", None, 2)]
    assert [(hit.id, hit.before, hit.after) for hit in first.moved] == [("cup", 3, 2)]
    assert second.query_id == "q19"
    assert second.change < 0


def test_each_group_of_queries_is_compared() -> None:
    """An unknown group is rejected."""
    [one] = be.compare_runs(old_and_new(0, 2, 4, 6, 8, 10), by="category").compared
    groups = one.comparison.groups
    assert groups["factual"].row("RR").better
    assert not groups["conceptual"].row("RR").better
    with pytest.raises(ConfigurationError, match="has a 'color'; there are id, category"):
        be.compare_runs(old_and_new(1), by="color")


def test_each_shared_benchmark_is_compared() -> None:
    old = run_of("old", {"bm25": mixed()})
    more = run_of("x", {"bm25": mixed()}, world=("meals", "sha256:m")).benchmarks
    new = replace(run_of("new", {"bm25": mixed(1)}), benchmarks=(
        *run_of("new", {"bm25": mixed(1)}).benchmarks, *more))  # fmt: skip
    [one] = be.compare_runs([old, new]).compared
    assert one.warnings == ("only new has meals, which is left out",)
    with pytest.raises(ConfigurationError, match="no run has the benchmark 'meels'; did you mean"):
        be.compare_runs([old, new], benchmark="meels")


def test_a_comparison_survives_json() -> None:
    report = be.compare_runs(old_and_new(1, 2, 3), by="category")
    data = json.loads(json.dumps(to_json(report), allow_nan=False))
    again = read_report(data, "x.json")
    assert again.compared == report.compared
    assert to_json(again) == data


@given(better=st.sets(st.integers(0, 19)))
def test_swapped_runs_have_the_opposite_difference(better: set[int]) -> None:
    runs = old_and_new(*better)
    [one] = be.compare_runs(runs, samples=2000).compared
    [two] = be.compare_runs(runs[::-1], samples=2000).compared
    row, back = one.comparison.row("RR"), two.comparison.row("RR")
    assert row.difference == -back.difference
    assert (row.wins, row.losses) == (back.losses, back.wins) == (len(better), 0)
    assert row.p == pytest.approx(back.p, abs=0.05)
    assert [query.query_id for query in one.moved] == [query.query_id for query in two.moved]
    for there, here in zip(one.moved, two.moved, strict=True):
        assert {hit.id for hit in there.entered} == {hit.id for hit in here.left}


def test_all_scores_join_requested_and_standard_metrics() -> None:
    [found] = run_of("one", {"bm25": mixed(1)}).benchmarks[0].providers
    names = all_scores(found).metrics
    assert names[:2] == ("nDCG@3", "RR")
    assert len(set(names)) == len(names)
    assert "R@20" in names


def test_one_command_adds_all_missing_metrics() -> None:
    run = run_of("one", {"bm25": mixed(), "dense": mixed(1)})
    with pytest.raises(NotScoredError) as caught:
        be.compare_runs(run, metrics=["RR@5", "P@7", "RR"])
    assert "berryeval runs rescore one -m RR@5 P@7 --save" in str(caught.value)
    assert "To compute them: " in str(caught.value)
    assert "?." not in str(caught.value)
