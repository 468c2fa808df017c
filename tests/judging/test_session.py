"""A judge goes through a pool: nothing shown twice, nothing lost, everything can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from berryeval.data import Anchor
from berryeval.errors import DataError
from berryeval.judging import (
    Ledger,
    Pair,
    Pool,
    Session,
    Vote,
    agreement,
    decide,
    key_of,
    make_pair_id,
    mark_words,
)


def pool(count: int = 3) -> Pool:
    targets = [Anchor(document=f"d{n}") for n in range(count)]
    pairs = tuple(
        Pair(make_pair_id("q1", one), "q1", one, f"text {one.document}") for one in targets
    )
    return Pool("drinks", "sha256:0", "depth", 10, 0, pairs)


def open_session(folder: Path, judge: str = "Ann") -> Session:
    return Session(pool(), Ledger(folder), judge)


def test_a_vote_is_stored_before_the_next_pair(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    first = session.next()
    assert first is not None
    session.vote(first, 2, "clear")
    (stored,) = Ledger(tmp_path).votes()
    assert (stored.grade, stored.note, stored.judge, stored.kind) == (2, "clear", "Ann", "human")
    assert stored.content.startswith("sha256:")
    following = session.next()
    assert following is not None
    assert following.id != first.id


def test_a_later_session_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    while pair := session.next():
        session.vote(pair, 1) if len(session.given) < 2 else session.skip(pair)
    assert len(session.given) == 2
    (left,) = open_session(tmp_path).left
    assert left.id == session.skipped[0]


def test_judges_do_not_see_each_other(tmp_path: Path) -> None:
    ann = open_session(tmp_path)
    for pair in ann.pool.pairs:
        ann.vote(pair, 3)
    assert len(open_session(tmp_path, "Ben").left) == 3


def test_a_pair_is_shown_again_after_its_vote_is_withdrawn(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    assert session.undo() is None
    pair = session.pool.pairs[0]
    session.vote(pair, 3)
    taken = session.undo()
    assert taken is not None
    assert taken.grade == 3
    assert session.next() == pair
    assert Ledger(tmp_path).current() == []
    assert len(Ledger(tmp_path).votes()) == 2


def test_a_grade_outside_the_scale_is_refused_and_not_stored(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    with pytest.raises(DataError, match="expected one of 0, 1, 2, 3, found 4"):
        session.vote(session.pool.pairs[0], 4)
    assert Ledger(tmp_path).votes() == []


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Access tokens expire.", "When does a token expire?", ["tokens", "expire"]),
        ("A pear is a pear", "pear", ["pear", "pear"]),
        ("Nothing here", "", []),
        ("of the and", "of the and", []),
        ("Größe der Äpfel", "größer ÄPFEL", ["Größe", "Äpfel"]),
        ("Statements stand still until studies start", "start to study", ["studies", "start"]),
        ("accepted by refresh_token", "refresh access tokens", ["refresh", "token"]),
    ],
)
def test_words_of_the_query_are_marked(text: str, query: str, marked: list[str]) -> None:
    pieces = mark_words(text, query)
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.text for piece in pieces if piece.marked] == marked


def test_pairs_to_adjudicate_are_those_that_agreement_lists(tmp_path: Path) -> None:
    """Also where most agree; models count where no human judged. The undecided come first."""
    many = pool(6)
    ledger = Ledger(tmp_path)
    table = {
        ("Ann", "human"): (1, 3, 1, None, 2, 1),
        ("Ben", "human"): (1, 0, 1, None, None, 2),
        ("Cy", "human"): (2, None, None, None, None, None),
        ("gpt", "llm"): (1, 1, 3, 2, None, None),
        ("bot", "llm"): (None, None, None, 1, 1, None),
    }
    for (judge, kind), grades in table.items():
        ledger.append(
            Vote(pair.query_id, pair.target, grade, judge, kind)  # type: ignore[arg-type]
            for pair, grade in zip(many.pairs, grades, strict=True)
            if grade is not None
        )
    last = many.pairs[5]
    ledger.append([Vote(last.query_id, last.target, 1, "Dee", adjudicates=True)])
    dee = Session(many, ledger, "Dee", adjudicates=True)
    assert dee.left == [many.pairs[1], many.pairs[3], many.pairs[0]]
    listed = {one.item for one in agreement(ledger.votes(), resamples=0).disputes}
    assert listed == {key_of(one.query_id, one.target) for one in dee.left}


def test_a_disagreement_is_ended_by_an_adjudicator(tmp_path: Path) -> None:
    ann, ben = open_session(tmp_path), open_session(tmp_path, "Ben")
    first, second, _ = ann.pool.pairs
    for session, grades in ((ann, (3, 1)), (ben, (0, 1))):
        for pair, grade in zip((first, second), grades, strict=True):
            session.vote(pair, grade)
    cy = Session(pool(), Ledger(tmp_path), "Cy", adjudicates=True)
    assert cy.left == [first]
    assert [(one.judge, one.grade) for one in cy.votes_on(first)] == [("Ann", 3), ("Ben", 0)]
    cy.vote(first, 2)
    assert cy.next() is None
    assert {one.grade for one in decide(Ledger(tmp_path).votes()).values()} == {2, 1}
    cy.undo()
    assert cy.next() == first
    assert open_session(tmp_path, "Dee").votes_on(first) == []
