"""Pools of real runs: what is in them, and what is left out."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berryeval.benchmarks import load_benchmark, write_benchmark
from berryeval.data import Anchor, Judgment, Query, content_hash
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.judging import Ledger, Pool, Vote, apply_decisions, decide
from berryeval.workflows import PoolRequest, pool_runs
from tests.cli.eval_world import DRINKS, TEA, berryeval, write_drinks

FOLDER = Path("drinks.judged")
GREEN = TEA[TEA.index("## Green") :].rstrip()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a benchmark and a run of two providers."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_drinks(folder)
        run = ("eval", "--benchmarks", "drinks", "--output", "run", "-q")
        assert berryeval(*run, "--providers", "bm25", "bm25:fixed-5") == 0
    return folder


@pytest.fixture(autouse=True)
def _inside(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def run(benchmark: str, provider: str, output: str) -> None:
    """Run a provider on a benchmark."""
    words = ("eval", "--benchmarks", benchmark, "--providers", provider, "--output", output)
    assert berryeval(*words, "-q", "--metrics", "P@10") == 0


def pool(*runs: str, **options: Any) -> Pool:
    """Pool runs, and read the pool from its file."""
    done = pool_runs(PoolRequest(runs, **options))
    found = Pool.read(done.path)
    assert found == done.pool
    return found


def rate(found: Pool, grade: float, *, judge: str = "ann", count: int | None = None) -> None:
    """Give this grade to the first pairs of a pool."""
    Ledger(FOLDER).append(Vote(p.query_id, p.target, grade, judge) for p in found.pairs[:count])


def test_only_unjudged_hits_are_pooled_each_once() -> None:
    found = pool("run#bm25")
    assert (found.benchmark, found.strategy, found.depth) == ("drinks", "depth", 10)
    assert found.content_hash == load_benchmark("drinks").content_hash
    spans = {(pair.query_id, pair.target.document, pair.target.start) for pair in found.pairs}
    assert len(spans) == len(found.pairs) == 2
    green = ("q1", "tea", TEA.index("## Green"))  # judged by its section
    assert green not in spans
    assert not any(pair.target.document == "water" for pair in found.pairs if pair.query_id == "q3")
    assert found.rankings["bm25"]["q1"][0] == 2.0
    everything = pool("run", everything=True)
    assert green in {(p.query_id, p.target.document, p.target.start) for p in everything.pairs}
    assert all(isinstance(one, str) for one in everything.rankings["bm25"]["q1"])


def test_pairs_are_anchored_to_spans_with_the_text_around_them() -> None:
    found = pool("run", everything=True)
    (pair,) = [p for p in found.pairs if p.query_id == "q1" and p.text == GREEN]
    assert pair.target.quote == pair.text
    assert pair.target.document_hash == DRINKS.document_of["tea"].content_hash
    assert pair.before == TEA[: pair.target.start]
    assert pair.after == "\n"
    assert pair.name == "tea > Tea > Green tea"


def test_a_vote_judges_the_passage_in_every_chunking() -> None:
    first = pool("run#bm25", everything=True)
    rate(first, 1)
    (FOLDER / "pool.json").unlink()
    benchmark = apply_decisions(DRINKS, decide(Ledger(FOLDER).votes()))
    run("drinks", "bm25:fixed-5", "other")
    found = pool("other")
    left = {(p.query_id, p.target.document) for p in found.pairs}
    assert left < {(p.query_id, p.target.document) for p in pool("other", everything=True).pairs}
    assert benchmark.judgments != DRINKS.judgments


def test_votes_count_as_judged_and_a_second_judge_sees_everything() -> None:
    first = pool("run#bm25")
    rate(first, 0)
    again = pool("run#bm25")
    assert again.pairs == first.pairs  # nothing is lost, nothing is added
    (FOLDER / "pool.json").unlink()
    assert pool("run#bm25").pairs == ()
    assert set(first.pairs) < set(pool("run#bm25", everything=True).pairs)


def test_a_second_command_adds_and_keeps() -> None:
    first = pool("run#bm25")
    done = pool_runs(PoolRequest(["run#bm25:fixed-5"], seed=5))
    assert done.pool.pairs[: len(first.pairs)] == first.pairs
    assert done.added == len(done.pool.pairs) - len(first.pairs) > 0
    assert set(done.pool.rankings) == {"bm25", "bm25:fixed-5"}
    both = {pair.id for pair in done.pool.pairs}
    entries = [e for own in done.pool.rankings.values() for hits in own.values() for e in hits]
    assert {e for e in entries if isinstance(e, str)} == both


def test_a_run_with_the_label_of_another_gets_its_own() -> None:
    pool("run#bm25")
    run("drinks", "bm25", "other")
    found = pool("other")
    assert len(found.rankings) == 2
    assert any(label.startswith("bm25 (") for label in found.rankings)


def change_documents(old: str, new: str) -> None:
    documents = tuple(replace(one, text=one.text.replace(old, new)) for one in DRINKS.documents)
    write_benchmark(replace(DRINKS, documents=documents), "drinks")


def test_pooling_again_shows_the_documents_as_they_are_now() -> None:
    """Texts that are still there are new in the pool, unjudged ones that are gone are not in it."""
    first = pool("run#bm25", everything=True)
    judged = next(pair for pair in first.pairs if "Espresso" in pair.text)
    Ledger(FOLDER).append([Vote(judged.query_id, judged.target, 1, "ann")])
    change_documents("Nine bar", "Five bar")
    change_documents("Steep green tea at 80 degrees", "Hot")
    run("drinks", "bm25", "other")
    done = pool_runs(PoolRequest(["other"], everything=True))
    assert set(done.pool.rankings) == {"bm25"}
    assert done.pool.systems["bm25"].startswith("other")
    documents = load_benchmark("drinks").document_of
    for pair in done.pool.pairs:
        start, end = pair.target.start, pair.target.end
        own = documents[pair.target.document]
        assert pair.text == own.text[start:end]
        assert pair.target.document_hash in {"", own.content_hash}
    assert not any("80 degrees" in pair.text for pair in done.pool.pairs)
    assert any("unjudged pair" in note and "has changed" in note for note in done.notes)


def test_a_judge_hears_of_changed_documents_and_judges_the_new_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = pool("run#bm25", everything=True)
    assert berryeval("judge", "export", "--judge", "ann", "-o", "ann.csv") == 0
    assert "pool again" not in "".join(capsys.readouterr())
    for pair in first.pairs:
        seen = content_hash(pair.text)
        Ledger(FOLDER).append([Vote(pair.query_id, pair.target, 1, "ann", content=seen)])
    change_documents("Nine bar", "Five bar")
    said = "of the pool has changed since: pool again with berryeval judge pool RUN"
    assert berryeval("judge", "export", "--judge", "ann", "-o", "two.csv") == 0
    assert said in capsys.readouterr().err
    assert berryeval("judge", "next", "--judge", "ann", "--json") == 0
    (note,) = json.loads(capsys.readouterr().out)["data"]["notes"]
    assert said in note
    run("drinks", "bm25", "other")
    pool("other")
    capsys.readouterr()
    assert berryeval("judge", "next", "--judge", "ann", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["notes"] == []
    assert "Five bar" in data["pair"]["text"]


def test_grades_that_judges_decided_on_are_known_once() -> None:
    first = pool("run#bm25")
    before = {query: list(grades) for query, grades in first.known.items()}
    rate(first, 1)
    assert pool("run#bm25").known == before  # those of the pool count by their votes


def test_a_ranking_file_is_pooled_with_its_benchmark() -> None:
    Path("run.trec").write_text("q1 Q0 coffee 1 2.0 x\nq1 Q0 water 2 1.0 x\n", encoding="utf-8")
    found = pool("run.trec", benchmark="drinks")
    (pair,) = found.pairs
    assert pair.target == Anchor(
        document="coffee", document_hash=DRINKS.document_of["coffee"].content_hash
    )
    assert pair.text == DRINKS.document_of["coffee"].text
    assert found.rankings["run.trec"]["q1"] == [pair.id, 1.0]


def test_a_benchmark_that_judges_chunks_by_id_gets_ids() -> None:
    ids = replace(
        DRINKS, name="ids", documents=(), judgments=(Judgment("q1", Anchor(chunk="c1"), 1),)
    )
    write_benchmark(ids, Path("ids"))
    Path("run.trec").write_text("q1 Q0 c1 1 2.0 x\nq1 Q0 c2 2 1.0 x\n", encoding="utf-8")
    (pair,) = pool("run.trec", benchmark="ids").pairs
    assert pair.target == Anchor(chunk="c2")


def test_queries_without_judgments_can_be_pooled() -> None:
    bare = replace(
        DRINKS,
        name="bare",
        queries=(Query("q1", "How hot is tea?", metadata={"expected_answer": "80 degrees"}),),
        judgments=(),
        thresholds={},
    )
    write_benchmark(bare, Path("bare"))
    run("bare", "bm25", "bare-run")
    found = pool("bare-run")
    assert len(found.pairs) == len(found.rankings["bm25"]["q1"]) > 1
    assert found.highest == 3


def test_a_random_pool_records_probabilities_and_grows_consistently() -> None:
    some = pool("run", strategy="random", share=0.3, seed=1)
    assert some.metrics == ("DCG@10", "P@10")
    whole = pool("run", strategy="random", share=1.0, seed=1)
    assert {pair.id for pair in some.pairs} <= {pair.id for pair in whole.pairs}
    assert {pair.probability for pair in whole.pairs} == {1.0}
    assert all(0 < pair.probability < 1 for pair in some.pairs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "deep"}, "--strategy must be one of depth, random, decisive, found 'deep'"),
        ({"depth": 0}, "--depth must be a whole number of at least 1"),
        ({"strategy": "random", "share": 0.0}, "--share must be a number above 0"),
        ({"strategy": "random", "share": 2.0}, "--share must be a number above 0"),
        ({"strategy": "random", "count": 0}, "--count must be a whole number"),
        ({"strategy": "random", "count": 3, "share": 0.1}, "choose one of --share and --count"),
        ({"share": 0.1}, "--share and --count belong to --strategy random"),
        ({"strategy": "random", "metrics": ["nDCG@10"]}, "nDCG@10 is not a sum .* use DCG@10"),
        ({"strategy": "decisive", "metrics": ["AP"]}, "AP is not a sum .* use RBP@10"),
        ({"metrics": ["nDCG@20"]}, "nDCG@20 looks at 20 hits, and 10 are pooled; add --depth 20"),
        ({"metrics": ["mDCG"]}, "mDCG"),
        ({"benchmark": "drunks"}, "no run has the benchmark 'drunks'; did you mean 'drinks'"),
    ],
)
def test_bad_options_are_rejected_before_anything_is_written(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BerryEvalError, match=message):
        pool("run", **options)
    assert not FOLDER.exists()


def test_runs_of_different_benchmarks_are_rejected() -> None:
    write_benchmark(replace(DRINKS, name="cups"), Path("cups"))
    run("cups", "bm25", "cups-run")
    message = r"several benchmarks \(run: drinks; cups-run: cups\); choose one with --benchmark"
    with pytest.raises(ConfigurationError, match=message):
        pool("run", "cups-run")


def test_bad_runs_and_files_are_rejected() -> None:
    Path("alien.trec").write_text("q1 Q0 x/y.md 1 2.0 x\n", encoding="utf-8")
    Path("other.trec").write_text("z1 Q0 tea 1 2.0 x\n", encoding="utf-8")
    Path("torn.trec").write_text("q1 Q0\n", encoding="utf-8")
    cases: list[tuple[tuple[str, ...], dict[str, Any], str]] = [
        (("alien.trec",), {"benchmark": "drinks"}, "alien.trec: none of 1 retrieved id is in the"),
        (("other.trec",), {"benchmark": "drinks"}, "other.trec: no query of the run is in drinks"),
        (("torn.trec",), {"benchmark": "drinks"}, "torn.trec"),
        (("alien.trec",), {}, "need their benchmark: add --benchmark"),
        (("nothing",), {}, "no run 'nothing'"),
        (("run#dense",), {}, "no provider 'dense'"),
        (("run", "run"), {}, "is given twice"),
        ((), {}, "name at least one run"),
    ]
    for runs, options, message in cases:
        with pytest.raises(BerryEvalError, match=message):
            pool(*runs, **options)
    assert not FOLDER.exists()


def test_a_run_without_hits_is_rejected() -> None:
    nothing = replace(DRINKS, queries=DRINKS.queries[3:], judgments=DRINKS.judgments[4:])
    write_benchmark(nothing, Path("none"))
    run("none", "bm25", "empty")
    with pytest.raises(DataError, match="bm25 of empty has no hits; it is left out"):
        pool("empty")
    with pytest.raises(DataError, match="bm25 of empty#bm25 has no hits, so there is nothing"):
        pool("empty#bm25")


def test_a_damaged_pool_is_not_overwritten() -> None:
    FOLDER.mkdir()
    (FOLDER / "pool.json").write_text('{"schema_version": 1, "pairs"', encoding="utf-8")
    with pytest.raises(
        DataError, match=r"pool\.json.*; delete it and pool again: the votes are in other files"
    ):
        pool("run")
    assert json.dumps("pairs") in (FOLDER / "pool.json").read_text(encoding="utf-8")


def test_the_format_of_a_benchmark_comes_from_the_configuration_file() -> None:
    Path("x.txt").write_text("ask\tpage\nHow hot?\ttea\n", encoding="utf-8")
    Path("a.trec").write_text("q1 Q0 tea 1 2 a\nq9 Q0 tea 1 2 a\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"as `format` of this benchmark in berryeval\.yaml"
    ) as caught:
        pool("a.trec", benchmark="x.txt")
    assert "--format" not in str(caught.value)
    Path("y.csv").write_text("query_id,question,page\nq1,How hot?,tea\n", encoding="utf-8")
    Path("berryeval.yaml").write_text(
        "benchmarks:\n  - source: y.csv\n    format: csv\n"
        "    options: {document: page}\nproviders: [bm25]\n",
        encoding="utf-8",
    )
    done = pool_runs(PoolRequest(["a.trec"], benchmark="y.csv", everything=True))
    assert [pair.query_id for pair in done.pool.pairs] == ["q1"]
    assert "a.trec: 1 query is not in y" in done.notes


def test_a_run_in_the_store_is_pooled_without_its_folder() -> None:
    before = pool("run#bm25")
    name = before.systems["bm25"].partition("#")[0]
    shutil.rmtree("run")
    shutil.rmtree(FOLDER)
    after = pool(f"{name}#bm25")
    assert after.pairs == before.pairs
    assert after.rankings == before.rankings
