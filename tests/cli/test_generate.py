"""`berryeval generate`: a benchmark from documents, and its review."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from berryeval.benchmarks import load_benchmark
from tests.cli.eval_world import berryeval
from tests.judging.test_known_items import COFFEE, SOIL, TEA

FILES = {
    "benchmark.json", "documents.jsonl", "queries.jsonl", "judgments.jsonl", "datasheet.md",
    "questions.csv", "rejected.jsonl",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs/hot").mkdir(parents=True)
    Path("docs/hot/tea.md").write_text(TEA)
    Path("docs/coffee.md").write_text(COFFEE)
    Path("docs/soil.txt").write_text(SOIL)


def read_sheet(path: str = "docs-generated/questions.csv") -> list[dict[str, str]]:
    with Path(path).open(newline="") as stream:
        return list(csv.DictReader(stream))


def write_sheet(rows: list[dict[str, str]], path: str = "mine.csv") -> None:
    with Path(path).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_generate_writes_a_benchmark_that_eval_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("generate", "docs", "--count", "8") == 0
    out = capsys.readouterr().out
    assert out.startswith("written: docs-generated (8 queries, 3 documents)\n")
    assert "generated, not reviewed: read docs-generated/datasheet.md\n" in out
    assert out.endswith("next: berryeval eval docs-generated --providers bm25 bm25:fixed-400\n")
    assert {path.name for path in Path("docs-generated").iterdir()} == FILES
    assert berryeval("validate", "docs-generated") == 0
    assert "generated (known-item), not reviewed" in capsys.readouterr().out
    assert berryeval("eval", "docs-generated", "--providers", "bm25", "--export", "markdown") == 0
    out = capsys.readouterr().out
    assert "note: docs-generated: generated (known-item), not reviewed" in out
    (page,) = Path(".berryeval/runs").glob("*/report.md")
    assert "generated (known-item), not reviewed" in page.read_text().replace("\\", "")


def test_the_datasheet_says_how_it_was_made() -> None:
    assert berryeval("generate", "docs", "--count", "6", "--seed", "3", "--noise", "0.2") == 0
    text = Path("docs-generated/datasheet.md").read_text().replace("\\", "")
    assert "**Nobody has reviewed these queries yet.**" in text
    assert "| seed | 3 |" in text
    assert "| noise | 0.2 |" in text
    assert "| corpus_hash | sha256:" in text
    assert "| known-item | 6 |" in text
    assert "## Rejected" in text
    assert "## Limits" in text


def test_the_same_seed_writes_the_same_bytes() -> None:
    for folder in ("one", "two"):
        assert berryeval("generate", "docs", "--count", "8", "-o", folder) == 0
    for name in FILES - {"benchmark.json", "datasheet.md"}:  # these have the name of the folder
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()


def test_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("generate", "docs", "--count", "4", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["folder"] == "docs-generated"
    assert data["queries"] == 4
    assert data["reviewed"] is False
    assert data["shortage"] == ""
    assert any(finding["check"] == "size" for finding in data["findings"])


def test_more_than_can_be_drawn_says_how_many_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("generate", "docs", "--count", "5000") == 0
    out = capsys.readouterr().out
    found = len(load_benchmark("docs-generated").queries)
    assert f"fewer than asked for: {found} of 5000 queries could be made from 6 passages" in out
    lines = Path("docs-generated/rejected.jsonl").read_text().splitlines()
    reasons = Counter(json.loads(line)["reason"] for line in lines)
    assert reasons
    assert all(f"{count} {reason}" in out for reason, count in reasons.items())
    assert {"passage", "reason", "detail", "text"} == set(json.loads(lines[0]))


@pytest.mark.parametrize("corpus", ["lines.jsonl", "trec.txt", "bench", "technical-docs"])
def test_other_corpora(corpus: str) -> None:
    """JSON lines, a TREC collection, the documents of a benchmark, and a bundled benchmark."""
    texts = {"tea": TEA, "coffee": COFFEE, "soil": SOIL}
    lines = [json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()]
    Path("lines.jsonl").write_text("".join(lines))
    docs = (f"<DOC>\n<DOCNO>{a}</DOCNO>\n<TEXT>\n{b}</TEXT>\n</DOC>\n" for a, b in texts.items())
    Path("trec.txt").write_text("".join(docs))
    assert berryeval("generate", "docs", "-o", "bench", "--count", "3") == 0
    assert berryeval("generate", corpus, "-o", "out", "--count", "5") == 0
    made = load_benchmark("out")
    assert len(made.queries) == 5
    known = load_benchmark(corpus).documents if corpus == "technical-docs" else made.documents[:3]
    assert len(made.documents) == len(known)


def fill(folder: str) -> None:
    Path(folder).mkdir()
    Path(folder, "mine.txt").write_text("precious")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such file or folder"),
        (["empty"], "empty: has no documents; expected files that end in one of"),
        (["none.jsonl"], "none.jsonl: has no documents, so there is nothing to ask about"),
        (["blank"], "blank: has no documents with text, so there is nothing to ask about"),
        (["wordless"], "no passage has 5 different words besides stop words"),
        (["single"], "only one passage has enough words, which every search would find"),
        (["docs", "-o", "full"], "full: is not empty; choose another folder with --output"),
        (["docs", "-o", "docs/soil.txt"], "docs/soil.txt: is a file; choose a folder"),
        (["docs", "-o", "docs/new"], "docs/new: is inside of the corpus docs; choose a folder"),
        (["docs", "--method", "best"], "method must be one of popular, uniform, discriminative"),
        (["docs", "--count", "0"], "count must be a whole number of at least 1, found 0"),
        (["docs", "--noise", "nan"], "noise must be a number from 0 to below 1, found nan"),
        (["docs", "--seed", "-1"], "seed must be a whole number of at least 0, found -1"),
        (
            ["copies"],
            "copies: 0 of 50 queries could be made from 5 passages; rejected: 50 ambiguous",
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    Path("none.jsonl").write_text("\n")
    for folder, text in {"blank": " \n", "wordless": "17, 18: it is.", "single": SOIL}.items():
        Path(folder).mkdir()
        Path(folder, "a.txt").write_text(text)
    Path("copies").mkdir()
    for name in "abcde":
        Path("copies", f"{name}.txt").write_text(SOIL)
    fill("full")
    before = sorted(map(str, Path().rglob("*")))
    assert berryeval("generate", *arguments) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert sorted(map(str, Path().rglob("*"))) == before


def test_a_review_keeps_changes_and_drops_queries(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("generate", "docs", "--count", "6") == 0
    rows = read_sheet()
    for row in rows:
        row["keep"] = "yes"
    rows[0]["keep"] = "no"
    rows[1]["question"] = "How warm should the water be?"
    write_sheet(rows)
    capsys.readouterr()
    assert berryeval("generate", "docs-generated", "--reviewed", "mine.csv") == 0
    assert "reviewed: 5 kept, 1 of them changed, 1 dropped\n" in capsys.readouterr().out
    made = load_benchmark("docs-generated")
    assert [query.id for query in made.queries] == ["g2", "g3", "g4", "g5", "g6"]
    assert made.queries[0].text == "How warm should the water be?"
    assert {one.query_id for one in made.judgments} == {query.id for query in made.queries}
    assert made.metadata["generated"]["reviewed"] == {"kept": 5, "changed": 1, "dropped": 1}
    assert made.remarks == ()
    text = Path("docs-generated/datasheet.md").read_text()
    assert "Reviewed by a person: 5 kept, 1 changed, 1 dropped." in text
    assert "Nobody has reviewed" not in text
    assert {path.name for path in Path("docs-generated").iterdir()} == FILES


def test_the_datasheet_is_that_of_the_last_review() -> None:
    """Counts are those of the queries that are left; what was rejected before stays."""
    assert berryeval("generate", "docs", "--count", "6") == 0
    sheet = Path("docs-generated/datasheet.md")
    rejected = sheet.read_text().partition("## Rejected")[2].partition("## ")[0]
    rows = [{**row, "keep": "yes", "difficulty": "easy"} for row in read_sheet()]
    rows[0]["keep"] = "no"
    write_sheet(rows)
    assert berryeval("generate", "docs-generated", "--reviewed", "mine.csv") == 0
    write_sheet([{**row, "keep": "no" if row["id"] == "g2" else "yes"} for row in rows[1:]])
    assert berryeval("generate", "docs-generated", "--reviewed", "mine.csv") == 0
    text = sheet.read_text()
    assert "Reviewed by a person: 4 kept, 0 changed, 1 dropped." in text
    assert text.count("Reviewed by") == 1
    assert "4 queries for " in text
    assert "| known-item | 4 |" in text.replace("\\", "")
    assert "| easy | 4 |" in text
    assert text.partition("## Rejected")[2].partition("## ")[0] == rejected
    asked = load_benchmark("docs-generated").judgments
    for name, count in Counter(one.target.document for one in asked).items():
        assert f"| {name} | {count} |" in text.replace("\\", "")


def test_a_review_into_another_folder_leaves_the_first() -> None:
    assert berryeval("generate", "docs", "--count", "4") == 0
    rows = [{**row, "keep": "yes"} for row in read_sheet()]
    write_sheet(rows)
    before = Path("docs-generated/queries.jsonl").read_bytes()
    assert berryeval("generate", "docs-generated", "--reviewed", "mine.csv", "-o", "final") == 0
    assert Path("docs-generated/queries.jsonl").read_bytes() == before
    assert load_benchmark("final").metadata["generated"]["reviewed"]["kept"] == 4


def test_texts_that_a_spreadsheet_would_run_come_back_as_they_were() -> None:
    assert berryeval("generate", "docs", "--count", "4") == 0
    rows = [{**row, "keep": "yes"} for row in read_sheet()]
    rows[0]["question"] = "'=1+1"  # as `defuse` writes the question =1+1
    write_sheet(rows)
    assert berryeval("generate", "docs-generated", "--reviewed", "mine.csv") == 0
    assert load_benchmark("docs-generated").queries[0].text == "=1+1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keep": ""}, "mine.csv:2: keep: expected yes or no, found ''"),
        ({"keep": "perhaps"}, "mine.csv:2: keep: expected yes or no, found 'perhaps'"),
        ({"question": " "}, "mine.csv:2: question: is empty; write no under keep to drop it"),
        ({"id": "g77"}, "mine.csv:2: there is no query 'g77'"),
        ({}, "mine.csv:6: 'g1' occurs twice; first in mine.csv:2"),
        ({"passage": "other"}, "mine.csv:2: the passage of 'g1' was changed; only keep, question"),
        (None, "mine.csv: 1 query has no row, such as 'g1'; write no under keep to drop a query"),
    ],
)
def test_a_wrong_review_is_one_line_and_changes_nothing(
    change: dict[str, str] | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert berryeval("generate", "docs", "--count", "4") == 0
    rows = [{**row, "keep": "yes"} for row in read_sheet()]
    if change is None:
        del rows[0]
    elif not change:
        rows.append(rows[0])
    else:
        rows[0].update(change)
    write_sheet(rows)
    before = {path: path.read_bytes() for path in Path("docs-generated").iterdir()}
    capsys.readouterr()
    assert berryeval("generate", "docs-generated", "--reviewed", "mine.csv") == 2
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path("docs-generated").iterdir()} == before


def test_a_review_needs_a_generated_benchmark_and_the_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("mine.csv").write_text("id,question\ng1,x\n")
    assert berryeval("generate", "technical-docs", "--reviewed", "mine.csv", "-o", "x") == 2
    assert "technical-docs: was not generated" in capsys.readouterr().err
    assert berryeval("generate", "docs", "--count", "4") == 0
    capsys.readouterr()
    assert berryeval("generate", "docs-generated", "--reviewed", "mine.csv") == 2
    assert "mine.csv: has no column 'keep'; expected keep, id, question" in capsys.readouterr().err


def test_a_review_that_drops_everything_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("generate", "docs", "--count", "4") == 0
    write_sheet([{**row, "keep": "no"} for row in read_sheet()])
    capsys.readouterr()
    assert berryeval("generate", "docs-generated", "--reviewed", "mine.csv") == 2
    assert "mine.csv: keeps no query" in capsys.readouterr().err
