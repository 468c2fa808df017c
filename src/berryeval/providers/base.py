"""What a provider is, and how its results are ordered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval.errors import ConfigurationError
from berryeval.records import Hit
from berryeval.run import RankingRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from typing_extensions import Self

    from berryeval.records import Chunk, Query

__all__ = ["Provider", "best_hits", "check_feedback", "hit_of", "searched_text"]


class Provider(ABC):
    """A thing that can be searched.

    `index` is called once, before the first search; a provider that searches something that exists
    already leaves it as it is. Used as a context manager it is closed at the end.
    """

    def index(self, chunks: Sequence[Chunk]) -> None:  # noqa: B027 - nothing to do is a fine way
        """Take in what will be searched."""

    @abstractmethod
    def search(self, query: Query, k: int) -> Sequence[Hit]:
        """The `k` best hits, best first; fewer where there are no more."""

    def close(self) -> None:  # noqa: B027 - nothing to do is a fine way
        """Give back what was taken: connections, files, servers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def searched_text(chunk: Chunk) -> str:
    """What to index of a chunk: its text below the headings it stands under.

    A piece from the middle of a page seldom repeats what the page is about; its headings say it.
    Those the text begins with anyway are not said twice.
    """
    first_line = chunk.text.lstrip("# \t\n").partition("\n")[0]
    headings = [heading for heading in chunk.section if heading not in first_line]
    return "\n".join([*headings, chunk.text])


def best_hits(
    chunks: Sequence[Chunk], scores: npt.NDArray[np.floating[Any]], k: int, least: float
) -> list[Hit]:
    """The hits of the `k` highest scores above `least`, in THE order of rankings."""
    candidates = np.flatnonzero(scores > least)
    if len(candidates) > k:  # with all that tie for the last place
        last = np.partition(scores[candidates], -k)[-k]
        candidates = candidates[scores[candidates] >= last]
    found = [chunks[place] for place in candidates.tolist()]
    values = scores[candidates].tolist()
    order = RankingRule(depth=k).order([chunk.id.encode() for chunk in found], values)
    return [hit_of(found[place], values[place], rank) for rank, place in enumerate(order, start=1)]


def check_feedback(owner: str, count: int) -> None:
    """Refuse a number of chunks that is none."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        msg = f"feedback of {owner} must be a whole number from 0 up, found {count!r}"
        raise ConfigurationError(msg)


def hit_of(chunk: Chunk, score: float, rank: int) -> Hit:
    """A chunk as a result."""
    return Hit(
        id=chunk.id,
        score=score,
        rank=rank,
        text=chunk.text,
        doc_id=chunk.doc_id,
        section=chunk.section,
        start=chunk.start,
        end=chunk.end,
        metadata=chunk.metadata,
    )
