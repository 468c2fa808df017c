"""Further columns of a table of judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import berryeval as be

if TYPE_CHECKING:
    from pathlib import Path


def loaded(folder: Path, rows: str, name: str = "judged.csv") -> be.Benchmark:
    (folder / name).write_text(rows, encoding="utf-8")
    return be.load_benchmark(folder / name)


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_column_with_one_value_per_query_belongs_to_the_query(
    tmp_path: Path, separator: str
) -> None:
    rows = (
        "query_id,question,doc_id,grade,Category,difficulty,team,judge\n"
        "q1,tea,d1,2,hot,easy,blue,ann\n"
        "q1,tea,d2,1,,easy,blue,ben\n"
        "q2,ice,d3,1,cold,,,ann\n"
    )
    name = "judged.csv" if separator == "," else "judged.tsv"
    benchmark = loaded(tmp_path, rows.replace(",", separator), name)
    one, two = benchmark.queries
    assert (one.category, one.difficulty, one.metadata) == ("hot", "easy", {"team": "blue"})
    assert (two.category, two.difficulty, two.metadata) == ("cold", "", {})
    assert [one.extra for one in benchmark.judgments] == [
        {"judge": "ann"},
        {"judge": "ben"},
        {"judge": "ann"},
    ]


@pytest.mark.parametrize("name", ["category", "Description", "difficulty"])
def test_a_column_with_several_values_per_query_belongs_to_the_judgments(
    tmp_path: Path, name: str
) -> None:
    rows = f"query_id,question,doc_id,grade,{name}\nq1,tea,d1,2,x\nq1,tea,d2,1,y\nq2,ice,d3,1,z\n"
    benchmark = loaded(tmp_path, rows)
    for one in benchmark.queries:
        assert (one.category, one.description, one.difficulty, one.metadata) == ("", "", "", {})
    assert [one.extra for one in benchmark.judgments] == [{name: "x"}, {name: "y"}, {name: "z"}]
