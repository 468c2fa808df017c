"""The table of queries of one or more runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data import Query
from berryeval.errors import DataError
from berryeval.web.frame import environment
from berryeval.web.query_detail import QueryRequest, view_query
from berryeval.web.query_table import QueryTable, TableRequest, check_place
from berryeval.web.site import SiteSettings
from tests.reports.html_records import changed, nasty_run, run_record

if TYPE_CHECKING:
    from berryeval.runs import RunRecord


def table_of(*runs: RunRecord, benchmark: str = "") -> QueryTable:
    """Return the table of some runs."""
    return QueryTable(runs, benchmark, SiteSettings())


def ask(**choices: Any) -> TableRequest:
    """Return a request for any run."""
    return TableRequest(run=["any"], **choices)


def later(queries: int, **choices: Any) -> RunRecord:
    """Return a later run, whose first query is asked in other words."""
    run = replace(run_record(queries, (0.2, 0.3), seed=1), id="later", **choices)
    first, *others = run.benchmarks[0].queries
    return changed(run, queries=(replace(first, text="Who renews a token?"), *others), k=5)


def test_rows_come_in_pages_in_any_order() -> None:
    table = table_of(run_record(9))
    first = table.view(ask(size=4))
    assert (first.total, first.matching, first.pages, len(first.rows)) == (9, 9, 3, 4)
    last = table.view(ask(size=4, page=99))
    assert (last.page, [row.id for row in last.rows]) == (3, ["q-008"])
    values = table.select(ask(sort="-value:system-3"))
    order = [row.values[3] for row in values]
    assert order == sorted(order, key=lambda one: -(one or 0))
    spread = table.select(ask(sort="-spread"))[0]
    known = [one for one in spread.values if one is not None]
    assert spread.spread == max(known) - min(known)


def test_counts_agree_with_the_answers() -> None:
    run = run_record(6)
    for row in table_of(run).select(ask()):
        for place, provider in enumerate(run.benchmarks[0].providers):
            (answer,) = [one for one in provider.answers if one.query_id == row.id]
            assert row.found[place] == sum((hit.grade or 0) > 0 for hit in answer.hits)
            assert row.wanted >= row.found[place] + len(answer.missed)
        hits = [
            hit for one in run.benchmarks[0].providers for hit in one.answers[row.number - 1].hits
        ]
        assert row.unjudged == len({hit.id for hit in hits if hit.grade is None})


def test_each_choice_shows_the_queries_that_it_names() -> None:
    run = run_record(12)
    first, *others = run.benchmarks[0].providers
    silent = tuple(
        replace(one, outcome="error", hits=(), error="down") if one.query_id == "q-004" else one
        for one in first.answers
    )
    table = table_of(changed(run, providers=(replace(first, answers=silent), *others)))
    shown = {name: table.select(ask(show=name)) for name in
             ("all", "different", "missed", "nothing", "unjudged", "failed")}  # fmt: skip
    assert [row.id for row in shown["failed"]] == ["q-004"]
    assert all(row.spread for row in shown["different"])
    assert all(row.unjudged for row in shown["unjudged"])
    assert all(not any(row.found) for row in shown["nothing"])
    assert len(shown["missed"]) == len(shown["all"]) == 12  # every answer misses a target


def test_runs_of_other_queries_stand_side_by_side() -> None:
    table = table_of(run_record(3), later(4))
    assert table.letters == {"2026-01-02-run": "A", "later": "B"}
    view = table.view(ask())
    assert [one.short for one in view.systems] == [
        "system-0 A", "system-1 A", "system-2 A", "system-3 A", "system-0 B", "system-1 B",
    ]  # fmt: skip
    assert view.total == 4
    only_later = view.rows[3]
    assert only_later.values[:4] == [None] * 4
    assert only_later.outcomes[:4] == ["missing"] * 4
    assert [row.id for row in table.select(ask(sort="value:system-0 (2026-01-02-run)"))][
        -1
    ] == "q-003"
    found = view_query(table, QueryRequest(run=["any"], id="q-000"))
    assert found.text == "Who renews a token?"
    assert found.earlier_texts == ["How long is a token valid, and who renews it?"]
    assert len(found.rankings) == 6


def test_texts_of_any_kind_can_be_sent_and_asked_for_again() -> None:
    run = nasty_run()
    odd = Query("half \ud83d", "text \ud83d")
    table = table_of(changed(run, queries=(*run.benchmarks[0].queries, odd)))
    page = table.view(ask())
    assert "\ud83d" not in page.model_dump_json()
    name = page.rows[-1].id
    assert view_query(table, QueryRequest(run=["any"], id=name)).text == "text ?"
    with pytest.raises(DataError, match="no query"):
        view_query(table, QueryRequest(run=["any"], id="none"))


def test_a_run_without_a_benchmark_has_no_table() -> None:
    with pytest.raises(DataError, match="has no benchmark"):
        table_of(replace(run_record(2), benchmarks=()))


def test_people_cannot_make_the_server_read_other_folders() -> None:
    run = replace(run_record(2), plan={"benchmarks": ["/etc"]})
    check_place(run, "manual", SiteSettings())
    with pytest.raises(DataError, match="not in the folder of this server"):
        check_place(run, "manual", SiteSettings(users=True))
    check_place(run, "manual", SiteSettings(users=True, benchmarks=("/etc",)))
    check_place(replace(run, plan={"benchmarks": ["inside"]}), "manual", SiteSettings(users=True))
    named = replace(run, plan={"benchmarks": ["hf:mteb/scifact"]})  # it would be downloaded
    with pytest.raises(DataError, match="is not in the folder of this server"):
        check_place(named, "manual", SiteSettings(users=True))
    corpus = {"source": "inside", "options": {"corpus": ["/etc"]}}
    for place in ("../other", {"source": "/etc"}, "nul \0", corpus):
        with pytest.raises(DataError, match="not in the folder of this server"):
            check_place(
                replace(run, plan={"benchmarks": [place]}), "manual", SiteSettings(users=True)
            )


@pytest.mark.parametrize("place", ["/etc", "../other", "nul \0"])
def test_names_of_a_run_lead_to_no_other_folder(place: str) -> None:
    """A benchmark can be found by its name, and a run by its id, where a folder is called so."""
    run = replace(run_record(2), plan={})
    with pytest.raises(DataError, match="not in the folder of this server"):
        check_place(run, place, SiteSettings(users=True))
    with pytest.raises(DataError, match="not in the folder of this server"):
        check_place(replace(run, id=place), "manual", SiteSettings(users=True))
    check_place(run, "manual", SiteSettings(users=True))


def test_headings_are_left_out_of_the_beginning_of_a_passage() -> None:
    shown = environment().from_string("{{ text|without_heading }}").render(text="# Keys\n\nA key.")
    assert shown.strip() == "A key."
