"""`langchain` and `llamaindex`: retrievers of other frameworks.

Hits are matched to the documents of the benchmark without options: by their ids, by the paths,
file names or URLs in their metadata, or by their texts. `eval` prints a note on matches that were
not by id. A hit whose source fits several documents is not matched.
"""

from __future__ import annotations

import json
import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from berryeval._internal.aio import BackgroundLoop
from berryeval._internal.plain import show
from berryeval.data import Hit, ScopeIndex
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.answers import check_all_scored, read_id, read_number
from berryeval.providers.base import Provider
from berryeval.providers.callable import load_object, takes_scope
from berryeval.providers.origins import (
    Origins,
    build_id,
    list_sources,
    read_headings,
    read_span,
)

if TYPE_CHECKING:
    from berryeval.data import Chunk, Query


class Found(NamedTuple):
    """A hit as a framework gives it; its id is empty if the framework gives none."""

    hit: Hit
    scored: bool
    sources: Sequence[str] = ()  # names of its document, best first


@dataclass
class RetrieverProvider(Provider):
    """A retriever of another framework, called through that framework's methods.

    Attributes:
        retriever: "module:object" (in the current folder or installed), the retriever itself, or a
            function that builds one from the chunks of the benchmark. A function with a parameter
            `scope` is called for every scope of the queries, with the chunks in it, and returns a
            retriever for that scope. The module is imported and run, with all rights of your user
            ([security.md](security.md)).
        asynchronous: Whether to call the asynchronous method (`ainvoke`, `aretrieve`).
    """

    retriever: Any = field(default="", repr=False)  # may hold secrets
    asynchronous: bool = False
    name: ClassVar[str]
    methods: ClassVar[tuple[str, str]]  # the search method, and its async version
    advice: ClassVar[str] = "return documents with an id, or with a source in their metadata"
    _found: Any = field(default=None, init=False, repr=False)
    _known: Origins = field(default_factory=Origins, init=False, repr=False)
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _expected: Sequence[Query] = field(default=(), init=False, repr=False)
    _scopes: ScopeIndex | None = field(default=None, init=False, repr=False)  # if built by scope
    _built: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # by scope
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _loop: BackgroundLoop = field(default_factory=BackgroundLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        option = f"retriever of {self.name}"
        if isinstance(self.retriever, str) and not self.retriever:
            raise ConfigurationError(f"{option} is missing; set it to 'module:object'")
        self._found = load_object(self.retriever, option)
        if not self._is_retriever(self._found) and not callable(self._found):
            raise ConfigurationError(
                f"{option}: expected an object with {self.methods[0]!r}, or a function that builds "
                f"one from the chunks; found {type(self._found).__name__}"
            )

    def _is_retriever(self, thing: Any) -> bool:
        return not isinstance(thing, type) and hasattr(thing, self.methods[self.asynchronous])

    def expect(self, queries: Sequence[Query]) -> None:
        """Remember the queries, to build a retriever for each of their scopes."""
        self._expected = queries

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Build the retriever, or one for each scope, if a function was given."""
        self._known = Origins(chunks)
        build = load_object(self.retriever, f"retriever of {self.name}")
        if self._is_retriever(build):
            return
        self._chunks, self._built = chunks, {}
        self._scopes = ScopeIndex(chunks) if takes_scope(build) else None
        if self._scopes is None:
            self._found = self._check_built(build(chunks))
        for query in self._expected if self._scopes is not None else ():
            self._find_retriever(query)

    def _check_built(self, given: Any) -> Any:
        built = self._loop.wait_for(given)
        if not self._is_retriever(built):
            raise ProviderError(
                f"{self.name}: the function that builds the retriever must return an object with "
                f"{self.methods[self.asynchronous]!r}, found {type(built).__name__}"
            )
        return built

    def _find_retriever(self, query: Query) -> Any:
        """Return the retriever, or the one for the scope of a query, built if it is missing."""
        if self._scopes is None:
            return self._found
        key = json.dumps(dict(query.scope), sort_keys=True)
        with self._lock:
            if key not in self._built:
                inside = self._scopes.find(query.scope)
                chunks = self._chunks
                if inside is not None:
                    chunks = [self._chunks[place] for place in inside.nonzero()[0].tolist()]
                build = load_object(self.retriever, f"retriever of {self.name}")
                self._built[key] = self._check_built(build(chunks, scope=query.scope))
            return self._built[key]

    def search(self, query: Query, k: int) -> list[Hit]:
        """Call the retriever."""
        retriever = self._find_retriever(query)
        if not self._is_retriever(retriever):
            raise ProviderError(f"{self.name}: there is no retriever yet; `index` builds it")
        answer = self._loop.wait_for(self._call(retriever, query, k))
        read = [self._read(one, place) for place, one in enumerate(self._list(answer), start=1)]
        try:
            hits = check_all_scored([(one.hit, one.scored) for one in read])
        except ProviderError as error:
            raise ProviderError(f"{self.name}: {error}") from None
        pairs = zip(hits, read, strict=True)
        return [self._settle(hit, one, n) for n, (hit, one) in enumerate(pairs, start=1)]

    def _call(self, retriever: Any, query: Query, k: int) -> Any:
        """Return the answer of the retriever, or an awaitable of it."""
        search = getattr(retriever, self.methods[self.asynchronous])
        return search(query.text, **self._options(query, k))

    def _options(self, query: Query, k: int) -> dict[str, Any]:  # noqa: ARG002 - most take none
        return {}

    def _list(self, answer: Any) -> Sequence[Any]:
        """Return the hits of an answer."""
        if isinstance(answer, Sequence) and not isinstance(answer, str | bytes):
            return answer
        raise ProviderError(
            f"{self.name}: expected a list, found {type(answer).__name__} {show(answer)}"
        )

    @abstractmethod
    def _read(self, found: Any, place: int) -> Found:
        """Read a hit of an answer."""

    def _settle(self, hit: Hit, found: Found, place: int) -> Hit:
        """Match a hit to the benchmark, and give it an id if it has none."""
        settled = self._known.settle(hit, found.sources)
        if settled.id:
            return settled
        if not settled.doc_id:
            self._reject_unclear(hit, place)
        return replace(settled, id=self._name(settled) or self.read_id(hit.metadata, "id", place))

    def _name(self, settled: Hit) -> str:
        """Return an id for a hit without one; "" if there must be one."""
        return build_id(settled) if settled.doc_id else ""

    def _reject_unclear(self, hit: Hit, place: int) -> None:
        """Reject a hit that has only a text, which several documents contain."""
        rivals = self._known.find_by_text(hit.text)
        if len(rivals) > 1:
            shown = ", ".join(show(one, 40) for one in rivals[:3])
            raise ProviderError(
                f"{self.name}: hit {place} ({show(hit.text, 60)}) has no id, and {len(rivals)} "
                f"documents contain it ({shown}); {self.advice}"
            )

    def read_id(self, metadata: Mapping[str, Any], name: str, place: int) -> str:
        """Return the id in the metadata of a hit."""
        found = read_id(metadata.get(name))
        if found is not None:
            return found
        there = ", ".join(map(repr, metadata)) or "nothing"
        raise ProviderError(
            f"{self.name}: hit {place} has no id at metadata[{name!r}]; the metadata has {there}; "
            "set the option id to its name"
        )

    def describe_matches(self) -> list[str]:
        """Describe how hits were matched to the benchmark."""
        return list(self._known.notes())

    def close(self) -> None:
        """Stop what still runs."""
        self._loop.close()


@dataclass
class LangChain(RetrieverProvider):
    """A LangChain `BaseRetriever`, or any object with its `invoke`.

    A LangChain retriever returns as many documents as it is configured for, commonly 4: configure
    it for the evaluated depth, or name the argument that sets the number with `k_argument`. A
    document split with `add_start_index` carries its position.

    Attributes:
        id: Name of the id in the metadata; "" for the id of the document itself.
        score: Name of the score in the metadata, if present; without scores the order counts.
        doc_id: Name of the source document in the metadata; by default `source`, `file_path`, `url`
            and other usual names are tried.
        k_argument: Argument of the retriever for the number of documents, such as "k".
        scope_argument: Argument of the retriever for the scope of a query, such as "filter"; it
            gets `{"tenant": "a"}`, with several values `{"tenant": {"$in": ["a", "b"]}}`.
    """

    id: str = ""
    score: str = "score"
    doc_id: str = ""
    k_argument: str = ""
    scope_argument: str = ""
    name: ClassVar[str] = "langchain"
    methods: ClassVar[tuple[str, str]] = ("invoke", "ainvoke")
    # No `modules`: the retriever imports its own package.
    extra: ClassVar[str] = "langchain"

    def _options(self, query: Query, k: int) -> dict[str, Any]:
        found: dict[str, Any] = {self.k_argument: k} if self.k_argument else {}
        if self.scope_argument and query.scope:
            found[self.scope_argument] = {
                name: given if isinstance(given, str) else {"$in": list(given)}
                for name, given in query.scope.items()
            }
        return found

    def _read(self, document: Any, place: int) -> Found:
        metadata = getattr(document, "metadata", None)
        text = getattr(document, "page_content", None)
        if not isinstance(metadata, Mapping) or not isinstance(text, str):
            found = f"{type(document).__name__} {show(document)}"
            raise ProviderError(f"langchain: hit {place}: expected a Document, found {found}")
        own = getattr(document, "id", None)
        if self.id:
            own = self.read_id(metadata, self.id, place)
        score = metadata.get(self.score)
        start, end = read_span(metadata.get("start_index"), text)
        hit = Hit(
            str(own or read_id(metadata.get("id")) or ""),
            0.0 if score is None else read_number(score, f"metadata.{self.score}"),
            text=text,
            section=read_headings(metadata),
            start=start,
            end=end,
            metadata=dict(metadata),
        )
        sources = list_sources(metadata, self.doc_id) if self.doc_id else list_sources(metadata)
        return Found(hit, score is not None, sources)


@dataclass
class LlamaIndex(RetrieverProvider):
    """A LlamaIndex `BaseRetriever`, or any object with its `retrieve`.

    A LlamaIndex retriever returns as many nodes as it is configured for (`similarity_top_k`,
    commonly 2): configure it for the evaluated depth.

    Attributes:
        id: Name of the id in the metadata; "" for the id of the node itself.
        doc_id: Name of the source document in the metadata; by default the document that the node
            was made from, or its `file_path`, `file_name` or `url`, whichever the benchmark has.
    """

    id: str = ""
    doc_id: str = ""
    name: ClassVar[str] = "llamaindex"
    methods: ClassVar[tuple[str, str]] = ("retrieve", "aretrieve")
    # No `modules`: the retriever imports its own package.
    extra: ClassVar[str] = "llamaindex"

    def _read(self, scored: Any, place: int) -> Found:
        node: Any = getattr(scored, "node", None)
        metadata = getattr(node, "metadata", None)
        own = getattr(node, "node_id", None)
        if not isinstance(metadata, Mapping) or not isinstance(own, str):
            found = f"{type(scored).__name__} {show(scored)}"
            raise ProviderError(f"llamaindex: hit {place}: expected a NodeWithScore, found {found}")
        score = getattr(scored, "score", None)
        start = getattr(node, "start_char_idx", None)
        end = getattr(node, "end_char_idx", None)
        has_span = isinstance(start, int) and isinstance(end, int) and 0 <= start < end
        hit = Hit(
            self.read_id(metadata, self.id, place) if self.id else own,
            0.0 if score is None else read_number(score, "score"),
            text=str(node.get_content() if hasattr(node, "get_content") else node.text),
            section=read_headings(metadata),
            start=start if has_span else None,
            end=end if has_span else None,
            metadata=dict(metadata),
        )
        parent = getattr(node, "ref_doc_id", None)
        sources = list_sources({"": parent, **metadata}, self.doc_id)
        return Found(hit, score is not None, sources)
