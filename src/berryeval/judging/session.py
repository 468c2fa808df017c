"""A session: one judge goes through the pairs of a pool; every vote is stored before the next."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.data import content_hash
from berryeval.errors import DataError
from berryeval.judging.decisions import decide
from berryeval.judging.decisive import PairChooser
from berryeval.judging.ledger import PairKey, Vote, check_judge, find_disputed, hash_query, key_of
from berryeval.judging.pool import Stop
from berryeval.providers import STOPWORDS

if TYPE_CHECKING:
    from berryeval.judging.ledger import Ledger
    from berryeval.judging.pool import Pair, Pool

_WORD: Final = re.compile(r"\w+")
_SHORT: Final = 3  # letters of a word that is marked
_ENDING: Final = 2  # letters that may differ at the end of a word


class Marked(NamedTuple):
    """A piece of a passage, and whether it is a word of the query."""

    text: str
    marked: bool


def mark_words(text: str, query: str) -> list[Marked]:
    """Split a text into pieces, with the words of the query marked, whatever their ending.

    >>> [piece.text for piece in mark_words("A token.", "which tokens?") if piece.marked]
    ['token']
    """
    stems = tuple(
        word[: max(_SHORT, len(word) - _ENDING)]
        for word in map(str.casefold, _WORD.findall(query))
        if len(word) >= _SHORT and word not in STOPWORDS
    )
    pieces: list[Marked] = []
    place = 0
    for found in _WORD.finditer(text):
        if stems and found[0].casefold().startswith(stems):
            pieces += [Marked(text[place : found.start()], False), Marked(found[0], True)]
            place = found.end()
    return [piece for piece in (*pieces, Marked(text[place:], False)) if piece.text]


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
    _votes: list[Vote] = field(init=False, repr=False)
    _done: set[PairKey] = field(init=False, repr=False)
    _chooser: PairChooser = field(init=False, repr=False)
    _started: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_judge(self.judge)
        current = [one for one in self.ledger.current() if one.question == "relevance"]
        self.judges = sorted({one.judge for one in current})
        texts = {
            key_of(one.query_id, one.target): content_hash(one.text)
            for one in self.pool.pairs
            if one.text
        }
        self._votes = [
            one
            for one in current
            if one.content in {"", texts.get(key_of(one.query_id, one.target), one.content)}
            and one.asked in {"", self._hash_query(one.query_id) or one.asked}
        ]
        own = (one for one in self._votes if one.judge == self.judge)
        self._done = {key_of(one.query_id, one.target) for one in own}
        if self.adjudicates:
            decided, disputed = decide(self._votes), find_disputed(self._votes)
            order = {
                pair.id: decided[key].how != "undecided"
                for pair in self.pool.pairs
                if (key := key_of(pair.query_id, pair.target)) in disputed
            }
            pairs = [pair for pair in self.pool.pairs if pair.id in order]
            self.pool = replace(
                self.pool, pairs=tuple(sorted(pairs, key=lambda one: order[one.id]))
            )
            self._done = set()
        self._chooser = PairChooser(self.pool)
        self._started = time.monotonic()

    @property
    def left(self) -> list[Pair]:
        """The pairs that are neither dealt with nor skipped."""
        skipped = set(self.skipped)
        return [
            one
            for one in self.pool.pairs
            if one.id not in skipped and key_of(one.query_id, one.target) not in self._done
        ]

    def next(self) -> Pair | None:
        """Return the next pair, or None at the end of the session."""
        if self.adjudicates:
            found = next(iter(self.left), None) or Stop("the judges disagree about no other pair")
        else:
            found = self._chooser.next_pair(self._votes, self.judge, self.skipped)
        if isinstance(found, Stop):
            self.ending = found.reason
            return None
        return found

    def vote(self, pair: Pair, grade: float | None, note: str = "") -> Vote:
        """Store a vote; a `grade` of None means "cannot tell"."""
        if grade is not None and grade not in self.scale:
            raise DataError(f"expected one of {_list(self.scale)}, found {grade:g}")
        given = Vote(
            pair.query_id, pair.target, grade, self.judge, note=note,
            content=content_hash(pair.text) if pair.text else "", adjudicates=self.adjudicates,
            asked=self._hash_query(pair.query_id),
        )  # fmt: skip
        (stored,) = self.ledger.append([given])
        self._votes.append(stored)
        self.given.append(stored)
        self._done.add(key_of(pair.query_id, pair.target))
        return stored

    def _hash_query(self, name: str) -> str:
        return hash_query(self.queries[name]) if name in self.queries else ""

    def skip(self, pair: Pair) -> None:
        """Leave a pair for another session."""
        self.skipped.append(pair.id)

    def undo(self) -> Vote | None:
        """Withdraw the last vote of this session and return it; None if there is no vote."""
        if not self.given:
            return None
        last = self.given.pop()
        self.ledger.append([replace(last, grade=None, note="", time="", withdrawn=True)])
        self._votes.remove(last)
        self._done.discard(key_of(last.query_id, last.target))
        return last

    def votes_on(self, pair: Pair) -> list[Vote]:
        """Return what others voted; nothing unless the judge adjudicates."""
        key = key_of(pair.query_id, pair.target)
        known = self._votes if self.adjudicates else ()
        return [one for one in known if key_of(one.query_id, one.target) == key]

    @property
    def seconds_per_pair(self) -> float:
        """Seconds per vote of this session; 0 without a vote."""
        return (time.monotonic() - self._started) / len(self.given) if self.given else 0.0


def _list(grades: Iterable[float]) -> str:
    return ", ".join(f"{one:g}" for one in grades)
