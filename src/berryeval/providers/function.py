"""`callable`: a Python function that searches.

It returns ids, `(id, score)` pairs, `{id: score}`, dicts with `id` and what else a hit has, or
`Hit`s, best first; an id may be a whole number. Where there are scores, they decide (the highest
first, so give no distances), and a warning says if the order was another. An id of a chunk of the
benchmark gets its text and place from there. An object with a method `index` has it called with the
chunks first, and `close` at the end. What is `async` runs in one event loop of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.providers.answers import Answer, KnownChunks, as_hits, one_for_each
from berryeval.providers.base import Provider, check_choice
from berryeval.providers.own_loop import OwnLoop
from berryeval.providers.python_object import named_object
from berryeval.records import Query

if TYPE_CHECKING:
    from berryeval.records import Chunk

__all__ = ["Function"]

_KINDS: Final = ("", "text", "query")


@dataclass
class Function(Provider):
    """A Python function `(text, k)` or `(query, k)`, plain or `async`, of your own.

    Attributes:
        function: "module:function" (a module of the current folder, or an installed one), or the
            function itself.
        argument: what it is given first: "text" or "query" (a `Query`, with id and metadata). If
            not said, the annotation of its first parameter decides; without one it is the text.
        batch: whether it takes a list of texts or queries instead of one, and returns a list with
            the answer to each; a run that asks for batches then calls it once for many.
    """

    function: str | Callable[..., Any] = field(default="", repr=False)  # may hold secrets
    argument: str = ""
    batch: bool = False
    search_many: Callable[[Sequence[Query], int], list[Answer]] | None = field(
        default=None, init=False, repr=False
    )
    _called: Callable[..., Any] = field(init=False, repr=False)
    _with_query: bool = field(init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)
    _loop: OwnLoop = field(default_factory=OwnLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the function, and refuse what cannot be called as needed."""
        if not self.function:
            msg = "function of callable is missing; give it as 'module:function'"
            raise ConfigurationError(msg)
        check_choice("callable", "argument", self.argument, _KINDS)
        self._called = named_object(self.function, "function of callable")
        if not callable(self._called):
            found = type(self._called).__name__
            msg = f"function of callable: {self.function!r} cannot be called, it is a {found}"
            raise ConfigurationError(msg)
        self._with_query = self.argument == "query"
        self.search_many = self._search_many if self.batch else None
        self._look_at_parameters()

    def _look_at_parameters(self) -> None:
        try:
            signature = inspect.signature(self._called)
        except (TypeError, ValueError):  # some of those written in C do not say
            return
        try:
            signature.bind("text", 1)
        except TypeError:
            name = getattr(self._called, "__name__", type(self._called).__name__)
            found = f"{name}({', '.join(signature.parameters)})"
            msg = f"function of callable: expected a function (text, k), found {found}"
            raise ConfigurationError(msg) from None
        first = next(iter(signature.parameters.values()), None)
        if first is not None and not self.argument:
            self._with_query = _is_query(first.annotation)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Hand the chunks on, if the object wants them."""
        self._known = KnownChunks(chunks)
        if callable(index := getattr(self._called, "index", None)):
            self._done(index(chunks))

    def search(self, query: Query, k: int) -> Answer:
        """Call it."""
        if self.batch:
            return self._search_many([query], k)[0]
        answer = self._done(self._called(query if self._with_query else query.text, k))
        return self._answer(answer)

    def _search_many(self, queries: Sequence[Query], k: int) -> list[Answer]:
        """Call it once for all of them."""
        asked = [query if self._with_query else query.text for query in queries]
        answers = one_for_each(self._done(self._called(asked, k)), len(queries))
        return [self._answer(answer) for answer in answers]

    def _answer(self, answer: Any) -> Answer:
        return Answer(map(self._known.completed, as_hits(answer)), getattr(answer, "cost", None))

    def _done(self, answer: Any) -> Any:
        return self._loop.result(answer) if isinstance(answer, Awaitable) else answer

    def close(self) -> None:
        """Close it, if it can be closed, and stop what still runs."""
        if callable(close := getattr(self._called, "close", None)):
            self._done(close())
        self._loop.close()


def _is_query(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == "Query"
    return annotation is Query
