"""`langchain` and `llamaindex`: retrievers of other frameworks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval._internal.aio import BackgroundLoop
from berryeval.data import Hit
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.answers import KnownChunks, check_all_scored, read_id, read_number
from berryeval.providers.base import Provider
from berryeval.providers.callable import load_object

if TYPE_CHECKING:
    from berryeval.data import Chunk, Query


@dataclass
class RetrieverProvider(Provider):
    """A retriever of another framework, called through that framework's methods.

    Attributes:
        retriever: "module:object" (in the current folder or installed), the retriever itself, or a
            function that builds one from the chunks of the benchmark.
        asynchronous: Whether to call the asynchronous method (`ainvoke`, `aretrieve`).
    """

    retriever: Any = field(default="", repr=False)  # may hold secrets
    asynchronous: bool = False
    name: ClassVar[str]
    methods: ClassVar[tuple[str, str]]  # the search method, and its async version
    _found: Any = field(default=None, init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)
    _loop: BackgroundLoop = field(default_factory=BackgroundLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        option = f"retriever of {self.name}"
        if isinstance(self.retriever, str) and not self.retriever:
            msg = f"{option} is missing; set it to 'module:object'"
            raise ConfigurationError(msg)
        self._found = load_object(self.retriever, option)
        if not self._is_retriever(self._found) and not callable(self._found):
            msg = (
                f"{option}: expected an object with {self.methods[0]!r}, or a function that builds "
                f"one from the chunks; found {type(self._found).__name__}"
            )
            raise ConfigurationError(msg)

    def _is_retriever(self, thing: Any) -> bool:
        return not isinstance(thing, type) and hasattr(thing, self.methods[self.asynchronous])

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Build the retriever from the chunks if a function was given."""
        self._known = KnownChunks(chunks)
        build = load_object(self.retriever, f"retriever of {self.name}")
        if self._is_retriever(build):
            return
        built = self._loop.wait_for(build(chunks))
        if not self._is_retriever(built):
            msg = (
                f"{self.name}: the function that builds the retriever must return an object with "
                f"{self.methods[self.asynchronous]!r}, found {type(built).__name__}"
            )
            raise ProviderError(msg)
        self._found = built

    def ask(self, query: Query, **options: Any) -> list[Any]:
        """Return the retriever's answer as a list."""
        if not self._is_retriever(self._found):
            msg = f"{self.name}: there is no retriever yet; `index` builds it"
            raise ProviderError(msg)
        search = getattr(self._found, self.methods[self.asynchronous])
        found = self._loop.wait_for(search(query.text, **options))
        if not isinstance(found, Sequence) or isinstance(found, str | bytes):
            msg = f"{self.name}: expected a list, found {type(found).__name__} {found!r:.80}"
            raise ProviderError(msg)
        return list(found)

    def complete(self, hits: Sequence[Hit], scores: Sequence[Any]) -> list[Hit]:
        """Complete the hits from the chunks; either all hits have a score or none."""
        try:
            check_all_scored(hits, [score is not None for score in scores])
        except ProviderError as error:
            msg = f"{self.name}: {error}"
            raise ProviderError(msg) from None
        return [self._known.complete(hit) for hit in hits]

    def close(self) -> None:
        """Stop what still runs."""
        self._loop.close()


def read_metadata_id(metadata: Mapping[str, Any], name: str, owner: str, place: int) -> str:
    """Return the id in the metadata of a hit."""
    found = read_id(metadata.get(name))
    if found is not None:
        return found
    there = ", ".join(map(repr, metadata)) or "nothing"
    msg = (
        f"{owner}: hit {place} has no id at metadata[{name!r}]; the metadata has {there}; "
        "set the option id to its name"
    )
    raise ProviderError(msg)


@dataclass
class LangChain(RetrieverProvider):
    """A LangChain `BaseRetriever`, or any object with its `invoke`.

    Attributes:
        id: Name of the id in the metadata; "" for the id of the document itself.
        score: Name of the score in the metadata, if present; without scores the order counts.
        doc_id: Name of the source document's id in the metadata, if present.
        k_argument: Argument of the retriever for the number of documents, such as "k".
    """

    id: str = ""
    score: str = "score"
    doc_id: str = "source"
    k_argument: str = ""
    name: ClassVar[str] = "langchain"
    methods: ClassVar[tuple[str, str]] = ("invoke", "ainvoke")
    # No `modules`: the retriever imports its own package.
    extra: ClassVar[str] = "langchain"

    def search(self, query: Query, k: int) -> list[Hit]:
        """Invoke the retriever."""
        found = self.ask(query, **({self.k_argument: k} if self.k_argument else {}))
        hits = [self._hit(document, place) for place, document in enumerate(found, start=1)]
        return self.complete(hits, [one.metadata.get(self.score) for one in found])

    def _hit(self, document: Any, place: int) -> Hit:
        metadata = getattr(document, "metadata", None)
        text = getattr(document, "page_content", None)
        if not isinstance(metadata, Mapping) or not isinstance(text, str):
            found = f"{type(document).__name__} {document!r:.80}"
            msg = f"langchain: hit {place}: expected a Document, found {found}"
            raise ProviderError(msg)
        own = getattr(document, "id", None)
        name = (
            own
            if own and not self.id
            else read_metadata_id(metadata, self.id or "id", "langchain", place)
        )
        score = metadata.get(self.score)
        start = metadata.get("start_index")
        if not isinstance(start, int) or start < 0 or not text:
            start = None
        return Hit(
            str(name),
            0.0 if score is None else read_number(score, f"metadata.{self.score}"),
            text=text,
            doc_id=str(metadata.get(self.doc_id) or ""),
            start=start,
            end=None if start is None else start + len(text),
            metadata=dict(metadata),
        )


@dataclass
class LlamaIndex(RetrieverProvider):
    """A LlamaIndex `BaseRetriever`, or any object with its `retrieve`.

    Attributes:
        id: Name of the id in the metadata; "" for the id of the node itself.
        doc_id: Name of the source document's id in the metadata; "" for the document the node was
            made from.
    """

    id: str = ""
    doc_id: str = ""
    name: ClassVar[str] = "llamaindex"
    methods: ClassVar[tuple[str, str]] = ("retrieve", "aretrieve")
    # No `modules`: the retriever imports its own package.
    extra: ClassVar[str] = "llamaindex"

    def search(self, query: Query, k: int) -> list[Hit]:  # noqa: ARG002 - the retriever has its own
        """Call the retriever."""
        found = self.ask(query)
        hits = [self._hit(scored, place) for place, scored in enumerate(found, start=1)]
        return self.complete(hits, [getattr(scored, "score", None) for scored in found])

    def _hit(self, scored: Any, place: int) -> Hit:
        node: Any = getattr(scored, "node", None)
        metadata = getattr(node, "metadata", None)
        own = getattr(node, "node_id", None)
        if not isinstance(metadata, Mapping) or not isinstance(own, str):
            found = f"{type(scored).__name__} {scored!r:.80}"
            msg = f"llamaindex: hit {place}: expected a NodeWithScore, found {found}"
            raise ProviderError(msg)
        score = getattr(scored, "score", None)
        start = getattr(node, "start_char_idx", None)
        end = getattr(node, "end_char_idx", None)
        has_span = isinstance(start, int) and isinstance(end, int) and 0 <= start < end
        source = metadata.get(self.doc_id) if self.doc_id else getattr(node, "ref_doc_id", None)
        return Hit(
            read_metadata_id(metadata, self.id, "llamaindex", place) if self.id else own,
            0.0 if score is None else read_number(score, "score"),
            text=str(node.get_content() if hasattr(node, "get_content") else node.text),
            doc_id=str(source or ""),
            start=start if has_span else None,
            end=end if has_span else None,
            metadata=dict(metadata),
        )
