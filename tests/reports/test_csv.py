"""CSV export: headers, cells and file names, as programs and spreadsheets read them."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.text import defuse
from berryeval.errors import DataError
from berryeval.reports.exporters.csv import AGGREGATE, CSV, DETAILED
from berryeval.reports.sections import Report
from berryeval.runs.answers import Passage
from berryeval.runs.record import ProviderRecord, RunRecord
from tests.reports.world import QUERIES, RUNS, hard_report, plain_run, provider, run_of

if TYPE_CHECKING:
    from pathlib import Path

AGGREGATE_HEADER = (
    "query_type,count,recall_at_5,recall_at_10,recall_at_20,precision_at_5,precision_at_10,"
    "precision_at_20,mrr,ndcg_at_5,ndcg_at_10,ndcg_at_20,map,hit_rate_at_5,hit_rate_at_10,"
    "hit_rate_at_20"
)
DETAILED_HEADER = (
    "query,query_type,chunk_id,score,rank,relevance_grade,recall_at_10,mrr,ndcg_at_10,judged,"
    "query_id,doc_id"
)
SHOWN = {query.id: defuse(query.text) for query in QUERIES}


def pair(run: RunRecord, label: str = "") -> tuple[str, str]:
    """Return the texts of the two files."""
    aggregate, detailed = CSV.files(Report.of([run]), label)
    return aggregate.text, detailed.text


def rows(text: str) -> list[list[str]]:
    """Parse the cells."""
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_the_headers_are_the_documented_ones() -> None:
    """No byte order mark; lines end in CRLF."""
    for text, header in zip(pair(plain_run()), (AGGREGATE_HEADER, DETAILED_HEADER), strict=True):
        assert text.partition("\r\n")[0] == header
        assert text.endswith("\r\n")
    assert ",".join(AGGREGATE) == AGGREGATE_HEADER
    assert ",".join(DETAILED) == DETAILED_HEADER


def test_the_aggregate_file_has_a_row_per_query_type_and_one_for_all() -> None:
    """Sorted, GLOBAL last, four decimals."""
    _, *found = rows(pair(plain_run())[0])
    assert [row[:2] for row in found] == [
        ["'@conceptual", "1"], ["factual", "2"], ["unspecified", "1"], ["GLOBAL", "4"],
    ]  # fmt: skip
    record = provider("bm25").standard
    assert record is not None
    assert found[-1][2:] == [f"{value:.4f}" for value in record.mean.values()]


def test_a_query_type_named_global_differs_from_the_row_of_all() -> None:
    run = plain_run()
    part = run.benchmarks[0]
    queries = tuple(replace(query, category="GLOBAL") for query in part.queries)
    changed = replace(run, benchmarks=(replace(part, queries=queries),))
    _, *found = rows(pair(changed)[0])
    assert [row[0] for row in found] == ["GLOBAL (query type)", "GLOBAL"]
    _, *hits = rows(pair(changed)[1])
    assert {row[1] for row in hits} == {"GLOBAL (query type)"}


def test_cells_deeper_than_the_hits_requested_are_empty() -> None:
    run = plain_run()
    for k, gone in ((10, {"20"}), (5, {"10", "20"})):
        changed = replace(run, benchmarks=(replace(run.benchmarks[0], k=k),))
        for text in pair(changed):
            header, *found = rows(text)
            for name, cell in zip(header, found[-1], strict=True):
                if name.rpartition("_at_")[1]:
                    assert (cell == "") == (name.rpartition("_at_")[2] in gone), name


def test_the_detailed_file_has_a_row_per_query_and_chunk() -> None:
    """Metrics stand in the first row of a query; a query without hits has a row too."""
    _, *found = rows(pair(plain_run())[1])
    expected = [
        [SHOWN[query], defuse(doc), repr(score), str(rank)]
        for query, hits in RUNS["bm25"].items()
        for rank, (doc, score) in enumerate(hits.items(), 1)
    ] + [[SHOWN["q4"], "", "", ""]]
    assert [[row[0], *row[2:5]] for row in found] == expected
    first = [row for row in found if row[4] in {"1", ""}]
    assert len(first) == 4
    assert all(all(row[6:9]) for row in first)
    assert not any(any(row[6:9]) for row in found if row not in first)
    assert [row[10] for row in found] == ["q1"] * 3 + ["q2"] * 2 + ["q3", "q4"]


def test_the_documents_of_hits_are_named() -> None:
    run = plain_run()
    part = run.benchmarks[0]
    (one,) = part.providers
    hits = tuple(replace(hit, passage=0) for hit in one.answers[0].hits)
    answers = [replace(one.answers[0], hits=hits), *one.answers[1:]]
    part = replace(
        part,
        passages=(Passage("Steep.", "guide > Tea"),),
        providers=(replace(one, answers=answers),),
    )
    _, *found = rows(pair(replace(run, benchmarks=(part,)))[1])
    assert [row[-1] for row in found[:4]] == ["guide"] * 3 + [""]


def test_golden_sets_have_all_four_types_in_their_order() -> None:
    run = plain_run()
    part = run.benchmarks[0]
    types = ("TROUBLESHOOTING", "FACTUAL", "FACTUAL", "other")
    queries = tuple(
        replace(query, category=kind) for query, kind in zip(part.queries, types, strict=True)
    )
    _, *found = rows(pair(replace(run, benchmarks=(replace(part, queries=queries),)))[0])
    assert [row[:2] for row in found] == [
        ["FACTUAL", "2"], ["CONCEPTUAL", "0"], ["CODE_LOOKUP", "0"], ["TROUBLESHOOTING", "1"],
        ["other", "1"], ["GLOBAL", "4"],
    ]  # fmt: skip
    assert set(found[1][2:]) == {"0.0000"}


def test_an_unjudged_hit_has_grade_0_and_is_not_judged() -> None:
    grades = {row[2]: (row[5], row[9]) for row in rows(pair(plain_run())[1])[1:5]}
    assert grades == {
        "tea#1": ("2", "yes"), "cup": ("0", "yes"), "tea#2": ("1", "yes"), "'+tea": ("0", "no")
    }  # fmt: skip


def test_file_names_have_time_benchmark_and_provider_or_the_label() -> None:
    names = [file.name for file in CSV.files(Report.of([plain_run()]), "")]
    assert names == [
        "eval-aggregate-2026-02-21T14-30-00-drinks-bm25.csv",
        "eval-detailed-2026-02-21T14-30-00-drinks-bm25.csv",
    ]
    assert [file.name for file in CSV.files(Report.of([plain_run()]), "to day/1")] == [
        "eval-aggregate-2026-02-21T14-30-00-to-day-1.csv",
        "eval-detailed-2026-02-21T14-30-00-to-day-1.csv",
    ]


def test_no_two_files_share_a_name() -> None:
    from dataclasses import replace

    one, two = provider("bm25"), provider("our|search_v2 <b>")
    twins = run_of(replace(one, name="a/b"), replace(two, name="a:B"))
    report = Report.of([twins, run_of(replace(one, name="a/b"), second=1)])
    files = CSV.files(report, "")
    assert len({file.name.lower() for file in files}) == len(files) == 6
    assert len({file.part.lower() for file in files}) == 6


def test_a_report_without_scores_is_an_error() -> None:
    run = run_of(ProviderRecord("broken", "http", failure="no answer"))
    with pytest.raises(DataError, match="no provider has scores"):
        CSV.files(Report.of([run]), "")


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@x", "\t=1", "\rx", " =1", "\ufeff=1", "＝1", "－1", "'=1"],  # noqa: RUF001
)
def test_formulas_are_defused(text: str) -> None:
    assert defuse(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "1-2", "tea", "'quoted'", "übel", "1"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert defuse(text) == text


@given(st.text(st.sampled_from("'=+-@\t\r\n ＝a1")))  # noqa: RUF001
def test_defusing_can_be_undone(text: str) -> None:
    shown = defuse(text)
    changed = shown.startswith("'") and defuse(shown) != shown
    assert (shown[1:] if changed else shown) == text


def test_pandas_reads_the_cells() -> None:
    aggregate, detailed = (pd.read_csv(io.BytesIO(text.encode())) for text in pair(plain_run()))
    assert list(aggregate) == list(AGGREGATE)
    assert list(detailed) == list(DETAILED)
    assert aggregate["count"].tolist() == [1, 2, 1, 4]
    assert aggregate["ndcg_at_10"].tolist() == [0.6309, 0.9751, 0.0, 0.6453]
    assert detailed["score"].tolist()[:6] == [9.25, 1e-07, -0.5, 2.0, 1.0, 0.1 + 0.2]
    assert detailed["query"].tolist()[3:6] == ['How hot,\nand "why"?'] * 2 + [
        "Ist Kaffee größer als ☕?"
    ]
    assert detailed["relevance_grade"].tolist()[:3] == [2, 0, 1]
    assert detailed["rank"].isna().tolist() == [False] * 6 + [True]


SOFFICE = shutil.which("soffice") or ""


@pytest.mark.skipif(not SOFFICE, reason="LibreOffice (soffice) is not installed")
def test_libreoffice_reads_the_cells(tmp_path: Path) -> None:
    """Nothing became a formula."""
    for place, file in enumerate(CSV.files(hard_report(), "")):
        source = tmp_path / f"{place}.csv"
        source.write_bytes(file.text.encode())
        subprocess.run(
            [SOFFICE, f"-env:UserInstallation=file://{tmp_path}/profile", "--headless",
             "--infilter=CSV:44,34,76,1", "--convert-to", "fods", "--outdir", str(tmp_path),
             str(source)],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        found = spreadsheet_cells(source.with_suffix(".fods"))
        expected = rows(file.text)
        assert len(found) == len(expected)
        for read, written in zip(found, expected, strict=True):
            cells = [*read, *[""] * (len(written) - len(read))]
            expected_cells = [_number(text) for text in written]
            assert [_rounded(cell) for cell in cells] == list(map(_rounded, expected_cells))


def spreadsheet_cells(path: Path) -> list[list[str | float]]:
    """Read the cells of a flat spreadsheet without formulas."""
    table = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
    office = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
    text = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}p"
    found: list[list[str | float]] = []
    for row in ET.parse(path).getroot().iter(f"{table}table-row"):  # noqa: S314 - our own file
        cells: list[str | float] = []
        for cell in row.iter(f"{table}table-cell"):
            assert cell.get(f"{table}formula") is None
            value: str | float = "\n".join("".join(part.itertext()) for part in cell.iter(text))
            if cell.get(f"{office}value-type") == "float":
                value = float(cell.get(f"{office}value", "nan"))
            cells += [value] * int(cell.get(f"{table}number-columns-repeated", "1"))
        while cells and cells[-1] == "":
            cells.pop()
        if cells:
            found.append(cells)
    return found


def _number(text: str) -> str | float:
    """Read a cell as a spreadsheet does."""
    try:
        return float(text)
    except ValueError:
        return text


def _rounded(cell: str | float) -> str | float:
    """Round as a spreadsheet does, which keeps fifteen digits."""
    return cell if isinstance(cell, str) else float(f"{cell:.14g}")
