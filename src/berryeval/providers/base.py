"""What a provider is, and how its results are ordered."""

from __future__ import annotations

import numbers
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from berryeval._internal.records import found, is_finite
from berryeval.data import Hit, RankingRule
from berryeval.errors import ConfigurationError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from typing_extensions import Self

    from berryeval.data import Chunk, Query


class Provider(ABC):
    """A thing that can be searched.

    `index` is called once, before the first search; a provider that searches something that exists
    already leaves it as it is. Used as a context manager it is closed at the end.

    One that answers several queries faster together than one by one may have a method
    `search_many(queries, k)`, plain or `async`, which returns as many lists of hits as there are
    queries, in their order. It is called where a run asks for batches, and must find the same.

    Attributes:
        extra: the extra of this package that brings what the provider needs; "" if nothing.
        modules: what it imports, unless its options say otherwise.
        in_process: whether a search is work of this very process, so that several at once hold each
            other up.
    """

    extra: ClassVar[str] = ""
    modules: ClassVar[Sequence[str]] = ()
    in_process: ClassVar[bool] = False

    def expect(self, queries: Sequence[Query]) -> None:  # noqa: B027 - nothing to do is a fine way
        """Hear which queries the benchmark has, before `index`; who can answer none says so."""

    def index(self, chunks: Sequence[Chunk]) -> None:  # noqa: B027 - nothing to do is a fine way
        """Take in what will be searched."""

    @abstractmethod
    def search(self, query: Query, k: int) -> Sequence[Hit]:
        """The `k` best hits, best first; fewer where there are no more."""

    def close(self) -> None:  # noqa: B027 - nothing to do is a fine way
        """Give back what was taken: connections, files, servers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def searched_text(chunk: Chunk) -> str:
    """What to index of a chunk: its text below the headings it stands under.

    A piece from the middle of a page seldom repeats what the page is about; its headings say it.
    Those the text begins with anyway are not said twice.
    """
    first_line = chunk.text.lstrip("# \t\n").partition("\n")[0]
    headings = [heading for heading in chunk.section if heading not in first_line]
    return "\n".join([*headings, chunk.text])


def best_hits(
    chunks: Sequence[Chunk], scores: npt.NDArray[np.floating[Any]], k: int, least: float
) -> list[Hit]:
    """The hits of the `k` highest scores above `least`, in THE order of rankings."""
    candidates = np.flatnonzero(scores > least)
    if len(candidates) > k:  # with all that tie for the last place
        last = np.partition(scores[candidates], -k)[-k]
        candidates = candidates[scores[candidates] >= last]
    found = [chunks[place] for place in candidates.tolist()]
    return ranked_hits(found, scores[candidates].tolist(), k)


def ranked_hits(found: Sequence[Chunk], scores: list[float], k: int) -> list[Hit]:
    """The `k` best of what was found, in THE order of rankings."""
    ids = [chunk.id.encode(errors="surrogatepass") for chunk in found]
    order = RankingRule(depth=k).order(ids, scores)
    return [hit_of(found[place], scores[place], rank) for rank, place in enumerate(order, start=1)]


def writable(text: str) -> str:
    """A text that every engine can store: without the character 0 and halves of surrogates."""
    return text.replace("\x00", " ").encode(errors="replace").decode()


def first_line(error: Exception) -> str:
    """What an engine says, without the details below it."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def check_choice(owner: str, option: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        msg = f"{option} of {owner} must be one of {', '.join(choices)}; found {value!r}"
        raise ConfigurationError(msg)


def check_counts(owner: str, **counts: object) -> None:
    """Refuse an option that counts something and is no whole number from 1 up."""
    for option, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            msg = f"{option} of {owner} must be a whole number from 1 up, found {value!r}"
            raise ConfigurationError(msg)


def check_feedback(owner: str, count: int) -> None:
    """Refuse a number of chunks that is none."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        msg = f"feedback of {owner} must be a whole number from 0 up, found {count!r}"
        raise ConfigurationError(msg)


def hit_of(chunk: Chunk, score: float, rank: int) -> Hit:
    """A chunk as a result."""
    return Hit(
        id=chunk.id,
        score=score,
        rank=rank,
        text=chunk.text,
        doc_id=chunk.doc_id,
        section=chunk.section,
        start=chunk.start,
        end=chunk.end,
        metadata=chunk.metadata,
    )


# What answers cost, as providers report it: numbers by name, and words about them.


def is_amount(value: Any) -> bool:
    """Whether it is a number that can be counted; words and flags are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def as_cost(given: Any) -> dict[str, Any]:
    """What an answer cost, its numbers as Python's own; one that is not finite is refused.

    >>> as_cost({"usd": Decimal("0.25"), "model": "small"})
    {'usd': 0.25, 'model': 'small'}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = f"cost: expected a mapping from names to numbers, found {found(given)}"
        raise ProviderError(msg)
    return {str(name): _plain(str(name), value) for name, value in given.items()}


def _plain(name: str, value: Any) -> Any:
    if getattr(value, "shape", None) == ():  # an array that is one number
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        return value
    try:
        number = int(value) if isinstance(value, numbers.Integral) else float(value)
    except (OverflowError, ValueError):  # a fraction beyond all floats, a signalling NaN
        number = float("nan")
    if not is_amount(number):
        # The size of a number alone can fill a screen, and Python refuses to write the largest.
        large = isinstance(value, numbers.Integral | numbers.Rational)
        shown = "one beyond all floats" if large else value
        msg = f"cost {name!r} must be a finite number, found {shown}"
        raise ProviderError(msg)
    return number


def added_costs(costs: Iterable[Any]) -> dict[str, Any]:
    """What several answers cost together; of words the first are kept."""
    total: dict[str, Any] = {}
    for cost in map(as_cost, costs):
        for name, value in cost.items():
            both = is_amount(value) and is_amount(total.get(name))
            total[name] = total[name] + value if both else total.get(name, value)
    return total


# How a thing that is searched begins and ends: as a context manager, or with `close`.


def entering(thing: Any) -> Callable[[], Any] | None:
    """What enters it, to be awaited if it is `async`; None if it is no context manager."""
    return _own(thing, "__aenter__") or _own(thing, "__enter__")


def leaving(thing: Any, *error: Any, entered: bool = True) -> Callable[[], Any] | None:
    """What ends it: it is left as a context manager or else closed; None if it does neither.

    Where an error is on its way, a context manager hears of it, and cannot hold it up.

    Args:
        thing: that is ended.
        error: its kind, itself and where it was raised; what is handled here unless given.
        entered: whether it was; else it is only closed.
    """
    leave = _own(thing, "__aexit__") or _own(thing, "__exit__")
    if leave is not None and entered:
        return partial(leave, *(error or sys.exc_info()))
    close = getattr(thing, "close", None)
    return close if callable(close) else None


def _own(thing: Any, name: str) -> Callable[..., Any] | None:
    """A method of its class that is not what every provider has: that would only close it."""
    method = getattr(type(thing), name, None)
    if method is None or method is getattr(Provider, name, None):
        return None
    return partial(method, thing)
