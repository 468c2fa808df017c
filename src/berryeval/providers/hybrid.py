"""`hybrid`: rankings of other providers, fused by rank or by score.

By rank: score(d) = sum over the providers that rank d: weight / (k + rank of d). Cormack, Clarke
and Büttcher (2009), "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning
Methods".

By score: score(d) = sum over the providers that rank d: weight * (s - lowest) / (highest - lowest),
where s is the score of d, and highest and lowest are the scores of the provider's first and last
hit. The margins between hits then count. Fox and Shaw (1994), "Combination of Multiple Searches";
compared with rank fusion by Bruch, Gai and Ingber (2023), "An Analysis of Fusion Functions for
Hybrid Retrieval". A provider whose scores are all equal, or contradict the order of its hits by
more than rounding, counts by position, evenly spaced from 1 down.

The defaults (fusion by score, depth, feedback) were chosen on `spring-boot`, while the scores on
`technical-docs` were in view, so neither is an independent test of them. Tune them on
your own queries: with `weights: [1, 0.6]` and `feedback: 2` for bm25, nDCG@10 on `spring-boot` is
0.824 instead of 0.792, while RR on `technical-docs` falls from 0.87 to 0.82.

Like all providers, both search the headings above a chunk as well as its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.aio import BackgroundLoop
from berryeval._internal.validate import is_number, reject_unknown, require_choice, require_whole
from berryeval.data import Hit
from berryeval.errors import ConfigurationError
from berryeval.providers.answers import Answer, as_hits, check_batch
from berryeval.providers.base import Provider, add_costs, find_enter, find_exit
from berryeval.providers.catalogue import build_provider
from berryeval.providers.ranking import fuse_ranks, fuse_scores

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval.data import Chunk, Query


_DEFAULTS: Final[dict[str, dict[str, Any]]] = {"bm25": {"feedback": 5}, "dense": {"feedback": 3}}


@dataclass
class Hybrid(Provider):
    """Rankings of other providers over the same chunks, fused by rank or by score.

    Attributes:
        providers: Provider names; mappings with `type` and `options`, so that one provider can be
            used twice with different options; or provider objects and anything else that can be
            searched.
        weights: Weight of each provider; 1 by default.
        k: Rank constant: the higher, the less the top ranks stand out. Not used for scores.
        depth: Number of hits fused from each provider, at least as many as requested. The last hit
            counts nothing when scores are fused, so the depth should be large.
        options: Options by provider name. `bm25` and `dense` use feedback by default.
        fusion: "scores" adds scores normalized to 0-1, "ranks" adds reciprocal ranks.
    """

    providers: Sequence[Any] = ("bm25", "dense")
    weights: Sequence[float] = ()
    k: int = 60
    depth: int = 1000
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    fusion: str = "scores"
    extra: ClassVar[str] = "dense"
    modules: ClassVar[Sequence[str]] = ("wordllama",)
    _children: list[Provider] = field(default_factory=list, init=False, repr=False)
    _entered: set[int] = field(default_factory=set, init=False, repr=False)
    _loop: BackgroundLoop = field(default_factory=BackgroundLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.providers, str) or not self.providers:
            raise ConfigurationError(f"hybrid needs a list of providers, found {self.providers!r}")
        reject_unknown(
            "hybrid", self.options, [one for one in self.providers if isinstance(one, str)]
        )
        require_choice("fusion of hybrid", self.fusion, ["ranks", "scores"])
        require_whole("k of hybrid", self.k)
        require_whole("depth of hybrid", self.depth)
        if not self.weights:
            self.weights = [1.0] * len(self.providers)
        valid = all(is_number(weight) and weight >= 0 for weight in self.weights)
        if not valid or len(self.weights) != len(self.providers) or not any(self.weights):
            raise ConfigurationError(
                f"weights of hybrid must be {len(self.providers)} numbers of 0 or more, one per "
                f"provider, and not all 0; found {list(self.weights)}"
            )
        self._children = [self._build_child(child) for child in self.providers]

    def _build_child(self, child: Any) -> Provider:
        if isinstance(child, str):
            given = self.options.get(child, {})
        elif isinstance(child, Mapping):
            child, given = _read_child(child)
        else:
            return build_provider(child)
        return build_provider(child, {**_DEFAULTS.get(child, {}), **given})

    def __enter__(self) -> Self:
        """Enter all providers that are context managers, or none if one fails."""
        with ExitStack() as undo:
            undo.callback(self._loop.close)
            for place, child in enumerate(self._children):
                if enter := find_enter(child):
                    undo.push(partial(self._leave, place))
                    self._loop.wait_for(enter())
                self._entered.add(place)
            undo.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave or close every provider, the last first, even if one of them fails."""
        with ExitStack() as ends:
            ends.callback(self._loop.close)
            for place in range(len(self._children)):
                ends.callback(self._leave, place, *error)

    def _leave(self, place: int, *error: object) -> None:
        entered = place in self._entered
        self._entered.discard(place)
        if leave := find_exit(self._children[place], *error, entered=entered):
            self._loop.wait_for(leave())

    def required(self) -> dict[str, str]:
        """Return the modules that the providers need."""
        return {name: extra for one in self._children for name, extra in one.required().items()}

    def needs_documents(self) -> bool:
        """Whether any of the providers does."""
        return any(one.needs_documents() for one in self._children)

    def searches_in_process(self) -> bool:
        """Whether all of the providers do."""
        return all(one.searches_in_process() for one in self._children)

    def expect(self, queries: Sequence[Query]) -> None:
        """Pass the queries to each provider."""
        for child in self._children:
            child.expect(queries)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Let each provider index all chunks."""
        for child in self._children:
            child.on_progress = self.on_progress
            self._loop.wait_for(child.index(chunks))  # type: ignore[func-returns-value]

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the hits of all providers by fused score."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Search several queries, batched for the providers that accept batches."""
        deep = max(k, self.depth)
        found = [self._ask(child, queries, deep) for child in self._children]
        return [self._fuse(answers, k) for answers in zip(*found, strict=True)]

    def _fuse(self, answers: Sequence[Any], k: int) -> list[Hit]:
        rankings = [
            answer
            if isinstance(answer, list) and {*map(type, answer)} <= {Hit}
            else as_hits(answer, max(k, self.depth))
            for answer in answers
        ]
        if self.fusion == "scores":
            hits = fuse_scores(rankings, k, weights=self.weights)
        else:
            hits = fuse_ranks(rankings, k, constant=self.k, weights=self.weights)
        cost = add_costs(getattr(answer, "cost", None) for answer in answers)
        return Answer(hits, cost) if cost else hits

    def _ask(self, child: Provider, queries: Sequence[Query], k: int) -> list[Any]:
        """Return the provider's answer to every query, asked as a batch if possible."""
        together = getattr(child, "search_many", None)
        if together is None:
            return [self._loop.wait_for(child.search(query, k)) for query in queries]
        return check_batch(self._loop.wait_for(together(queries, k)), len(queries))

    def close(self) -> None:
        """Close every provider as if no error had occurred."""
        self.__exit__(None, None, None)


def _read_child(child: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    if "chunker" in child:
        raise ConfigurationError(
            "the providers of hybrid share its chunks; set the chunker of hybrid itself"
        )
    reject_unknown("a provider of hybrid", child, ["type", "options"])
    kind, options = child.get("type"), child.get("options", {})
    if not isinstance(kind, str) or not isinstance(options, Mapping):
        raise ConfigurationError(
            f"a provider of hybrid needs a type and may have options, found {list(child)}"
        )
    return kind, options
