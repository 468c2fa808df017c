"""The best value of a column, and neutral tables."""

from __future__ import annotations

import pytest

import berryeval as be
from berryeval.reports.tables import Cell, Column, Table, best_of, build_differences_table, is_best


@pytest.mark.parametrize(
    ("metric", "values", "best"),
    [
        ("P@5", [0.22000000000000006, 0.22000000000000003, 0.1], [True, True, False]),
        ("P@5", [0.22000000000000006, 0.22000000000000003], [False, False]),
        ("P@5", [0.5, None, 0.25], [True, False, False]),
        ("P@5", [0.5], [False]),
        ("P@5", [], []),
        ("Unjudged@10", [0.5, 0.25], [False, True]),
        ("NumRet", [5.0, 7.0], [False, False]),
    ],
)
def test_values_equal_up_to_rounding_are_equally_good(
    metric: str, values: list[float | None], best: list[bool]
) -> None:
    """A single value is never the best, nor are all values at once."""
    found = best_of(values, metric)
    assert [is_best(value, found) for value in values] == best


def test_a_table_selects_columns_by_key_and_renames_them() -> None:
    table = Table(
        (Column("a", "first"), Column("b", "second", numeric=True)),
        ((Cell("x", "x"), Cell("0.500", 0.5)),),
    )
    found = table.select(["b", "a"], {"b": "value"})
    assert found.titles == ["value", "first"]
    assert [cell.value for cell in found.rows[0]] == [0.5, "x"]
    assert [cell.text for cell in table.cells("b")] == ["0.500"]


def test_every_column_of_differences_can_be_selected() -> None:
    qrels = {f"q{number}": {"d": 1} for number in range(12)}
    good = be.evaluate(qrels, {name: {"d": 1.0} for name in qrels}, ["RR"])
    bad = be.evaluate(qrels, {name: {"x": 2.0, "d": 1.0} for name in qrels}, ["RR"])
    (row,) = be.compare({"bad": bad, "good": good}).rows
    table = build_differences_table([("all", row)], level=0.95, benchmark="b", by="kind")
    cells = {column.key: cell for column, cell in zip(table.columns, table.rows[0], strict=True)}
    assert (cells["difference"].text, cells["difference"].value) == ("+0.500", 0.5)
    assert cells["difference"].bold
    assert cells["wins_ties_losses"].text == "12/0/0"
    assert cells["finding"].text == "better"
    assert table.select(["group", "interval"]).titles == ["kind", "95 % CI"]
