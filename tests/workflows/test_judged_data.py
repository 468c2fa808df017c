"""The grades of judges count in evaluations, and are counted where they do not."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berryeval.benchmarks import load_benchmark, write_benchmark
from berryeval.data import Anchor, Document, content_hash
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import Ledger, Pair, Pool, Vote, make_pair_id, open_ledger
from berryeval.workflows import run_benchmark
from berryeval.workflows.judged_data import find_benchmark, hash_without_votes, load_judged
from berryeval.workflows.plan import BenchmarkSpec
from tests.cli.eval_world import COFFEE, DRINKS, TEA, berryeval, data_of, write_drinks

GREEN = Anchor(document="tea", section=("Tea", "Green tea"))
LEFT_OUT = (
    "3 judged pairs of drinks.judged left out, such as one of query 'q9': there is no such query"
)
COFFEE_TOP = Anchor(document="coffee")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_drinks(tmp_path)


def vote(
    query: str, target: Anchor, grade: float | None, judge: str = "Ann", **fields: str
) -> Vote:
    return Vote(query, target, grade, judge, **fields)  # type: ignore[arg-type]


def judge_drinks() -> None:
    """Two judges: they agree on one pair and differ on another."""
    Ledger("drinks.judged").append(
        [
            vote("q1", GREEN, 0), vote("q1", GREEN, 0, "Ben"), vote("q2", COFFEE_TOP, 1),
            vote("q3", GREEN, 1), vote("q3", GREEN, 2, "Ben"),
        ]
    )  # fmt: skip


def test_a_benchmark_without_votes_is_as_it_is() -> None:
    found = load_judged("drinks")
    assert found.benchmark == load_benchmark("drinks")
    assert found.notes == ()
    assert hash_without_votes(found.benchmark) == found.benchmark.content_hash


def test_votes_on_answers_are_no_judgments() -> None:
    Ledger("drinks.judged").append([replace(vote("q1", GREEN, 1), question="faithfulness")])
    assert load_judged("drinks").benchmark == load_benchmark("drinks")
    with pytest.raises(ConfigurationError, match="there are no votes on drinks"):
        load_judged("drinks", "drinks.judged")


def test_decisions_count_with_a_remark() -> None:
    judge_drinks()
    found = load_judged("drinks")
    own = load_benchmark("drinks")
    assert found.notes == ("with 2 judgments of 2 judges from drinks.judged; 1 pair undecided",)
    assert found.benchmark.judgments[0].grade == 0
    assert len(found.benchmark.judgments) == len(own.judgments) + 1
    assert found.benchmark.content_hash != own.content_hash
    assert hash_without_votes(found.benchmark) == own.content_hash
    assert load_judged("drinks", "none").benchmark == own


def test_only_judges_whose_votes_decide_are_counted() -> None:
    """Not a model beside a human, one who cannot tell, or one whom an adjudicator overrules."""
    Ledger("drinks.judged").append(
        [
            vote("q1", GREEN, 1), vote("q1", GREEN, None, "Cy"),
            vote("q1", GREEN, 1, "gpt", kind="llm"), vote("q2", GREEN, 1, "Dee"),
            vote("q2", GREEN, 2, "Eve"), replace(vote("q2", GREEN, 2, "Fay"), adjudicates=True),
        ]
    )  # fmt: skip
    found = load_judged("drinks")
    assert found.notes == ("with 2 judgments of 2 judges from drinks.judged",)
    assert found.facts["judges"] == ["Ann", "Fay"]


def test_a_store_or_another_folder_is_a_place() -> None:
    for place in ("elsewhere", "votes.db"):
        open_ledger(place, "drinks").append([vote("q1", GREEN, 1)])
        found = load_judged("drinks", place)
        assert found.notes == (f"with 1 judgment of 1 judge from {place}",)
    with pytest.raises(ConfigurationError, match=r"nowhere: there are no votes on drinks"):
        load_judged("drinks", "nowhere")


def test_pairs_of_another_corpus_are_counted_and_named() -> None:
    Ledger("drinks.judged").append(
        [
            vote("q1", GREEN, 1), vote("q9", GREEN, 1), vote("q1", Anchor(document="beer"), 1),
            vote("q1", Anchor(document="tea", quote="Beer is brewed in vats."), 1),
        ]
    )  # fmt: skip
    found = load_judged("drinks")
    assert len(found.decisions) == 1
    assert found.notes == (
        "with 1 judgment of 1 judge from drinks.judged",
        LEFT_OUT,
    )
    assert list(found.strays.values())[1:] == [
        "there is no document 'beer'",
        "'tea' does not contain the quote 'Beer is brewed in vats.'",
    ]


def test_votes_for_another_benchmark_are_refused() -> None:
    Ledger("drinks.judged").append([vote("q1", Anchor(document="beer"), 1)])
    with pytest.raises(
        DataError,
        match=r"drinks\.judged: none of 1 judged pair is in drinks, such as one of query 'q1': "
        r"there is no document 'beer'; these are judgments for another",
    ):
        load_judged("drinks")


def test_a_text_that_has_changed_since_does_not_count() -> None:
    """A section counts while its own text, or its document, is what the judge saw."""
    green = "## Green tea\n\nSteep green tea at 80 degrees.\n"
    target = replace(GREEN, document_hash=content_hash(TEA))
    coffee = Anchor(document="coffee", document_hash=content_hash(COFFEE))
    Ledger("drinks.judged").append(
        [
            vote("q1", target, 1, content=content_hash(green)),
            vote("q1", coffee, 1, content=content_hash(COFFEE)),
        ]
    )
    assert load_judged("drinks").strays == {}
    tea = Document("tea", TEA.replace("steeped", "brewed"))
    write_benchmark(replace(DRINKS, documents=(tea, *DRINKS.documents[1:])), "drinks")
    assert load_judged("drinks").strays == {}
    tea = Document("tea", TEA.replace("80", "95"))
    write_benchmark(replace(DRINKS, documents=(tea, *DRINKS.documents[1:])), "drinks")
    (reason,) = load_judged("drinks").strays.values()
    assert reason == "the text of 'tea' has changed since it was judged"


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("steeped", "brewed", True),
        ("green tea at", "green  tea\nat", True),
        ("80", "95", False),
    ],
)
def test_a_near_match_of_a_quote_is_not_what_the_judge_saw(
    old: str, new: str, *, counts: bool
) -> None:
    """White space may change, and what is around the passage."""
    start = TEA.index("Steep")
    seen = TEA[start:].strip()
    target = Anchor(
        document="tea", start=start, end=start + len(seen), quote=seen,
        document_hash=content_hash(TEA),
    )  # fmt: skip
    Ledger("drinks.judged").append(
        [vote("q1", target, 1, content=content_hash(seen)), vote("q1", COFFEE_TOP, 1)]
    )
    tea = Document("tea", TEA.replace(old, new))
    write_benchmark(replace(DRINKS, documents=(tea, *DRINKS.documents[1:])), "drinks")
    found = load_judged("drinks")
    assert (len(found.strays) == 0) is counts
    assert set(found.strays.values()) <= {"the text of 'tea' has changed since it was judged"}
    assert len(found.notes) == 2 - counts


def test_votes_on_another_question_do_not_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if its query has the same id; white space is no difference."""
    pairs = [
        Pair(make_pair_id(query, COFFEE_TOP), query, COFFEE_TOP, COFFEE) for query in ("q1", "q2")
    ]
    folder = Path("drinks.judged")
    folder.mkdir()
    Pool("drinks", "", "depth", 10, 0, tuple(pairs)).write(folder / "pool.json")
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n1\n"))
    assert berryeval("judge", "next", "--judge", "ann") == 0
    assert berryeval("judge", "export", "--judge", "ben", "-o", "ben.csv") == 0
    sheet = Path("ben.csv").read_text(encoding="utf-8").replace('",,', '",2,')
    Path("ben.csv").write_text(sheet, encoding="utf-8")
    assert berryeval("judge", "import", "ben.csv", "--judge", "ben") == 0
    assert [one.judge for one in Ledger(folder).votes()] == ["ann", "ann", "ben", "ben"]
    assert all(one.asked for one in Ledger(folder).votes())
    first, second, *others = DRINKS.queries
    spaced = replace(second, text=second.text.replace(" ", "  "))
    write_benchmark(replace(DRINKS, queries=(first, spaced, *others)), "drinks")
    assert load_judged("drinks").strays == {}
    other = replace(first, text="How cold is black tea?")
    write_benchmark(replace(DRINKS, queries=(other, spaced, *others)), "drinks")
    (reason,) = load_judged("drinks").strays.values()
    assert reason == "the question has changed since it was judged"
    capsys.readouterr()
    assert berryeval("judge", "next", "--judge", "ann", "--json") == 0
    assert json.loads(capsys.readouterr().out)["data"]["pair"]["query_id"] == "q1"


def test_a_run_scores_by_the_votes_with_a_remark(capsys: pytest.CaptureFixture[str]) -> None:
    before = run_benchmark("drinks", "bm25", ["RR"])
    judge_drinks()
    code = berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR", "-o", "out", "--json")
    assert code == 0
    (part,) = data_of(capsys)["benchmarks"]
    note = "with 2 judgments of 2 judges from drinks.judged; 1 pair undecided"
    assert part["remarks"] == [note]
    assert part["content_hash"] != before.benchmark.content_hash
    record = json.loads(Path("out/run.json").read_text())["benchmarks"][0]
    assert record["notes"][0] == note
    assert record["judged"] == {
        "from": "drinks.judged", "judgments": 2, "judges": ["Ann", "Ben"], "undecided": 1,
        "left_out": 0, "own_hash": before.benchmark.content_hash,
    }  # fmt: skip
    mean = part["providers"][0]["scores"]["metrics"]["RR"]["value"]
    assert mean != before["bm25"].scores.mean["RR"]
    again = run_benchmark("drinks", "bm25", ["RR"], judged="none")
    assert again["bm25"].scores == before["bm25"].scores
    berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR", "--judged", "none", "-o", "o2")
    assert note not in capsys.readouterr().out
    assert json.loads(Path("o2/manifest.json").read_text())["plan"]["judged"] == "none"


def test_a_resumed_run_is_scored_by_new_votes_without_asking(
    capsys: pytest.CaptureFixture[str],
) -> None:
    berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR", "-o", "out")
    judge_drinks()
    capsys.readouterr()
    assert berryeval("eval", "--resume", "out", "--json") == 0
    found = data_of(capsys)["benchmarks"][0]
    assert found["remarks"][0].startswith("with 2 judgments of 2 judges")
    assert berryeval("eval", "--resume", "out", "--judged", "none", "--json") == 0
    assert data_of(capsys)["benchmarks"][0]["remarks"] == []


def test_a_folder_of_votes_is_for_one_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    judge_drinks()
    words = ("--providers", "bm25", "--judged", "drinks.judged")
    assert berryeval("eval", "drinks", "rag-template", *words) == 2
    assert "a folder has the votes on one benchmark, and there are 2" in capsys.readouterr().err


def test_the_setting_of_a_file_starts_at_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    open_ledger("sub/votes", "drinks").append([vote("q1", GREEN, 1)])
    Path("sub/berryeval.yaml").write_text(
        "benchmarks: [../drinks]\nproviders: [bm25]\njudged: votes\n"
    )
    assert berryeval("eval", "--config", "sub/berryeval.yaml", "--json", "-o", "out") == 0
    (part,) = data_of(capsys)["benchmarks"]
    assert part["remarks"] == ["with 1 judgment of 1 judge from sub/votes"]


def test_the_benchmark_of_a_command_is_found() -> None:
    with pytest.raises(ConfigurationError, match="no benchmark here has been judged or pooled"):
        find_benchmark(None)
    judge_drinks()
    assert find_benchmark(None) == "drinks"
    assert find_benchmark("nuts") == "nuts"
    Path("berryeval.yaml").write_text(
        "benchmarks:\n  - source: drinks\n    format: berryeval\nproviders: [bm25]\n"
    )
    assert find_benchmark(None) == BenchmarkSpec.model_validate(
        {"source": "drinks", "format": "berryeval"}
    )
    Ledger("technical-docs.judged").append([vote("q1", GREEN, 1)])
    with pytest.raises(ConfigurationError, match="ledger here: drinks, technical-docs; give"):
        find_benchmark(None)
    assert find_benchmark(None, "technical-docs.judged") == "technical-docs"


def rescored(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert berryeval("runs", "rescore", "latest", *words, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["data"]["benchmarks"][0]
    return found


def mean_of(part: dict[str, Any], metric: str = "RR") -> float:
    value: float = part["providers"]["bm25"]["metrics"][metric]["value"]
    return value


def test_a_past_run_is_rescored_by_votes_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """As after judging: rescore shows the new numbers, and resuming keeps them for compare."""
    berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR")
    before = mean_of(rescored(capsys, "-m", "RR"))
    judge_drinks()
    found = rescored(capsys)
    assert found["same_judgments"] is False
    assert found["notes"][0] == "with 2 judgments of 2 judges from drinks.judged; 1 pair undecided"
    assert "to keep these scores in the run: berryeval eval --resume" in found["notes"][1]
    assert mean_of(found) < before
    own = rescored(capsys, "-m", "RR", "--judged", "none")
    assert (mean_of(own), own["same_judgments"], own["notes"]) == (before, True, [])
    (folder,) = Path(".berryeval/runs").iterdir()
    assert berryeval("eval", "--resume", str(folder)) == 0
    again = rescored(capsys, "-m", "RR", "P@1")
    assert (mean_of(again), again["same_judgments"]) == (mean_of(found), True)
    Ledger("drinks.judged").append([vote("q3", GREEN, 2)])
    later = rescored(capsys)
    assert later["notes"][0] == "with 3 judgments of 2 judges from drinks.judged"


def test_a_run_is_rescored_by_its_own_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    open_ledger("votes.db", "drinks").append([vote("q1", GREEN, 0)])
    berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR", "--judged", "votes.db")
    found = rescored(capsys, "-m", "RR")
    assert (found["same_judgments"], found["notes"]) == (True, [])
    found = rescored(capsys, "--judged", "none")
    assert found["notes"][0] == "without the votes of judges that the run was scored by"
    assert found["notes"][1].endswith(" --judged none")


def test_a_masked_password_is_asked_for() -> None:
    with pytest.raises(ConfigurationError, match=r"does not hold its password; give --judged ag"):
        load_judged("drinks", "postgresql://ann:***@localhost/votes")


def test_saving_keeps_the_judgments_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR")
    judge_drinks()
    kept = rescored(capsys, "-m", "P@1", "--save")
    assert kept["same_judgments"] is True
    assert berryeval("runs", "rescore", "latest", "--judged", "auto", "-m", "RR", "--save") == 2
    assert "--save keeps scores by the run's own judgments only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "name at least one metric"),
        (("-m", "RR", "--judged", "nowhere"), "nowhere: there are no votes on drinks"),
        (("-m", "RR", "--judged", "none", "--qrels", "x"), "choose one of --qrels and --judged"),
    ],
)
def test_rescoring_rejects(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], problem: str
) -> None:
    berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR")
    assert berryeval("runs", "rescore", "latest", *words) == 2
    assert problem in capsys.readouterr().err


def test_two_runs_compare_by_the_same_votes(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR", "-o", name)
    judge_drinks()
    berryeval("eval", "--resume", "one")
    capsys.readouterr()
    assert berryeval("compare", "one", "two", "--json") == 0
    said = capsys.readouterr()
    assert "drinks changed between" in said.out + said.err
    berryeval("eval", "--resume", "two")
    capsys.readouterr()
    assert berryeval("compare", "one", "two", "--json") == 0
    said = capsys.readouterr()
    assert "changed between" not in said.out + said.err


def test_a_pool_of_a_judged_run_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    """The run was scored by votes, and more of them came since."""
    judge_drinks()
    berryeval("eval", "drinks", "--providers", "bm25", "-m", "RR")
    Ledger("drinks.judged").append([vote("q3", GREEN, 2)])
    capsys.readouterr()
    assert berryeval("judge", "pool", "latest", "--json") == 0
    assert "has changed since" not in capsys.readouterr().out
