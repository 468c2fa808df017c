"""`callable`: a Python function or object that searches.

The function returns ids, `(id, score)` pairs, `{id: score}`, dicts with `id` and other fields of a
hit, or `Hit`s, best first; an id may be an integer. If there are scores, they decide the order, the
highest first (so return similarities, not distances), and a warning reports an answer in another
order. An id of a benchmark chunk is completed with its text and position. An answer of another
library, such as a prediction or a dict of documents, is an error of its query: return the ids of
what it found. `async` functions run in one event loop of their own. A parameter `scope` of the
function gets the scope of the query, or with `batch` a list of them. A system that also writes an
answer returns a dict or an object with `hits` and `answer`; `berryeval judge llm` can judge it.

An object is searched with its method `search`, or `search_many` if the run uses batches. Its method
`index`, if any, is called with the chunks first. An object that is a context manager, plain or
`async`, is entered before and left at the end; any other is closed if it has `close`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.aio import BackgroundLoop
from berryeval._internal.validate import nearest, require_choice
from berryeval.data import Query
from berryeval.errors import ConfigurationError
from berryeval.providers.answers import (
    Answer,
    KnownChunks,
    Stage,
    as_hits,
    check_batch,
    find_stages,
    read_written_answer,
    tell_stages,
)
from berryeval.providers.base import Provider, find_enter, find_exit
from berryeval.relevance import IdRules

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval.data import Chunk, Hit


def load_object(name: object, option: str) -> Any:
    """Return the object named "module:object" (or "module:object.member"); pass objects through.

    The module may be in the current folder or installed. Errors raised by the module itself are not
    caught, because they belong to the user's code. Messages name the `option`.
    """
    if not isinstance(name, str):
        return name
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        raise ConfigurationError(f"{option} must look like 'module:object', found {name!r}")
    if module_name.partition(".")[0] in sys.stdlib_module_names:
        raise ConfigurationError(
            f"{option}: {module_name!r} is a module of Python itself, which searches nothing; name "
            "a module of yours"
        )
    found = _import_module(module_name, option)
    for part in path.split("."):
        if not hasattr(found, part):
            near = nearest(part, [known for known in dir(found) if not known.startswith("_")], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ConfigurationError(f"{option}: {name!r}: {module_name} has no {part!r}{hint}")
        found = getattr(found, part)
    return found


def _import_module(name: str, option: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:  # at the end, so that installed modules come first
        sys.path.append(folder)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (error.name == name or name.startswith(f"{error.name}.")):
            msg = f"{option}: there is no module {name!r}, neither installed nor in {folder}"
        else:
            msg = f"{option}: the module {name!r} needs {error.name!r}, which is not installed"
    except (ImportError, SyntaxError, TypeError, ValueError, SystemExit) as error:
        msg = f"{option}: the module {name!r} cannot be imported ({type(error).__name__}: {error})"
    raise ConfigurationError(msg)


def _find_home(function: Callable[..., Any]) -> str:
    """Return the top module that defines a function, or the type of a method; "" for objects."""
    if not inspect.isroutine(function):
        return ""
    home = getattr(function, "__module__", None)
    if home is None:  # a method of a built-in type
        home = type(getattr(function, "__self__", None)).__module__
    return str(home).partition(".")[0]


@dataclass
class Function(Provider):
    """Your own Python function `(text, k)` or `(query, k)`, or object with a method `search`.

    Attributes:
        function: "module:function" (in the current folder or installed), the function itself, or an
            object with a method `search`. The module is imported and the function run, with all
            rights of your user ([security.md](security.md)).
        argument: First argument of the function: "text" or "query" (a `Query` with id and
            metadata). By default the annotation of its first parameter decides; without one, a
            function gets the text, and a method `search` the query unless its parameter is `text`.
        batch: Whether the function takes a list of texts or queries and returns a list of answers;
            a run with batches then calls it once per batch.
    """

    function: Any = field(default="", repr=False)  # may hold secrets
    argument: str = ""
    batch: bool = False
    search_many: Callable[[Sequence[Query], int], list[Answer]] | None = field(
        default=None, init=False, repr=False
    )
    _object: Any = field(init=False, repr=False)
    _search: Callable[..., Any] = field(init=False, repr=False)
    _search_batch: Callable[..., Any] | None = field(default=None, init=False, repr=False)
    _with_query: bool = field(init=False, repr=False)
    _takes_scope: bool = field(init=False, repr=False)
    _entered: bool = field(default=False, init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)
    _loop: BackgroundLoop = field(default_factory=BackgroundLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.function, str) and not self.function:
            raise ConfigurationError("function of callable is missing; set it to 'module:function'")
        require_choice("argument of callable", self.argument, ("", "text", "query"))
        self._object = load_object(self.function, "function of callable")
        self._search = self._find_search()
        self._takes_scope = takes_scope(self._search)
        self._with_query = self.argument == "query" or (not self.argument and self._is_object)
        if self.batch:
            self._search_batch = self._search
        elif self._is_object:
            self._search_batch = getattr(self._object, "search_many", None)
        self.search_many = self._search_many if self._search_batch else None
        self._check_signature()

    @property
    def _is_object(self) -> bool:
        return callable(getattr(self._object, "search", None))

    def _find_search(self) -> Callable[..., Any]:
        found = self._object
        if isinstance(found, type):
            name = found.__name__
            raise ConfigurationError(
                f"function of callable: expected an object, found the class {name}; use {name}()"
            )
        called: Callable[..., Any] = found.search if self._is_object else found
        if not callable(called):
            kind = type(found).__name__
            raise ConfigurationError(
                f"function of callable: {self.function!r} is a {kind}, which cannot be called"
            )
        return called

    def _check_signature(self) -> None:
        home = _find_home(self._search)
        if home in sys.stdlib_module_names:
            raise ConfigurationError(
                f"function of callable: {self._search.__name__} is a function of Python's module "
                f"{home!r}, which searches nothing; expected a function (text, k) that returns hits"
            )
        try:
            signature = inspect.signature(self._search)
        except (TypeError, ValueError):  # some C functions have no signature
            return
        try:
            signature.bind("text", 1, **self._scope_argument({}))
        except TypeError:
            name = getattr(self._search, "__name__", type(self._search).__name__)
            found = f"{name}({', '.join(signature.parameters)})"
            wanted = "a method search(query, k)" if self._is_object else "a function (text, k)"
            raise ConfigurationError(
                f"function of callable: expected {wanted}, found {found}"
            ) from None
        first = next(iter(signature.parameters.values()), None)
        if first is not None and not self.argument:
            kind = first.annotation
            named = isinstance(kind, str) and kind.rpartition(".")[2] == "Query"
            text = not self._is_object or kind in {str, "str"} or first.name == "text"
            self._with_query = named or kind is Query or not text

    def searches_in_process(self) -> bool:
        """Whether the object has a true attribute `in_process`."""
        return bool(getattr(self._object, "in_process", False))

    def __enter__(self) -> Self:
        """Enter the object if it is a context manager."""
        try:
            if enter := find_enter(self._object):
                self._loop.wait_for(enter())
            self._entered = True
        finally:
            if not self._entered:
                self._loop.close()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave or close the object, and stop what still runs."""
        entered, self._entered = self._entered, False
        try:
            if leave := find_exit(self._object, *error, entered=entered):
                self._loop.wait_for(leave())
        finally:
            self._loop.close()

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Pass the chunks to the object if it has `index`."""
        self._known = KnownChunks(chunks)
        if callable(index := getattr(self._object, "index", None)):
            self._loop.wait_for(index(chunks))

    def search(self, query: Query, k: int) -> Answer:
        """Call the function."""
        if self.batch:
            return self._search_many([query], k)[0]
        asked = query if self._with_query else query.text
        answer = self._loop.wait_for(self._search(asked, k, **self._scope_argument(query.scope)))
        return self._complete(answer, k)

    def _scope_argument(self, scope: Any) -> dict[str, Any]:
        return {"scope": scope} if self._takes_scope else {}

    def _search_many(self, queries: Sequence[Query], k: int) -> list[Answer]:
        asked = [query if self._with_query else query.text for query in queries]
        called = self._search_batch or self._search
        scopes = self._scope_argument([query.scope for query in queries]) if self.batch else {}
        answers = check_batch(self._loop.wait_for(called(asked, k, **scopes)), len(queries))
        return [self._complete(answer, k) for answer in answers]

    def _complete(self, answer: Any, k: int) -> Answer:
        stages = self._complete_stages(answer, k)
        cost, text = getattr(answer, "cost", None), read_written_answer(answer)
        return Answer(self._read_hits(answer, k), cost, text, stages)

    def _complete_stages(self, given: Any, k: int) -> tuple[Stage, ...]:
        return tuple(
            one._replace(hits=self._read_hits(one.hits, max(k, len(one.hits))))
            for one in find_stages(given)
        )

    def _read_hits(self, answer: Any, k: int) -> list[Hit]:
        return list(self._known.complete_all(as_hits(answer, k)))

    def close(self) -> None:
        """Close the object as if no error had occurred."""
        self.__exit__(None, None, None)


@dataclass
class Renamed(Function):
    """A provider whose ids are rewritten to those of the benchmark.

    Attributes:
        rules: How the ids are rewritten.
    """

    rules: IdRules = field(default_factory=IdRules)

    def required(self) -> dict[str, str]:
        """Return the modules that the provider needs."""
        return dict(self._object.required())

    def needs_documents(self) -> bool:
        """Whether the provider does."""
        return bool(self._object.needs_documents())

    def searches_in_process(self) -> bool:
        """Whether the provider does."""
        return bool(self._object.searches_in_process())

    def existing_indexes(self) -> dict[str, int | None]:
        """Return the existing indexes of the provider."""
        return dict(self._object.existing_indexes())

    def expect(self, queries: Sequence[Query]) -> None:
        """Pass the queries to the provider."""
        self._object.expect(queries)

    def describe_matches(self) -> Sequence[str]:
        """Return what the provider says."""
        return tuple(self._object.describe_matches())

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Index the chunks; their ids, and those of their documents, are not rewritten."""
        self._object.on_progress = self.on_progress
        super().index(chunks)
        names = (name for chunk in chunks for name in (chunk.doc_id, chunk.id))
        self.rules = replace(self.rules, known=dict.fromkeys(names))

    def search(self, query: Query, k: int) -> Answer:
        """Search the provider; the stages that an error tells are renamed, too."""
        try:
            return super().search(query, k)
        except Exception as error:
            tell_stages(error, self._complete_stages(error, k))
            raise

    def _read_hits(self, answer: Any, k: int) -> list[Hit]:
        return list(map(self._known.complete, map(self.rules.rename_hit, as_hits(answer, k))))


# Objects that are not providers: the method that identifies them, and the provider and option that
# wrap them.
_WRAPPERS: Final = (
    ("__haystack_output__", "haystack", "retriever"),
    ("add_component", "haystack", "retriever"),
    ("ainvoke", "langchain", "retriever"),
    ("aretrieve", "llamaindex", "retriever"),
    ("search", "callable", "function"),
    ("__call__", "callable", "function"),
)
_SEARCH_ARITY: Final = 2  # the query and k
_COUNT_NAMES: Final = frozenset(
    ("k", "n", "limit", "top_k", "topk", "top_n", "n_results", "num_results", "max_results")
)
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def is_searchable(thing: Any) -> bool:
    """Whether an object looks like something that can be searched."""
    return any(hasattr(thing, method) for method, _, _ in _WRAPPERS)


def read_parameters(thing: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the parameters of a callable; None if unknown, as for some C functions."""
    try:
        return list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return None


def takes_scope(thing: Callable[..., Any]) -> bool:
    """Whether a function has a parameter `scope`."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return any(one.name == "scope" and one.kind in named for one in read_parameters(thing) or ())


def is_search_function(thing: Any, options: Mapping[str, Any] | None = None) -> bool:
    """Whether a callable is itself a search, rather than a factory that takes these options."""
    if any(hasattr(thing, method) for method, _, _ in _WRAPPERS if method != "__call__"):
        return True
    parameters = read_parameters(thing)
    if parameters is None:
        return not options
    ordered = [one for one in parameters if one.kind in _POSITIONAL]
    if len(ordered) < _SEARCH_ARITY or any(one.name in (options or ()) for one in parameters):
        return False
    # If it could be either, the name of the second parameter decides.
    needed = [one for one in ordered if one.default is one.empty]
    return ordered[1].name in _COUNT_NAMES or (not options and len(needed) == _SEARCH_ARITY)


def find_wrapper(source: Any) -> tuple[str, str]:
    """Return the provider that wraps an object, and the option that takes the object."""
    if isinstance(source, type):
        name = source.__name__
        raise ConfigurationError(f"expected a provider, found the class {name}; call it: {name}()")
    if is_of_package(source, "dspy") and not hasattr(source, "search"):
        return "dspy", "retriever"
    for method, name, option in _WRAPPERS:
        if hasattr(source, method):
            return name, option
    raise ConfigurationError(
        "expected a provider: a name, a function (text, k), a retriever of LangChain, LlamaIndex, "
        "Haystack or DSPy, or an object with search(query, k); found "
        f"{type(source).__name__}"
    )


def is_of_package(thing: Any, package: str) -> bool:
    """Whether the type of an object, or one that it is derived from, is of a package."""
    homes = (str(kind.__module__).partition(".")[0] for kind in type(thing).__mro__)
    return not inspect.isroutine(thing) and package in homes
