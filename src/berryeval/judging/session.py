"""Sessions on a pool, and the current votes on its pairs.

In a session one judge goes through the pairs; every vote is stored before the next.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval.data import content_hash
from berryeval.errors import DataError
from berryeval.judging.decisions import decide
from berryeval.judging.decisive import PairChooser
from berryeval.judging.ledger import Vote, check_judge, find_disputed, hash_query
from berryeval.judging.pool import Stop, make_pair_id
from berryeval.providers import STOPWORDS, load_stemmer

if TYPE_CHECKING:
    from berryeval.judging.ledger import Ledger
    from berryeval.judging.pool import Pair, Pool

_WORD: Final = re.compile(r"[^\W_]+")
_SHORT: Final = 3  # letters of a word that is marked
_ENDING: Final = 2  # letters that may differ at the end of a word


_NAMES: Final = (  # of the grades from 0, by the scale of the protocol
    ("no use", "supports", "answers"),
    ("no use", "supports", "substantial", "answers"),
)


class Ballots:
    """The current votes on the relevance of pairs, of all judges.

    A vote is taken in without a look at the others, in any order and any number of times. Votes on
    another text than that of the pool, or for another question, do not count.

    Attributes:
        judges: Names of all who have judged.
        version: A number that grows with every vote that changes something.
    """

    def __init__(self, pool: Pool, queries: Mapping[str, str] | None = None) -> None:
        self.judges: set[str] = set()
        self.version = 0
        self._texts = {pair.id: content_hash(pair.text) for pair in pool.pairs if pair.text}
        self._asked = {name: hash_query(text) for name, text in (queries or {}).items()}
        self._last: dict[str, dict[tuple[str, bool], tuple[float, Vote]]] = defaultdict(dict)
        self._done: dict[str, set[str]] = defaultdict(set)
        self._grades: dict[str, float] = {}
        self._disputed: dict[str, bool] = {}  # pairs that judges disagree about: decided anyhow?
        self._changed: set[str] = set()

    def make_vote(self, pair: Pair, grade: float | None, judge: str, **fields: Any) -> Vote:
        """Return a vote on a pair, with what the judge saw and was asked."""
        content = self._texts.get(pair.id) or (content_hash(pair.text) if pair.text else "")
        asked = self._asked.get(pair.query_id, "")
        return Vote(
            pair.query_id, pair.target, grade, judge, content=content, asked=asked, **fields
        )

    def add(self, votes: Iterable[Vote]) -> None:
        """Take in votes; the latest of a judge on a pair counts."""
        for vote in votes:
            if vote.question != "relevance":
                continue
            self.judges.add(vote.judge)
            name, who = make_pair_id(vote.query_id, vote.target), (vote.judge, vote.adjudicates)
            moment, own = vote.moment, self._last[name]
            if who in own and (own[who][0] > moment or own[who][1] == vote):
                continue
            own[who] = moment, vote
            self.version += 1
            self._changed.add(name)
            either = (own.get((vote.judge, one)) for one in (False, True))
            if any(one is not None and self._counts(name, one[1]) for one in either):
                self._done[vote.judge].add(name)
            else:
                self._done[vote.judge].discard(name)

    def _counts(self, name: str, vote: Vote) -> bool:
        return (
            not vote.withdrawn
            and vote.content in {"", self._texts.get(name, vote.content)}
            and vote.asked in {"", self._asked.get(vote.query_id, vote.asked)}
        )

    def judged_by(self, judge: str) -> set[str]:
        """Return the ids of the pairs that a judge has judged."""
        return self._done[judge]

    def votes_on(self, pair_id: str) -> list[Vote]:
        """Return the current votes on a pair, oldest first."""
        held = sorted(self._last.get(pair_id, {}).values(), key=lambda one: one[0])
        return [vote for _, vote in held if self._counts(pair_id, vote)]

    @property
    def grades(self) -> Mapping[str, float]:
        """The decided grades by pair id."""
        self._decide_changed()
        return self._grades

    @property
    def disputed(self) -> Mapping[str, bool]:
        """The ids of pairs that judges disagree about, and whether a majority decides them."""
        self._decide_changed()
        return self._disputed

    def _decide_changed(self) -> None:
        for name in self._changed:
            self._grades.pop(name, None)
            self._disputed.pop(name, None)
            votes = self.votes_on(name)
            for decision in decide(votes).values():
                if decision.grade is not None:
                    self._grades[name] = decision.grade
                if find_disputed(votes):
                    self._disputed[name] = decision.how != "undecided"
        self._changed.clear()


def name_grades(scale: Sequence[float]) -> dict[float, str]:
    """Return the grades of a scale with their names; "" where a grade has none.

    >>> name_grades((0, 1, 2))
    {0: 'no use', 1: 'supports', 2: 'answers'}
    """
    given = tuple(scale)
    names = next((one for one in _NAMES if given == tuple(range(len(one)))), ("",) * len(given))
    return dict(zip(given, names, strict=True))


class Marked(NamedTuple):
    """A piece of a passage, and whether it is a word of the query."""

    text: str
    marked: bool


def mark_words(text: str, query: str) -> list[Marked]:
    """Split a text into pieces, with the words of the query marked, whatever their ending.

    >>> [piece.text for piece in mark_words("A token.", "which tokens?") if piece.marked]
    ['token']
    """
    words = {
        word
        for word in map(str.casefold, _WORD.findall(query))
        if len(word) >= _SHORT and word not in STOPWORDS
    }
    stem = _find_stemmer()
    forms = {*words, *map(stem, words), *(part for word in words for part in _shorten(word))}
    pieces: list[Marked] = []
    place = 0
    for found in _WORD.finditer(text):
        word = found[0].casefold()
        if forms and (word in forms or stem(word) in forms or words & _shorten(word)):
            pieces += [Marked(text[place : found.start()], False), Marked(found[0], True)]
            place = found.end()
    return [piece for piece in (*pieces, Marked(text[place:], False)) if piece.text]


def order_disputed(pool: Pool, ballots: Ballots) -> tuple[Pair, ...]:
    """Return the pairs that judges disagree about, those without a majority first."""
    order = ballots.disputed
    return tuple(
        sorted((one for one in pool.pairs if one.id in order), key=lambda one: order[one.id])
    )


def _shorten(word: str) -> set[str]:
    """Return a word without its last letters, whatever its language."""
    return {word[:-cut] for cut in range(1, _ENDING + 1) if len(word) - cut >= _SHORT}


@cache
def _find_stemmer() -> Callable[[str], str]:
    return load_stemmer("english")


@dataclass
class Session:
    """The pairs that a judge has not judged, one at a time; or those that judges disagree about.

    Attributes:
        pool: The pairs; if the judge adjudicates, those to decide, the undecided first.
        ledger: Where votes go.
        judge: Name of the judge.
        scale: Grades that the judge may give.
        adjudicates: Whether the judge ends disagreements of others, and sees their votes.
        queries: Texts of the queries, by id.
        given: Votes of this session, oldest first.
        skipped: Ids of skipped pairs; they are not shown again in this session.
        ending: Why there is no next pair; empty before that.
        judges: Names of those who have judged. Votes on another text than that of the pool, or for
            another question, do not count.
    """

    pool: Pool
    ledger: Ledger
    judge: str
    scale: Sequence[float] = (0, 1, 2, 3)
    adjudicates: bool = False
    queries: Mapping[str, str] = field(default_factory=dict)
    given: list[Vote] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    ending: str = ""
    judges: list[str] = field(init=False)
    _ballots: Ballots = field(init=False, repr=False)
    _done: set[str] = field(init=False, repr=False)
    _chooser: PairChooser = field(init=False, repr=False)
    _started: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_judge(self.judge)
        self._ballots = Ballots(self.pool, self.queries)
        self._ballots.add(self.ledger.votes())
        self.judges = sorted(self._ballots.judges)
        self._done = set(self._ballots.judged_by(self.judge))
        if self.adjudicates:
            self.pool = replace(self.pool, pairs=order_disputed(self.pool, self._ballots))
            self._done = set()
        self._chooser = PairChooser(self.pool)
        self._started = time.monotonic()

    @property
    def left(self) -> list[Pair]:
        """The pairs that are neither dealt with nor skipped."""
        gone = {*self.skipped, *self._done}
        return [one for one in self.pool.pairs if one.id not in gone]

    def next(self) -> Pair | None:
        """Return the next pair, or None at the end of the session."""
        left, found = self.left, None
        if not self.adjudicates:
            grades = self._ballots.grades if self._chooser.decides else {}
            found = self._chooser.choose(left, grades, self.judge)
        elif not left:
            found = Stop("the judges disagree about no other pair")
        if isinstance(found, Stop):
            passed = f"; {len(self.skipped)} were passed over" if self.skipped and not left else ""
            self.ending = f"{found.reason}{passed}"
            return None
        return found[0] if found else left[0]

    def vote(self, pair: Pair, grade: float | None, note: str = "") -> Vote:
        """Store a vote; a `grade` of None means "cannot tell"."""
        if grade is not None and grade not in self.scale:
            raise DataError(f"expected one of {_list(self.scale)}, found {grade:g}")
        given = self._ballots.make_vote(
            pair, grade, self.judge, note=note, adjudicates=self.adjudicates
        )
        (stored,) = self.ledger.append([given])
        self._ballots.add([stored])
        self.given.append(stored)
        self._done.add(pair.id)
        return stored

    def skip(self, pair: Pair) -> None:
        """Leave a pair for another session."""
        self.skipped.append(pair.id)

    def undo(self) -> Vote | None:
        """Withdraw the last vote of this session and return it; None if there is no vote."""
        if not self.given:
            return None
        last = self.given.pop()
        back = replace(last, grade=None, note="", time="", withdrawn=True)
        self._ballots.add(self.ledger.append([back]))
        self._done.discard(make_pair_id(last.query_id, last.target))
        return last

    def votes_on(self, pair: Pair) -> list[Vote]:
        """Return what others voted; nothing unless the judge adjudicates."""
        return self._ballots.votes_on(pair.id) if self.adjudicates else []

    @property
    def seconds_per_pair(self) -> float:
        """Seconds per vote of this session; 0 without a vote."""
        return (time.monotonic() - self._started) / len(self.given) if self.given else 0.0


def _list(grades: Iterable[float]) -> str:
    return ", ".join(f"{one:g}" for one in grades)
