"""Decisions: the one grade that counts for a pair, by a stated rule."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from berryeval._internal.validate import is_number, nearest, suggest
from berryeval.anchors import Corpus, CoverageRule, locate
from berryeval.data import Anchor, Judgment
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging.ledger import JudgeKind, PairKey, Vote, current_votes, key_of
from berryeval.relevance import all_judgments

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Span

Decided: TypeAlias = Literal["adjudicated", "majority", "judge", "undecided"]
Place: TypeAlias = tuple[str, int, int]  # document, start and end
USUAL: Final[tuple[float, ...]] = (0, 1, 2, 3)  # grades of docs/protocol.md
_HIGHEST: Final = 10  # of a scale whose grades are all whole numbers up to it
_ORDER: Final[tuple[tuple[JudgeKind, ...], ...]] = (("human",), ("function", "llm"))


@dataclass(frozen=True)
class DecisionRule:
    """Which votes decide.

    The latest adjudication decides; without one, the majority of the votes; without a majority,
    the vote of `judge`. Votes of models and functions count only for pairs that no human judged.

    Attributes:
        judge: Judge whose vote decides if the votes are tied; "" for none.
        judges: Only these judges count; empty for all.
        kinds: Only these kinds of judges count.
    """

    judge: str = ""
    judges: tuple[str, ...] = ()
    kinds: tuple[JudgeKind, ...] = ("human", "llm", "function")

    def select(self, votes: Iterable[Vote]) -> list[Vote]:
        """Return the current votes that count; a judge who never voted is an error."""
        current = [one for one in current_votes(votes) if one.question == "relevance"]
        known = list(dict.fromkeys(one.judge for one in current))
        for name in (*self.judges, self.judge):
            if name and name not in known:
                hint = suggest(name, nearest(name, known) or known)
                raise ConfigurationError(f"no votes of the judge {name!r}; {hint}")
        return [
            one
            for one in current
            if one.kind in self.kinds and (not self.judges or one.judge in self.judges)
        ]


@dataclass(frozen=True)
class Decision:
    """The grade of a pair, and the votes behind it.

    Attributes:
        query_id: Id of the query.
        target: What was judged.
        grade: Grade; None if undecided.
        how: How it was decided.
        votes: The votes on the pair, oldest first.
    """

    query_id: str
    target: Anchor
    grade: float | None
    how: Decided
    votes: tuple[Vote, ...]


def decide(votes: Iterable[Vote], rule: DecisionRule | None = None) -> dict[PairKey, Decision]:
    """Decide every pair that was judged, by `DecisionRule`."""
    rule = rule or DecisionRule()
    pairs: dict[PairKey, list[Vote]] = {}
    for vote in rule.select(votes):
        pairs.setdefault(key_of(vote.query_id, vote.target), []).append(vote)
    return {key: _decide_pair(own, rule) for key, own in pairs.items()}


def _decide_pair(votes: Sequence[Vote], rule: DecisionRule) -> Decision:
    first = votes[0]

    def build(grade: float | None, how: Decided) -> Decision:
        return Decision(first.query_id, first.target, grade, how, tuple(votes))

    final = [one for one in votes if one.adjudicates and one.grade is not None]
    if final:
        return build(final[-1].grade, "adjudicated")
    graded = [one for one in votes if one.grade is not None]
    for kinds in _ORDER:
        counted = [one for one in graded if one.kind in kinds]
        if not counted:
            continue
        (grade, most), *others = Counter(one.grade for one in counted).most_common()
        if not others or most > others[0][1]:
            return build(grade, "majority")
        named = [one for one in counted if one.judge == rule.judge]
        return build(named[-1].grade, "judge") if named else build(None, "undecided")
    return build(None, "undecided")


def apply_decisions(benchmark: Benchmark, decisions: Mapping[PairKey, Decision]) -> Benchmark:
    """Return the benchmark with the decided grades, which replace its own of the same pairs.

    A judgment is of the same pair if its target is the same text, such as a section that is a hit.
    Of passages that overlap, see `unite_overlaps`.
    Undecided pairs keep the grade that the benchmark has, if any.
    """
    unknown = [one for one in decisions.values() if one.query_id not in benchmark.query_of]
    if unknown:
        raise DataError(
            f"{benchmark.name} has no query {unknown[0].query_id!r:.80}, which was judged; the "
            "votes belong to another benchmark"
        )
    grades = {key: one.grade for key, one in decisions.items() if one.grade is not None}
    corpus = Corpus(benchmark.documents)
    spans = {key: _find_span(decisions[key].target, corpus) for key in grades}
    places = _find_places(benchmark, decisions, spans, corpus)
    known: set[PairKey] = set()
    replaced: set[int] = set()
    judgments: list[Judgment] = []
    for judgment in _list_own(benchmark, {one.query_id for one in decisions.values()}):
        key = key_of(judgment.query_id, judgment.target)
        key = key if key in grades else places.get(key, key)
        known.add(key)
        if key in grades:
            replaced.add(len(judgments))
        judgments.append(replace(judgment, grade=grades.get(key, judgment.grade)))
    added = [
        Judgment(one.query_id, one.target, one.grade)
        for key, one in decisions.items()
        if key not in known and one.grade is not None
    ]
    voted = {*replaced, *range(len(judgments), len(judgments) + len(added))}
    united = unite_overlaps((*judgments, *added), voted, corpus)
    return replace(benchmark, judgments=tuple(united), locations={})


def _list_own(benchmark: Benchmark, queries: Collection[str]) -> list[Judgment]:
    """Return the judgments of a benchmark, and the ids in the metadata of these queries."""
    own = len(benchmark.judgments)
    every = enumerate(all_judgments(benchmark))
    return [one for place, one in every if place < own or one.query_id in queries]


def _find_places(
    benchmark: Benchmark,
    decisions: Mapping[PairKey, Decision],
    spans: Mapping[PairKey, Place | None],
    corpus: Corpus,
) -> dict[PairKey, PairKey]:
    """Return the decided pair of each judgment that points at the same text in other words."""
    decided: dict[tuple[str, Place], PairKey] = {}
    for key, span in spans.items():
        if span is not None:
            decided.setdefault((decisions[key].query_id, span), key)
    queries = {query for query, _ in decided}
    found = {}
    for judgment in _list_own(benchmark, queries):
        if judgment.query_id in queries:
            place = _find_span(judgment.target, corpus)
            same = place and decided.get((judgment.query_id, place))
            if same:
                found[key_of(judgment.query_id, judgment.target)] = same
    return found


def _find_span(target: Anchor, corpus: Corpus) -> Place | None:
    """Return document, start and end of a target without the white space around it."""
    place, text = locate(target, corpus), corpus.text(target.document)
    if place.resolves and place.is_document and text:
        return (target.document, *corpus.strip_span(target.document, 0, len(text.text)))
    if len(place.spans) != 1:
        return None
    name, start, end = place.spans[0]
    return (name, *corpus.strip_span(name, start, end)) if corpus.text(name) else None


def grade_scale(benchmark: Benchmark) -> tuple[float, ...]:
    """Return the grades that a judge may give, lowest first.

    They are the `grades` in the metadata of the benchmark; else those from 0 to the highest grade
    of its judgments; else 0 to 3, also if every relevant document has the same grade: then the
    judgments say nothing about a scale.
    """
    declared = benchmark.metadata.get("grades")
    if isinstance(declared, list) and declared and all(map(is_number, declared)):
        return tuple(sorted(set(declared)))
    found = {one.grade for one in benchmark.judgments if is_number(one.grade)}
    if len({grade for grade in found if grade > 0}) < 2:  # noqa: PLR2004 - a scale has two
        return USUAL
    low, high = min(0, *found), max(found)
    if high <= _HIGHEST and all(grade == int(grade) for grade in found):
        return tuple(range(int(low), int(high) + 1))
    return tuple(sorted({0, *found}))


def check_grade(grade: float, scale: Sequence[float]) -> None:
    """Reject a grade outside the scale."""
    if grade not in scale:
        known = ", ".join(f"{one:g}" for one in scale)
        raise DataError(f"the grade must be one of {known}, found {grade:g}")


# Votes on passages of several chunkings: what overlaps is one thing to be found.


def unite_overlaps(
    judgments: Sequence[Judgment], voted: Collection[int], corpus: Corpus
) -> list[Judgment]:
    """Make one target of relevant passages that cover each other, if one of them was voted on.

    Chunkers cut the same answer in different ways, and judges see all of the pieces. It is one
    answer, found with the first piece. A vote is exact: a hit with the same text has its grade,
    whatever longer passage or document around it is relevant. The judgment of a whole document
    counts for the rest of it, if there is any, unless a passage has as high a grade: this is what
    there was to find.

    Args:
        judgments: Judgments of a benchmark, with decided grades.
        voted: Places of those that judges decided.
        corpus: The documents.
    """
    queries = {judgments[number].query_id for number in voted}
    located = {
        number: locate(one.target, corpus)
        for number, one in enumerate(judgments)
        if one.query_id in queries
    }
    places = {n: one.spans[0] for n, one in located.items() if len(one.spans) == 1}
    exact = {number for number in voted if number in places}
    relevant: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, place in places.items():
        if judgments[number].grade > 0 and judgments[number].need == "any":
            relevant[judgments[number].query_id, place.document].append(number)
    best: dict[tuple[str, str], float] = {}  # of the passages of a document that were voted on
    groups: dict[int, str] = {}
    for key, numbers in relevant.items():
        found = exact.intersection(numbers)
        if found:
            best[key] = max(judgments[number].grade for number in found)
            groups.update(_group(numbers, judgments, places, exact))
    used: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for number in exact:
        used[judgments[number].query_id, places[number].document].append(places[number])
    united: list[Judgment] = []
    for number, judgment in enumerate(judgments):
        home = (judgment.query_id, judgment.target.document)
        coarse = number in located and located[number].is_document and not judgment.group
        if number in voted or judgment.grade <= 0 or not coarse or home not in used:
            group = groups.get(number, judgment.group)
            united.append(replace(judgment, exact=judgment.exact or number in exact, group=group))
        elif judgment.grade > best.get(home, 0):
            united += _cut(judgment, used[home], corpus)
    return united


def _cut(judgment: Judgment, spans: Iterable[Span], corpus: Corpus) -> Iterator[Judgment]:
    """Yield the judgment of a document for its text without these spans, as one target."""
    text = corpus.text(judgment.target.document)
    if text is None:
        yield judgment
        return
    at = 0
    for start, end in (*sorted((one.start, one.end) for one in spans), (len(text.text), 0)):
        if text.text[at:start].strip():
            target = Anchor(document=text.document, start=at, end=start)
            group = f"{text.document} without its judged parts"
            yield replace(judgment, target=target, group=group)
        at = max(at, end)


def _group(
    numbers: Iterable[int],
    judgments: Sequence[Judgment],
    places: dict[int, Span],
    exact: Collection[int],
) -> dict[int, str]:
    """Return the group of each judgment that covers another one, directly or through others."""
    rule = CoverageRule()
    ordered = sorted(numbers, key=lambda number: (places[number].start, -places[number].end))
    clusters: list[list[int]] = []
    for number in ordered:
        span = (places[number].start, places[number].end)
        linked = [
            cluster
            for cluster in clusters
            if any(rule.covers(span, (places[one].start, places[one].end)) for one in cluster)
        ]
        clusters = [one for one in clusters if one not in linked]
        clusters.append([number, *(one for cluster in linked for one in cluster)])
    found = {}
    for cluster in clusters:
        if len(cluster) > 1 and not set(cluster).isdisjoint(exact):
            names = [judgments[one].group for one in cluster if judgments[one].group]
            first = min(cluster, key=lambda one: places[one])
            name = names[0] if names else f"{places[first].document} {places[first].start}"
            found.update(dict.fromkeys(cluster, name))
    return found
