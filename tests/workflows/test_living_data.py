"""Data that change between runs: what is comparable is compared, and the rest is counted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.data.records import Anchor, Judgment
from berryeval.errors import ConfigurationError, DataError
from berryeval.relevance.fingerprints import fingerprint_questions
from berryeval.workflows.run_finder import find_record
from berryeval.workflows.verdicts import judge_result
from tests.cli.eval_world import berryeval
from tests.workflows.living_world import (
    COUNT,
    FRUIT,
    evaluate,
    text_of,
    with_judgment,
    with_new_document,
    with_new_query,
    with_query,
    with_text,
    without_documents,
    without_query,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a run `old` and its baseline."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERRYEVAL_STORE", "none")
    assert evaluate(tmp_path, "old", FRUIT) == 0
    assert berryeval("baseline", "set", "old", "--output", "base.json") == 0
    return tmp_path


def judge(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    data: be.Benchmark,
    *options: str,
    asked: tuple[str, ...] = (),
) -> tuple[int, dict[str, Any]]:
    """Evaluate on other data and judge the run; return the exit code and the JSON output."""
    assert evaluate(folder, "new", data, *asked) == 0
    capsys.readouterr()
    code = berryeval("gate", "new", "--baseline", "base.json", "--json", *options)
    return code, json.loads(capsys.readouterr().out)


def about_data(found: dict[str, Any]) -> dict[str, Any]:
    """Return the only verdict about the data."""
    (one,) = [one for one in found["data"]["verdicts"] if one["about"] == "data"]
    return dict(one)


def counts(found: dict[str, Any]) -> tuple[int, list[str], list[str], list[str]]:
    """Return the number of compared queries, and the changed, new and removed ones."""
    one = about_data(found)
    return one["n"], [*one["changed"]], one["new"], one["removed"]


def test_the_same_data_need_no_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = judge(folder, capsys, FRUIT)
    assert code == 0
    assert {one["about"] for one in found["data"]["verdicts"]} == {"metric"}


def test_a_new_document_is_reported_beside_the_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = judge(folder, capsys, with_new_document(FRUIT))
    assert code == 0
    assert counts(found) == (COUNT, [], [], [])
    one = about_data(found)
    assert one["status"] == "pass"
    assert one["documents"] == {"added": 1, "changed": 0, "removed": 0}
    assert 0 < one["touched"] < COUNT
    assert "all 20 queries are compared" in one["sentence"]
    assert "1 document was added" in one["sentence"]
    assert all(v["n"] == COUNT for v in found["data"]["verdicts"])


def test_only_the_hits_of_the_run_are_known_to_a_gate(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A baseline keeps no hits, so it is not known who retrieved a document that is gone."""
    spare = with_new_document(FRUIT)
    assert evaluate(folder, "spare", spare) == 0
    berryeval("baseline", "set", "spare", "--output", "base.json")
    _, found = judge(folder, capsys, FRUIT)
    one = about_data(found)
    assert one["touched"] is None
    assert one["sentence"].endswith("all 20 queries are compared; 1 document was removed")
    assert evaluate(folder, "other", with_text(spare, COUNT, "Other words.")) == 0
    capsys.readouterr()
    berryeval("gate", "other", "--baseline", "base.json", "--json")
    sentence = about_data(json.loads(capsys.readouterr().out))["sentence"]
    assert sentence.endswith("no compared query retrieved such a document in this run")


def test_a_new_question_is_counted_and_not_compared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = judge(folder, capsys, with_new_query(FRUIT))
    assert code == 0
    assert counts(found) == (COUNT, [], ["extra"], [])
    assert about_data(found)["documents"] == {"added": 0, "changed": 0, "removed": 0}
    drops = [one for one in found["data"]["verdicts"] if one["about"] == "metric"]
    assert {one["n"] for one in drops} == {COUNT}
    assert {one["status"] for one in drops} == {"pass"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (with_query(FRUIT, 4, text="number 4 or so"), "text"),
        (with_judgment(FRUIT, 4, grade=2), "judgments"),
        (with_judgment(FRUIT, 4, target=Anchor(document="d5")), "judgments, targets"),
        (with_text(FRUIT, 4, text_of(4, " And dry.")), "targets"),
    ],
)
def test_a_changed_query_is_named_with_the_reason_and_not_compared(
    folder: Path, capsys: pytest.CaptureFixture[str], data: be.Benchmark, reason: str
) -> None:
    code, found = judge(folder, capsys, data)
    assert code == 0
    assert counts(found) == (COUNT - 1, ["q4"], [], [])
    assert about_data(found)["changed"] == {"q4": reason}
    drops = [one for one in found["data"]["verdicts"] if one["about"] == "metric"]
    assert {one["n"] for one in drops} == {COUNT - 1}
    assert all("over the 19 compared queries" in one["sentence"] for one in drops)


def test_a_query_with_other_metadata_stays_comparable(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = with_query(FRUIT, 4, category="easy", metadata={"owner": "Ann"})
    data = with_text(data, 5, text_of(5).replace("It is", "Surely it is"))  # not the target
    code, found = judge(folder, capsys, data)
    assert code == 0
    assert counts(found) == (COUNT, [], [], [])
    assert about_data(found)["documents"]["changed"] == 1
    assert about_data(found)["touched"] >= 1


def test_a_removed_question_is_counted_and_does_not_block_the_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = judge(folder, capsys, without_query(FRUIT, 7), "--strict")
    assert code == 0
    assert counts(found) == (COUNT - 1, [], [], ["q7"])


NAMED = replace(  # relevant ids in the metadata: of documents while they exist
    FRUIT,
    queries=tuple(
        replace(one, metadata={"relevant_ids": [f"d{place}"]})
        for place, one in enumerate(FRUIT.queries)
    ),
    judgments=(),
)


@pytest.mark.parametrize("data", [FRUIT, NAMED])
def test_lost_targets_are_losses_and_named(
    folder: Path, capsys: pytest.CaptureFixture[str], data: be.Benchmark
) -> None:
    assert evaluate(folder, "before", data) == 0
    assert berryeval("baseline", "set", "before", "--output", "base.json") == 0
    code, found = judge(folder, capsys, without_documents(data, *range(2, COUNT)))
    assert code == 1
    assert counts(found) == (COUNT, [], [], [])
    one = about_data(found)
    assert one["lost"] == sorted(f"q{n}" for n in range(2, COUNT))
    words = "targets no longer in the corpus: q10, q11, q12, q13, q14 and 13 more; 18 documents"
    assert words in one["sentence"]
    drops = [one for one in found["data"]["verdicts"] if one["about"] == "metric"]
    assert {(one["n"], one["status"]) for one in drops} == {(COUNT, "fail")}


@pytest.mark.parametrize(
    "data",
    [
        without_documents(FRUIT, 4),
        with_text(FRUIT, 5, "# Number 5\n\nIt is a pear.\n"),  # without the judged section
    ],
)
def test_a_single_lost_target_is_compared(
    folder: Path, capsys: pytest.CaptureFixture[str], data: be.Benchmark
) -> None:
    code, found = judge(folder, capsys, data)
    assert code == 0  # one query of 20 is not significant
    assert counts(found) == (COUNT, [], [], [])
    (lost,) = about_data(found)["lost"]
    assert f"targets no longer in the corpus: {lost}" in about_data(found)["sentence"]
    drops = [one for one in found["data"]["verdicts"] if one["about"] == "metric"]
    assert {(one["n"], one["status"]) for one in drops} == {(COUNT, "inconclusive")}
    (compared,) = be.compare_runs(["old", "new"]).compared
    assert compared.comparison.rows[0].n == COUNT
    assert f"targets no longer in the corpus: {lost}" in compared.warnings[0]
    (back,) = be.compare_runs(["new", "old"]).compared
    for row, turned in zip(compared.comparison.rows, back.comparison.rows, strict=True):
        assert (turned.n, turned.difference, turned.p) == (row.n, -row.difference, row.p)
    assert f"targets that were not in the corpus before: {lost}" in back.warnings[0]
    assert "no longer" not in back.warnings[0]


def test_one_of_several_targets_may_be_lost(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = tuple(Judgment(f"q{n}", Anchor(document=f"d{(n + 1) % COUNT}"), 1) for n in range(COUNT))
    data = replace(FRUIT, judgments=(*FRUIT.judgments, *more))
    assert evaluate(folder, "before", data) == 0
    assert berryeval("baseline", "set", "before", "--output", "base.json") == 0
    _, found = judge(folder, capsys, without_documents(with_text(data, 9, text_of(9, " Dry.")), 4))
    assert about_data(found)["lost"] == ["q3", "q4"]
    assert about_data(found)["changed"] == {"q8": "targets", "q9": "targets"}


def test_a_changed_question_with_a_lost_target_has_changed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = without_documents(with_query(FRUIT, 4, text="number 4 or so"), 4)
    _, found = judge(folder, capsys, data)
    assert about_data(found)["changed"] == {"q4": "text, targets"}
    assert about_data(found)["lost"] == []


def test_a_question_that_was_not_asked_is_not_a_removed_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = with_new_document(without_query(FRUIT, 0))
    code, found = judge(folder, capsys, data, asked=("--limit", "10"))
    assert code == 0
    assert counts(found) == (10, [], [], ["q0"])
    drops = [one for one in found["data"]["verdicts"] if one["about"] == "metric"]
    assert {one["status"] for one in drops} == {"inconclusive"}
    assert all("9 queries of the baseline are missing" in one["sentence"] for one in drops)


def test_another_chunker_leaves_targets_in_texts_where_they_are(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = with_new_query(FRUIT)
    assert evaluate(folder, "fixed", data, "--providers", "bm25:fixed-30") == 0
    capsys.readouterr()
    assert berryeval("compare", "old#bm25", "fixed#bm25:fixed-30", "-m", "RR", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["data"]["compared"][0]["comparison"]["rows"][0]["n"] == COUNT


def by_chunks(chunker: str) -> be.Benchmark:
    """Return the benchmark with judgments of chunks, for the first half of the queries."""
    chunks = tuple(
        replace(one, target=Anchor(chunk=f"d{place}#store")) if place < COUNT // 2 else one
        for place, one in enumerate(FRUIT.judgments)
    )
    return replace(FRUIT, judgments=chunks, metadata={"chunker": chunker})


def test_judgments_of_chunks_do_not_survive_another_chunker(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(folder, "chunks", by_chunks("section")) == 0
    berryeval("baseline", "set", "chunks", "--output", "base.json")
    code, found = judge(folder, capsys, by_chunks("fixed-30"))
    assert code == 0
    assert about_data(found)["changed"] == {f"q{n}": "targets" for n in range(COUNT // 2)}


ALL_CHANGED = replace(
    FRUIT, queries=tuple(replace(one, text=f"{one.text}, please") for one in FRUIT.queries)
)


def test_nothing_is_judged_if_every_query_changed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = judge(folder, capsys, ALL_CHANGED)
    assert code == 2
    assert (
        "none of 20 queries of fruit is as it was in the baseline old" in found["error"]["message"]
    )
    assert "20 have another text" in found["error"]["message"]


def test_a_run_is_not_started_if_nothing_would_be_comparable(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(folder, "new", ALL_CHANGED, "--baseline", "base.json") == 2
    assert "none of 20 queries of fruit is as it was in the baseline old" in capsys.readouterr().err
    assert not (folder / "new").exists()


@pytest.mark.parametrize("data", [with_new_document(FRUIT), with_new_query(FRUIT)])
def test_strict_data_accepts_no_change(
    folder: Path, capsys: pytest.CaptureFixture[str], data: be.Benchmark
) -> None:
    code, found = judge(folder, capsys, data, "--strict-data")
    assert code == 2
    message = found["error"]["message"]
    assert "the baseline old was measured on a different version of fruit" in message
    assert "--strict-data" in message
    assert evaluate(folder, "again", data, "--baseline", "base.json", "--strict-data") == 2
    assert not (folder / "again").exists()
    assert evaluate(folder, "same", FRUIT, "--baseline", "base.json", "--strict-data") == 0


def test_eval_judges_what_is_comparable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = with_new_document(with_new_query(with_query(FRUIT, 4, text="number 4 or so")))
    capsys.readouterr()
    code = evaluate(folder, "new", data, "--baseline", "base.json", "--json")
    assert code == 0
    assert counts(json.loads(capsys.readouterr().out)) == (COUNT - 1, ["q4"], ["extra"], [])


EVERYTHING = with_new_document(
    without_query(with_new_query(with_query(FRUIT, 4, text="number 4 or so")), 7)
)


def test_compare_leaves_out_what_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(folder, "new", EVERYTHING) == 0
    capsys.readouterr()
    assert berryeval("compare", "old", "new", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["data"]["compared"]
    assert {row["n"] for row in found["comparison"]["rows"]} == {COUNT - 2}
    assert [one["query_id"] for one in found["moved"] if one["query_id"] == "q4"] == []
    (data,) = found["data"].values()
    assert data["changed"] == {"q4": "text"}
    assert (data["new"], data["removed"]) == (["extra"], ["q7"])
    assert data["documents"] == {"added": 1, "changed": 0, "removed": 0}
    words = "fruit changed between bm25 (old) and bm25 (new): 18 of 20 queries are compared"
    assert found["warnings"][0].startswith(words)


def test_compare_says_where_the_compared_queries_are_not_the_run(folder: Path) -> None:
    assert evaluate(folder, "new", with_query(FRUIT, 4, text="something else")) == 0
    (found,) = be.compare_runs(["old", "new"]).compared
    (row, *_) = found.comparison.rows
    old, new = (find_record(name)["fruit"]["bm25"].scores for name in ("old", "new"))
    assert old is not None
    assert new is not None
    kept = [query for query in old.queries if query != "q4"]
    assert row.system_value == pytest.approx(new.select(kept).mean["nDCG@10"])
    assert row.baseline_value == pytest.approx(old.select(kept).mean["nDCG@10"])
    (note,) = [one for one in found.warnings if one.startswith("nDCG@10 of bm25 (new)")]
    assert note.endswith(f"and {new.mean['nDCG@10']:.3f} over all 20 of its run")


def test_compare_counts_the_queries_of_each_pair(folder: Path) -> None:
    both = ("--providers", "bm25", "bm25:fixed-30")
    assert evaluate(folder, "both", FRUIT, *both) == 0
    data = with_query(FRUIT, 4, text="something else")
    assert evaluate(folder, "new", data, "--limit", "12") == 0
    (found,) = be.compare_runs(["both#bm25", "both#bm25:fixed-30", "new"]).compared
    rows = [row for row in found.comparison.rows if row.metric == "nDCG@10"]
    assert [row.n for row in rows] == [COUNT - 1, 11]
    said = {one.rpartition(" and ")[0] for one in found.warnings if "nDCG@10 of " in one}
    values = {
        f"nDCG@10 of {label} is {value:.3f} over the {row.n} queries compared with {other}"
        for row in rows
        for label, value, other in (
            (row.baseline, row.baseline_value, row.system),
            (row.system, row.system_value, row.baseline),
        )
    }
    assert said  # those that are not the value of the whole run
    assert said <= values


def test_one_query_is_counted_in_the_singular(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = replace(ALL_CHANGED, queries=(FRUIT.queries[0], *ALL_CHANGED.queries[1:]))
    _, found = judge(folder, capsys, data)
    assert "1 of 20 queries is compared" in about_data(found)["sentence"]
    drops = [one["sentence"] for one in found["data"]["verdicts"] if one["about"] == "metric"]
    assert all("unchanged: the only query scores as in the baseline" in one for one in drops)
    assert all("over the only compared query, " in one for one in drops)


def test_changed_documents_are_counted_in_words_that_read_well(folder: Path) -> None:
    assert evaluate(folder, "new", with_new_document(FRUIT)) == 0
    (found,) = be.compare_runs(["old", "new"], anyway=True).compared
    assert "of the 20 queries that are the same retrieved such a document" in found.warnings[0]


def test_compare_refuses_only_what_has_nothing_in_common(folder: Path) -> None:
    assert evaluate(folder, "new", ALL_CHANGED) == 0
    with pytest.raises(DataError, match=r"no query of fruit is the same for .*--anyway"):
        be.compare_runs(["old", "new"])
    (found,) = be.compare_runs(["old", "new"], anyway=True).compared
    assert found.comparison.rows[0].n == COUNT
    assert evaluate(folder, "more", with_new_document(FRUIT)) == 0
    with pytest.raises(DataError, match=r"--strict-data does not accept: .*1 document was added"):
        be.compare_runs(["old", "more"], strict_data=True)


def test_a_trend_goes_on_where_data_changed_and_marks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = ("--store", "runs.db")
    for name, data in (("one", FRUIT), ("two", EVERYTHING)):
        assert evaluate(tmp_path, name, data, *store) == 0
    capsys.readouterr()
    assert berryeval("runs", "trend", "nDCG@10", "--json", *store) == 0
    (line,) = json.loads(capsys.readouterr().out)["data"]["lines"]
    assert [one["not_comparable"] for one in line["points"]] == ["", ""]
    marked = "the data changed: 18 of 20 queries are the same; 1 has another text (q4); "
    assert [one["data_changed"] for one in line["points"]] == [
        "",
        f"{marked}1 is new (extra); 1 is removed (q7)",
    ]
    old, new = (find_record(name)["fruit"]["bm25"].scores for name in ("one", "two"))
    assert old is not None
    assert new is not None
    both = [query for query in old.queries if query not in {"q4", "q7"}]
    change = new.select(both).mean["nDCG@10"] - old.select(both).mean["nDCG@10"]
    assert line["change"] == pytest.approx(change)
    assert (line["change_since"], line["change_over"]) == ("one", COUNT - 2)
    assert berryeval("runs", "trend", "nDCG@10", *store) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "against the run before, over the 18 queries that are the same" in shown
    assert "~ two: the data changed: 18 of 20 queries are the same" in shown
    assert evaluate(tmp_path, "three", ALL_CHANGED, *store) == 0
    capsys.readouterr()
    assert berryeval("runs", "trend", "nDCG@10", "--json", *store) == 0
    (line,) = json.loads(capsys.readouterr().out)["data"]["lines"]
    assert [bool(one["not_comparable"]) for one in line["points"]] == [True, True, False]
    assert line["change"] is None


def test_a_trend_shows_the_loss_of_every_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Queries that lost their targets are compared; the only other query is new."""
    monkeypatch.chdir(tmp_path)
    store = ("--store", "runs.db")
    first, last = without_query(FRUIT, 19), without_documents(FRUIT, *range(19))
    for name, data in (("one", first), ("two", last)):
        assert evaluate(tmp_path, name, data, *store) == 0
    capsys.readouterr()
    assert berryeval("runs", "trend", "nDCG@10", "--json", *store) == 0
    (line,) = json.loads(capsys.readouterr().out)["data"]["lines"]
    assert [one["not_comparable"] for one in line["points"]] == ["", ""]
    assert (line["change_since"], line["change_over"]) == ("one", 19)
    assert line["change"] < -0.5


def test_a_group_whose_queries_all_changed_is_inconclusive(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grouped = with_query(FRUIT, 4, category="odd one")
    assert evaluate(folder, "grouped", grouped) == 0
    berryeval("baseline", "set", "grouped", "--output", "base.json")
    rules = "[{metric: RR, max_drop: 0, where: {category: odd one}}, {metric: RR, max_drop: 0}]"
    (folder / "gate.yaml").write_text(f"gate: {{rules: {rules}}}\n", encoding="utf-8")
    data = with_query(grouped, 4, text="number 4 or so")
    code, found = judge(folder, capsys, data, "--config", "gate.yaml")
    assert code == 0
    verdicts = found["data"]["verdicts"]
    assert [one["status"] for one in verdicts] == ["pass", "inconclusive", "pass"]
    assert "the baseline and the run share no unchanged query" in verdicts[1]["sentence"]
    options = ("--baseline", "base.json", "--config", "gate.yaml")
    assert evaluate(folder, "again", data, *options) == 0


def test_relevance_judged_by_other_rules_is_not_compared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "berryeval.yaml").write_text("relevance: {coverage: 0.9}\n", encoding="utf-8")
    code, found = judge(folder, capsys, FRUIT)
    assert code == 2
    words = "judged the hits of bm25 by other rules (threshold 0.3, coverage 0.5) than this run"
    assert f"{words} (threshold 0.3, coverage 0.9)" in found["error"]["message"]
    assert evaluate(folder, "again", FRUIT, "--baseline", "base.json") == 2
    assert words in capsys.readouterr().err
    assert not (folder / "again").exists()
    with pytest.raises(DataError, match="were judged by other rules"):
        be.compare_runs(["old", "new"])


@pytest.mark.usefixtures("folder")
def test_results_in_python_are_judged_alike() -> None:
    result = be.run_benchmark(with_new_query(FRUIT), "bm25", ["nDCG@10"], k=5)
    judged = judge_result(result, [{"metric": "nDCG@10", "max_drop": 0}], baseline="base.json")
    assert judged.passed
    assert judged.verdicts[0].extra["new"] == ["extra"]
    with pytest.raises(ConfigurationError, match="measured on a different version of fruit"):
        judge_result(result, {"RR": 0.1}, baseline="base.json", strict_data=True)


@pytest.mark.parametrize(
    "versions",
    [
        ({"relevantIds": ["d0"]}, {"relevantIds": {"d0": 2}}),
        ({"expectedAnswer": "It is an apple."}, {"expectedAnswer": "Keep item 1 cool."}),
    ],
)
def test_what_decides_relevance_is_noticed_in_camel_case(
    versions: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    data = replace(FRUIT, judgments=())
    old, new = (
        fingerprint_questions(data, with_query(data, 0, metadata=one).queries) for one in versions
    )
    assert [place for place in range(COUNT) if old[place] != new[place]] == [0]
