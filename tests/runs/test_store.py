"""The store, on SQLite and on a real PostgreSQL server."""

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


def test_stored_run_is_restored_to_the_bit(place: str) -> None:
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
def test_any_numbers_and_names_are_restored(place: str, values: list[float], name: str) -> None:
    record = run_of(2)
    (part,) = record.benchmarks
    table = scores_of([[value / 8 for value in values]], ("RR",))
    odd = replace(part.providers[0], name=name, scores=table)
    record = replace(record, benchmarks=(replace(part, providers=(odd,)),))
    with open_store(place) as store:
        store.delete([record.id])
        store.add(record)
        assert store.get(record.id) == record


def test_runs_are_found_by_tag_and_by_words(place: str) -> None:
    def tagged(number: int, **tags: str) -> RunRecord:
        return replace(run_of(number), plan={"tags": tags})

    with open_store(place) as store:
        store.add(tagged(1, model="small"))
        store.add(tagged(2, model="small-2", note='50 % "off"'))
        store.add(replace(tagged(3), benchmarks=run_of(3, providers=("e5_large",)).benchmarks))

        def found(tag: str | None = None, words: str = "") -> list[str]:
            return store.names(Filters(tag=tag, words=words))

        assert found(tag="model=small") == ["run-0001"]
        assert found(tag="model") == ["run-0002", "run-0001"]
        assert found(tag='note=50 % "off"') == ["run-0002"]
        assert found(tag="model=medium") == []
        assert found(words="SMALL 0002") == ["run-0002"]
        assert found(words="model=SMALL 0002") == ["run-0002"]
        assert found(words="model=mall") == []
        assert found(words="50 %") == ["run-0002"]
        assert found(words="fruit e5_") == ["run-0003"]
        assert found(words="e5x") == []
        assert store.tags() == ["model", "note"]
        assert [dict(one.tags) for one in store.list_runs()][1:] == [
            {"model": "small-2", "note": '50 % "off"'},
            {"model": "small"},
        ]
        assert store.tag_values() == ["model=small", "model=small-2", 'note=50 % "off"']


def test_runs_are_sorted_and_paged(place: str) -> None:
    with open_store(place) as store:
        for number in range(1, 6):
            store.add(run_of(number, providers=("bm25",) if number % 2 else ("bm25", "dense")))
        bare = run_of(6)
        part = replace(bare.benchmarks[0], providers=())
        store.add(replace(bare, benchmarks=(part,)))
        means = {
            one.id: max(r.values[0].value for r in one.results)
            for one in store.list_runs()
            if one.results
        }
        best = sorted(means, key=means.__getitem__, reverse=True)
        page = store.page_runs(sort="ndcg_at_10", size=4)
        assert [one.id for one in page.runs] == best[:4]
        assert (page.total, page.pages) == (6, 2)
        # A run without the metric is last in both directions.
        last = store.page_runs(sort="nDCG@10", number=2, size=4)
        assert [one.id for one in last.runs] == [best[4], "run-0006"]
        worst = store.page_runs(sort="nDCG@10", reverse=True, size=9)
        assert [one.id for one in worst.runs] == [*best[::-1], "run-0006"]
        dense = store.page_runs(Filters(provider="dense"), sort="created", reverse=True)
        assert [one.id for one in dense.runs] == ["run-0002", "run-0004", "run-0006"][:2]
        assert [one.id for one in store.page_runs(sort="name", size=2).runs] == [
            "run-0001",
            "run-0002",
        ]
        with pytest.raises(ConfigurationError, match="page must be 1 or more, found 0"):
            store.page_runs(number=0)


def test_recent_values_end_at_their_run_and_follow_the_same_data(place: str) -> None:
    with open_store(place) as store:
        for number in range(1, 7):
            store.add(run_of(number, content_hash="sha256:2" if number == 3 else "sha256:1"))
        values = {
            one.id: one.results[1].values[0].value for one in store.list_runs(metrics=["nDCG@10"])
        }
        wanted = [(name, "fruit", "dense") for name in ("run-0005", "run-0003", "run-0099")]
        found = store.recent_values("ndcg_at_10", wanted, 3)
        assert found == {
            ("run-0005", "fruit", "dense"): tuple(values[f"run-000{n}"] for n in (2, 4, 5)),
            ("run-0003", "fruit", "dense"): (values["run-0003"],),
        }


def test_same_run_is_stored_once(place: str) -> None:
    with open_store(place) as store:
        store.add(run_of(1))
        assert store.add(run_of(1)).how == "there already"
        assert store.names() == ["run-0001"]


def test_resumed_run_replaces_the_old_one_only_on_request(place: str) -> None:
    record = run_of(1)
    again = replace(record, config_hash="sha256:other")
    with open_store(place) as store:
        store.add(record)
        assert store.add(again).how == "differs"
        assert store.get(record.id) == record
        assert store.add(again, replace_content=True).how == "replaced"
        assert store.get(record.id) == again
        assert len(store.list_runs()) == 1


def test_another_run_of_the_same_name_gets_a_longer_name(place: str) -> None:
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


def test_times_are_compared_across_time_zones(place: str) -> None:
    with open_store(place) as store:
        store.add(replace(run_of(1), id="london", created="2026-03-01T01:00:00+00:00"))
        store.add(replace(run_of(1), id="tokyo", created="2026-03-01T02:00:00+09:00"))
        assert store.names() == ["london", "tokyo"]


def test_trend_has_a_point_per_run(place: str) -> None:
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


def test_unknown_run_suggests_the_closest(place: str) -> None:
    with open_store(place) as store:
        store.add(run_of(12))
        with pytest.raises(DataError, match=r"no run 'run-012' in the store .* 'run-0012'"):
            store.get("run-012")


def test_delete_removes_only_the_named_runs(place: str) -> None:
    with open_store(place) as store:
        for number in range(4):
            store.add(run_of(number))
        assert store.delete(["run-0001", "run-0003", "nobody"]) == 2
        assert store.names() == ["run-0002", "run-0000"]
        assert {point.run for point in store.trend("RR")} == {"run-0002", "run-0000"}
        assert store.get("run-0002") == run_of(2)


def test_run_without_scores_is_stored(place: str) -> None:
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


def test_invalid_time_is_an_error_before_writing(place: str) -> None:
    with open_store(place) as store:
        with pytest.raises(DataError, match=r"run run-0001: 'created' must be a time.*'yesterday'"):
            store.add(replace(run_of(1), created="yesterday"))
        assert store.names() == []


def test_limit_of_none_or_zero_means_all(place: str) -> None:
    with open_store(place) as store:
        for number in (1, 2):
            store.add(run_of(number))
        assert len(store.list_runs(limit=0)) == len(store.list_runs(limit=None)) == 2
        assert len(store.list_runs(limit=1)) == 1
        with pytest.raises(ConfigurationError, match="limit must be 0"):
            store.list_runs(limit=-1)


def test_failed_queries_are_counted_in_lists_and_trends(place: str) -> None:
    record = run_of(1, providers=("bm25",))
    (part,) = record.benchmarks
    failed = replace(part.providers[0], outcomes={"ok": 1, "empty": 1, "error": 2, "timeout": 1})
    with open_store(place) as store:
        store.add(replace(record, benchmarks=(replace(part, providers=(failed,)),)))
        assert [one.failed for run in store.list_runs() for one in run.results] == [3]
        assert [point.failed for point in store.trend("RR")] == [3]
