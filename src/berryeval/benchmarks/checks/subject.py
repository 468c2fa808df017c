"""The benchmark under examination, with values that checks share, and the table of checks.

A check is a function of a `Subject` that yields findings, with a line in `CHECKS`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from berryeval._internal.registry import Registry
from berryeval._internal.text import pluralize
from berryeval.anchors import Corpus, CoverageRule, Location, locate
from berryeval.benchmarks.checks.finding import Finding, Report, name_of
from berryeval.benchmarks.checks.similarity import SIMILAR, SimilarPair, find_similar
from berryeval.data import Anchor
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.relevance import BoundPack, Labels, PackCorpus, explicit_ids, find_pack

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark, RecordKind
    from berryeval.data import Judgment, Query


Place: TypeAlias = tuple[str, int, int]  # document, start, end
_RULE: Final = CoverageRule()


class Passage(NamedTuple):
    """A judged passage, with its possible places and their texts; none if it is not found."""

    grade: float
    name: str
    places: tuple[Place, ...]
    texts: tuple[str, ...]


class Subject:
    """A benchmark under examination."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self._located: dict[Anchor, Location] = {}

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus; without documents, everything is unknown."""
        return Corpus(self.benchmark.documents or None)

    def locate(self, anchor: Anchor) -> Location:
        """Locate a target in the corpus."""
        if anchor not in self._located:
            self._located[anchor] = locate(anchor, self.corpus)
        return self._located[anchor]

    def find_named(self, chunk: str) -> Anchor | None:
        """Return the document or section that a chunk id such as `guide#set-up` names."""
        documents = self.benchmark.document_of
        if chunk in documents:
            return Anchor(document=chunk)
        document, _, section = chunk.rpartition("#")
        if document not in documents or not section:
            return None
        anchor = Anchor(document=document, section=(section,))
        return anchor if self.locate(anchor).lost is None else None

    def _places(self, anchor: Anchor) -> list[Place]:
        """Return the places of a target, or its whole document."""
        if anchor.chunk:
            named = self.find_named(anchor.chunk)
            return [] if named is None else self._places(named)
        found = self.locate(anchor)
        known = self.benchmark.document_of.get(anchor.document)
        if not found.spans and known and found.is_document and found.lost is None:
            return [(known.id, 0, len(known.text))]
        return list(found.spans)

    def _passage(self, grade: float, name: str, places: Iterable[Place]) -> Passage:
        known = self.benchmark.document_of
        places = tuple(place for place in places if place[0] in known)
        texts = (known[document].text[start:end] for document, start, end in places)
        return Passage(grade, name, places, tuple(text for text in texts if text))

    @cached_property
    def judged(self) -> dict[str, list[Judgment]]:
        """Judgments by query."""
        found: dict[str, list[Judgment]] = defaultdict(list)
        for judgment in self.benchmark.judgments:
            found[judgment.query_id].append(judgment)
        return dict(found)

    @cached_property
    def _relevant_spans(self) -> dict[str, list[tuple[int, int, str]]]:
        """Start, end and query of the relevant passages, by document."""
        found: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for query in self.benchmark.queries:
            for passage in self.passages_for(query):
                for document, start, end in passage.places if passage.grade > 0 else ():
                    found[document].append((start, end, query.id))
        return found

    def _relevant_to(self, place: Place) -> set[str]:
        document, *ends = place
        return {
            query
            for start, end, query in self._relevant_spans.get(document, ())
            if _RULE.covers((ends[0], ends[1]), (start, end))
        }

    def describe_difference(self, one: Place, other: Place) -> str:
        """Describe the queries for which only one of two places is relevant; empty if none.

        The text continues a sentence: "; only the first is relevant to query 'q1'".
        """
        here = self._relevant_to(one)
        apart = sorted(here ^ self._relevant_to(other))
        if not apart:
            return ""
        more = f" and {pluralize(len(apart) - 1, 'other query')}"
        which = "the first" if apart[0] in here else "the second"
        return f"; only {which} is relevant to query {apart[0]!r}{more if len(apart) > 1 else ''}"

    @cached_property
    def similar_documents(self) -> list[SimilarPair]:
        """Documents similar to an earlier one, by shingles of three words."""
        return list(find_similar([one.text for one in self.benchmark.documents], 3, SIMILAR))

    @cached_property
    def _pack(self) -> BoundPack | None:
        """The pack that decides relevance, if there is one."""
        try:
            pack = find_pack(self.benchmark.pack) if self.benchmark.pack else None
        except ConfigurationError:
            return None
        if pack is None or "relevance" not in pack.seals:
            return None
        return pack.bound(PackCorpus(self.benchmark.document_of, self.corpus))

    def read_labels(self, query: Query) -> Labels | BerryEvalError | None:
        """Return the labels that the pack reads, or its error; None without a pack."""
        if self._pack is None:
            return None
        try:
            return self._pack.rules_for(query).labels
        except BerryEvalError as error:
            return error

    def read_explicit_ids(self, query: Query) -> dict[str, float] | BerryEvalError | None:
        """Return the relevant ids in a query's metadata, or the error in reading them.

        None without ids, or if judgments take precedence.
        """
        if query.id in self.judged:
            return None
        try:
            return explicit_ids(query)
        except BerryEvalError as error:
            return error

    def passages_for(self, query: Query) -> Iterator[Passage]:
        """Yield the judged passages of a query, by judgments or else by labels."""
        judged = self.judged.get(query.id)
        if judged:
            for one in judged:
                yield self._passage(one.grade, name_of(one.target), self._places(one.target))
            return
        labels = self.read_labels(query)
        if isinstance(labels, Labels):
            for label, grade in (labels.grades or {}).items():
                span = labels.places.get(label)
                yield self._passage(grade, label, [span] if span else [])

    def where(self, kind: RecordKind, place: int) -> str:
        """Return the location of a record, or its id if the location is unknown."""
        known = self.benchmark.where(kind, place)
        if known:
            return known
        if kind == "judgments":
            return f"judgment of query {self.benchmark.judgments[place].query_id!r}"
        one = "document" if kind == "documents" else "query"
        return f"{one} {getattr(self.benchmark, kind)[place].id!r}"


Check: TypeAlias = Callable[[Subject], Iterable[Finding]]

_HOME: Final = "berryeval.benchmarks.checks"
CHECKS: Final = Registry[Check](
    "check",
    {
        "size": f"{_HOME}.judgments:check_size",
        "empty text": f"{_HOME}.judgments:check_texts",
        "unknown query": f"{_HOME}.judgments:check_queries_exist",
        "repeated judgment": f"{_HOME}.judgments:check_repeats",
        "group": f"{_HOME}.judgments:check_groups",
        "grade": f"{_HOME}.judgments:check_grades",
        "nothing relevant": f"{_HOME}.judgments:check_something_relevant",
        "target": f"{_HOME}.judgments:check_targets",
        "scope": f"{_HOME}.judgments:check_scopes",
        "label": f"{_HOME}.judgments:check_labels",
        "near-duplicate queries": f"{_HOME}.similarity:check_queries",
        "near-duplicate documents": f"{_HOME}.similarity:check_documents",
        "near-duplicate sections": f"{_HOME}.similarity:check_sections",
        "copied query": f"{_HOME}.similarity:check_copied",
        "remark": f"{_HOME}.judgments:check_remarks",
    },
)


def check_benchmark(benchmark: Benchmark) -> Report:
    """Run all checks on a benchmark."""
    subject = Subject(benchmark)
    return Report(tuple(finding for name in CHECKS for finding in CHECKS.get(name)(subject)))
