"""`Relevance`: judge the hits of a query by the first strategy that applies to it.

The strategies are judgments (of the benchmark, or ids in the query's metadata), the pack of the
benchmark, and the words of the expected answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from berryeval._internal.serial import type_mismatch
from berryeval._internal.text import find_field
from berryeval._internal.validate import is_number, reject_unknown, require_fraction
from berryeval.anchors import CoverageRule, Location, Target, Targets, build_ranking, find_credit
from berryeval.data import (
    TOKEN_THRESHOLD,
    Anchor,
    Judgment,
    Strategy,
    as_sequence,
    index_records,
)
from berryeval.relevance.foreign_ids import IdTally
from berryeval.relevance.hits import NO_STRATEGY
from berryeval.relevance.lost_targets import LostTargets, find_lost
from berryeval.relevance.matching import Naming
from berryeval.relevance.packs.base import (
    KnowsFiles,
    Labels,
    Pack,
    PackCorpus,
    check_sealed,
    find_pack,
    rules_hash,
)
from berryeval.relevance.passages import Texts, build_span_ranking

if TYPE_CHECKING:
    from berryeval.anchors import Join
    from berryeval.data import Chunk, Document, Hit, JudgedRanking, Query, Span, SpanRanking
    from berryeval.relevance.packs.base import PackRules


@dataclass(frozen=True)
class RelevanceOptions:
    """Options of relevance.

    Attributes:
        threshold: Minimum overlap (F1 of words) of a relevant chunk with the expected answer, for
            queries without judgments and pack.
        coverage: Minimum share of the shorter of hit and target that both must have in common.
    """

    threshold: float = TOKEN_THRESHOLD
    coverage: float = 0.5

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            require_fraction(f"relevance.{name}", value)

    @classmethod
    def load(
        cls, pack: Pack | None, given: RelevanceOptions | Mapping[str, Any] | None
    ) -> RelevanceOptions:
        """Create options from a mapping or from options, unless the pack seals them."""
        if isinstance(given, RelevanceOptions):
            default = asdict(cls())
            given = {key: value for key, value in asdict(given).items() if value != default[key]}
        chosen = dict(given or {})
        if pack is not None and chosen:
            check_sealed(pack, {"relevance": chosen})
        reject_unknown("relevance", chosen, [one.name for one in fields(cls)])
        return cls(**chosen)


# Metadata fields with relevant ids, also spelled relevantIds; the first that a query has counts.
ID_FIELDS: Final = ("relevant_ids", "relevant_chunk_ids", "ground_truth_ids", "qrels")


def explicit_ids(query: Query) -> dict[str, float] | None:
    """Return the relevant ids in a query's metadata with grades; None if there is no such field.

    A null field is ignored. An empty list or object means that nothing is relevant.
    """
    name = find_field(query.metadata, *ID_FIELDS)
    if name is None:
        return None
    return _read_grades(query.metadata[name], f"metadata.{name} of query {query.id!r}")


def _read_grades(value: Any, where: str) -> dict[str, float]:
    if isinstance(value, Mapping):
        for key, grade in value.items():
            _check_id(key, where)
            if not is_number(grade):
                at = f"{where}, {key!r}"
                raise type_mismatch(at, "a grade, a finite number", grade)
        return {key: float(grade) for key, grade in value.items()}
    if not isinstance(value, list | tuple):
        raise type_mismatch(where, "an array of ids or an object of ids and grades", value)
    for place, item in enumerate(value):
        _check_id(item, f"{where}, place {place}")
    return dict.fromkeys(value, 1.0)


def _check_id(value: Any, where: str) -> None:
    if not isinstance(value, str) or not value:
        raise type_mismatch(where, "an id, a non-empty string", value)


# Metadata fields with the expected answer; the first that a query has counts.
ANSWER_FIELDS: Final = ("expected_answer", "answer", "ground_truth", "reference")
_WORD: Final = re.compile(r"\w+")


def split_words(text: str) -> frozenset[str]:
    """Return the set of lowercase words of a text."""
    return frozenset(_WORD.findall(text.lower()))


def overlap(expected: Collection[str], chunk: Collection[str]) -> float:
    """Return the F1 score of two sets of words.

    >>> overlap({"may", "7", "2023"}, {"on", "7", "may"})
    0.6666666666666666
    """
    shared = len(set(expected) & set(chunk))
    return 2 * shared / (len(expected) + len(chunk)) if shared else 0.0


def expected_answers(query: Query) -> tuple[frozenset[str], ...]:
    """Return the words of each expected answer of a query, any of which is enough."""
    field = find_field(query.metadata, *ANSWER_FIELDS)
    if field is None:
        return ()
    value = query.metadata[field]
    answers = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(one, bool) or not isinstance(one, str | int | float) for one in answers):
        where = f"metadata.{field} of query {query.id!r}"
        raise type_mismatch(where, "a string, a number or an array of these", value)
    return tuple(filter(None, (split_words(str(answer)) for answer in answers)))


@dataclass(frozen=True)
class Joined:
    """The targets of one query and the hits that cover them, both numbered from 0."""

    targets: Sequence[Target]
    ranking: JudgedRanking
    hit_of: Mapping[int, int] = field(default_factory=dict)  # of targets derived from a hit
    files: Mapping[int, str] = field(default_factory=dict)  # of targets whose place does not tell
    file_of: Callable[[Hit], str] | None = None  # if the hit itself does not tell
    missed: Sequence[Target] = ()  # relevant targets of judgments that no hit covers
    found: Sequence[tuple[Target, int]] = ()  # relevant targets of judgments with their ranks
    again: AbstractSet[int] = frozenset()  # hits of a target that are not credited for any


def join_labels(rules: PackRules, hits: Sequence[Hit]) -> tuple[Joined, list[str]]:
    """Judge hits by the rules of a pack; also return its remarks."""
    covered = [rules.covered(hit) for hit in hits]
    labels = rules.labels
    grades = labels.grades
    if grades is None:  # the total is unknown: only what was found counts
        grades = {label: grade for found in reversed(covered) for label, grade in found.items()}
    joined = _join(grades, labels.places, covered, found_only=labels.grades is None)
    files = labels.files
    known = {place: files[label] for place, label in enumerate(grades) if label in files}
    file_of = rules.file_of if isinstance(rules, KnowsFiles) else None
    return replace(joined, files=known, file_of=file_of), [*labels.notes, *rules.doubts]


def join_words(
    answers: Sequence[frozenset[str]],
    hits: Sequence[Hit],
    threshold: float,
    text_of: Callable[[Hit], str],
) -> tuple[Joined, list[str]]:
    """Judge hits by the words of the expected answers; only what was found counts."""
    covered: list[dict[str, float]] = []
    wordless = 0
    for place, hit in enumerate(hits):
        chunk = split_words(text_of(hit))
        wordless += not chunk
        best = max(overlap(answer, chunk) for answer in answers)
        covered.append({str(place): 1.0} if best >= threshold else {})
    found = {label: 1.0 for labels in covered for label in labels}
    notes = [f"hits without text to compare with the expected answer: {wordless}"]
    return _join(found, {}, covered, found_only=True), notes if wordless else []


def _join(
    grades: Mapping[str, float],
    places: Mapping[str, Span],
    covered: Sequence[Mapping[str, float]],
    *,
    found_only: bool,
) -> Joined:
    targets = [
        Target((_locate_label(name, places.get(name)),), (grade,)) for name, grade in grades.items()
    ]
    hits_of: dict[str, list[int]] = {label: [] for label in grades}
    for hit, labels in enumerate(covered):
        for label in labels:
            if label in hits_of:
                hits_of[label].append(hit)
    covering = [(hits,) for hits in hits_of.values()]
    found = list(map(find_credit, targets, covering))
    ranking = build_ranking(targets, covering, found, len(covered))
    hit_of = {place: hits[0] for place, (hits,) in enumerate(covering) if found_only and hits}
    return Joined(targets, ranking, hit_of)


def _locate_label(label: str, span: Span | None) -> Location:
    if span is None:
        return Location(Anchor(chunk=label))
    if span.end <= span.start:  # an empty document has no span
        return Location(Anchor(document=span.document), (span,))
    return Location(Anchor(document=span.document, start=span.start, end=span.end), (span,))


def _describe_rules(pack: Pack | None) -> str:
    if pack is None or "relevance" not in pack.seals:
        return ""
    return f"{pack.name}@{pack.version} {rules_hash(pack)}"


def describe_judging(pack: Pack | None, options: RelevanceOptions) -> str:
    """Return the options and the pack's rules, as `Relevance.judging`."""
    shown = (f"{name} {value:g}" for name, value in asdict(options).items())
    return ", ".join(filter(None, (*shown, _describe_rules(pack))))


class Judgeable(Protocol):
    """The parts of a benchmark that relevance needs."""

    @property
    def documents(self) -> Sequence[Document]:
        """Documents of the corpus."""

    @property
    def queries(self) -> tuple[Query, ...]:
        """Queries."""

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """Relevance judgments."""

    @property
    def pack(self) -> str:
        """Name of the pack, or an empty string."""


@dataclass(frozen=True)
class Judged:
    """The judged hits of one query, best first, with the ids they were matched to."""

    ranking: JudgedRanking
    strategy: Strategy
    joined: Joined
    hits: Sequence[Hit]
    notes: tuple[str, ...] = ()


class Relevance:
    """The relevance rules of a benchmark, created once and applied to every query.

    Options that the pack of the benchmark seals are rejected. `chunks` are those of the judged
    system, if known.
    """

    def __init__(
        self,
        benchmark: Judgeable,
        options: RelevanceOptions | Mapping[str, Any] | None = None,
        *,
        chunks: Iterable[Chunk] | None = None,
    ) -> None:
        pack = self.pack = find_pack(benchmark.pack) if benchmark.pack else None
        self.options = RelevanceOptions.load(pack, options)
        self._chunks = None if chunks is None else as_sequence(chunks)
        judgments = self._judgments = list(all_judgments(benchmark))
        rule = CoverageRule(self.options.coverage)
        targets = self.targets = Targets.locate(
            judgments, benchmark.documents or None, chunks=self._chunks, rule=rule
        )
        self._queries = {query.id: query for query in benchmark.queries}
        self._documents = index_records(benchmark.documents)
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

    @property
    def queries(self) -> tuple[str, ...]:
        """All queries of the benchmark and of its judgments."""
        return tuple(dict.fromkeys((*self._queries, *self.targets.queries)))

    @property
    def rules(self) -> str:
        """Name, version and rules hash of the pack, if it decides relevance."""
        return _describe_rules(self.pack)

    def strategy_of(self, query_id: str) -> Strategy:
        """Return the strategy for a query."""
        if query_id in self.targets or query_id in self._empty:
            return "qrels"
        if self._bound is not None and query_id in self._queries:
            return "pack"
        return "token-fallback" if self._answers.get(query_id) else NO_STRATEGY

    @property
    def judging(self) -> str:
        """The options and the pack's rules; scores judged otherwise mean something else."""
        return describe_judging(self.pack, self.options)

    def labels_of(self, query_id: str) -> Labels | None:
        """Return the labels that the pack has for a query; None if the pack does not judge it."""
        if self._bound is None or self.strategy_of(query_id) != "pack":
            return None
        return self._bound.rules_for(self._queries[query_id]).labels

    def read(self, span: Span) -> str:
        """Return the text of a span; empty if its document is unknown."""
        return self.targets.corpus.read(span)

    @cached_property
    def texts(self) -> Texts:
        """Texts of the corpus for metrics of text."""
        return Texts(self.targets, self._chunks)

    def judge(self, query_id: str, hits: Sequence[Hit]) -> Judged:
        """Judge the hits of a query, best first."""
        strategy = self.strategy_of(query_id)
        if strategy == "pack" and self._bound is not None:
            rules = self._bound.rules_for(self._queries[query_id])
            joined, notes = join_labels(rules, hits)
        elif strategy == "token-fallback":
            answers = self._answers[query_id]
            joined, notes = join_words(answers, hits, self.options.threshold, self._text_of)
        else:
            hits, notes = self._naming.rename_hits(query_id, hits)
            found = self.targets.join(query_id, hits)
            targets = self.targets.of(query_id)
            joined = Joined(
                targets,
                found.ranking,
                missed=found.missed(targets),
                found=found.found(targets),
                again=found.again,
            )
            notes += self._describe_doubts(found, hits)
        lines = tuple(f"query {query_id!r}: {note}" for note in dict.fromkeys(notes))
        return Judged(joined.ranking, strategy, joined, hits, lines)

    def tally_ids(self, benchmark: Judgeable | None = None) -> IdTally:
        """Return a counter of ids that this benchmark, all of it, does not have.

        Without one, it is the benchmark of these rules.
        """
        judgments = self._judgments if benchmark is None else all_judgments(benchmark)
        return IdTally(self.targets, judgments, has_pack=self._bound is not None)

    def find_lost(self, *, only_chunks: bool = False) -> LostTargets:
        """Find targets that are not in the corpus; `only_chunks` if hits are chunks of it only."""
        return find_lost(self._judgments, self.targets, self._chunks or () if only_chunks else ())

    def _describe_doubts(self, found: Join, hits: Sequence[Hit]) -> Iterator[str]:
        if found.ambiguous:
            yield f"hits with several places, all of which count: {len(found.ambiguous)}"
        unplaced = [hits[place] for place in found.unplaced]
        stale = sum(hit.start is not None and hit.doc_id in self._documents for hit in unplaced)
        if stale:
            yield f"hits with offsets that do not match the text: {stale}"

    def as_spans(self, judged: Judged) -> SpanRanking:
        """Return the judged hits as spans, for metrics of text."""
        return build_span_ranking(judged.joined, judged.hits, self.texts)

    def _text_of(self, hit: Hit) -> str:
        if hit.text:
            return hit.text
        return next(map(self.read, self.targets.place(hit)), "")


def all_judgments(benchmark: Judgeable) -> Iterator[Judgment]:
    """Yield the judgments of the benchmark and the ids in metadata of other queries."""
    yield from benchmark.judgments
    judged = {judgment.query_id for judgment in benchmark.judgments}
    documents: Mapping[str, Document] | None = None
    for query in benchmark.queries:
        if query.id not in judged:
            for identity, grade in (explicit_ids(query) or {}).items():
                documents = index_records(benchmark.documents) if documents is None else documents
                known = identity in documents
                target = Anchor(document=identity) if known else Anchor(chunk=identity)
                yield Judgment(query.id, target, grade)
