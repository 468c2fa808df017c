"""`dspy`: retrievers and modules of DSPy.

The answer may be a `Prediction` with passages, or a list of texts, predictions or dicts. Passages
with ids (`ids`, `pids` or `doc_ids` beside `passages`, or `id` or `pid` of each) are matched by
them. Passages without ids are matched by their texts: the chunk with this text, or else the only
document that contains it. A text that several documents contain is an error of its query: return
ids beside the passages, such as `Prediction(passages=texts, ids=ids)`. If the benchmark has no
documents, texts are judged as they are.

`dspy.Retrieve` and other retrievers with an argument `k` get the evaluated depth. Others, such as
`dspy.retrievers.Embeddings`, return as many passages as they are configured for.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.plain import show
from berryeval._internal.text import pluralize
from berryeval.data import Hit
from berryeval.errors import ProviderError
from berryeval.providers.answers import read_id, read_number
from berryeval.providers.callable import is_of_package, read_parameters
from berryeval.providers.origins import build_id, list_sources
from berryeval.providers.retrievers import Found, RetrieverProvider

if TYPE_CHECKING:
    from berryeval.data import Query

# Fields with the passages of an answer, their ids and their scores; fields of one passage.
_PASSAGES: Final = ("passages", "context", "contexts", "documents", "docs", "results")
_IDS: Final = ("ids", "doc_ids", "document_ids", "pids", "passage_ids", "pid")
_SCORES: Final = ("scores", "score", "probs", "prob")
_TEXT: Final = ("long_text", "text", "content", "passage")
_ID: Final = ("id", "pid", "doc_id", "document_id")
_SCORE: Final = ("score", "prob")


@dataclass
class Dspy(RetrieverProvider):
    """A DSPy retriever or module that returns passages.

    Attributes:
        argument: Argument of the module for the query, such as "question"; by default the first.
        passages: Field of the answer with the passages; by default `passages`, `context` and other
            usual names are tried.
        ids: Field of the answer with the ids of the passages; by default `ids`, `doc_ids`, `pids`.
        k_argument: Argument for the number of passages; "none" to pass none.
    """

    argument: str = ""
    passages: str = ""
    ids: str = ""
    k_argument: str = "k"
    name: ClassVar[str] = "dspy"
    methods: ClassVar[tuple[str, str]] = ("__call__", "acall")
    # No `modules`: the retriever imports its own package.
    extra: ClassVar[str] = "dspy"
    in_process: ClassVar[bool] = True
    advice: ClassVar[str] = "return ids beside the passages: Prediction(passages=texts, ids=ids)"

    def _is_retriever(self, thing: Any) -> bool:
        called = not isinstance(thing, type) and hasattr(thing, self.methods[self.asynchronous])
        return called and (is_of_package(thing, "dspy") or not inspect.isroutine(thing))

    def _call(self, retriever: Any, query: Query, k: int) -> Any:
        # `__call__` of a module takes anything, and one that is asked for its `forward` warns
        called = getattr(type(retriever), "forward", retriever)
        names = {one.name for one in read_parameters(called) or ()}
        options = {self.k_argument: k} if self.k_argument in names else {}
        run = getattr(retriever, self.methods[self.asynchronous])
        if self.argument:
            return run(**{self.argument: query.text}, **options)
        return run(query.text, **options)

    def _list(self, answer: Any) -> Sequence[Any]:
        """Return the passages, each as an object with its text, id and score."""
        fields = _read_fields(answer)
        if fields is None:
            return [_read_passage(one) for one in super()._list(answer)]
        named = [self.passages] if self.passages else [one for one in _PASSAGES if one in fields]
        found = fields.get(named[0]) if named else None
        if not isinstance(found, list | tuple):
            there = ", ".join(map(repr, fields)) or "nothing"
            raise ProviderError(
                f"dspy: expected passages in the answer, found {there}; name their field with the "
                "option passages"
            )
        read = [_read_passage(one) for one in found]
        for name, places in (("id", [self.ids] if self.ids else _IDS), ("score", _SCORES)):
            values = next((fields[one] for one in places if one in fields), None)
            if values is None or isinstance(values, str) or not isinstance(values, Sequence):
                continue
            if len(values) != len(read):
                raise ProviderError(
                    f"dspy: found {pluralize(len(read), 'passage')} and {len(values)} {name}s; "
                    "expected one for each passage"
                )
            read = [{name: one, **item} for item, one in zip(read, values, strict=True)]
        return read

    def _read(self, passage: Any, place: int) -> Found:
        text = passage.get("text")
        if not isinstance(text, str):
            raise ProviderError(
                f"dspy: hit {place}: expected a passage with a text, found {show(passage)}"
            )
        score = passage.get("score")
        metadata = {name: one for name, one in passage.items() if name not in {"text", "score"}}
        hit = Hit(
            read_id(passage.get("id")) or "",
            0.0 if score is None else read_number(score, "score"),
            text=text,
            metadata=metadata,
        )
        return Found(hit, score is not None, list_sources(metadata))

    def _name(self, settled: Hit) -> str:
        return build_id(settled)


def _read_fields(answer: Any) -> dict[str, Any] | None:
    """Return the fields of a prediction or dict; None for a list."""
    if isinstance(answer, Mapping):
        return dict(answer)
    if isinstance(answer, Sequence) or not callable(getattr(answer, "keys", None)):
        return None
    return {name: answer[name] for name in answer.keys()}  # noqa: SIM118 - a Prediction is no dict


def _read_passage(item: Any) -> dict[str, Any]:
    """Return a passage as a dict with `text`, and `id` and `score` if it has them."""
    if isinstance(item, str):
        return {"text": item}
    fields = _read_fields(item)
    if fields is None:
        fields = {name: getattr(item, name, None) for name in (*_TEXT, *_ID, *_SCORE)}
    read = dict(fields)
    for name, places in (("text", _TEXT), ("id", _ID), ("score", _SCORE)):
        found = next((fields[one] for one in places if fields.get(one) is not None), None)
        if found is not None:
            read[name] = found
    return {name: one for name, one in read.items() if one is not None and name != "long_text"}
