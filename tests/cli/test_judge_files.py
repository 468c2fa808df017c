"""`berryeval judge export`, `import` and `apply`: sheets come back checked."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berryeval.benchmarks import load_benchmark, write_benchmark
from berryeval.data import Anchor
from berryeval.judging import Ledger, Pair, Pool, Vote, make_pair_id, open_ledger
from tests.cli.eval_world import DRINKS, berryeval, write_drinks

TEXTS = {"tea": "=1+1 Tea\n is steeped.", "coffee": 'Beans; "ground",\nbrewed.', "water": "Wet é."}
PAIRS = tuple(
    Pair(make_pair_id(query, Anchor(document=name)), query, Anchor(document=name), TEXTS[name])
    for query, name in [("q1", "tea"), ("q1", "coffee"), ("q2", "water")]
)
IMPORT = ("judge", "import", "ann.csv", "--judge", "ann")


@pytest.fixture(autouse=True)
def drinks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    described = replace(DRINKS.queries[0], description="the heat", metadata={"answer": "80"})
    write_benchmark(replace(DRINKS, queries=(described, *DRINKS.queries[1:])), "drinks")
    folder = tmp_path / "drinks.judged"
    folder.mkdir()
    pool = Pool("drinks", DRINKS.content_hash, "depth", 10, 0, PAIRS, rankings={"secret": {}})
    pool.write(folder / "pool.json")
    return folder


def read(path: str = "ann.csv") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(Path(path).read_bytes().decode(), newline="")))


def write(rows: list[dict[str, str]], *, delimiter: str = ",", start: str = "") -> None:
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    Path("ann.csv").write_bytes((start + stream.getvalue()).encode())


def export(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    assert berryeval("judge", "export", "--judge", "ann", "-o", "ann.csv") == 0
    capsys.readouterr()
    return read()


def grades(folder: Path) -> dict[str, float | None]:
    return {make_pair_id(one.query_id, one.target): one.grade for one in Ledger(folder).current()}


def test_a_sheet_is_blind_and_safe(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("judge", "export", "--judge", "ann", "-o", "ann.csv") == 0
    assert capsys.readouterr().out == (
        "3 pairs for ann written to ann.csv\n"
        "fill in the grades, then: berryeval judge import ann.csv --judge ann\n"
    )
    rows = read()
    assert rows[0]["pair"] == f"p{PAIRS[0].id}"
    assert list(rows[0]) == ["pair", "query_id", "query", "wanted", "passage", "grade", "note"]
    assert [row["passage"] for row in rows] == [f"'{TEXTS['tea']}", TEXTS["coffee"], TEXTS["water"]]
    assert rows[0]["wanted"] == "wanted: the heat\nexpected answer: 80"
    assert (rows[0]["grade"], rows[0]["note"]) == ("", "")
    assert "secret" not in Path("ann.csv").read_text()


def test_a_sheet_comes_back(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = export(capsys)
    rows[0] |= {"grade": "2", "note": "clear"}
    rows[1]["grade"] = "?"
    write(rows)
    assert berryeval(*IMPORT) == 0
    assert capsys.readouterr().out == "2 votes of ann added; 1 row without a grade\n"
    first, second = Ledger(drinks).votes()
    assert (first.grade, first.note, first.judge, first.kind) == (2, "clear", "ann", "human")
    assert first.content
    assert second.grade is None
    assert berryeval(*IMPORT) == 0
    assert (
        capsys.readouterr().out == "0 votes of ann added; 2 there already; 1 row without a grade\n"
    )
    assert len(Ledger(drinks).votes()) == 2
    Path("ann.csv").unlink()
    assert [row["pair"] for row in export(capsys)] == [f"p{PAIRS[2].id}"]


def test_a_sheet_that_is_corrected_back_counts(
    drinks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is there already is the judge's last vote, not one of the votes before it."""
    rows = export(capsys)
    for grade in ("1", "2", "1"):
        rows[0]["grade"] = grade
        write(rows)
        assert berryeval(*IMPORT) == 0
        assert "1 vote of ann added" in capsys.readouterr().out
        assert grades(drinks) == {PAIRS[0].id: float(grade)}
    assert berryeval(*IMPORT) == 0
    assert "0 votes of ann added; 1 there already" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("--adjudicate",), ("--kind", "llm")])
def test_the_same_grades_in_another_role_are_new(
    drinks: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    rows = export(capsys)
    rows[0]["grade"] = "1"
    write(rows)
    berryeval(*IMPORT)
    capsys.readouterr()
    for said in ("1 vote of ann added", "0 votes of ann added; 1 there already"):
        assert berryeval(*IMPORT, *words) == 0
        assert said in capsys.readouterr().out
    last = Ledger(drinks).votes()[-1]
    assert (last.adjudicates, last.kind) == (
        ("--adjudicate" in words),
        ("human", "llm")["llm" in words],
    )


def test_a_note_without_a_grade_is_not_lost_in_silence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = export(capsys)
    rows[0]["grade"] = "1"
    rows[1]["note"] = "which beans?"
    write(rows)
    assert berryeval(*IMPORT) == 0
    said = "1 note without a grade (line 5) was not kept: give the row a grade, or ?"
    assert said in capsys.readouterr().err


def test_a_new_judge_of_a_sheet_sees_who_judged_before(
    drinks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Ledger(drinks).append([Vote("q1", PAIRS[0].target, 2, "ben")])
    rows = export(capsys)
    rows[0]["grade"] = "1"
    write(rows)
    assert berryeval("judge", "import", "ann.csv", "--judge", "Ben ") == 2
    assert "no votes of the judge 'Ben'; did you mean 'ben'?" in capsys.readouterr().err
    assert berryeval("judge", "import", "ann.csv", "--judge", " ann") == 0
    said = capsys.readouterr()
    assert said.err.startswith("first session of ann; known judges: ben\n")
    assert said.out.startswith("1 vote of ann added")


def test_json_lines_go_the_same_way(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("judge", "export", "--judge", "ann", "-o", "ann.jsonl") == 0
    rows = [json.loads(line) for line in Path("ann.jsonl").read_text().splitlines()]
    assert rows[0]["passage"] == TEXTS["tea"]
    rows[2]["grade"] = 2
    rows[1]["grade"] = "1,0"
    Path("ann.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    capsys.readouterr()
    assert berryeval("judge", "import", "ann.jsonl", "--judge", "ann", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    (note,) = data.pop("notes")
    assert note.startswith("the text of 3 pairs of the pool has changed since: pool again")
    assert data == {"judge": "ann", "added": 2, "known": 0, "empty": 1, "missing": 0}
    assert grades(drinks) == {PAIRS[1].id: 1, PAIRS[2].id: 2}


def test_a_sheet_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    rows = export(capsys)
    rows[0]["grade"] = "1"
    write(rows)
    words = ("judge", "export", "--judge", "ann", "-o", "ann.csv")
    assert berryeval(*words) == 2
    said = capsys.readouterr().err
    assert "ann.csv: exists already and may have grades; give another --output" in said
    assert read() == rows
    assert berryeval(*words, "--force") == 0
    assert read()[0]["grade"] == ""


def test_changes_made_by_spreadsheets_are_ignored(
    drinks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A byte order mark, semicolons, other line ends, a missing or added apostrophe, moved rows."""
    rows = export(capsys)
    rows[0] |= {"grade": "1.0", "passage": TEXTS["tea"].replace("\n", "\r\n ")}
    rows[0] |= {"query_id": "01/01/26"}
    rows[1]["grade"] = " 2 "
    write(rows[::-1], delimiter=";", start="\ufeff")
    assert berryeval(*IMPORT) == 0
    assert grades(drinks) == {PAIRS[0].id: 1, PAIRS[1].id: 2}


def test_another_encoding_is_named(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = export(capsys)
    rows[2]["grade"] = "1"
    write(rows)
    Path("ann.csv").write_bytes(Path("ann.csv").read_bytes().decode().encode("cp1252"))
    assert berryeval(*IMPORT) == 2
    assert "save it as UTF-8, or name its encoding: --encoding cp1252" in capsys.readouterr().err
    assert berryeval(*IMPORT, "--encoding", "cp1252") == 0
    assert grades(drinks) == {PAIRS[2].id: 1}


def test_lost_rows_are_counted(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = export(capsys)
    rows[0]["grade"] = "1"
    write(rows[:1])
    assert berryeval(*IMPORT) == 0
    said = "1 vote of ann added; 2 unjudged pairs of the pool not in the sheet\n"
    assert capsys.readouterr().out == said
    assert grades(drinks) == {PAIRS[0].id: 1}


Edit = Callable[[list[dict[str, str]]], Any]


def fill(**cells: str) -> Edit:
    return lambda rows: rows[1].update(cells)


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (fill(grade="7"), "line 5: the grade must be one of 0, 1, 2, found 7"),
        (fill(grade="good"), "line 5: expected a grade, ? or nothing, found 'good'"),
        (fill(grade="nan"), "line 5: expected a grade, ? or nothing, found 'nan'"),
        (fill(pair="x"), "line 5: the pair 'x' is not in the pool"),
        (fill(passage="Beans."), "line 5: the passage of the pair"),
        (fill(query="What?"), "line 5: the query of the pair"),
        (lambda rows: rows.append({**rows[0], "grade": "1"}), "another grade or note in line 2"),
        (lambda rows: [row.update(pair="x") for row in rows], "none of 3 rows is in the pool"),
        (lambda rows: [row.pop("passage") for row in rows], "has no 'passage', which every sheet"),
    ],
)
def test_a_fault_is_named_and_nothing_is_written(
    drinks: Path, capsys: pytest.CaptureFixture[str], edit: Edit, problem: str
) -> None:
    rows = export(capsys)
    rows[0]["grade"] = "2"
    edit(rows)
    write(rows)
    assert berryeval(*IMPORT) == 2
    said = capsys.readouterr().err
    assert problem in said
    assert said.count("\n") == 1
    assert said.endswith("nothing was imported\n")
    assert not (drinks / "votes").exists()


def test_ten_faults_are_listed(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = export(capsys)
    write([{**rows[0], "grade": "1"}, *({**rows[0], "grade": str(9 + n)} for n in range(12))])
    assert berryeval(*IMPORT) == 2
    said = capsys.readouterr().err
    assert "ann.csv: 12 faults: line 5: the grade must be" in said
    assert said.count(": the grade must be") == 10
    assert "; and 2 more; nothing was imported" in said
    assert not (drinks / "votes").exists()


def test_a_judge_must_be_named_and_of_a_known_kind(capsys: pytest.CaptureFixture[str]) -> None:
    export(capsys)
    assert berryeval("judge", "import", "ann.csv") == 2
    assert "--judge" in capsys.readouterr().err
    assert berryeval(*IMPORT, "--kind", "robot") == 2
    assert "--kind must be one of human, llm, function, found 'robot'" in capsys.readouterr().err
    assert berryeval(*IMPORT[:-1], "human") == 2
    assert "no judge can be called 'human'" in capsys.readouterr().err


def test_votes_may_be_in_a_store(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = export(capsys)
    rows[0]["grade"] = "2"
    write(rows)
    assert berryeval(*IMPORT, "--ledger", "votes.db", "--adjudicate") == 0
    (found,) = open_ledger("votes.db", "drinks").votes()
    assert (found.grade, found.adjudicates) == (2, True)
    assert not (drinks / "votes").exists()
    capsys.readouterr()
    assert berryeval("judge", "export", "--judge", "ann", "--ledger", "votes.db", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["pairs"], data["path"]) == (2, None)
    assert data["text"].startswith("pair,query_id,")


def test_apply_writes_the_decided_grades(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = Anchor(document="coffee")
    Ledger(drinks).append(
        [
            Vote("q1", target, 3, "Ann"), Vote("q1", target, 1, "Ben"),
            Vote("q2", target, 2, "gpt", "llm"),
        ]
    )  # fmt: skip
    before = load_benchmark("drinks")
    assert berryeval("judge", "apply", "-o", "new") == 0
    assert capsys.readouterr().out == (
        "with 1 judgment of 1 judge from drinks.judged; 1 pair undecided\n"
        "Benchmark('drinks', 3 documents, 4 queries, 6 judgments) written to new\n"
    )
    assert load_benchmark("new").judgments[-1].grade == 2
    assert load_benchmark("new").metadata["judged"]["judges"] == ["gpt"]
    words = ("judge", "apply", "drinks", "-o", "new.jsonl", "--judge", "Ben", "--kinds", "human")
    assert berryeval(*words, "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert (data["judgments"], data["judges"], data["undecided"]) == (1, ["Ben"], 0)
    found = load_benchmark("new.jsonl")
    assert (found.judgments[-1].target, found.judgments[-1].grade) == (target, 1)
    assert found.documents == before.documents


def test_apply_takes_the_options_of_the_format() -> None:
    Path("texts").mkdir()
    Path("texts/tea.md").write_text("# Tea\n")
    Path("fruit.csv").write_text("question,doc_id\nTea?,tea\n")
    target = Anchor(document="tea")
    Ledger("fruit.judged").append([Vote("tea", target, 2, "Ann")])
    words = ("judge", "apply", "fruit.csv", "-o", "new", "--options", "corpus=texts")
    assert berryeval(*words) == 0
    found = load_benchmark("new")
    assert ([one.id for one in found.documents], found.judgments[0].grade) == (["tea"], 2)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--judge", "Bens"), "no votes of the judge 'Bens'; did you mean 'Ben'?"),
        (("--judges", "Zoe"), "no votes of the judge 'Zoe'; there are Ben"),
        (("--kinds", "robot"), "--kinds must be one of human, llm, function, found 'robot'"),
        (("-o", "drinks"), "drinks: is the benchmark itself; give another --output"),
        (("--ledger", "nowhere"), "nowhere: there are no votes on drinks"),
    ],
)
def test_apply_rejects(
    drinks: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], problem: str
) -> None:
    Ledger(drinks).append([Vote("q1", Anchor(document="coffee"), 3, "Ben")])
    output = () if "-o" in words else ("-o", "new")
    assert berryeval("judge", "apply", "drinks", *output, *words) == 2
    assert problem in capsys.readouterr().err
    assert not Path("new").exists()


def test_nothing_is_applied_without_votes(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("judge", "apply", "-o", "new") == 2
    assert "no votes in drinks.judged; nothing was written" in capsys.readouterr().err
    write_drinks(Path("sub"))
    assert berryeval("judge", "apply", "sub/drinks", "-o", "new") == 2
    assert "no votes in sub/drinks.judged" in capsys.readouterr().err
