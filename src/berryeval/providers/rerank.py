"""`rerank`: the hits of another provider, ordered again by a slower and better model.

The first stage is asked for `depth` hits, or as many as the run asks for if these are more, and the
reranker orders the first `depth` of them. It reads the headings above a hit and its text. A
reranker cannot find what the first stage did not: the record of a run has the ranking, the time and
the cost of each stage, and tables show what the reranker changed and what the best order of the
same hits would score ([eval.md](eval.md#two-stage-retrieval)). The provider may itself be `hybrid`
or `rerank`.

Scores are those of the reranker; hits below its depth get lower ones, in the order of the first
stage. A score that is missing, repeated or not a finite number fails the query, and so does a hit
without text: a ranking never gets worse unnoticed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval._internal.plain import show
from berryeval._internal.validate import require_choice, require_whole
from berryeval.data import index_records
from berryeval.errors import ProviderError
from berryeval.providers.answers import (
    Answer,
    KnownChunks,
    Stage,
    as_hits,
    find_stages,
    read_count,
    read_written_answer,
    tell_stages,
)
from berryeval.providers.base import add_costs, read_cost
from berryeval.providers.catalogue import build_provider
from berryeval.providers.combined import Combined, read_part
from berryeval.providers.ranking import drop_repeated, order_hits
from berryeval.providers.rerankers.base import Reranker, Reranking, build_reranker, read_scores

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit, Query


@dataclass
class Rerank(Combined):
    """The hits of another provider, ordered again by a reranker.

    Attributes:
        provider: First stage: a provider name, a mapping with `type` and `options`, or a provider
            object or anything else that can be searched.
        reranker: A name under [Rerankers](#rerankers), "module:function", a mapping with `type` and
            `options`, or a function or object.
        depth: Number of hits of the first stage that are ordered again.
        below: "keep" leaves the hits below this depth after the others, "drop" removes them.
    """

    provider: Any = field(default="bm25", repr=False)  # may hold secrets
    reranker: Any = field(default="cross-encoder", repr=False)  # may hold secrets
    depth: int = 100
    below: str = "keep"
    extra: ClassVar[str] = "sentence-transformers"
    modules: ClassVar[Sequence[str]] = ("sentence_transformers",)
    search_many: Callable[[Sequence[Query], int], list[Answer]] | None = field(
        default=None, init=False, repr=False
    )
    _names: tuple[str, str] = field(init=False, repr=False)
    _reranker: Reranker = field(init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)
    _ids: Collection[str] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        require_whole("depth of rerank", self.depth)
        require_choice("below of rerank", self.below, ("keep", "drop"))
        child, options = self.provider, None
        if isinstance(child, Mapping):
            child, options = read_part("rerank", child)
        self._children = [build_provider(child, options)]
        self._reranker = build_reranker(self.reranker)
        self._names = _name_part(child), _name_part(self.reranker)
        if not getattr(self._reranker, "is_remote", False):
            # If one query of a batch fails, all are asked again alone: too dear for a server.
            self.search_many = self._search_many

    def required(self) -> dict[str, str]:
        """Return the modules that the provider and the reranker need."""
        extra = getattr(self._reranker, "extra", "")
        modules = dict.fromkeys(getattr(self._reranker, "modules", ()), extra)
        return {**super().required(), **modules}

    def searches_in_process(self) -> bool:
        """Whether neither the provider nor the reranker is a server."""
        own = hasattr(self._reranker, "modules") and not getattr(self._reranker, "is_remote", False)
        return super().searches_in_process() and getattr(self._reranker, "in_process", own)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Let the provider index all chunks; keep them for hits that are only an id."""
        self._known = KnownChunks(chunks)
        self._ids = index_records(chunks)
        super().index(chunks)

    def search(self, query: Query, k: int) -> Answer:
        """Return the hits of the provider in the order of the reranker."""
        return self._search_many([query], k)[0]

    def _search_many(self, queries: Sequence[Query], k: int) -> list[Answer]:
        deep = self.depth if self.below == "drop" else max(k, self.depth)
        start = time.perf_counter()
        found = self._ask(self._children[0], queries, deep)
        share = (time.perf_counter() - start) / len(queries)
        return [
            self._rerank(query, answer, deep, k, share)
            for query, answer in zip(queries, found, strict=True)
        ]

    def _rerank(self, query: Query, answer: Any, deep: int, k: int, seconds: float) -> Answer:
        """Order the answer of the first stage, which took these seconds."""
        given = drop_repeated(as_hits(answer, deep))
        hits = [self._known.complete(hit) for hit in order_hits(given, deep)]
        cost = read_cost(getattr(answer, "cost", None))
        stages = find_stages(answer)
        before = (*stages[:-1], stages[-1]._replace(hits=hits)) if stages else (
            Stage(self._names[0], hits, seconds, cost),
        )  # fmt: skip
        top, rest = hits[: self.depth], hits[self.depth :]
        start = time.perf_counter()
        try:
            asked = self._ask_reranker(query, top)
        except Exception as error:
            tell_stages(error, before)
            raise
        own = time.perf_counter() - start
        last = Stage(self._names[1], (), own, asked.cost, len(top), asked.unplaced)
        ranked = _merge(top, asked.scores, rest)[:k]
        total = add_costs([cost, asked.cost])
        return Answer(ranked, total, read_written_answer(answer), (*before, last))

    def _ask_reranker(self, query: Query, hits: list[Hit]) -> Reranking:
        if not hits:
            return Reranking(())
        for place, hit in enumerate(hits, start=1):
            if not hit.text and hit.id not in self._ids:
                raise ProviderError(
                    f"hit {place} ({show(hit.id)}) of {self._names[0]} has no text to rerank, and "
                    "the corpus has no chunk with this id; let the provider return texts"
                )
        found = self._loop.wait_for(self._reranker.rerank(query, hits))
        given = found if isinstance(found, Reranking) else Reranking(found)
        what = f"the reranker {self._names[1]}"
        scores = read_scores(given.scores, len(hits), what)
        return Reranking(
            scores, read_cost(given.cost), read_count(given.unplaced, f"unplaced of {what}")
        )

    def __exit__(self, *error: object) -> None:
        """Close the reranker and the provider."""
        try:
            if callable(close := getattr(self._reranker, "close", None)):
                self._loop.wait_for(close())
        finally:
            super().__exit__(*error)


def _merge(top: Sequence[Hit], scores: Sequence[float], rest: Sequence[Hit]) -> list[Hit]:
    """Return the hits by score, and then the rest in its order, with lower scores."""
    scored = [replace(hit, score=score) for hit, score in zip(top, scores, strict=True)]
    lowest = min(scores, default=0.0)
    step = max(1.0, abs(lowest) * 1e-9)  # so that no two scores are equal
    below = [replace(hit, score=lowest - step * place) for place, hit in enumerate(rest, start=1)]
    if not any(scores):  # all 0 would count as no scores, and keep the order of the first stage
        scored = [replace(hit, score=1.0) for hit in scored]
    return order_hits([*scored, *below])


def _name_part(part: Any) -> str:
    """Return the name of a stage: a type, or the name of a function, an object or its class."""
    if isinstance(part, Mapping):
        part = part.get("type")
    if isinstance(part, str):
        return part.rpartition(":")[2] if ":" in part else part
    given = getattr(part, "name", None)
    return given if isinstance(given, str) else getattr(part, "__name__", type(part).__name__)
