"""A session: one judge goes through the pairs of a pool; every vote is stored before the next."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.errors import DataError
from berryeval.judging.ballots import Ballots
from berryeval.judging.decisive import PairChooser
from berryeval.judging.ledger import Vote, check_judge
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
