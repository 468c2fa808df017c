"""Hits of whatever a search returned, and what the chunks know about them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from berryeval.data import Hit
from berryeval.errors import DataError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.data import Chunk


class WrongBatchError(ProviderError):
    """The answer to several queries is not a list of hits for each."""


class Answer(list[Hit]):
    """Hits, or what else stands for them, and what it cost to get them: tokens, money.

    >>> Answer(["doc-7", "doc-2"], {"tokens": 812, "usd": 0.0004}).cost
    {'tokens': 812, 'usd': 0.0004}
    """

    def __init__(self, hits: Iterable[Any], cost: Mapping[str, Any] | None = None) -> None:
        super().__init__(hits)
        self.cost: dict[str, Any] = dict(cost or {})


class KnownChunks:
    """The chunks of a benchmark, for providers that search something else and name them."""

    def __init__(self, chunks: Sequence[Chunk] = ()) -> None:
        self._chunks = {chunk.id: chunk for chunk in chunks}
        self._documents = {chunk.doc_id for chunk in chunks}

    def completed(self, hit: Hit) -> Hit:
        """The hit with what the chunk of its id knows and it does not say itself.

        An id that is no chunk's but a document's is the hit's document.
        """
        chunk = self._chunks.get(hit.id)
        if chunk is None:
            known = not hit.doc_id and hit.id in self._documents
            return replace(hit, doc_id=hit.id) if known else hit
        whole = hit.start is None and hit.text in {"", chunk.text}
        return replace(
            hit,
            text=hit.text or chunk.text,
            doc_id=hit.doc_id or chunk.doc_id,
            section=hit.section or chunk.section,
            start=chunk.start if whole else hit.start,
            end=chunk.end if whole else hit.end,
            metadata=hit.metadata or chunk.metadata,
        )


def one_for_each(answers: Any, count: int) -> list[Any]:
    """The answers to so many queries, if it is as many answers."""
    # One more than there should be says enough of those that never end.
    given = list(islice(answers, count + 1)) if isinstance(answers, Iterator) else answers
    in_order = isinstance(given, Collection) and not isinstance(given, str | bytes | Mapping | set)
    if in_order and len(given) == count:
        return list(given)
    found = len(given) if in_order else f"{type(answers).__name__} {answers!r:.80}"
    lists = f"{count} list{'s' if count > 1 else ''} of hits"
    msg = f"expected {lists}, one for each query, found {found}"
    raise WrongBatchError(msg)


def as_hits(answer: Any) -> list[Hit]:
    """Hits of what a provider returned: hits, ids, (id, score) pairs, or dicts with an id.

    A dict may also be `{id: score}`, which has no order but that of its scores; an object may hold
    all this in `hits`.
    """
    answer = getattr(answer, "hits", answer)
    if isinstance(answer, Mapping):
        hits = as_hits(answer.items())
        return sorted(hits, key=lambda hit: (hit.score, hit.id), reverse=True)  # THE order
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        msg = f"expected a list of hits, found {type(answer).__name__} {answer!r:.80}"
        raise ProviderError(msg)
    scored: list[bool | None] = []
    hits = []
    for place, item in enumerate(answer, start=1):
        hits.append(_as_hit(item, place))
        scored.append(_has_score(item))
    check_all_scored(hits, scored)
    return hits


def _has_score(item: Any) -> bool | None:
    """Whether a hit was given with a score; None if nobody can tell."""
    if isinstance(item, Mapping):
        return "score" in item
    if isinstance(item, Hit):
        return True if item.score else None  # 0 may be a score, or none
    return isinstance(item, tuple | list)


def check_all_scored(hits: Sequence[Hit], scored: Sequence[bool | None]) -> None:
    """Refuse an answer in which some hits have a score and others none: where do these stand?

    Args:
        hits: the answer.
        scored: whether each of them has a score; None if that is unknown.
    """
    if True in scored and False in scored:
        place = scored.index(False)
        msg = (
            f"hit {place + 1} ({hits[place].id!r}) has no score, but others have; give every hit "
            "one, or none, and their order counts"
        )
        raise ProviderError(msg)


def id_text(value: Any) -> str | None:
    """An id as a text: a text that is not empty, or a whole number in decimal; None if neither."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(int(value))
    return None


def _as_hit(item: Any, place: int) -> Hit:
    try:
        if isinstance(item, Mapping):
            name = id_text(item.get("id"))
            item = Hit.from_json(item if name is None else {**item, "id": name})
        elif isinstance(item, str | numbers.Integral):
            item = Hit(id_text(item) or "")
        elif isinstance(item, tuple | list):
            name, score = item
            item = Hit(id_text(name) or name, float(score))
        elif isinstance(item, Hit) and not isinstance(item.id, str):
            item = replace(item, id=id_text(item.id) or item.id)
    except (DataError, TypeError, ValueError) as error:
        msg = f"hit {place} is none: {error}"
        raise ProviderError(msg) from None
    if not isinstance(item, Hit) or not isinstance(item.id, str) or not item.id:
        msg = f"hit {place}: expected a hit with an id, found {type(item).__name__} {item!r:.80}"
        raise ProviderError(msg)
    if not isinstance(item.score, int | float) and isinstance(item.score, numbers.Real):
        item = replace(item, score=float(item.score))  # NumPy's numbers of other widths
    if isinstance(item.score, bool) or not isinstance(item.score, int | float):
        msg = f"hit {place} ({item.id!r}): expected a number as score, found {item.score!r:.80}"
        raise ProviderError(msg)
    if not math.isfinite(item.score):
        msg = f"hit {place} ({item.id!r}): the score must be finite, found {item.score}"
        raise ProviderError(msg)
    return item


# Values of a JSON answer, checked: `path` says in messages where they were found.


def as_array(value: Any, path: str) -> list[Any]:
    """An array of hits."""
    if isinstance(value, list):
        return value
    raise _refused(path, "an array of hits", value)


def as_id(value: Any, path: str) -> str:
    """An id: a text, or a whole number in decimal."""
    name = id_text(value)
    if name is not None:
        return name
    raise _refused(path, "an id", value)


def as_number(value: Any, path: str) -> float:
    """A finite number, also one in quotes."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise _refused(path, "a finite number", value)
    return number


def _as_text(value: Any, path: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _refused(path, "a text", value)


def _as_offset(value: Any, path: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _refused(path, "a whole number", value)


def _refused(path: str, expected: str, value: Any) -> ProviderError:
    msg = f"at the path {path!r} expected {expected}, found {type(value).__name__} {value!r:.80}"
    return ProviderError(msg)


# What is read of a hit, beside its id.
READERS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "score": as_number, "text": _as_text, "doc_id": _as_text, "start": _as_offset,
    "end": _as_offset,
}  # fmt: skip
