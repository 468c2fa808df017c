"""The base class of providers, and helpers that several of them share."""

from __future__ import annotations

import numbers
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from berryeval._internal.serial import describe_json
from berryeval._internal.validate import is_number
from berryeval.data import Hit, RankingRule
from berryeval.errors import ProviderError

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

    from berryeval.data import Chunk, Query


class Provider(ABC):
    """Something that can be searched.

    `index` is called once, before the first search; a provider that searches existing data does not
    override it. Used as a context manager, a provider is closed at the end.

    A provider that answers several queries faster together than separately may define
    `search_many(queries, k)`, plain or `async`, which returns one list of hits per query, in the
    same order. It is called when a run asks for batches, and must find the same hits.

    Attributes:
        extra: Extra of this package that installs the provider's dependencies; "" if none.
        modules: Modules that the provider imports by default.
        in_process: Whether a search runs in this process by default, so that concurrent searches
            slow each other down.
        on_progress: Function that is told how many chunks are indexed, and of how many.
    """

    extra: ClassVar[str] = ""
    modules: ClassVar[Sequence[str]] = ()
    in_process: ClassVar[bool] = False
    on_progress: Callable[[int, int], None] | None = None

    def required(self) -> dict[str, str]:
        """Return the modules that these options need, each with the extra that installs it."""
        return dict.fromkeys(self.modules, self.extra)

    def needs_documents(self) -> bool:
        """Whether it searches what `index` was given, and nothing else."""
        return False

    def searches_in_process(self) -> bool:
        """Whether these options make it search in this process, without a server."""
        return self.in_process

    def existing_indexes(self) -> dict[str, int | None]:
        """Return the rows of each index that it searches and did not build, by `provider:name`.

        None stands for rows that were not counted.
        """
        return {}

    def expect(self, queries: Sequence[Query]) -> None:  # noqa: B027 - optional
        """Receive the queries of the benchmark before `index`; raise if none can be answered."""

    def index(self, chunks: Sequence[Chunk]) -> None:  # noqa: B027 - optional
        """Index the chunks to search."""

    def report_progress(self, done: int, total: int) -> None:
        """Tell how many chunks are indexed; may be called by `index`, from any thread."""
        if self.on_progress is not None:
            self.on_progress(done, total)

    def describe_matches(self) -> Sequence[str]:
        """Describe how the hits so far were matched to the benchmark, other than by their ids."""
        return ()

    @abstractmethod
    def search(self, query: Query, k: int) -> Sequence[Hit]:
        """Return the `k` best hits, best first, or fewer if there are no more."""

    def close(self) -> None:  # noqa: B027 - optional
        """Release connections, files and servers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def searchable_text(chunk: Chunk | Hit) -> str:
    """Return the text to index or rerank: the headings, which name the topic, then the text.

    Headings that the first line of the text already contains are left out.
    """
    first_line = chunk.text.lstrip("# \t\n").partition("\n")[0]
    headings = [heading for heading in chunk.section if heading not in first_line]
    return "\n".join([*headings, chunk.text])


class SearchableTexts(Sequence[str]):
    """The texts of chunks to index, built on access: those of a large corpus are not held."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks

    def __len__(self) -> int:
        return len(self._chunks)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return list(map(searchable_text, self._chunks[index]))
        return searchable_text(self._chunks[index])

    def __iter__(self) -> Iterator[str]:
        return map(searchable_text, self._chunks)


def select_best(
    chunks: Sequence[Chunk], scores: npt.NDArray[np.floating[Any]], k: int, least: float
) -> list[Hit]:
    """Return the hits with the `k` highest scores above `least`, in ranking order."""
    candidates = np.flatnonzero(scores > least)
    if len(candidates) > k:  # keep all ties for the last place
        last = np.partition(scores[candidates], -k)[-k]
        candidates = candidates[scores[candidates] >= last]
    found = [chunks[place] for place in candidates.tolist()]
    return rank_hits(found, scores[candidates].tolist(), k)


def rank_hits(found: Sequence[Chunk], scores: list[float], k: int) -> list[Hit]:
    """Return the `k` best chunks as hits, in ranking order (score, then id, both descending)."""
    order = RankingRule(depth=k).order([encode_id(chunk.id) for chunk in found], scores)
    return list_hits(found, [(place, scores[place]) for place in order])


def list_hits(chunks: Sequence[Chunk], ranking: Sequence[tuple[int, float]]) -> list[Hit]:
    """Return the hits of a ranking of (chunk position, score) pairs."""
    return [
        build_hit(chunks[place], float(score), rank)
        for rank, (place, score) in enumerate(ranking, start=1)
    ]


def encode_id(name: str) -> bytes:
    """Return an id as bytes, which compare as rankings do."""
    return name.encode(errors="surrogatepass")


def build_hit(chunk: Chunk, score: float, rank: int) -> Hit:
    """Return a chunk as a hit."""
    return Hit(
        chunk.id, score, rank, text=chunk.text, doc_id=chunk.doc_id, section=chunk.section,
        start=chunk.start, end=chunk.end, metadata=chunk.metadata,
    )  # fmt: skip


def clean_text(text: str) -> str:
    """Replace NUL characters and lone surrogates, which some engines cannot store."""
    return text.replace("\x00", " ").encode(errors="replace").decode()


def first_line(error: Exception) -> str:
    """Return the first line of an error message, without the details below it."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def read_cost(given: Any) -> dict[str, Any]:
    """Return the cost of an answer with plain Python numbers, finite and not negative.

    >>> read_cost({"usd": Decimal("0.25"), "model": "small"})
    {'usd': 0.25, 'model': 'small'}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ProviderError(
            f"cost: expected a mapping from names to numbers, found {describe_json(given)}"
        )
    return {str(name): _read_amount(str(name), value) for name, value in given.items()}


def _read_amount(name: str, value: Any) -> Any:
    if getattr(value, "shape", None) == ():  # a NumPy scalar
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        return value
    try:
        number = int(value) if isinstance(value, numbers.Integral) else float(value)
    except (OverflowError, ValueError):  # too large for a float, or a signalling NaN
        number = float("nan")
    if not is_number(number):
        # A huge integer would fill the screen, and Python refuses to print the largest.
        huge = isinstance(value, numbers.Integral | numbers.Rational)
        shown = "a number too large for a float" if huge else value
        raise ProviderError(f"cost {name!r} must be a finite number, found {shown}")
    if number < 0:
        raise ProviderError(f"cost {name!r} must not be negative, found {number:.6g}")
    return number


def add_costs(costs: Iterable[Any]) -> dict[str, Any]:
    """Add up the costs of several answers; of text values, keep the first."""
    total: dict[str, Any] = {}
    for cost in map(read_cost, costs):
        for name, value in cost.items():
            both = is_number(value) and is_number(total.get(name))
            total[name] = total[name] + value if both else total.get(name, value)
    return total


def find_enter(thing: Any) -> Callable[[], Any] | None:
    """Return the function that enters a (plain or `async`) context manager, or None."""
    return _own_method(thing, "__aenter__") or _own_method(thing, "__enter__")


def find_exit(thing: Any, *error: Any, entered: bool = True) -> Callable[[], Any] | None:
    """Return the function that leaves a context manager or else closes an object; None if neither.

    A context manager receives the error, by default the one being handled, but cannot suppress it.
    An object that was not entered is only closed.
    """
    leave = _own_method(thing, "__aexit__") or _own_method(thing, "__exit__")
    if leave is not None and entered:
        return partial(leave, *(error or sys.exc_info()))
    close = getattr(thing, "close", None)
    return close if callable(close) else None


def _own_method(thing: Any, name: str) -> Callable[..., Any] | None:
    method = getattr(type(thing), name, None)
    if method is None or method is getattr(Provider, name, None):  # entering it does nothing
        return None
    return lambda *args: method(thing, *args)  # also of what is no method, which then raises
