"""The table of rerankers, and the order that they give."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from berryeval._internal.plain import show
from berryeval._internal.registry import Registry
from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number, is_whole, reject_unknown
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.base import clean_text, searchable_text
from berryeval.providers.combined import read_part

if TYPE_CHECKING:
    from berryeval.data import Hit, Query


class Reranking(NamedTuple):
    """What a reranker says of some hits.

    Attributes:
        scores: A finite number for each hit, in the order in which the hits were given; the highest
            ranks first.
        cost: Cost, such as tokens or money.
        unplaced: Number of hits that it was given but did not place, after the others.
    """

    scores: Sequence[float]
    cost: Mapping[str, Any] = {}
    unplaced: int = 0


class Reranker(Protocol):
    """Scores hits for a query; safe to use from several threads.

    It returns a `Reranking`, or the scores alone; the method may be `async`. One that needs further
    packages has `modules` and `extra`, as a provider; one that asks a server has `is_remote`; one
    that holds connections has `close`.
    """

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking | Sequence[float]:
        """Score each of at least one hit."""


RERANKERS: Final[Registry[Callable[..., Reranker]]] = Registry(
    "reranker",
    {
        "cross-encoder": "berryeval.providers.rerankers.cross_encoder:CrossEncoder",
        "http": "berryeval.providers.rerankers.http:HttpReranker",
        "chat": "berryeval.providers.rerankers.listwise:ChatReranker",
        "function": "berryeval.providers.rerankers.function:FunctionReranker",
    },
    {"callable": "function"},
)


def build_reranker(given: Any) -> Reranker:
    """Build a reranker from a name, "module:function", a mapping, a function or an object."""
    if isinstance(given, Mapping):
        return _build(*read_part("rerank", given, "reranker"))
    if isinstance(given, str):
        return _build("function", {"function": given}) if ":" in given else _build(given, {})
    if isinstance(given, type):
        name = given.__name__
        raise ConfigurationError(
            f"reranker of rerank: expected an object, found the class {name}; use {name}()"
        )
    if callable(getattr(given, "rerank", None)):
        return given  # type: ignore[no-any-return]
    return _build("function", {"function": given})


def _build(name: str, options: Mapping[str, Any]) -> Reranker:
    kind = RERANKERS.get(name)
    if dataclasses.is_dataclass(kind):
        known = [option.name for option in dataclasses.fields(kind) if option.init]
        reject_unknown(f"reranker {name!r}", options, known)
    return kind(**options)


def text_of(hit: Hit) -> str:
    """Return what a reranker reads: the headings above a hit, then its text."""
    return clean_text(searchable_text(hit))


def read_scores(given: Any, count: int, what: str) -> list[float]:
    """Return the scores of `count` hits as plain numbers; reject any other number, and NaN."""
    values = getattr(given, "tolist", lambda: given)()
    if isinstance(values, str | bytes | Mapping | set) or not isinstance(values, Iterable):
        raise ProviderError(
            f"{what}: expected {pluralize(count, 'score')}, found {type(given).__name__} "
            f"{show(given)}"
        )
    # A generator may never end: one score too many is enough to reject it.
    scores = list(islice(values, count + 1)) if isinstance(values, Iterator) else list(values)
    if len(scores) != count:
        found = "more" if isinstance(values, Iterator) and len(scores) > count else len(scores)
        raise ProviderError(
            f"{what}: expected {pluralize(count, 'score')}, one per hit, found {found}"
        )
    for place, score in enumerate(scores, start=1):
        if not is_number(score):
            raise ProviderError(
                f"{what}: expected a finite number as the score of hit {place}, found {show(score)}"
            )
    return list(map(float, scores))


def scores_by_order(places: Iterable[Any], count: int, what: str) -> list[float]:
    """Return scores that put hits in this order of positions from 0, and all others behind them."""
    scores = [0.0] * count
    left = dict.fromkeys(range(count))
    for worth, place in enumerate(places):
        if not is_whole(place) or not 0 <= place < count:
            raise ProviderError(
                f"{what}: expected positions from 0 to {count - 1}, found {show(place)}"
            )
        if place not in left:
            raise ProviderError(f"{what}: names the position {place} twice")
        del left[place]
        scores[place] = float(count - worth)
    for worth, place in enumerate(reversed(left), start=1):
        scores[place] = float(worth)
    return scores
