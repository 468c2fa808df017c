"""What a store keeps, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berryeval._internal.text import parse_timestamp
from berryeval.errors import ConfigurationError, DataError
from berryeval.runs.record import RunRecord
from berryeval.runs.store.queries import Filters
from berryeval.runs.store.store import open_store
from tests.runs.kept import run_of, scores_of


def test_a_run_comes_back_to_the_bit(place: str) -> None:
    """The record is equal and is written as the same bytes, also from another connection."""
    record = run_of(1)
    with open_store(place) as store:
        assert store.add(record).how == "added"
        assert store.get(record.id) == record
    with open_store(place, make=False) as store:
        assert store.get(record.id).dumps() == record.dumps()


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=20,
)
@given(
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    name=st.text(min_size=1),
)
def test_any_numbers_and_names_come_back(place: str, values: list[float], name: str) -> None:
    """Whatever floats a table holds, whatever a provider is called."""
    record = run_of(2)
    (part,) = record.benchmarks
    table = scores_of([[value / 8 for value in values]], ("RR",))
    odd = replace(part.providers[0], name=name, scores=table)
    record = replace(record, benchmarks=(replace(part, providers=(odd,)),))
    with open_store(place) as store:
        store.delete([record.id])
        store.add(record)
        assert store.get(record.id) == record


def test_the_same_run_is_kept_once(place: str) -> None:
    """Adding it again changes nothing, and says so."""
    with open_store(place) as store:
        store.add(run_of(1))
        assert store.add(run_of(1)).how == "there already"
        assert store.names() == ["run-0001"]


def test_a_run_that_was_resumed_takes_the_place_of_the_old_only_if_asked(place: str) -> None:
    """The same run with other content: refused without a word lost, or replaced whole."""
    record = run_of(1)
    again = replace(record, config_hash="sha256:other")
    with open_store(place) as store:
        store.add(record)
        assert store.add(again).how == "differs"
        assert store.get(record.id) == record
        assert store.add(again, replace_content=True).how == "replaced"
        assert store.get(record.id) == again
        assert len(store.list_runs()) == 1


def test_another_run_of_the_same_name_loses_neither(place: str) -> None:
    """The second gets a longer name, the same each time."""
    first, second = run_of(1, name="nightly"), run_of(2, name="nightly")
    with open_store(place) as store:
        store.add(first)
        added = store.add(second, replace_content=True)
        assert added.how == "added"
        assert added.id.startswith("nightly-")
        assert store.get("nightly") == first
        assert store.get(added.id) == replace(second, id=added.id)
        assert store.add(second).how == "there already"
        assert len(store.names()) == 2


def test_lists_are_newest_first_and_filtered(place: str) -> None:
    """By benchmark, provider, time and number, with the values of the metrics asked for."""
    with open_store(place) as store:
        for number in (3, 1, 2):
            store.add(run_of(number))
        store.add(run_of(4, providers=("splade",)))
        assert store.names() == ["run-0004", "run-0003", "run-0002", "run-0001"]
        (found,) = store.list_runs(Filters(provider="dense"), limit=1, metrics=["ndcg@10"])
        assert found.id == "run-0003"
        (result,) = found.results
        whole = run_of(3)["fruit"]["dense"]
        assert (result.provider, result.queries, result.latency) == ("dense", 5, whole.latency)
        assert whole.scores is not None
        (value,) = result.values
        assert value.value == whole.scores.mean["nDCG@10"]
        assert (value.low, value.high) == whole.scores.ci("nDCG@10")
        since = parse_timestamp("2026-01-01T03:00:00+00:00", "")
        assert store.names(Filters(since=since)) == ["run-0004", "run-0003"]
        assert store.names(Filters(until=since)) == ["run-0003", "run-0002", "run-0001"]
        assert store.names(Filters(benchmark="nuts")) == []


def test_times_are_compared_across_places(place: str) -> None:
    """Two o'clock in Tokyo is before one o'clock in London."""
    with open_store(place) as store:
        store.add(replace(run_of(1), id="london", created="2026-03-01T01:00:00+00:00"))
        store.add(replace(run_of(1), id="tokyo", created="2026-03-01T02:00:00+09:00"))
        assert store.names() == ["london", "tokyo"]


def test_a_trend_has_a_point_per_run(place: str) -> None:
    """The oldest first, by any spelling, and says where values cannot be compared."""
    with open_store(place) as store:
        for number in (2, 1):
            store.add(run_of(number))
        store.add(run_of(3, content_hash="sha256:2"))
        store.add(run_of(4, content_hash="sha256:2", queries=4))
        points = store.trend("mrr", Filters(provider="bm25"))
        assert [point.run for point in points] == [f"run-000{n}" for n in (1, 2, 3, 4)]
        reasons = [after.differs_from(one) for one, after in pairwise(points)]
        assert reasons == ["", "the benchmark changed", "other queries were asked"]
        standard = store.trend("recall_at_5", Filters(provider="bm25", benchmark="fruit"))
        assert [point.value.low for point in standard] == [None] * 4
        assert store.trend("nobody's") == []


def test_a_name_nobody_has_is_said_with_the_nearest(place: str) -> None:
    """And which store was asked."""
    with open_store(place) as store:
        store.add(run_of(12))
        with pytest.raises(DataError, match=r"no run 'run-012' in the store .* 'run-0012'"):
            store.get("run-012")


def test_what_is_deleted_is_gone_and_nothing_else(place: str) -> None:
    """With all that stood below it."""
    with open_store(place) as store:
        for number in range(4):
            store.add(run_of(number))
        assert store.delete(["run-0001", "run-0003", "nobody"]) == 2
        assert store.names() == ["run-0002", "run-0000"]
        assert {point.run for point in store.trend("RR")} == {"run-0002", "run-0000"}
        assert store.get("run-0002") == run_of(2)


def test_a_run_without_scores_is_kept(place: str) -> None:
    """A provider that failed, a run without benchmarks."""
    record = run_of(1)
    (part,) = record.benchmarks
    failed = replace(
        part.providers[0], scores=None, standard=None, curve=(), answers=(), latency=None,
        failure="no answer",
    )  # fmt: skip
    record = replace(record, benchmarks=(replace(part, providers=(failed,)),))
    empty = RunRecord("empty", "2026-01-01T00:00:00Z")
    with open_store(place) as store:
        store.add(record)
        store.add(empty)
        assert store.get(record.id) == record
        assert store.get("empty") == empty
        assert store.list_runs()[0].results[0].failure == "no answer"


def test_a_time_that_is_none_is_refused(place: str) -> None:
    """Before anything is written."""
    with open_store(place) as store:
        with pytest.raises(DataError, match=r"run run-0001: 'created' must be a time.*'yesterday'"):
            store.add(replace(run_of(1), created="yesterday"))
        assert store.names() == []


def test_no_limit_is_all(place: str) -> None:
    """None and 0 mean the same; fewer than none is refused."""
    with open_store(place) as store:
        for number in (1, 2):
            store.add(run_of(number))
        assert len(store.list_runs(limit=0)) == len(store.list_runs(limit=None)) == 2
        assert len(store.list_runs(limit=1)) == 1
        with pytest.raises(ConfigurationError, match="limit must be 0"):
            store.list_runs(limit=-1)


def test_queries_that_failed_are_counted(place: str) -> None:
    """With lists and with trends: those without an answer, by error or by time."""
    record = run_of(1, providers=("bm25",))
    (part,) = record.benchmarks
    failed = replace(part.providers[0], outcomes={"ok": 1, "empty": 1, "error": 2, "timeout": 1})
    with open_store(place) as store:
        store.add(replace(record, benchmarks=(replace(part, providers=(failed,)),)))
        assert [one.failed for run in store.list_runs() for one in run.results] == [3]
        assert [point.failed for point in store.trend("RR")] == [3]
