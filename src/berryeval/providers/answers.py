"""Convert whatever a search returned into hits, and complete hits from the indexed chunks."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from heapq import nlargest
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.aio import time_left
from berryeval._internal.limits import ANSWER_MB, HITS, most_hits
from berryeval._internal.plain import show
from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number, is_whole
from berryeval.data import Hit, index_records, is_in_scope
from berryeval.errors import DataError, ProviderError

if TYPE_CHECKING:
    from berryeval.data import Chunk, Scope


_PROSE: Final = 6  # words that no id has
_LONGEST: Final = 100_000  # characters of an answer that a system wrote


class WrongBatchError(ProviderError):
    """An answer to several queries that is not one list of hits per query."""


class Stage(NamedTuple):
    """A step of a search in several steps, such as a first search, or a reranker of its hits.

    Attributes:
        name: What was asked, such as "bm25".
        hits: Its ranking, in any form that `as_hits` reads; empty for the last stage, whose ranking
            is the answer.
        seconds: Time of this stage alone.
        cost: Cost of this stage alone.
        reranked: Number of hits of the stage before that it was asked to order; 0 for a search.
        unplaced: Number of these that it did not place, and that keep their order after the others.
    """

    name: str
    hits: Sequence[Any] = ()
    seconds: float = 0.0
    cost: Mapping[str, Any] = {}
    reranked: int = 0
    unplaced: int = 0


class Answer(list[Hit]):
    """Hits, in any form that `as_hits` reads, with the cost and the answer written from them.

    A search in several stages may list them, the first one first; times and costs of all stages add
    up to those of the answer.

    >>> Answer(["doc-7", "doc-2"], {"tokens": 812, "usd": 0.0004}).cost
    {'tokens': 812, 'usd': 0.0004}
    >>> Answer(["doc-7"], answer="Tokens live for 15 minutes.").answer
    'Tokens live for 15 minutes.'
    """

    def __init__(
        self,
        hits: Iterable[Any],
        cost: Mapping[str, Any] | None = None,
        answer: str | None = None,
        stages: Iterable[Stage] = (),
    ) -> None:
        if isinstance(hits, Iterator):  # it may never end
            hits = list(islice(hits, HITS.value + 1))
            if len(hits) > HITS.value:
                raise ProviderError(
                    f"Answer: expected at most {HITS.value:,} hits of a generator, found more; "
                    f"give it a list, or {HITS.advice}"
                )
        super().__init__(_check_order(hits))
        self.cost: dict[str, Any] = dict(cost or {})
        self.answer = answer or ""
        self.stages = tuple(stages)


def find_stages(given: Any) -> tuple[Stage, ...]:
    """Return the stages of an answer, or of the error of a later stage; empty if it has none."""
    stages = getattr(given, "stages", ())
    ours = isinstance(stages, tuple) and all(isinstance(one, Stage) for one in stages)
    return stages if ours else ()  # else of another library


def tell_stages(error: Exception, stages: Iterable[Stage]) -> None:
    """Keep in an error the stages before the one that failed, so that they are recorded."""
    with suppress(Exception):  # an error of others may take no attribute
        error.stages = tuple(stages)  # type: ignore[attr-defined]


class KnownChunks:
    """The chunks of a benchmark, for providers that return only ids of chunks or documents."""

    def __init__(self, chunks: Sequence[Chunk] = ()) -> None:
        self._chunks = index_records(chunks)
        self._documents = index_records(chunks, "doc_id")

    def complete_all(self, hits: Iterable[Hit]) -> Iterator[Hit]:
        """Complete the hits of an answer; reject texts in the place of ids."""
        for place, hit in enumerate(hits, start=1):
            whole = self.complete(hit)
            if whole is hit and hit == Hit(hit.id, hit.score, hit.rank) and _is_prose(hit.id):
                raise ProviderError(
                    f"hit {place} ({show(hit.id, 60)}) looks like a text, and the benchmark has no "
                    "such id; return ids, or Hit(id, text=...) if your search knows both"
                )
            yield whole

    def is_inside(self, name: str, scope: Scope) -> bool:
        """Whether the chunk or document with this id is in a scope; an unknown one is not."""
        chunk = self._chunks.get(name) or self._documents.get(name)
        return chunk is not None and is_in_scope(chunk, scope)

    def complete(self, hit: Hit) -> Hit:
        """Fill the empty fields of a hit from the chunk with the same id.

        If the id belongs to a document rather than a chunk, it becomes the hit's `doc_id`.
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


def _is_prose(name: str) -> bool:
    return "\n" in name or len(name.split()) >= _PROSE


def check_batch(answers: Any, count: int) -> list[Any]:
    """Return the answers to a batch as a list; reject any number other than `count`."""
    # A generator may never end: one answer too many is enough to reject it.
    given = list(islice(answers, count + 1)) if isinstance(answers, Iterator) else answers
    in_order = isinstance(given, Collection) and not isinstance(
        given, str | bytes | Mapping | set | frozenset
    )
    if in_order and len(given) == count:
        return list(given)
    found = len(given) if in_order else f"{type(answers).__name__} {show(answers)}"
    lists = f"{count} list{'s' if count > 1 else ''} of hits"
    raise WrongBatchError(f"expected {lists}, one per query, found {found}")


def read_written_answer(given: Any) -> str:
    """Return the generated answer of a system; "" if it has only hits.

    It is `answer` of an object or mapping that also has `hits`, or of an `Answer`.
    """
    if _has_both(given):
        text = given["answer"]
    else:
        text = getattr(given, "answer", None)
        if callable(text) or not (isinstance(given, Answer) or hasattr(given, "hits")):
            return ""
    if text is None:
        return ""
    if not isinstance(text, str):
        raise ProviderError(
            f"expected the answer as text, found {type(text).__name__} {show(text)}"
        )
    if len(text) > _LONGEST:
        raise ProviderError(f"the answer has {len(text):,} of at most {_LONGEST:,} characters")
    return text


def _has_both(given: Any) -> bool:
    return isinstance(given, Mapping) and "hits" in given and "answer" in given


def as_hits(answer: Any, k: int = 0) -> list[Hit]:
    """Convert a provider's answer to hits: hits, ids, (id, score) pairs, or dicts with an id.

    A dict may also be `{id: score}`, ordered by its scores. An object may hold any of these in its
    attribute `hits`, and a dict beside an `answer`. Answers of other libraries are rejected with
    how to adapt them: the names of their fields would look like ids. Of the answer to a query for
    `k` hits, no more are read than `most_hits`: it may never end.
    """
    answer = answer["hits"] if _has_both(answer) else getattr(answer, "hits", answer)
    if isinstance(answer, Mapping):
        if not all(_is_score(value) for value in answer.values()):
            raise ProviderError(_explain_answer(answer, list(answer)))
        pairs = nlargest(most_hits(k), answer.items(), itemgetter(1))
        hits = as_hits(pairs, k)
        return sorted(hits, key=lambda hit: (hit.score, hit.id), reverse=True)  # ranking order
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        if fields := [name for name in _FIELDS if hasattr(answer, name)]:
            raise ProviderError(_explain_answer(answer, fields))
        raise ProviderError(
            f"expected a list of hits, found {type(answer).__name__} {show(answer)}"
        )
    if hasattr(answer, "columns") or (hasattr(answer, "keys") and not hasattr(answer, "tolist")):
        raise ProviderError(_explain_answer(answer, [name for name in answer if name]))
    items = islice(_check_order(answer), most_hits(k))
    return check_all_scored(list(_read_items(items)))


def _read_items(items: Iterable[Any]) -> Iterator[tuple[Hit, bool | None]]:
    """Yield the hits of an answer, each with whether it has a score; reject very long texts."""
    size = 0
    most = ANSWER_MB.size
    for place, item in enumerate(items, start=1):
        hit = _read_hit(item, place)
        size += len(hit.id) + (len(hit.text) if isinstance(hit.text, str) else 0)
        if size > most:
            raise ProviderError(
                f"the first {pluralize(place, 'hit')} have more than {ANSWER_MB.value:,} MB of "
                f"text; {ANSWER_MB.advice}"
            )
        if time_left() <= 0:
            raise ProviderError("the time of the query is over")
        yield hit, _has_score(item)


def _check_order(hits: Iterable[Any]) -> Iterable[Any]:
    """Reject a set: its order differs from one process to the next."""
    if isinstance(hits, set | frozenset):
        raise ProviderError(
            f"expected a list of hits, found {type(hits).__name__}, which has no order; {_ADVICE}"
        )
    return hits


_ADVICE: Final = "return a list of ids, (id, score) pairs or Hits, best first"
# Fields of the answers of other libraries that hold what was found.
_FIELDS: Final = (
    "passages", "documents", "source_documents", "source_nodes", "context", "contexts", "results",
    "matches", "hits", "nodes", "chunks",
)  # fmt: skip


def _is_score(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _explain_answer(answer: Any, names: Sequence[Any]) -> str:
    """Explain why an answer with these fields is not a list of hits, and what to return."""
    kind = type(answer).__name__
    shown = ", ".join(show(name, 40) for name in names[:5])
    if isinstance(answer, Mapping) and "id" in answer:
        return f"expected a list of hits, found one hit ({kind} with {shown}); return a list of it"
    inner = next((name for name in _FIELDS if name in names), "")
    where = f"answer[{inner!r}]" if isinstance(answer, Mapping) else f"answer.{inner}"
    advice = f"{_ADVICE}, such as the ids of the items in {where}" if inner else _ADVICE
    wanted = "a list of hits or {id: score}"
    return f"expected {wanted}, found {kind} with the fields {shown}; {advice}"


def _explain_hit(item: Any) -> str:
    """Return how to adapt the hit of another library; empty if unknown."""
    if hasattr(item, "node"):
        return "; return [(hit.node.node_id, hit.score) for hit in ...], or use type: llamaindex"
    if hasattr(item, "page_content"):
        return (
            '; return its id, such as [hit.metadata["id"] for hit in ...], or use type: langchain'
        )
    if hasattr(item, "content") and hasattr(item, "meta"):
        return "; return [(hit.id, hit.score) for hit in ...], or use type: haystack"
    return f"; {_ADVICE}"


def _has_score(item: Any) -> bool | None:
    if isinstance(item, Mapping):
        return "score" in item
    if isinstance(item, Hit):
        return True if item.score else None  # 0 may be a score or the default
    return isinstance(item, tuple | list)


def check_all_scored(read: Sequence[tuple[Hit, bool | None]]) -> list[Hit]:
    """Return the hits; reject an answer in which some have a score and others have none.

    Each hit comes with whether it has a score; None if unknown.
    """
    hits, scored = [hit for hit, _ in read], [has_score for _, has_score in read]
    if True in scored and False in scored:
        place = scored.index(False)
        raise ProviderError(
            f"hit {place + 1} ({show(hits[place].id)}) has no score but others have; give every "
            "hit a score, or none so that their order counts"
        )
    return hits


def read_id(value: Any) -> str | None:
    """Return an id as text: a non-empty string, or an integer in decimal; None otherwise."""
    if isinstance(value, str):
        return value or None
    return str(int(value)) if is_whole(value) else None


def _read_object(item: Mapping[str, Any]) -> Hit:
    if "id" not in item:
        fields = ", ".join(show(name, 40) for name in item) or "nothing"
        raise DataError(f"has no 'id', only {fields}")
    name = read_id(item["id"])
    return Hit.from_json(item if name is None else {**item, "id": name})


def _read_hit(item: Any, place: int) -> Hit:
    try:
        if isinstance(item, Mapping):
            item = _read_object(item)
        elif isinstance(item, str | numbers.Integral):
            item = Hit(read_id(item) or "")
        elif isinstance(item, tuple | list):
            name, score = item
            item = Hit(read_id(name) or name, float(score))
        elif isinstance(item, Hit) and not isinstance(item.id, str):
            item = replace(item, id=read_id(item.id) or item.id)
    except (DataError, TypeError, ValueError, OverflowError) as error:
        raise ProviderError(f"hit {place} is not valid: {error}") from None
    if not isinstance(item, Hit):
        raise ProviderError(
            f"hit {place}: expected a hit with an id, found {type(item).__name__} {show(item)}"
            f"{_explain_hit(item)}"
        )
    if not isinstance(item.id, str) or not item.id.strip():
        raise ProviderError(
            f"hit {place}: expected a hit with an id, found the id {show(item.id)}; "
            "return no hit, or its id"
        )
    return _check_score(item, place)


def _check_score(item: Hit, place: int) -> Hit:
    """Return the hit with its score as a plain number."""
    if not isinstance(item.score, int | float) and isinstance(item.score, numbers.Real):
        item = replace(item, score=float(item.score))  # NumPy numbers
    if isinstance(item.score, bool) or not isinstance(item.score, int | float):
        raise ProviderError(
            f"hit {place} ({show(item.id)}): expected a number as score, found {show(item.score)}"
        )
    if not is_number(item.score):
        raise ProviderError(
            f"hit {place} ({show(item.id)}): the score must be finite, found {show(item.score)}"
        )
    return item


# Readers of values in a JSON answer; `path` names their place in error messages.


def read_array(value: Any, path: str) -> list[Any]:
    """Return an array of hits."""
    if isinstance(value, list):
        return value
    raise _type_error(path, "an array of hits", value)


def read_id_at(value: Any, path: str) -> str:
    """Return an id: a string, or an integer in decimal."""
    name = read_id(value)
    if name is not None:
        return name
    raise _type_error(path, "an id", value)


def read_number(value: Any, path: str) -> float:
    """Return a finite number, which may be quoted."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise _type_error(path, "a finite number", value)
    return number


def read_count(value: Any, path: str) -> int:
    """Return a whole number that is not negative."""
    if is_whole(value) and value >= 0:
        return int(value)
    raise _type_error(path, "a whole number from 0 up", value)


def _read_text(value: Any, path: str) -> str:
    if isinstance(value, str) or is_whole(value):
        return str(value)
    raise _type_error(path, "text", value)


def _read_offset(value: Any, path: str) -> int:
    if is_whole(value):
        return int(value)
    raise _type_error(path, "a whole number", value)


def _type_error(path: str, expected: str, value: Any) -> ProviderError:
    msg = f"at the path {path!r} expected {expected}, found {type(value).__name__} {show(value)}"
    return ProviderError(msg)


# Readers of the fields of a hit other than its id.
READERS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "score": read_number, "text": _read_text, "doc_id": _read_text, "start": _read_offset,
    "end": _read_offset,
}  # fmt: skip
