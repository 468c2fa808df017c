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
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.aio import OwnLoop
from berryeval._internal.validate import nearest
from berryeval.data import Query
from berryeval.errors import ConfigurationError
from berryeval.providers.answers import Answer, KnownChunks, as_hits, one_for_each
from berryeval.providers.base import Provider, check_choice, entering, leaving

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    from berryeval.data import Chunk


# Objects of the user's own Python, named as "module:object".


def named_object(name: object, option: str) -> Any:
    """The object of "module:object" (or "module:object.member"); an object is taken as it is.

    The module may lie in the current folder, or be installed. `option` says in messages whose it
    is. What the module itself raises is shown as it is: it is the user's code.
    """
    if not isinstance(name, str):
        return name
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        msg = f"{option} must be as 'module:object', found {name!r}"
        raise ConfigurationError(msg)
    found = _module(module_name, option)
    for part in path.split("."):
        if not hasattr(found, part):
            near = nearest(part, [known for known in dir(found) if not known.startswith("_")], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            msg = f"{option}: {name!r}: there is no {part!r} in {module_name}{hint}"
            raise ConfigurationError(msg)
        found = getattr(found, part)
    return found


def _module(name: str, option: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:  # at the end: what is installed is not shadowed
        sys.path.append(folder)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (error.name == name or name.startswith(f"{error.name}.")):
            msg = f"{option}: there is no module {name!r}, neither installed nor in {folder}"
        else:
            msg = f"{option}: the module {name!r} needs {error.name!r}, which is not installed"
    except (ImportError, SyntaxError, TypeError, ValueError) as error:
        msg = f"{option}: the module {name!r} cannot be imported ({type(error).__name__}: {error})"
    raise ConfigurationError(msg)


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


# What can be searched without being a provider: functions, objects with `search`, retrievers.

# Objects that are searched through a provider of ours, by a method that gives them away.
_KNOWN_BY: Final = (
    ("ainvoke", "langchain", "retriever"),
    ("aretrieve", "llamaindex", "retriever"),
    ("search", "callable", "function"),
    ("__call__", "callable", "function"),
)
_A_SEARCH: Final = ("text", "k")
_HOW_MANY: Final = frozenset(
    ("k", "n", "limit", "top_k", "topk", "top_n", "n_results", "num_results", "max_results")
)
_IN_ORDER: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def is_searched(thing: Any) -> bool:
    """Whether it looks like something that can be searched."""
    return any(hasattr(thing, method) for method, _, _ in _KNOWN_BY)


def parameters_of(thing: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """What it is called with; None if that cannot be known, as of some that are written in C."""
    try:
        return list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return None


def searches(thing: Any, options: Mapping[str, Any] | None = None) -> bool:
    """Whether it is what searches, or else what makes a provider of these options."""
    if any(hasattr(thing, method) for method, _, _ in _KNOWN_BY if method != "__call__"):
        return True
    parameters = parameters_of(thing)
    if parameters is None:
        return not options
    ordered = [one for one in parameters if one.kind in _IN_ORDER]
    if len(ordered) < len(_A_SEARCH) or any(one.name in (options or ()) for one in parameters):
        return False
    # Of one that could be both, the name of the second parameter says what it is.
    needed = [one for one in ordered if one.default is one.empty]
    return ordered[1].name in _HOW_MANY or (not options and len(needed) == len(_A_SEARCH))


def wrapper_of(source: Any) -> tuple[str, str]:
    """The provider that searches with such an object, and the option that takes it."""
    if isinstance(source, type):
        name = source.__name__
        msg = f"expected a provider, found the class {name}; call it: {name}()"
        raise ConfigurationError(msg)
    for method, name, option in _KNOWN_BY:
        if hasattr(source, method):
            return name, option
    msg = (
        "a provider is a name, a function (text, k), a retriever of LangChain or LlamaIndex, or an "
        f"object with search(query, k); found {type(source).__name__}"
    )
    raise ConfigurationError(msg)
