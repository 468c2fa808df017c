"""`hybrid`: the rankings of other providers, fused by rank or by score.

By ranks: score(d) = sum over the providers: weight / (k + rank of d), where it is ranked. Cormack,
Clarke and Büttcher (2009), "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank
Learning Methods".

By scores: score(d) = sum over the providers: weight * (s - lowest) / (highest - lowest), where it
is ranked: s is its score, the others those of the first and the last hit of the provider. How far
one hit is ahead of the next then counts. Fox and Shaw (1994), "Combination of Multiple Searches";
compared with ranks by Bruch, Gai and Ingber (2023), "An Analysis of Fusion Functions for Hybrid
Retrieval". A provider whose scores contradict the order of its hits by more than rounding does, or
are all the same, counts by its places, evenly spread from 1 down.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.aio import OwnLoop
from berryeval.data import Hit
from berryeval.errors import ConfigurationError
from berryeval.providers.answers import Answer, as_hits, one_for_each
from berryeval.providers.base import (
    Provider,
    added_costs,
    check_choice,
    check_counts,
    entering,
    leaving,
)
from berryeval.providers.catalogue import check_options, make_provider
from berryeval.providers.ranking import fused, fused_by_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from berryeval.data import Chunk, Query


_DEFAULTS: Final[dict[str, dict[str, Any]]] = {"bm25": {"feedback": 5}, "dense": {"feedback": 3}}


@dataclass
class Hybrid(Provider):
    """The rankings of other providers over the same chunks, fused by rank or by score.

    Attributes:
        providers: their names; or mappings with `type` and `options`, so that one may stand there
            twice with other options; or providers, and what else can be searched.
        weights: how much each counts; 1 if not given.
        k: how fast a rank loses worth; scores do without.
        depth: how many hits of each are fused, at least as many as are asked for. The last of them
            has no worth among scores, so these want more: 1000, say.
        options: by name, what each is made with that is given as a name. The bundled two use
            feedback unless told.
        fusion: "ranks" adds reciprocal ranks, "scores" adds scores spread from 0 to 1.
    """

    providers: Sequence[Any] = ("bm25", "dense")
    weights: Sequence[float] = ()
    k: int = 60
    depth: int = 100
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    fusion: str = "ranks"
    extra: ClassVar[str] = "dense"
    modules: ClassVar[Sequence[str]] = ("wordllama",)
    in_process: ClassVar[bool] = True
    _children: list[Provider] = field(default_factory=list, init=False, repr=False)
    _entered: set[int] = field(default_factory=set, init=False, repr=False)
    _loop: OwnLoop = field(default_factory=OwnLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be fused, and make the providers."""
        if isinstance(self.providers, str) or not self.providers:
            msg = f"hybrid needs a list of providers, found {self.providers!r}"
            raise ConfigurationError(msg)
        check_options(
            "hybrid", [one for one in self.providers if isinstance(one, str)], self.options
        )
        check_choice("hybrid", "fusion", self.fusion, ["ranks", "scores"])
        check_counts("hybrid", k=self.k, depth=self.depth)
        if not self.weights:
            self.weights = [1.0] * len(self.providers)
        if len(self.weights) != len(self.providers) or not _fit(self.weights):
            msg = (
                f"hybrid needs a weight of 0 or more for each of its {len(self.providers)} "
                f"providers, and one above 0, found {list(self.weights)}"
            )
            raise ConfigurationError(msg)
        self._children = [self._made(child) for child in self.providers]

    def _made(self, child: Any) -> Provider:
        if isinstance(child, str):
            given = self.options.get(child, {})
        elif isinstance(child, Mapping):
            child, given = _read(child)
        else:
            return make_provider(child)
        return make_provider(child, {**_DEFAULTS.get(child, {}), **given})

    def __enter__(self) -> Self:
        """Enter those that are context managers: all of them, or none."""
        with ExitStack() as undo:
            undo.callback(self._loop.close)
            for place, child in enumerate(self._children):
                if enter := entering(child):
                    undo.push(partial(self._leave, place))
                    self._done(enter())
                self._entered.add(place)
            undo.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave or close every provider, the last first, also where one of them fails."""
        with ExitStack() as ends:
            ends.callback(self._loop.close)
            for place in range(len(self._children)):
                ends.callback(self._leave, place, *error)

    def _leave(self, place: int, *error: object) -> None:
        entered = place in self._entered
        self._entered.discard(place)
        if leave := leaving(self._children[place], *error, entered=entered):
            self._done(leave())

    def expect(self, queries: Sequence[Query]) -> None:
        """Each provider hears them."""
        for child in self._children:
            child.expect(queries)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Each provider indexes all chunks."""
        for child in self._children:
            self._done(child.index(chunks))  # type: ignore[func-returns-value]

    def search(self, query: Query, k: int) -> list[Hit]:
        """The hits of all, by their fused score."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """The same for several queries, which each provider gets together if it takes them so."""
        deep = max(k, self.depth)
        found = [self._found_by(child, queries, deep) for child in self._children]
        return [self._fused(answers, k) for answers in zip(*found, strict=True)]

    def _fused(self, answers: Sequence[Any], k: int) -> list[Hit]:
        """The answers of all to a query as one, which cost what they cost together."""
        rankings = list(map(_hits, answers))
        if self.fusion == "scores":
            hits = fused_by_score(rankings, k, weights=self.weights)
        else:
            hits = fused(rankings, k, constant=self.k, weights=self.weights)
        cost = added_costs(getattr(answer, "cost", None) for answer in answers)
        return Answer(hits, cost) if cost else hits

    def _found_by(self, child: Provider, queries: Sequence[Query], k: int) -> list[Any]:
        """The answer to every query: asked together where the provider can do that."""
        together = getattr(child, "search_many", None)
        if together is None:
            return [self._done(child.search(query, k)) for query in queries]
        return one_for_each(self._done(together(queries, k)), len(queries))

    def _done(self, answer: Any) -> Any:
        return self._loop.result(answer) if isinstance(answer, Awaitable) else answer

    def close(self) -> None:
        """End every provider as without an error."""
        self.__exit__(None, None, None)


def _hits(answer: Any) -> Sequence[Hit]:
    """The hits of whatever a provider returned, as the harness reads it."""
    if isinstance(answer, list) and all(type(one) is Hit for one in answer):
        return answer  # as those of the bundled ones: there are many, so this is quick
    return as_hits(answer)


def _read(child: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The type and the options of a provider that is written as a mapping."""
    if "chunker" in child:
        msg = "the providers of hybrid share its chunks; give the chunker to hybrid itself"
        raise ConfigurationError(msg)
    check_options("a provider of hybrid", ["type", "options"], child)
    kind, options = child.get("type"), child.get("options", {})
    if not isinstance(kind, str) or not isinstance(options, Mapping):
        msg = f"a provider of hybrid needs a type and may have options, found {list(child)}"
        raise ConfigurationError(msg)
    return kind, options


def _fit(weights: Sequence[float]) -> bool:
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in weights)
    return numbers and all(0 <= weight < math.inf for weight in weights) and any(weights)
