"""The pool: pairs to judge, blind and shuffled, and the rankings that they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.files import replace_file
from berryeval._internal.json import encode_json_line, read_json_object
from berryeval._internal.serial import (
    JsonRecord,
    Reader,
    array_reader,
    open_field,
    strip_schema_version,
)
from berryeval._internal.validate import is_number, require
from berryeval.data import Anchor
from berryeval.errors import DataError
from berryeval.judging.ledger import current_votes, key_of

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark
    from berryeval.judging.ledger import Vote

SCHEMA_VERSION: Final = 1
POOL: Final = "pool.json"  # in the folder of the ledger


def make_pair_id(query_id: str, target: Anchor) -> str:
    """Return the id of a pair, the same in every pool."""
    text = "\0".join(key_of(query_id, target))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True)
class Pair(JsonRecord):
    """A query and a passage to judge.

    Attributes:
        id: Id of the pair.
        query_id: Id of the query.
        target: What to judge.
        text: The passage; empty if unknown.
        name: Document and headings of the passage.
        before: Text before the passage.
        after: Text after the passage.
        probability: Probability with which the pair was drawn.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"Anchor": Anchor.from_json}

    id: str
    query_id: str
    target: Anchor
    text: str = ""
    name: str = ""
    before: str = ""
    after: str = ""
    probability: float = 1.0
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        possible = 0 < self.probability <= 1
        wanted = "above 0 and at most 1"
        require(possible, "probability", wanted, self.probability, error=DataError)


@dataclass(frozen=True)
class Pool(JsonRecord):
    """Pairs to judge, in the order in which judges see them.

    Attributes:
        benchmark: Where the benchmark is, as it was given.
        content_hash: Hash of the benchmark when the pairs were pooled.
        strategy: How the pairs were chosen.
        depth: Number of hits of each ranking that were looked at.
        seed: Random seed of the order, and of what was drawn.
        pairs: The pairs.
        metrics: Metrics whose differences matter, the first one most.
        highest: Highest grade that a pair can get.
        systems: By system, the run that its ranking comes from.
        rankings: By system and query, what stands at each rank: the grade that is known already, or
            the id of a pair, which need not be in the pool. Judges never see it.
        known: By query, the grades of all targets that the benchmark knows, highest first.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"tuple[Pair, ...]": array_reader(Pair)}

    benchmark: str
    content_hash: str
    strategy: str
    depth: int
    seed: int
    pairs: tuple[Pair, ...] = ()
    metrics: tuple[str, ...] = ()
    highest: float = 3.0
    systems: Mapping[str, Any] = open_field()
    rankings: Mapping[str, Any] = open_field()
    known: Mapping[str, Any] = open_field()
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        require(self.depth >= 1, "depth", "at least 1", self.depth, error=DataError)
        require(self.highest > 0, "highest", "above 0", self.highest, error=DataError)

    def add(self, more: Pool) -> Pool:
        """Return a pool with the pairs of both; rankings of this one stay if they are not in both.

        A pair that both have keeps its place and the larger of its probabilities, which is the
        probability of being in either of two draws with the same seed; its text is the new one.
        """
        new = {pair.id: pair for pair in more.pairs}
        kept = [
            replace(new[pair.id], probability=max(pair.probability, new[pair.id].probability))
            if pair.id in new
            else pair
            for pair in self.pairs
        ]
        known = {pair.id for pair in kept}
        return replace(
            more,
            depth=max(self.depth, more.depth),
            highest=max(self.highest, more.highest),
            pairs=(*kept, *(pair for pair in more.pairs if pair.id not in known)),
            systems={**self.systems, **more.systems},
            rankings={**self.rankings, **more.rankings},
            known={**self.known, **more.known},
        )

    def write(self, path: PathLike) -> None:
        """Write the pool to a file."""
        with replace_file(path) as stream:
            stream.write(encode_json_line({"schema_version": SCHEMA_VERSION, **self.to_json()}))
            stream.write(b"\n")

    @classmethod
    def read(cls, path: PathLike) -> Pool:
        """Read a pool from a file."""
        try:
            data = strip_schema_version(read_json_object(path), str(path), "a pool", SCHEMA_VERSION)
            return cls.from_json(data, str(path))
        except DataError as error:
            cure = "delete it and pool again: the votes are in other files"
            raise DataError(f"{error}; {cure}") from None


def has_changed(pair: Pair, benchmark: Benchmark) -> bool:
    """Whether a benchmark has another text at the place of a pair than judges see."""
    target = pair.target
    if not target.document or not pair.text or (target.start is None and target.quote):
        return False  # not from the text of a document
    document = benchmark.document_of.get(target.document)
    return document is None or document.text[target.start : target.end] != pair.text


def shuffle_pairs(pairs: Iterable[Pair], seed: int) -> tuple[Pair, ...]:
    """Return pairs in random order, those of a query together, whatever the order given."""
    return tuple(
        sorted(pairs, key=lambda one: (draw_number(seed, one.query_id), draw_number(seed, one.id)))
    )


@lru_cache(maxsize=1 << 16)
def draw_number(seed: int, name: str) -> float:
    """Return a random number in [0, 1) that always belongs to this seed and name."""
    text = f"{seed} {name}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:6], "big") / 2**48


@dataclass(frozen=True)
class Stop:
    """Why a judge has nothing more to judge."""

    reason: str


def order_pairs(
    pool: Pool, votes: Iterable[Vote], judge: str, passed: Collection[str] = ()
) -> Iterator[Pair]:
    """Yield the pairs that a judge has not voted on, in the order of the pool.

    `passed` has the ids of pairs that the judge does not want to see now.
    """
    seen = {
        make_pair_id(vote.query_id, vote.target)
        for vote in current_votes(votes)
        if vote.judge == judge and vote.question == "relevance"
    }
    return (pair for pair in pool.pairs if pair.id not in seen and pair.id not in passed)


def read_rankings(pool: Pool) -> dict[str, dict[str, list[str | float]]]:
    """Return the rankings of a pool after checking them and the known grades."""
    for query, grades in pool.known.items():
        if not isinstance(grades, list) or not all(map(is_number, grades)):
            raise DataError(
                f"the pool's known grades of {query!r:.80} must be a list of numbers, found "
                f"{grades!r:.80}; pool the runs again"
            )
    for system, queries in pool.rankings.items():
        if not isinstance(queries, Mapping):
            raise DataError(f"the pool has no queries of {system!r:.80}; pool the runs again")
        for query, entries in queries.items():
            if not isinstance(entries, list) or not all(
                isinstance(one, str) or is_number(one) for one in entries
            ):
                raise DataError(
                    f"the pool's ranking of {query!r:.80} by {system!r:.80} must list pairs and "
                    f"grades, found {entries!r:.80}; pool the runs again"
                )
    return dict(pool.rankings)
