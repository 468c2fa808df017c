"""`callable`: a Python function that searches.

It returns ids, `(id, score)` pairs, `{id: score}`, dicts with `id` and what else a hit has, or
`Hit`s, best first; an id may be a whole number. Where there are scores, they decide (the highest
first, so give no distances), and a warning says if the order was another. An id of a chunk of the
benchmark gets its text and place from there. What is `async` runs in one event loop of its own.

An object with a method `search` is searched by that, and by `search_many` where a run asks for
batches. `index`, if it has one, is called with the chunks first. An object that is a context
manager, plain or `async`, is entered before and left at the end; another one is closed, if it has
`close`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.providers.answers import Answer, KnownChunks, as_hits, one_for_each
from berryeval.providers.base import Provider, check_choice
from berryeval.providers.lifetime import entering, leaving
from berryeval.providers.own_loop import OwnLoop
from berryeval.providers.python_object import named_object
from berryeval.records import Query

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval.records import Chunk

__all__ = ["Function"]

_KINDS: Final = ("", "text", "query")


@dataclass
class Function(Provider):
    """A Python function `(text, k)` or `(query, k)`, or an object with `search`, of your own.

    Attributes:
        function: "module:function" (a module of the current folder, or an installed one), or the
            function itself; or an object with a method `search`.
        argument: what it is given first: "text" or "query" (a `Query`, with id and metadata). If
            not said, the annotation of its first parameter decides; without one a function gets
            the text, and a method `search` the query unless it calls it `text`.
        batch: whether it takes a list of texts or queries instead of one, and returns a list with
            the answer to each; a run that asks for batches then calls it once for many.
    """

    function: Any = field(default="", repr=False)  # may hold secrets
    argument: str = ""
    batch: bool = False
    search_many: Callable[[Sequence[Query], int], list[Answer]] | None = field(
        default=None, init=False, repr=False
    )
    _object: Any = field(init=False, repr=False)
    _called: Callable[..., Any] = field(init=False, repr=False)
    _called_with_many: Callable[..., Any] | None = field(default=None, init=False, repr=False)
    _with_query: bool = field(init=False, repr=False)
    _entered: bool = field(default=False, init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)
    _loop: OwnLoop = field(default_factory=OwnLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the function, and refuse what cannot be called as needed."""
        if isinstance(self.function, str) and not self.function:
            msg = "function of callable is missing; give it as 'module:function'"
            raise ConfigurationError(msg)
        check_choice("callable", "argument", self.argument, _KINDS)
        self._object = named_object(self.function, "function of callable")
        self._called = self._called_with_one()
        self._with_query = self.argument == "query" or (not self.argument and self._is_object)
        if self.batch:
            self._called_with_many = self._called
        elif self._is_object:
            self._called_with_many = getattr(self._object, "search_many", None)
        self.search_many = self._search_many if self._called_with_many else None
        self._look_at_parameters()

    @property
    def _is_object(self) -> bool:
        return callable(getattr(self._object, "search", None))

    def _called_with_one(self) -> Callable[..., Any]:
        """What searches: the object, or its method `search`."""
        found = self._object
        if isinstance(found, type):
            name = found.__name__
            msg = f"function of callable: found the class {name}, expected an object: {name}()"
            raise ConfigurationError(msg)
        called: Callable[..., Any] = found.search if self._is_object else found
        if not callable(called):
            kind = type(found).__name__
            msg = f"function of callable: {self.function!r} cannot be called, it is a {kind}"
            raise ConfigurationError(msg)
        return called

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
            wanted = "a method search(query, k)" if self._is_object else "a function (text, k)"
            msg = f"function of callable: expected {wanted}, found {found}"
            raise ConfigurationError(msg) from None
        first = next(iter(signature.parameters.values()), None)
        if first is not None and not self.argument:
            self._with_query = _is_query(first.annotation) or (
                self._is_object and first.annotation not in {str, "str"} and first.name != "text"
            )

    def __enter__(self) -> Self:
        """Enter the object, if it is a context manager."""
        try:
            if enter := entering(self._object):
                self._done(enter())
            self._entered = True
        finally:
            if not self._entered:
                self._loop.close()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave or close it, if it can be left or closed, and stop what still runs."""
        entered, self._entered = self._entered, False
        try:
            if leave := leaving(self._object, *error, entered=entered):
                self._done(leave())
        finally:
            self._loop.close()

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Hand the chunks on, if the object wants them."""
        self._known = KnownChunks(chunks)
        if callable(index := getattr(self._object, "index", None)):
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
        called = self._called_with_many or self._called
        answers = one_for_each(self._done(called(asked, k)), len(queries))
        return [self._answer(answer) for answer in answers]

    def _answer(self, answer: Any) -> Answer:
        return Answer(map(self._known.completed, as_hits(answer)), getattr(answer, "cost", None))

    def _done(self, answer: Any) -> Any:
        return self._loop.result(answer) if isinstance(answer, Awaitable) else answer

    def close(self) -> None:
        """End it as without an error."""
        self.__exit__(None, None, None)


def _is_query(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == "Query"
    return annotation is Query
