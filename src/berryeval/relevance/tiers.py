"""`Relevance`: who decides what is relevant to a query, and what they say about its hits.

First that applies, for each query by itself: judgments (of the benchmark, or ids that the query
brings along), the pack, the words of the expected answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from berryeval.anchors import Targets
from berryeval.details import NO_STRATEGY, Strategy
from berryeval.records import Anchor, Judgment
from berryeval.relevance.explicit import explicit_ids
from berryeval.relevance.labelled import Joined, join_labels, join_words
from berryeval.relevance.naming import Naming
from berryeval.relevance.options import RelevanceOptions, options_for
from berryeval.relevance.overlap import expected_answers
from berryeval.relevance.packs import Pack, PackCorpus, find_pack, rules_hash
from berryeval.relevance.passages import Texts, span_ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from berryeval.anchors import Join
    from berryeval.judged import JudgedRanking
    from berryeval.records import Chunk, Document, Hit, Query
    from berryeval.relevance.spans import SpanRanking

__all__ = ["Judgeable", "Judged", "Relevance"]


class Judgeable(Protocol):
    """What relevance needs of a benchmark."""

    @property
    def documents(self) -> tuple[Document, ...]:
        """The corpus."""
        ...

    @property
    def queries(self) -> tuple[Query, ...]:
        """The questions."""
        ...

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """What is relevant."""
        ...

    @property
    def pack(self) -> str:
        """The name of its pack, if it has one."""
        ...


@dataclass(frozen=True)
class Judged:
    """The hits of one query, judged.

    Attributes:
        ranking: what measures of rankings see.
        strategy: who decided.
        joined: the targets, and where each of them was found.
        hits: the hits, best first, under the ids that they are found to be.
        notes: what people should know about it, a line each.
    """

    ranking: JudgedRanking
    strategy: Strategy
    joined: Joined
    hits: Sequence[Hit]
    notes: tuple[str, ...] = ()


class Relevance:
    """Who decides what is relevant in a benchmark; made once, asked for every query.

    Attributes:
        targets: what the judgments point at, located in the corpus.
        pack: the pack that owns relevance, if there is one.
        options: what was chosen.
    """

    def __init__(
        self,
        benchmark: Judgeable,
        options: RelevanceOptions,
        judgments: Sequence[Judgment],
        targets: Targets,
        pack: Pack | None = None,
        chunks: Sequence[Chunk] | None = None,
    ) -> None:
        self.options = options
        self.targets = targets
        self.pack = pack
        self._chunks = chunks
        self._queries = {query.id: query for query in benchmark.queries}
        self._documents = {document.id: document for document in benchmark.documents}
        self._naming = Naming(judgments, targets)
        corpus = PackCorpus(self._documents, targets.corpus, targets.place)
        owns = pack is not None and "relevance" in pack.seals
        self._bound = pack.bound(corpus) if pack is not None and owns else None
        self._answers = {query.id: expected_answers(query) for query in benchmark.queries}
        self._empty = {
            query.id
            for query in benchmark.queries
            if query.id not in targets and explicit_ids(query) is not None
        }

    @classmethod
    def of(
        cls,
        benchmark: Judgeable,
        options: RelevanceOptions | Mapping[str, Any] | None = None,
        *,
        chunks: Iterable[Chunk] | None = None,
    ) -> Relevance:
        """Who decides in this benchmark.

        Args:
            benchmark: corpus, queries, judgments and pack.
            options: `RelevanceOptions`, or some of them by name; what the pack seals is refused.
            chunks: how the system that is judged cut the corpus, if that is known.
        """
        pack = find_pack(benchmark.pack) if benchmark.pack else None
        chosen = options_for(pack, options)
        pieces = None if chunks is None else list(chunks)
        judgments = list(_all_judgments(benchmark))
        targets = Targets.located(
            judgments,
            benchmark.documents or None,
            chunks=pieces,
            rule=chosen.rule,
        )
        return cls(benchmark, chosen, judgments, targets, pack, pieces)

    @property
    def queries(self) -> tuple[str, ...]:
        """Every query of the benchmark, and every one that its judgments name."""
        return tuple(dict.fromkeys((*self._queries, *self.targets.queries)))

    @property
    def rules(self) -> str:
        """The pack, its version and the hash of its rules, if it decides anything."""
        if self.pack is None or self._bound is None:
            return ""
        return f"{self.pack.name}@{self.pack.version} {rules_hash(self.pack)}"

    def strategy_of(self, query_id: str) -> Strategy:
        """Who decides for a query."""
        if query_id in self.targets or query_id in self._empty:
            return "qrels"
        if self._bound is not None and query_id in self._queries:
            return "pack"
        return "token-fallback" if self._answers.get(query_id) else NO_STRATEGY

    @cached_property
    def texts(self) -> Texts:
        """What of the corpus measures of text need, read once."""
        return Texts(self.targets, self._chunks)

    def judge(self, query_id: str, hits: Sequence[Hit]) -> Judged:
        """The hits of a query, best first, judged by whoever decides for it."""
        strategy = self.strategy_of(query_id)
        if strategy == "pack" and self._bound is not None:
            rules = self._bound.rules_for(self._queries[query_id])
            joined, notes = join_labels(rules, hits)
        elif strategy == "token-fallback":
            joined, notes = join_words(
                self._answers[query_id], hits, self.options.threshold, self._text_of
            )
        else:
            hits, notes = self._naming.named(query_id, hits)
            found = self.targets.join(query_id, hits)
            targets = self.targets.of(query_id)
            joined = Joined(targets, found.ranking, missed=found.missed(targets), again=found.again)
            notes += self._doubts(found, hits)
        lines = tuple(f"query {query_id!r}: {note}" for note in dict.fromkeys(notes))
        return Judged(joined.ranking, strategy, joined, hits, lines)

    def _doubts(self, found: Join, hits: Sequence[Hit]) -> Iterator[str]:
        """What is unclear about where hits stand."""
        if found.ambiguous:
            yield f"hits at several places, each of which counts: {len(found.ambiguous)}"
        unplaced = [hits[place] for place in found.unplaced]
        stale = sum(hit.start is not None and hit.doc_id in self._documents for hit in unplaced)
        if stale:
            yield f"hits whose offsets are not believed, as other words stand there: {stale}"

    def as_spans(self, judged: Judged) -> SpanRanking:
        """What measures of text see of hits that were judged here."""
        return span_ranking(judged.joined, judged.hits, self.texts)

    def _text_of(self, hit: Hit) -> str:
        """The text of a hit, from the corpus if it does not bring it along."""
        if hit.text:
            return hit.text
        for document, start, end in self.targets.place(hit):
            text = self.targets.corpus.text(document)
            return text.text[start:end] if text else ""
        return ""


def _all_judgments(benchmark: Judgeable) -> Iterator[Judgment]:
    """The judgments of the benchmark, and, for queries without any, those they bring along."""
    yield from benchmark.judgments
    judged = {judgment.query_id for judgment in benchmark.judgments}
    documents = {document.id for document in benchmark.documents}
    for query in benchmark.queries:
        if query.id not in judged:
            for identity, grade in (explicit_ids(query) or {}).items():
                known = identity in documents
                target = Anchor(document=identity) if known else Anchor(chunk=identity)
                yield Judgment(query.id, target, grade)
