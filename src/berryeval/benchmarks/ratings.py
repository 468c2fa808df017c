"""`Ratings`: judgments of documents, one per document and query, as most tools export them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from berryeval.benchmarks.gather import Gather
from berryeval.errors import DataError, RepeatedDocumentError
from berryeval.records import Anchor, Judgment, Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.benchmarks.source import Source

__all__ = ["Ratings", "mean"]


class Ratings(Gather):
    """Collects queries as they come up, and what is rated for each."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._texts: dict[str, str] = {}
        self._rated: dict[tuple[str, str], str] = {}

    def ask(self, identity: str, text: str, file: str, line: int = 0, **fields: Any) -> None:
        """Add a query unless it is there, then with the same text."""
        known = self._texts.setdefault(identity, text)
        if known != text:
            where = f"{file}:{line}" if line else file
            msg = f"{where}: query {identity!r:.80} has another text than before: {text!r:.80}"
            raise DataError(msg)
        if len(self._texts) > len(self.queries):
            self.query(Query(identity, text, **fields), file, line)

    def rate(
        self,
        query: str,
        document: str,
        grade: float,
        file: str,
        line: int = 0,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a rating; a document can be rated once for a query."""
        where = f"{file}:{line}" if line else file
        before = self._rated.setdefault((query, document), where)
        if before != where:
            twice = f"document {document!r:.80} stands twice in query {query!r:.80}"
            msg = f"{where}: {twice}; first in {before}"
            raise RepeatedDocumentError(msg)
        judgment = Judgment(query, Anchor(document=document), grade, extra=extra or {})
        self.judgment(judgment, file, line)


def mean(ratings: Iterable[float]) -> float:
    """The mean of what several judges said."""
    numbers = list(ratings)
    return math.fsum(numbers) / len(numbers)
