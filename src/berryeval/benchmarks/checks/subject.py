"""`Subject`: a benchmark under examination, with what several checks need computed once."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

from berryeval.anchors import Corpus, Located, locate
from berryeval.records import Anchor

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark, RecordKind
    from berryeval.records import Judgment

__all__ = ["Subject", "name_of", "shortened"]

_LONGEST: Final = 80


def shortened(text: str, longest: int = _LONGEST) -> str:
    """A text in messages: on one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def name_of(anchor: Anchor) -> str:
    """A target in a few words."""
    if anchor.chunk:
        return f"chunk {anchor.chunk!r}"
    parts = [repr(anchor.document)] if anchor.document else []
    if anchor.section:
        parts.append(f"section {' > '.join(anchor.section)!r}")
    if anchor.start is not None:
        parts.append(f"{anchor.unit} {anchor.start} to {anchor.end}")
    elif anchor.quote:
        parts.append(f"quote {shortened(anchor.quote, 50)!r}")
    return ", ".join(parts)


class Subject:
    """A benchmark, and what is known about it.

    Attributes:
        benchmark: the benchmark.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self._located: dict[Anchor, Located] = {}

    @cached_property
    def corpus(self) -> Corpus:
        """The texts; all that is unknown if the benchmark has none."""
        return Corpus(self.benchmark.documents or None)

    def located(self, anchor: Anchor) -> Located:
        """Where a target stands."""
        if anchor not in self._located:
            self._located[anchor] = locate(anchor, self.corpus)
        return self._located[anchor]

    def named(self, chunk: str) -> Anchor | None:
        """The document, or its section, that the id of a chunk names: `guide`, `guide#set-up`."""
        documents = self.benchmark.document_of
        if chunk in documents:
            return Anchor(document=chunk)
        document, _, section = chunk.rpartition("#")
        if document not in documents or not section:
            return None
        anchor = Anchor(document=document, section=(section,))
        return anchor if self.located(anchor).lost is None else None

    def passages(self, anchor: Anchor) -> list[str]:
        """The texts that a target means: those of its places, or of its whole document."""
        if anchor.chunk:
            named = self.named(anchor.chunk)
            return [] if named is None else self.passages(named)
        found = self.located(anchor)
        texts = [self._text(span.document)[span.start : span.end] for span in found.spans]
        if not texts and found.is_document and found.lost is None:
            texts = [self._text(anchor.document)]
        return [text for text in texts if text]

    def _text(self, document: str) -> str:
        known = self.benchmark.document_of.get(document)
        return known.text if known else ""

    @cached_property
    def relevant(self) -> dict[str, list[Judgment]]:
        """The judgments of each query with a grade above zero."""
        found: dict[str, list[Judgment]] = defaultdict(list)
        for judgment in self.benchmark.judgments:
            if judgment.grade > 0:
                found[judgment.query_id].append(judgment)
        return dict(found)

    def where(self, kind: RecordKind, place: int) -> str:
        """Where a record stands in its file; else which record it is."""
        known = self.benchmark.where(kind, place)
        if known:
            return known
        if kind == "judgments":
            judgment = self.benchmark.judgments[place]
            return f"judgment of query {judgment.query_id!r}"
        one = "document" if kind == "documents" else "query"
        return f"{one} {getattr(self.benchmark, kind)[place].id!r}"
