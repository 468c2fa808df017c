"""Pool the hits of runs for judging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import pluralize
from berryeval._internal.validate import (
    require,
    require_choice,
    require_fraction,
    require_whole,
)
from berryeval.anchors import make_anchor
from berryeval.data import Anchor, Chunk, Hit
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import (
    POOL,
    Ledger,
    Pair,
    Pool,
    apply_decisions,
    decide,
    draw_pairs,
    find_probabilities,
    grade_scale,
    has_changed,
    make_pair_id,
    open_ledger,
    read_rank_sum,
    shuffle_pairs,
)
from berryeval.relevance import Relevance, all_judgments
from berryeval.workflows.config import check_model
from berryeval.workflows.judged_data import find_strays
from berryeval.workflows.plan import RelevanceSpec
from berryeval.workflows.pooled_systems import Chunkings, PooledSystem, read_systems

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark

STRATEGIES: Final = ("depth", "random", "decisive")
_CONTEXT: Final = 300  # characters before and after a passage


@dataclass(frozen=True)
class PoolRequest:
    """What to pool; see `berryeval judge pool`.

    Attributes:
        runs: Runs, providers of runs as RUN#PROVIDER, and files of rankings.
        depth: Number of hits of each ranking to look at.
        strategy: "depth" for all pairs, "random" for a sample, "decisive" for the next best one.
        share: Expected share of the pairs that `random` draws.
        count: Expected number of pairs that `random` draws, instead of a share.
        seed: Random seed.
        metrics: Metrics whose differences matter.
        benchmark: Benchmark; by default that of the runs.
        ledger: Folder or store of the ledger; by default the folder beside the benchmark.
        everything: Whether to pool hits that are judged already, for a second judge.
        store: Store of past runs, if not the default.
    """

    runs: Sequence[str]
    depth: int = 10
    strategy: str = "depth"
    share: float | None = None
    count: int | None = None
    seed: int = 0
    metrics: Sequence[str] = ()
    benchmark: str | None = None
    ledger: PathLike | None = None
    everything: bool = False
    store: PathLike | None = None

    def __post_init__(self) -> None:
        if not self.runs:
            raise ConfigurationError("name at least one run, as in: berryeval judge pool latest")
        require_whole("--depth", self.depth)
        require_choice("--strategy", self.strategy, STRATEGIES)
        if self.strategy != "random" and (self.share, self.count) != (None, None):
            raise ConfigurationError("--share and --count belong to --strategy random")
        if self.share is not None and self.count is not None:
            raise ConfigurationError("choose one of --share and --count")
        if self.share is not None:
            require_fraction("--share", self.share)
        if self.count is not None:
            require_whole("--count", self.count)
        require(isinstance(self.seed, int), "--seed", "a whole number", self.seed)

    @property
    def sums(self) -> tuple[str, ...]:
        """Canonical names of the metrics."""
        ratios = self.strategy != "random"
        names = self.metrics or (f"nDCG@{self.depth}",)
        if not self.metrics and not ratios:
            names = (f"DCG@{self.depth}", f"P@{self.depth}")
        return tuple(read_rank_sum(name, self.depth, ratios=ratios).name for name in names)


@dataclass(frozen=True)
class Pooling:
    """A pool, where it was written, and what is new in it."""

    pool: Pool
    path: Path
    added: int
    notes: tuple[str, ...] = ()


def pool_runs(request: PoolRequest) -> Pooling:
    """Add the unjudged hits of runs to the pool of their benchmark, and write it.

    What is in the pool already stays. A hit is judged if the benchmark's judgments, or the grades
    that judges have decided on since, judge it, however the documents were chunked then.
    """
    new, before, path, notes = _collect(request)
    whole = new if before is None else before.add(new)
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.write(path)
    added = len(whole.pairs) - (len(before.pairs) if before else 0)
    return Pooling(whole, path, added, notes)


def collect_pool(request: PoolRequest) -> Pooling:
    """Collect the hits of these runs in a pool of their own, without writing it."""
    new, before, path, notes = _collect(request)
    known = {pair.id for pair in before.pairs} if before else set()
    return Pooling(new, path, len({pair.id for pair in new.pairs} - known), notes)


def _collect(request: PoolRequest) -> tuple[Pool, Pool | None, Path, tuple[str, ...]]:
    """Return the pool of the runs, the existing pool, its path, and remarks."""
    metrics = request.sums
    place, benchmark, chunkings, systems, notes = read_systems(
        request.runs, request.benchmark, request.store
    )
    ledger = open_ledger(request.ledger or "", place)
    folder = ledger.folder
    path = folder / POOL
    before = Pool.read(path) if path.exists() else None
    labels = before.systems if before else {}
    if before is not None and (kept := _drop_changed(before, benchmark, ledger)) != before:
        gone = pluralize(len(before.pairs) - len(kept.pairs), "unjudged pair")
        notes = [*notes, f"{gone} left the pool: the text has changed since"]
        before, labels = kept, {}
    collector = _Collector(request, benchmark, chunkings, ledger, before)
    for system in _relabel(systems, labels):
        collector.add(system)
    new = replace(collector.build(place), metrics=metrics)
    return new, before, path, (*notes, *collector.notes)


def _drop_changed(pool: Pool, benchmark: Benchmark, ledger: Ledger) -> Pool:
    """Return a pool without unjudged pairs whose text no longer exists."""
    judged = {make_pair_id(one.query_id, one.target) for one in ledger.votes()}
    kept = tuple(
        pair for pair in pool.pairs if pair.id in judged or not has_changed(pair, benchmark)
    )
    return replace(pool, pairs=kept)


def _relabel(systems: Sequence[PooledSystem], labels: Mapping[str, Any]) -> list[PooledSystem]:
    """Give a system another label if the pool has one of another run under its own."""
    known = dict(labels)
    labelled = []
    for one in systems:
        label = one.label
        if known.get(label, one.run) != one.run:
            label = f"{label} ({one.run.partition('#')[0]})"
        known[label] = one.run
        labelled.append(replace(one, label=label))
    return labelled


class _Collector:
    """Collects the pairs and rankings of systems."""

    def __init__(
        self,
        request: PoolRequest,
        benchmark: Benchmark,
        chunkings: Chunkings,
        ledger: Ledger,
        before: Pool | None,
    ) -> None:
        self._request, self._benchmark, self._chunkings = request, benchmark, chunkings
        self._before = {pair.id: pair for pair in before.pairs} if before else {}
        votes = ledger.votes()
        decisions = {} if request.everything else decide(votes)
        strays = find_strays(benchmark, decisions)
        decisions = {key: one for key, one in decisions.items() if key not in strays}
        self._decided = {
            make_pair_id(one.query_id, one.target): one.grade for one in decisions.values()
        }
        self._judged = apply_decisions(benchmark, decisions)
        given = [one.grade for one in votes if one.grade is not None]
        self._highest = float(max(*grade_scale(benchmark), *given))
        self._rules: dict[tuple[str, str], Relevance] = {}
        self._pairs: dict[str, Pair] = {}
        self._ranks: dict[str, int] = {}
        self._rankings: dict[str, dict[str, list[str | float]]] = {}
        self._known: dict[str, list[float]] = {}
        self._systems: dict[str, str] = {}
        self._anchors: dict[tuple[object, ...], Anchor] = {}
        self._judges_chunks = any(one.target.chunk for one in all_judgments(benchmark))
        self._packed: set[str] = set()
        self.notes: list[str] = []

    def add(self, system: PooledSystem) -> None:
        """Add the hits of a system."""
        relevance = self._find_rules(system)
        tally = relevance.tally_ids(self._benchmark)
        own: dict[str, list[str | float]] = {}
        for query, hits in system.hits.items():
            if relevance.strategy_of(query) == "pack":
                self._packed.add(query)
                continue
            judged = relevance.judge(query, hits[: self._request.depth])
            tally.add(query, judged.hits, judged)
            graded: dict[int, float] = {}
            if judged.strategy == "qrels" and not self._request.everything:
                graded = {one.rank: one.grade for one in judged.ranking.hits if one.grade >= 0}
            own[query] = [
                self._enter(relevance, query, rank, hit, graded.get(rank))
                for rank, hit in enumerate(judged.hits, start=1)
            ]
            if graded or query not in self._known:
                every = judged.ranking.grades if judged.strategy == "qrels" else ()
                self._known[query] = [] if self._request.everything else list(every)
        unknown = tally.found
        if unknown is not None and unknown.is_failure:
            raise DataError(f"{system.label}: {unknown.describe()}")
        if unknown is not None:
            self.notes.append(f"{system.label}: {unknown.summary}: {unknown.explanation}")
        if not own:
            raise DataError(
                f"the pack {self._benchmark.pack!r} decides what is relevant in "
                f"{self._benchmark.name}; its hits cannot be judged by hand"
            )
        self._rankings[system.label] = own
        self._systems[system.label] = system.run

    def build(self, place: str) -> Pool:
        """Build the pool of the added systems."""
        request = self._request
        pairs = self._pairs
        if request.strategy == "random":
            chances = find_probabilities(self._ranks, share=request.share, count=request.count)
            drawn = draw_pairs(chances, request.seed)
            pairs = {one: replace(pairs[one], probability=chances[one]) for one in drawn}
        if self._packed:
            self.notes.append(
                f"{pluralize(len(self._packed), 'query')} that the pack judges: left out"
            )
        for one in self._before.values():  # pairs of the pool count by their votes
            grades, grade = self._known.get(one.query_id, []), self._decided.get(one.id)
            if grade is not None and grade in grades:
                grades.remove(grade)
        return Pool(
            place,
            self._benchmark.content_hash,
            request.strategy,
            request.depth,
            request.seed,
            shuffle_pairs(pairs.values(), request.seed),
            highest=self._highest,
            systems=self._systems,
            rankings=self._rankings,
            known=self._known,
        )

    def _find_rules(self, system: PooledSystem) -> Relevance:
        key = system.chunker, repr(sorted(system.options.items()))
        if key not in self._rules:
            options = check_model(RelevanceSpec, dict(system.options), None).options
            chunks = self._chunkings.get(system.chunker)
            self._rules[key] = Relevance(self._judged, options, chunks=chunks)
        return self._rules[key]

    def _enter(
        self, relevance: Relevance, query: str, rank: int, hit: Hit, grade: float | None
    ) -> str | float:
        """Return what stands at a rank, and keep it as a pair if it is to be judged."""
        if grade is not None and not self._before:
            return grade
        key = (id(relevance), hit.id, hit.doc_id, hit.start, hit.end)
        if key not in self._anchors:
            self._anchors[key] = self._make_target(relevance, hit)
        target = self._anchors[key]
        name = make_pair_id(query, target)
        if grade is not None and name not in self._before:
            return grade
        self._ranks[name] = min(rank, self._ranks.get(name, rank))
        if name not in self._pairs:
            text, before, after = self._read_text(relevance, target, hit)
            title = self._name_place(target, hit)
            self._pairs[name] = Pair(name, query, target, text, title, before, after)
        return name

    def _make_target(self, relevance: Relevance, hit: Hit) -> Anchor:
        """Return the anchor of a hit: its span, its whole document, or its id."""
        if self._judges_chunks:
            return Anchor(chunk=hit.id)
        spans = relevance.targets.place(hit)
        if not spans:
            if hit.text:
                return Anchor(document=hit.doc_id, quote=hit.text)
            return Anchor(chunk=hit.id)
        document, start, end = spans[0]
        whole = self._benchmark.document_of.get(document)
        if whole is not None and (start, end) == (0, len(whole.text)):
            return Anchor(document=document, document_hash=whole.content_hash)
        text = relevance.read(spans[0])
        return make_anchor(Chunk(hit.id, document, text, start, end), whole)

    def _read_text(self, relevance: Relevance, target: Anchor, hit: Hit) -> tuple[str, str, str]:
        document = self._benchmark.document_of.get(target.document)
        if document is None:
            chunk = relevance.targets.chunks.get(target.chunk)
            return hit.text or (chunk.text if chunk else ""), "", ""
        if target.start is None or target.end is None:
            return hit.text if target.quote else document.text, "", ""
        before = _cut_words(document.text[max(0, target.start - _CONTEXT) : target.start], end=True)
        after = _cut_words(document.text[target.end : target.end + _CONTEXT], end=False)
        return document.text[target.start : target.end], before, after

    def _name_place(self, target: Anchor, hit: Hit) -> str:
        document = self._benchmark.document_of.get(target.document or hit.doc_id)
        title = (document.title or document.id) if document else target.document or hit.id
        headings = () if target.start is None else hit.section
        return " > ".join(headings if headings[:1] == (title,) else (title, *headings))


def _cut_words(text: str, *, end: bool) -> str:
    """Remove the part of a word at the outer edge of a context that was cut."""
    if len(text) < _CONTEXT:
        return text
    return text.partition(" ")[2] if end else text.rpartition(" ")[0]
