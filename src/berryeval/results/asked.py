"""What was asked for a value: only values of the same can be compared."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Asked", "Different", "sample_of"]

Different: TypeAlias = Literal["data", "queries", "hits"]


class Asked(NamedTuple):
    """The data, the queries and the number of hits that values are of.

    Attributes:
        content_hash: of the texts, queries, judgments and pack of the benchmark.
        sample: a hash of the ids of the queries that were asked.
        k: how many hits were asked for.
    """

    content_hash: str
    sample: str
    k: int

    def different(self, other: Asked) -> tuple[Different, ...]:
        """In what the two differ; nothing if values of both can be compared."""
        apart: dict[Different, bool] = {
            "data": self.content_hash != other.content_hash,
            "queries": self.sample != other.sample,
            "hits": self.k != other.k,
        }
        return tuple(name for name, found in apart.items() if found)

    def differs_from(self, before: Asked) -> str:
        """Why values of the two cannot be compared, in words; empty if they can."""
        apart = self.different(before)
        if "data" in apart:
            return "the benchmark changed"
        if "queries" in apart:
            return "other queries were asked"
        return f"{self.k} hits were asked for, not {before.k}" if apart else ""


def sample_of(queries: Iterable[str]) -> str:
    """A hash of the ids of queries, whatever their order."""
    found = hashlib.sha256()
    for one in sorted(queries):
        found.update(one.encode(errors="backslashreplace") + b"\0")
    return found.hexdigest()
