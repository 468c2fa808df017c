"""The ledger keeps every vote of every judge, whatever happens to its files."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from berryeval.benchmarks import Benchmark
from berryeval.data import Anchor, Document, Hit, Judgment, Query
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import (
    DecisionRule,
    Ledger,
    Vote,
    apply_decisions,
    check_grade,
    decide,
    grade_scale,
    name_place,
    open_ledger,
)
from berryeval.judging.ledger import read_vote
from berryeval.relevance import Relevance
from tests.cli.eval_world import DRINKS

TEA = Anchor(document="tea")
GIT = shutil.which("git") or "git"


def vote(judge: str, grade: float | None, target: Anchor = TEA, **fields: object) -> Vote:
    return Vote("q1", target, grade, judge, **fields)  # type: ignore[arg-type]


def test_votes_are_read_back_as_they_were_given(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "x.judged")
    assert ledger.votes() == []
    span = Anchor(document="tea", start=0, end=4, quote="Tea\n")
    added = ledger.append([vote("Ann", 2), vote("Ben", None, span, note="a\nb \ud800 ☕")])
    assert ledger.votes() == added
    assert all(one.time for one in added)


def test_the_last_vote_of_a_judge_counts_until_it_is_withdrawn(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.append([vote("Ann", 2)])
    ledger.append([vote("Ann", 1)])
    assert [one.grade for one in ledger.current()] == [1]
    ledger.append([vote("Ann", None, withdrawn=True)])
    assert ledger.current() == []
    assert len(ledger.votes()) == 3


@pytest.mark.parametrize("name", ["human", "benchmark"])
def test_a_name_that_means_something_else_is_no_judge(name: str, tmp_path: Path) -> None:
    """Nothing of the call is written; an older vote of that name is read."""
    for place in (tmp_path / "x.judged", tmp_path / "x.db"):
        with pytest.raises(ConfigurationError, match=f"no judge can be called '{name}'.*--judge"):
            open_ledger(place, tmp_path / "x.json").append([vote("Ann", 1), vote(name, 2)])
    assert list(tmp_path.iterdir()) == []
    assert read_vote(json.dumps(vote(name, 2).to_json()).encode()) == vote(name, 2)


def test_damaged_and_torn_lines_do_not_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger(tmp_path)
    ledger.append([vote("Ann", 2), vote("Ann", 1, Anchor(document="milk"))])
    (file,) = (tmp_path / "votes").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"grade": 2', b'"grade": 3') + whole[:40])
    with caplog.at_level(logging.WARNING, logger="berryeval"):
        assert [one.grade for one in ledger.votes()] == [1]
    assert "ann.jsonl:1: no vote, or a changed one; it does not count" in caplog.text
    assert "ann.jsonl:3: incomplete: its writer was stopped" in caplog.text
    ledger.append([vote("Ann", 0)])
    assert [one.grade for one in ledger.votes()] == [1, 0]


def test_git_merges_the_votes_of_two_branches(tmp_path: Path) -> None:
    """The same judge votes on both branches; git itself merges, without a conflict."""

    def git(*words: str) -> None:
        name = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        subprocess.run([GIT, *name, *words], cwd=tmp_path, check=True, capture_output=True)

    ledger = Ledger(tmp_path / "x.judged")
    git("init", "-b", "main")
    ledger.append([vote("Ann", 2)])
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "-b", "other")
    ledger.append([vote("Ann", 1, Anchor(document="milk"))])
    git("commit", "-am", "two")
    git("checkout", "main")
    ledger.append([vote("Ann", 0, Anchor(document="juice"))])
    git("commit", "-am", "three")
    git("merge", "other")
    assert sorted(one.grade or 0 for one in ledger.votes()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "rule", "expected"),
    [
        ([vote("Ann", 2)], {}, (2, "majority")),
        ([vote("Ann", 2), vote("Ben", 1), vote("Cy", 1)], {}, (1, "majority")),
        ([vote("Ann", 2), vote("Ben", 1)], {}, (None, "undecided")),
        ([vote("Ann", 2), vote("Ben", 1)], {"judge": "Ben"}, (1, "judge")),
        ([vote("Ann", 2), vote("Ben", 1, adjudicates=True)], {}, (1, "adjudicated")),
        ([vote("Ann", 2), vote("m", 0, kind="llm"), vote("n", 0, kind="llm")], {}, (2, "majority")),
        ([vote("m", 3, kind="llm")], {}, (3, "majority")),
        ([vote("Ann", None)], {}, (None, "undecided")),
        ([vote("Ann", None), vote("Ben", 3)], {}, (3, "majority")),
        ([vote("Ann", 1), vote("Ben", 3)], {"judges": ("Ben",)}, (3, "majority")),
    ],
)
def test_the_rule(given: list[Vote], rule: dict[str, object], expected: tuple[object, str]) -> None:
    (found,) = decide(given, DecisionRule(**rule)).values()  # type: ignore[arg-type]
    assert (found.grade, found.how) == expected


def test_an_unknown_judge_is_named() -> None:
    with pytest.raises(ValueError, match="no votes of the judge 'Anne'; did you mean 'Ann'"):
        decide([vote("Ann", 1)], DecisionRule(judge="Anne"))


def test_decided_grades_replace_those_of_the_benchmark() -> None:
    own = DRINKS.judgments[0]
    other = Anchor(document=next(d.id for d in DRINKS.documents if d.id != own.target.document))
    given = [
        Vote(own.query_id, own.target, 0, "Ann"),
        Vote(own.query_id, other, 3, "Ann"),
    ]
    found = apply_decisions(DRINKS, decide(given))
    assert found.judgments[0].grade == 0
    assert found.judgments[-1].grade == 3
    assert len(found.judgments) == len(DRINKS.judgments) + 1


def test_a_span_and_a_section_are_the_same_place() -> None:
    """A hit is judged by its span; a judgment of the same text by its section is replaced."""
    own = DRINKS.judgments[0]
    text = DRINKS.document_of["tea"].text
    start = text.index("## Green")
    span = Anchor(document="tea", start=start, end=len(text) - 1, quote=text[start:-1])
    part = Anchor(document="tea", start=start, end=start + 12)
    given = [Vote("q1", span, 0, "Ann"), Vote("q2", span, 1, "Ann"), Vote("q1", part, 1, "Ann")]
    found = apply_decisions(DRINKS, decide(given))
    assert found.judgments[0] == replace(own, grade=0, exact=True)
    added = [(one.query_id, one.target) for one in found.judgments[len(DRINKS.judgments) :]]
    assert added == [("q2", span), ("q1", part)]


WHOLE = Anchor(document="d0")
TEXT = "Alpha is first.\n\nBeta is next.\n"
FIRST, SECOND = (Anchor(document="d0", start=a, end=b) for a, b in ((0, 15), (17, 31)))
ALL = Anchor(document="d0", start=0, end=31)  # without the white space after it


def score(own: list[Judgment], votes: list[Vote], hits: list[Anchor]) -> list[float]:
    """Return the grades of hits at these places, and after them those of an ideal ranking."""
    documents = (Document("d0", TEXT), Document("d1", "Gamma."))
    given = Benchmark("one", documents, (Query("q1", "Which is first?"),), tuple(own))
    found = Relevance(apply_decisions(given, decide(votes)))
    asked = [Hit(f"h{one.start}", doc_id="d0", start=one.start, end=one.end) for one in hits]
    ranking = found.judge("q1", asked).ranking
    return [*(one.grade for one in ranking.hits), *ranking.grades]


@pytest.mark.parametrize(("judged", "voted"), [(WHOLE, ALL), (ALL, WHOLE)])
def test_a_document_and_the_span_of_all_its_text_are_the_same_place(
    judged: Anchor, voted: Anchor
) -> None:
    assert score([Judgment("q1", judged, 3)], [Vote("q1", voted, 0, "Ann")], [ALL]) == [0, 0]


def test_a_vote_on_a_part_of_a_document_counts_for_that_part() -> None:
    """The grade of the document is that of its other text, which any part of it finds, once."""
    own = [Judgment("q1", WHOLE, 3), Judgment("q1", Anchor(document="d1"), 1)]
    votes = [Vote("q1", FIRST, 0, "Ann")]
    assert score(own, votes, [FIRST, SECOND]) == [0, 3, 3, 1, 0]
    assert score(own, votes, [ALL]) == [3, 3, 1, 0]  # the whole document still finds it
    for end in (10, 17):  # other chunkers cut it shorter, or with the white space after it
        cut = Anchor(document="d0", start=0, end=end)
        assert score(own, votes, [cut, SECOND]) == [0, 3, 3, 1, 0]
    middle = Anchor(document="d0", start=9, end=21)
    ends = [Anchor(document="d0", start=a, end=b) for a, b in ((0, 8), (22, 31))]
    assert score(own, [Vote("q1", middle, 1, "Ann")], [middle, *ends]) == [1, 3, 0, 3, 1, 1]


def test_votes_on_parts_can_replace_the_judgment_of_a_document() -> None:
    """If all text was judged, or a part has as high a grade as the document."""
    own, first = [Judgment("q1", WHOLE, 3)], Vote("q1", FIRST, 0, "Ann")
    assert score(own, [first, Vote("q1", SECOND, 1, "Ann")], [FIRST, SECOND]) == [0, 1, 1, 0]
    assert score(own, [first, Vote("q1", SECOND, 0, "Ann")], [FIRST, SECOND]) == [0, 0, 0, 0]
    assert score(own, [Vote("q1", FIRST, 3, "Ann")], [FIRST, SECOND]) == [3, 3]


def test_a_vote_on_a_part_of_a_document_keeps_other_judgments() -> None:
    """Documents that are not relevant, in groups, unread, or judged as a whole by a vote, too."""
    vote_0, vote_2 = Vote("q1", FIRST, 0, "Ann"), Vote("q1", FIRST, 2, "Ann")
    both = [Judgment("q1", WHOLE, 3), Judgment("q1", FIRST, 1)]
    assert score(both, [vote_0], [FIRST, SECOND]) == [0, 3, 3, 0]
    assert score([Judgment("q1", WHOLE, 0)], [vote_2], [SECOND, FIRST]) == [0, 2, 2, 0]
    group = [Judgment("q1", Anchor(document=one), 3, "either") for one in ("d0", "d1")]
    assert score(group, [vote_0], [SECOND, FIRST]) == [3, 0, 3, 0]
    unread = Benchmark("one", (), (Query("q1", "?"),), (Judgment("q1", WHOLE, 3),))
    assert apply_decisions(unread, decide([vote_0])).judgments[0] == unread.judgments[0]
    hashed = Anchor(document="d0", document_hash="sha256:0")
    twice = [Vote("q1", ALL, 0, "Ann"), Vote("q1", hashed, 3, "Ben")]
    assert score([Judgment("q1", WHOLE, 1)], twice, [ALL]) == [0, 3, 0]


def test_votes_on_another_benchmark_are_refused() -> None:
    with pytest.raises(DataError, match="has no query 'no-such', which was judged"):
        apply_decisions(DRINKS, decide([Vote("no-such", TEA, 1, "Ann")]))


def test_the_folder_is_beside_the_benchmark(tmp_path: Path) -> None:
    (tmp_path / "v1.2").mkdir()
    assert name_place("technical-docs") == Path("technical-docs.judged")
    assert name_place(tmp_path / "v1.2") == tmp_path / "v1.2.judged"
    assert name_place("sets/fruit.jsonl.gz") == Path("sets/fruit.judged")
    assert name_place("sets/") == Path("sets.judged")
    assert name_place("/") == Path("/.judged")


def test_the_current_folder_has_a_place_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fruit" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "fruit")
    assert name_place(".") == tmp_path / "fruit.judged"
    monkeypatch.chdir(tmp_path / "fruit" / "sub")
    assert name_place("..") == tmp_path / "fruit.judged"


@pytest.mark.parametrize(
    ("metadata", "grades", "expected"),
    [
        ({}, [], (0, 1, 2, 3)),
        ({}, [1, 1, 0], (0, 1, 2, 3)),
        ({}, [1, 2], (0, 1, 2)),
        ({}, [5, 1], (0, 1, 2, 3, 4, 5)),
        ({}, [-1, 1, 2], (-1, 0, 1, 2)),
        ({}, [0.5, 1], (0, 0.5, 1)),
        ({}, [100, 50], (0, 50, 100)),
        ({"grades": [1, 0]}, [1, 2], (0, 1)),
        ({"grades": "0-3"}, [1, 4], (0, 1, 2, 3, 4)),
    ],
)
def test_the_scale_of_a_benchmark(
    metadata: dict[str, object], grades: list[float], expected: tuple[float, ...]
) -> None:
    judgments = tuple(Judgment("q1", Anchor(document=str(n)), g) for n, g in enumerate(grades))
    scale = grade_scale(replace(DRINKS, judgments=judgments, metadata=metadata))
    assert scale == expected
    check_grade(expected[-1], scale)
    with pytest.raises(DataError, match=r"the grade must be one of .*, found 7$"):
        check_grade(7, scale)


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"kind": "llm", "tokens": 7, "cost": 0.5, "model": "m"}, {"question": "answer"},
        {"target": {"document": "d", "section": ["A", "B"], "subsections": False}},
        {"target": {"document": "d", "start": 1, "end": 2, "unit": "lines"}}, {"new": [1]},
        {"sheet": "abc"}, {"target": "chunk-1"}, {"kind": "robot"}, {"kind": ["llm"]},
        {"grade": True}, {"judge": ""}, {"time": "noon"}, {"target": {}}, {"target": {"end": 1}},
        {"target": {"document": "d", "unit": "pages"}}, {"query_id": None}, {"tokens": 1.5},
        {"grade": "2"},
    ],
)  # fmt: skip
def test_the_fast_reader_reads_what_the_strict_one_reads(changes: dict[str, object]) -> None:
    data = {"query_id": "q", "target": {"document": "d"}, "grade": 2, "judge": "Ann"}
    data |= {"time": "2026-03-01T09:00:00+00:00", **changes}
    try:
        expected = Vote.from_json(data)
    except DataError:
        expected = None
    assert read_vote(json.dumps(data).encode()) == expected
    assert (expected is None) == (read_vote(json.dumps(data).encode()) is None)
