"""`Subject`: a benchmark under examination, with what several checks need computed once."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from berryeval.anchors import Corpus, Located, locate
from berryeval.benchmarks.checks.judged_places import JudgedPlaces
from berryeval.benchmarks.checks.naming import name_of
from berryeval.benchmarks.checks.similar import ALIKE, Alike, alike
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.records import Anchor
from berryeval.relevance.explicit import explicit_ids
from berryeval.relevance.packs import BoundPack, Labels, PackCorpus, find_pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.benchmark import Benchmark, RecordKind
    from berryeval.records import Judgment, Query

__all__ = ["Passage", "Subject"]


class Passage(NamedTuple):
    """Something judged: its grade, its name, and its texts; several if it may be at several places.

    There is no text if it is not in the corpus.
    """

    grade: float
    name: str
    texts: tuple[str, ...]


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
    def judged(self) -> dict[str, list[Judgment]]:
        """The judgments of each query."""
        found: dict[str, list[Judgment]] = defaultdict(list)
        for judgment in self.benchmark.judgments:
            found[judgment.query_id].append(judgment)
        return dict(found)

    @cached_property
    def judged_places(self) -> JudgedPlaces:
        """Where in the texts something is relevant, and to which queries."""
        return JudgedPlaces(self)

    @cached_property
    def alike_documents(self) -> list[Alike]:
        """The documents that are like an earlier one, by runs of three words."""
        return list(alike([one.text for one in self.benchmark.documents], 3, ALIKE))

    @cached_property
    def _pack(self) -> BoundPack | None:
        """The pack that decides what is relevant, if there is one."""
        try:
            pack = find_pack(self.benchmark.pack) if self.benchmark.pack else None
        except ConfigurationError:
            return None
        if pack is None or "relevance" not in pack.seals:
            return None
        return pack.bound(PackCorpus(self.benchmark.document_of, self.corpus))

    def labels(self, query: Query) -> Labels | BerryEvalError | None:
        """What the pack reads of a query's labels, or why it cannot; None if there is no pack."""
        if self._pack is None:
            return None
        try:
            return self._pack.rules_for(query).labels
        except BerryEvalError as error:
            return error

    def explicit(self, query: Query) -> dict[str, float] | BerryEvalError | None:
        """The relevant ids in a query's metadata, or why they cannot be read.

        None if there are none, or if they do not count because the query has judgments.
        """
        if query.id in self.judged:
            return None
        try:
            return explicit_ids(query)
        except BerryEvalError as error:
            return error

    def passages_for(self, query: Query) -> Iterator[Passage]:
        """What is judged for a query, by judgments or, without them, by its labels."""
        judged = self.judged.get(query.id)
        if judged:
            for one in judged:
                yield Passage(one.grade, name_of(one.target), tuple(self.passages(one.target)))
            return
        labels = self.labels(query)
        if isinstance(labels, Labels):
            for label, grade in (labels.grades or {}).items():
                span = labels.places.get(label)
                texts = [self._text(span.document)[span.start : span.end]] if span else []
                yield Passage(grade, label, tuple(text for text in texts if text))

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
