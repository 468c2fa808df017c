"""`berryeval runs rescore`: score a past run with other metrics and judgments."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.data.records import Anchor, Judgment
from berryeval.runs.store.store import open_store
from berryeval.scoring.scores import Scores
from berryeval.workflows.run_folder import RunFolder
from tests.cli.eval_world import DRINKS, STORE, berryeval, enter_folder, write_drinks

if TYPE_CHECKING:
    from berryeval.runs.record import RunRecord

PROVIDERS = ("bm25", "bm25:fixed-5")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a benchmark, a run of it, and the store that the run is in."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        enter_folder(folder, patch)
        write_drinks(folder)
        run = ("eval", "--benchmarks", "drinks", "--output", "run", "-q", "--providers", *PROVIDERS)
        assert berryeval(*run, "--metrics", "nDCG@10", "RR", "CharIoU@3") == 0
    return folder


@pytest.fixture(autouse=True)
def _a_run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    enter_folder(tmp_path, monkeypatch)


def record() -> RunRecord:
    """The record in the folder."""
    return RunFolder("run").read_record()


def rescored(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What `--json` prints about the only benchmark."""
    capsys.readouterr()
    assert berryeval("runs", "rescore", *arguments, "--json", "--per-query") == 0
    (part,) = json.loads(capsys.readouterr().out)["data"]["benchmarks"]
    return part


@pytest.mark.parametrize("where", ["folder", "store"])
def test_the_same_metrics_come_out_to_the_bit(
    capsys: pytest.CaptureFixture[str], where: str
) -> None:
    made = record()["drinks"]
    if where == "store":
        shutil.rmtree("run")
    part = rescored(capsys, "run", "-m", "nDCG@10", "RR", "CharIoU@3", "recall_at_5")
    assert part["same_judgments"]
    assert part["notes"] == []
    for provider in PROVIDERS:
        before, standard = made[provider].scores, made[provider].standard
        assert before is not None
        assert standard is not None
        found = part["providers"][provider]["per_query"]
        for metric in before.metrics:
            assert found[metric] == before.per_query(metric)
        assert found["R@5"] == standard.per_query("R@5")


def test_a_run_scored_later_equals_one_scored_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    part = rescored(capsys, "run", "-m", "AP", "TokenP@2")
    again = be.run_benchmark("drinks", list(PROVIDERS), ["AP", "TokenP@2"])
    for provider in PROVIDERS:
        scores = again[provider].scores
        assert scores is not None
        found = part["providers"][provider]["per_query"]
        assert found == {name: scores.per_query(name) for name in scores.metrics}


def test_the_new_scores_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert berryeval("runs", "rescore", "run", "-m", "P@1,AP") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("drinks: 4 queries; sha256:")
    assert lines[2].split() == ["provider", "P@1", "AP"]
    assert [line.split()[0] for line in lines[3:5]] == list(PROVIDERS)
    assert berryeval("runs", "rescore", "run", "-m", "P@1", "--per-query") == 0
    assert "q4" in capsys.readouterr().out


def test_outdated_reports_are_named_with_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval("report", "run") == 0
    capsys.readouterr()
    assert berryeval("runs", "rescore", "run", "-m", "AP", "--save") == 0
    said = capsys.readouterr().out
    assert "note: run/report.html lacks the new metrics" in said
    again = said.partition("write it again: berryeval ")[2].split()
    assert again == ["report", "run", "-o", "run/report.html"]
    assert berryeval(*again) == 0
    assert ">AP<" in Path("run/report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert berryeval("runs", "rescore", "run", "-m", "AP", "--save", "--json") == 0
    assert json.loads(capsys.readouterr().out)["data"]["outdated"] == ["run/report.html"]


@pytest.mark.parametrize("where", ["folder", "store"])
def test_saved_metrics_join_the_old_ones(capsys: pytest.CaptureFixture[str], where: str) -> None:
    before = record()
    if where == "store":
        shutil.rmtree("run")
    capsys.readouterr()
    assert berryeval("runs", "rescore", "run", "-m", "nDCG@10", "AP", "--save") == 0
    assert "saved in the store .berryeval/results.db" in capsys.readouterr().out
    with open_store(STORE) as store:
        after = store.get("run")
        assert len(store.names()) == 1
        assert len(store.trend("AP")) == 2
    for provider in PROVIDERS:
        old, new = before["drinks"][provider], after["drinks"][provider]
        assert old.scores is not None
        assert new.scores is not None
        assert new.scores.metrics == (*old.scores.metrics, "AP")
        assert new.scores.only(old.scores.metrics) == old.scores
        assert new.added == ("AP",)
        assert replace(new, scores=None, added=()) == replace(old, scores=None)
        if where == "folder":
            assert record() == after
            folder = "bm25" if provider == "bm25" else "bm25-fixed-5"
            text = Path(f"run/drinks/{folder}/scores.json").read_text("utf-8")
            assert Scores.from_dict(json.loads(text)) == new.scores
    assert berryeval("runs", "rescore", "run", "-m", "AP", "--save") == 0
    with open_store(STORE) as store:
        assert store.get("run") == after


@pytest.mark.parametrize("more", [(), ("--retry-errors",), ("--fail-below", "RR=0.1")])
def test_saved_metrics_stay_when_a_run_goes_on(more: tuple[str, ...]) -> None:
    assert berryeval("runs", "rescore", "run", "-m", "precision_at_3", "AP", "--save") == 0
    before = record()
    file = Path("run/drinks/bm25/scores.json")
    table = json.loads(file.read_bytes())
    scores = before["drinks"]["bm25"].scores
    assert scores is not None
    assert scores.metrics == ("nDCG@10", "RR", "CharIoU@3", "P@3", "AP")
    for _ in range(2):
        assert berryeval("eval", "--resume", "run", "-q", *more) == 0
        assert record().benchmarks == before.benchmarks
        assert json.loads(file.read_bytes()) == table
        with open_store(STORE) as store:
            assert store.get("run").benchmarks == before.benchmarks
    assert berryeval("runs", "rescore", "run", "-m", "AP", "--save") == 0
    assert record().benchmarks == before.benchmarks


def test_saved_metrics_are_of_the_answers_that_count() -> None:
    mended: list[str] = []

    def broken(text: str, k: int) -> list[tuple[str, float]]:
        if text == "zymurgy" and not mended:
            msg = "no such word"
            raise ValueError(msg)
        return [("coffee", 1.0)][:k]

    arguments: Any = ("drinks", [broken], ["RR"])
    be.run_benchmark(*arguments, folder="ours")
    assert berryeval("runs", "rescore", "ours", "-m", "P@1", "--save") == 0
    mended.append("yes")
    found = be.run_benchmark(*arguments, folder="ours", retry_errors=True)["broken"].scores
    fresh = be.run_benchmark("drinks", [broken], ["RR", "P@1"])["broken"].scores
    assert found is not None
    assert found == fresh


@pytest.mark.parametrize("damage", ["{", '"SomethingOfMine@3"'])
def test_unusable_saved_scores_are_computed_again(
    capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    before = record()
    assert berryeval("runs", "rescore", "run", "-m", "P@3", "--save") == 0
    file = Path("run/drinks/bm25/scores.json")
    text = file.read_text("utf-8")
    file.write_text(damage if damage == "{" else text.replace('"P@3"', damage), "utf-8")
    capsys.readouterr()
    assert berryeval("eval", "--resume", "run") == 0
    said = capsys.readouterr().err
    assert ("SomethingOfMine@3 cannot be computed again" in said) == (damage != "{")
    assert record()["drinks"]["bm25"] == before["drinks"]["bm25"]


def test_judgments_by_id_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    made = record()["drinks"]["bm25"]
    first = next(answer for answer in made.answers if len(answer.hits) > 1)
    qrels = {first.query_id: {first.hits[1].id: 1}}
    Path("q.json").write_text(json.dumps(qrels), encoding="utf-8")
    part = rescored(capsys, "run", "-m", "RR", "P@1", "--qrels", "q.json")
    assert part["providers"]["bm25"]["per_query"] == {
        "RR": {first.query_id: 0.5}, "P@1": {first.query_id: 0.0},
    }  # fmt: skip
    assert not part["same_judgments"]
    assert "judged by q.json" in part["notes"]


@pytest.mark.parametrize(
    ("asked", "judged", "notes"),
    [
        (2, 4, ["2 of 4 judged queries were not asked: left out"]),
        (4, 2, ["2 of 4 queries that were asked are not judged: left out"]),
        (2, 3, ["1 of 3 judged queries were not asked: left out"]),
        (4, 4, []),
    ],
)
def test_only_queries_that_were_asked_and_judged_count(
    asked: int, judged: int, notes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = ("eval", "--benchmarks", "drinks", "--output", "some", "-q", "--providers", "bm25")
    assert berryeval(*made, "--limit", str(asked)) == 0
    answers = record()["drinks"]["bm25"].answers[:judged]
    qrels = {one.query_id: {one.hits[0].id if one.hits else "none": 1} for one in answers}
    Path("q.json").write_text(json.dumps(qrels), encoding="utf-8")
    part = rescored(capsys, "some", "-m", "RR", "--qrels", "q.json")
    values = part["providers"]["bm25"]["per_query"]["RR"]
    expected = [float(bool(one.hits)) for one in answers[:asked]]
    assert list(values.values()) == expected
    assert part["queries"] == len(expected)
    assert part["notes"] == ["judged by q.json", *notes]
    Path("q.json").write_text('{"other": {"d": 1}}', encoding="utf-8")
    assert berryeval("runs", "rescore", "some", "-m", "RR", "--qrels", "q.json") == 2
    assert "q.json: judges none of the queries of run" in capsys.readouterr().err


def test_a_changed_benchmark_is_rejected_unless_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed = replace(
        DRINKS,
        judgments=(*DRINKS.judgments[:-1], Judgment("q4", Anchor(document="water"), 1)),
        queries=DRINKS.queries[1:],
    )
    changed = replace(
        changed, judgments=tuple(one for one in changed.judgments if one.query_id != "q1")
    )
    shutil.rmtree("drinks")
    be.write_benchmark(changed, "drinks")
    capsys.readouterr()
    assert berryeval("runs", "rescore", "run", "-m", "RR") == 2
    said = capsys.readouterr().err
    assert "the benchmark drinks has changed since run run" in said
    assert "--benchmark drinks" in said
    part = rescored(capsys, "run", "-m", "RR", "--benchmark", "drinks")
    assert "1 of 4 queries are no longer in the benchmark" in part["notes"]
    again = be.run_benchmark("drinks", list(PROVIDERS), ["RR"])["bm25"].scores
    assert again is not None
    assert part["providers"]["bm25"]["per_query"]["RR"] == again.per_query("RR")
    before = record()
    assert berryeval("runs", "rescore", "run", "-m", "RR", "--benchmark", "drinks", "--save") == 2
    assert "--save keeps scores by the run's own judgments only" in capsys.readouterr().err
    assert record() == before


def test_a_missing_benchmark_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    Path("drinks").rename("elsewhere")
    capsys.readouterr()
    assert berryeval("runs", "rescore", "run", "-m", "RR") == 2
    said = capsys.readouterr().err
    assert "cannot be loaded" in said
    assert "--benchmark PATH, or score by ids with --qrels FILE" in said
    part = rescored(capsys, "run", "-m", "RR", "--benchmark", "elsewhere")
    assert part["same_judgments"]


def test_hits_without_chunks_need_the_run_folder(capsys: pytest.CaptureFixture[str]) -> None:

    def foreign(text: str, k: int) -> list[dict[str, Any]]:
        del text
        return [{"id": f"x{n}", "doc_id": name} for n, name in enumerate(("water", "coffee"))][:k]

    found = be.run_benchmark("drinks", [foreign], ["RR"], folder="theirs", store=STORE)
    scores = found["foreign"].scores
    assert scores is not None
    assert scores.mean["RR"] > 0
    part = rescored(capsys, "theirs", "-m", "RR")
    assert part["providers"]["foreign"]["per_query"]["RR"] == scores.per_query("RR")
    assert part["notes"] == []
    shutil.rmtree("theirs")
    part = rescored(capsys, "theirs", "-m", "RR")
    assert "8 hits are no chunks of the corpus, and count by their ids alone" in part["notes"][0]
    assert "RR differ from the recorded values" in part["notes"][1]


def test_a_text_metric_with_qrels_is_rejected_with_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("q.json").write_text('{"q1": {"a": 1}}', encoding="utf-8")
    assert berryeval("runs", "rescore", "run", "-m", "CharIoU@5", "--qrels", "q.json") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "(berryeval runs rescore RUN -m CharIoU@5, without --qrels)" in said
    assert berryeval("runs", "rescore", "run", "-m", "CharIoU@5") == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run",), "name at least one metric"),
        (("run", "-m", "nDGC@10"), "nDGC@10"),
        (("run", "-m", "RR", "--qrels", "none.txt"), "none.txt: no such file"),
        (("rum", "-m", "RR"), "no run 'rum'"),
        (("run", "-m", "RR", "--qrels", "q", "--benchmark", "b"), "choose one of --qrels and"),
    ],
)
def test_wrong_usage_is_rejected(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    before = record()
    assert berryeval("runs", "rescore", *arguments) == 2
    assert message in capsys.readouterr().err
    assert record() == before


def test_the_hash_is_that_of_the_scored_data(capsys: pytest.CaptureFixture[str]) -> None:
    judgments = (*DRINKS.judgments[:-1], Judgment("q4", Anchor(document="water"), 1))
    be.write_benchmark(replace(DRINKS, judgments=judgments), "changed")
    now = be.load_benchmark("changed").content_hash
    then = record()["drinks"].content_hash
    assert now != then
    assert rescored(capsys, "run", "-m", "RR")["content_hash"] == then
    assert rescored(capsys, "run", "-m", "RR", "--benchmark", "changed")["content_hash"] == now
    assert berryeval("runs", "rescore", "run", "-m", "RR", "--benchmark", "changed") == 0
    assert f"drinks: 4 queries; {now}" in " ".join(capsys.readouterr().out.split())


def test_a_file_with_the_verdicts_of_a_gate_is_written_again_by_the_gate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`report` knows only the rules of the run."""
    rule = ("--fail-below", "RR=0.99")
    assert berryeval("gate", "run", *rule, "--export", "junit", "markdown") == 1
    assert berryeval("report", "run", "-f", "json", "-o", "run/report.json") == 0
    capsys.readouterr()
    assert berryeval("runs", "rescore", "run", "-m", "AP", "--save") == 0
    said = capsys.readouterr().out
    for file, name in (("junit.xml", "junit"), ("report.md", "markdown")):
        again = f"berryeval gate run --export {name} --output run, with the rules of its verdicts"
        assert f"note: run/{file} lacks the new metrics; to write it again: {again}\n" in said
    assert "to write it again: berryeval report run -o run/report.json\n" in said
    assert berryeval("gate", "run", "--export", "junit", "--output", "run", *rule) == 1
    assert "<failure " in Path("run/junit.xml").read_text(encoding="utf-8")


def test_a_file_with_the_verdicts_of_the_run_is_written_again_by_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = ("eval", "--benchmarks", "drinks", "-q", "--providers", "bm25", "--output", "judged")
    assert berryeval(*made, "--fail-below", "RR=0.99", "--export", "junit") == 1
    capsys.readouterr()
    assert berryeval("runs", "rescore", "judged", "-m", "GMAP", "--save") == 0
    assert "again: berryeval report judged -o judged/junit.xml\n" in capsys.readouterr().out
    assert berryeval("gate", "judged", "--fail-below", "AP=0.99", "--export", "junit") == 1
    capsys.readouterr()
    assert berryeval("runs", "rescore", "judged", "-m", "P@1", "--save") == 0
    again = "again: berryeval gate judged --export junit --output judged, with the rules of its"
    assert again in capsys.readouterr().out  # `report` would leave out the verdict on AP


def test_verdicts_on_a_baseline_that_is_gone_are_written_again_by_the_gate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = ("eval", "--benchmarks", "drinks", "-q", "--providers", *PROVIDERS, "--output", "judged")
    assert berryeval("baseline", "set", "run", "-o", "kept.json") == 0
    judged = ("--metrics", "nDCG@10", "RR", "--baseline", "kept.json", "--export", "junit")
    assert berryeval(*made, *judged) == 0
    Path("kept.json").unlink()
    capsys.readouterr()
    assert berryeval("runs", "rescore", "judged", "-m", "P@1", "--save") == 0
    assert "again: berryeval gate judged --export junit" in capsys.readouterr().out


def test_a_level_above_every_grade_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("runs", "rescore", "run", "-m", "P(rel=9)@5") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "note: P(rel=9)@5 counts nothing as relevant: the highest grade of the judgments" in said
    assert said.count("counts nothing as relevant") == 1
    part = rescored(capsys, "run", "-m", "P(rel=9)@5")
    assert any("counts nothing as relevant" in note for note in part["notes"])


def test_a_metric_that_was_added_to_the_baseline_alone_is_named_with_what_to_type(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval("runs", "rescore", "run", "-m", "bpref", "--save") == 0
    assert berryeval("baseline", "set", "run") == 0
    made = ("eval", "--benchmarks", "drinks", "-q", "--providers", *PROVIDERS, "--output", "next",
            "--metrics", "nDCG@10", "RR", "CharIoU@3")  # fmt: skip
    capsys.readouterr()
    strict = ("--baseline", "berryeval-baseline.json", "--strict")
    assert berryeval(*made, *strict) == 0  # what was added later is not asked of every run
    said = " ".join(capsys.readouterr().out.split())
    assert "INCONCLUSIVE" not in said
    again = "runs rescore next -m Bpref --save"
    compute = "To compute it from the answers of the run: berryeval"
    assert f"does not measure it; nothing was compared. {compute} {again}" in said
    assert berryeval(*again.split()) == 0
    capsys.readouterr()
    assert berryeval("gate", "next", *strict) == 0
    assert "does not measure" not in " ".join(capsys.readouterr().out.split())
