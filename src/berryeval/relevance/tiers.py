"""`Relevance`: who decides what is relevant to a query, and what they say about its hits.

First that applies, for each query by itself: judgments (of the benchmark, or ids that the query
brings along), the pack, the words of the expected answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from berryeval._internal.records import refused
from berryeval.anchors import Located, Target, Targets, build_ranking, find_credit
from berryeval.data import Anchor, Judgment
from berryeval.relevance.hits import NO_STRATEGY, Strategy
from berryeval.relevance.matching import Naming
from berryeval.relevance.options import RelevanceOptions, options_for
from berryeval.relevance.packs.base import KnowsFiles, Pack, PackCorpus, find_pack, rules_hash
from berryeval.relevance.passages import Texts, span_ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from berryeval.anchors import Join
    from berryeval.data import Chunk, Document, Hit, JudgedRanking, Query, Span, SpanRanking
    from berryeval.relevance.packs.base import PackRules


# Judgments that a query brings along: ids in its metadata.

# Where a query's metadata may hold ids; the first that is there counts.
ID_FIELDS: Final = ("relevant_ids", "relevant_chunk_ids", "ground_truth_ids", "qrels")


def explicit_ids(query: Query) -> dict[str, float] | None:
    """The ids that a query's metadata calls relevant, with grades; None if it names none.

    A field that is null says nothing. An empty list or object says that nothing is relevant.
    """
    for name in ID_FIELDS:
        value = query.metadata.get(name)
        if value is not None:
            return _grades(value, f"metadata.{name} of query {query.id!r}")
    return None


def _grades(value: Any, where: str) -> dict[str, float]:
    if isinstance(value, Mapping):
        return {_id(key, where): _grade(grade, f"{where}, {key!r}") for key, grade in value.items()}
    if not isinstance(value, list | tuple):
        raise refused(where, "an array of ids or an object of ids and grades", value)
    return {_id(item, f"{where}, place {place}"): 1.0 for place, item in enumerate(value)}


def _id(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise refused(where, "an id, which is a string", value)
    return value


def _grade(value: Any, where: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise refused(where, "a grade, which is a number", value)
    return float(value)


# The last resort: a chunk is relevant if its words are those of the expected answer.

# Where a query's metadata may hold the expected answer; the first that is there counts.
ANSWER_FIELDS: Final = ("expected_answer", "answer", "ground_truth", "reference")
_WORD: Final = re.compile(r"\w+")


def words(text: str) -> frozenset[str]:
    """The words of a text in lower case, each once."""
    return frozenset(_WORD.findall(text.lower()))


def overlap(expected: Collection[str], chunk: Collection[str]) -> float:
    """F1 of two sets of words: twice what they share over what both hold.

    >>> overlap({"may", "7", "2023"}, {"on", "7", "may"})
    0.6666666666666666
    """
    shared = len(set(expected) & set(chunk))
    return 2 * shared / (len(expected) + len(chunk)) if shared else 0.0


def expected_answers(query: Query) -> tuple[frozenset[str], ...]:
    """The words of each expected answer of a query; of several, any will do."""
    field = next((name for name in ANSWER_FIELDS if query.metadata.get(name) is not None), None)
    if field is None:
        return ()
    value = query.metadata[field]
    answers = value if isinstance(value, list | tuple) else [value]
    if not all(map(_is_answer, answers)):
        where = f"metadata.{field} of query {query.id!r}"
        raise refused(where, "a string, a number or an array of these", value)
    known = (words(str(answer)) for answer in answers)
    return tuple(answer for answer in known if answer)


def _is_answer(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


# Packs and words decide hit by hit; what they say becomes targets, credited as any others.


@dataclass(frozen=True)
class Joined:
    """What there was to be found for one query, and what of it the hits covered.

    Attributes:
        targets: what there was to be found.
        ranking: who found it.
        hit_of: of targets that are nothing but a hit that was found: which (from 0).
        files: by target, the file it is of, where its place does not tell.
        file_of: tells which file a hit is of, where someone knows better than the hit itself.
        missed: relevant targets of judgments that no hit covers.
        again: the hits (from 0) that cover something for which another hit is credited.
    """

    targets: Sequence[Target]
    ranking: JudgedRanking
    hit_of: Mapping[int, int] = field(default_factory=dict)
    files: Mapping[int, str] = field(default_factory=dict)
    file_of: Callable[[Hit], str] | None = None
    missed: Sequence[Target] = ()
    again: AbstractSet[int] = frozenset()


def join_labels(rules: PackRules, hits: Sequence[Hit]) -> tuple[Joined, list[str]]:
    """The hits as a pack judges them, with what it has to say about its labels."""
    covered = [rules.covered(hit) for hit in hits]
    labels = rules.labels
    grades = labels.grades
    if grades is None:  # nobody says how much there is: what was found is all there is
        grades = {label: grade for found in reversed(covered) for label, grade in found.items()}
    joined = _joined(grades, labels.places, covered, found_only=labels.grades is None)
    known = {
        place: labels.files[label] for place, label in enumerate(grades) if label in labels.files
    }
    file_of = rules.file_of if isinstance(rules, KnowsFiles) else None
    return replace(joined, files=known, file_of=file_of), [*labels.notes, *rules.doubts]


def join_words(
    answers: Sequence[frozenset[str]],
    hits: Sequence[Hit],
    threshold: float,
    text_of: Callable[[Hit], str],
) -> tuple[Joined, list[str]]:
    """The hits as the words of the expected answers judge them: what was found is all there is."""
    covered: list[dict[str, float]] = []
    wordless = 0
    for place, hit in enumerate(hits):
        chunk = words(text_of(hit))
        wordless += not chunk
        best = max(overlap(answer, chunk) for answer in answers)
        covered.append({str(place): 1.0} if best >= threshold else {})
    found = {label: 1.0 for labels in covered for label in labels}
    notes = [f"hits without a text to compare with the expected answer: {wordless}"]
    return _joined(found, {}, covered, found_only=True), notes if wordless else []


def _joined(
    grades: Mapping[str, float],
    places: Mapping[str, Span],
    covered: Sequence[Mapping[str, float]],
    *,
    found_only: bool,
) -> Joined:
    targets = [
        Target((_located(label, places.get(label)),), (grade,)) for label, grade in grades.items()
    ]
    hits_of: dict[str, list[int]] = {label: [] for label in grades}
    for hit, labels in enumerate(covered):
        for label in labels:
            if label in hits_of:
                hits_of[label].append(hit)
    covering = [(hits,) for hits in hits_of.values()]
    found = [
        find_credit(target, members) for target, members in zip(targets, covering, strict=True)
    ]
    ranking = build_ranking(targets, covering, found, len(covered))
    hit_of = {place: hits[0] for place, (hits,) in enumerate(covering) if found_only and hits}
    return Joined(targets, ranking, hit_of)


def _located(label: str, span: Span | None) -> Located:
    if span is None:
        return Located(Anchor(chunk=label))
    if span.end <= span.start:  # an empty document has no place for a span
        return Located(Anchor(document=span.document), spans=(span,))
    anchor = Anchor(document=span.document, start=span.start, end=span.end)
    return Located(anchor, spans=(span,))


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
        ranking: what metrics of rankings see.
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
        targets = Targets.locate(
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
        """What of the corpus metrics of text need, read once."""
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
        """What metrics of text see of hits that were judged here."""
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
