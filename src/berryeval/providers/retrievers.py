"""What the retrievers of other frameworks share: where they come from, and how they are called."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval._internal.aio import OwnLoop
from berryeval.data import Hit
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.answers import KnownChunks, as_number, check_all_scored, id_text
from berryeval.providers.base import Provider
from berryeval.providers.callable import named_object

if TYPE_CHECKING:
    from berryeval.data import Chunk, Query


@dataclass
class RetrieverProvider(Provider):
    """A retriever of another framework, called by the methods that framework gives it."""

    retriever: Any = field(default="", repr=False)  # may hold secrets
    asynchronous: bool = False
    name: ClassVar[str]
    methods: ClassVar[tuple[str, str]]  # what searches; the same, awaited
    _found: Any = field(default=None, init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)
    _loop: OwnLoop = field(default_factory=OwnLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the retriever, or what makes one."""
        option = f"retriever of {self.name}"
        if isinstance(self.retriever, str) and not self.retriever:
            msg = f"{option} is missing; give it as 'module:object'"
            raise ConfigurationError(msg)
        self._found = named_object(self.retriever, option)
        if not self._is_retriever(self._found) and not callable(self._found):
            msg = (
                f"{option}: expected an object with {self.methods[0]!r}, or a function that makes "
                f"one of the chunks; found {type(self._found).__name__}"
            )
            raise ConfigurationError(msg)

    def _is_retriever(self, thing: Any) -> bool:
        return not isinstance(thing, type) and hasattr(thing, self.methods[self.asynchronous])

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the retriever of the chunks, if there is a function for it."""
        self._known = KnownChunks(chunks)
        maker = named_object(self.retriever, f"retriever of {self.name}")
        if self._is_retriever(maker):
            return
        made = self._done(maker(chunks))
        if not self._is_retriever(made):
            msg = (
                f"{self.name}: the function that makes the retriever must return an object with "
                f"{self.methods[self.asynchronous]!r}, found {type(made).__name__}"
            )
            raise ProviderError(msg)
        self._found = made

    def ask(self, query: Query, **options: Any) -> list[Any]:
        """What the retriever returns."""
        if not self._is_retriever(self._found):
            msg = f"{self.name}: there is no retriever yet; it is made by `index`"
            raise ProviderError(msg)
        search = getattr(self._found, self.methods[self.asynchronous])
        found = self._done(search(query.text, **options))
        if not isinstance(found, Sequence) or isinstance(found, str | bytes):
            msg = f"{self.name}: expected a list, found {type(found).__name__} {found!r:.80}"
            raise ProviderError(msg)
        return list(found)

    def completed(self, hits: Sequence[Hit], scores: Sequence[Any]) -> list[Hit]:
        """The hits with what the chunks know about them; all have a score, or none has."""
        try:
            check_all_scored(hits, [score is not None for score in scores])
        except ProviderError as error:
            msg = f"{self.name}: {error}"
            raise ProviderError(msg) from None
        return [self._known.completed(hit) for hit in hits]

    def _done(self, answer: Any) -> Any:
        return self._loop.result(answer) if isinstance(answer, Awaitable) else answer

    def close(self) -> None:
        """Stop what still runs."""
        self._loop.close()


def id_in(metadata: Mapping[str, Any], name: str, owner: str, place: int) -> str:
    """The id that stands in the metadata of a hit."""
    found = id_text(metadata.get(name))
    if found is not None:
        return found
    there = ", ".join(map(repr, metadata)) or "nothing"
    msg = (
        f"{owner}: hit {place} has no id at metadata[{name!r}]; there is {there}. "
        "Say with the option id under which name the id stands"
    )
    raise ProviderError(msg)


# `langchain`: a retriever of LangChain.


@dataclass
class LangChain(RetrieverProvider):
    """A `BaseRetriever` of LangChain, or anything with its `invoke`.

    Attributes:
        retriever: "module:object" (a module of the current folder, or an installed one), or the
            retriever itself; or a function that makes one of the chunks of the benchmark.
        asynchronous: call `ainvoke` rather than `invoke`.
        id: under which name the id stands in the metadata; "" for the id of the document itself.
        score: under which name the score stands in the metadata, where it stands there; without
            scores the order counts.
        doc_id: under which name the id of the source document stands in the metadata, if it does.
        k_argument: an argument of the retriever that says how many documents are wanted, as "k".
    """

    id: str = ""
    score: str = "score"
    doc_id: str = "source"
    k_argument: str = ""
    name: ClassVar[str] = "langchain"
    methods: ClassVar[tuple[str, str]] = ("invoke", "ainvoke")
    # nothing is imported here: the retriever brings its package along
    extra: ClassVar[str] = "langchain"

    def search(self, query: Query, k: int) -> list[Hit]:
        """Invoke it."""
        found = self.ask(query, **({self.k_argument: k} if self.k_argument else {}))
        hits = [self._hit(document, place) for place, document in enumerate(found, start=1)]
        return self.completed(hits, [one.metadata.get(self.score) for one in found])

    def _hit(self, document: Any, place: int) -> Hit:
        metadata = getattr(document, "metadata", None)
        text = getattr(document, "page_content", None)
        if not isinstance(metadata, Mapping) or not isinstance(text, str):
            found = f"{type(document).__name__} {document!r:.80}"
            msg = f"langchain: hit {place}: expected a Document, found {found}"
            raise ProviderError(msg)
        own = getattr(document, "id", None)
        name = own if own and not self.id else id_in(metadata, self.id or "id", "langchain", place)
        score = metadata.get(self.score)
        start = metadata.get("start_index")
        if not isinstance(start, int) or start < 0 or not text:
            start = None
        return Hit(
            str(name),
            0.0 if score is None else as_number(score, f"metadata.{self.score}"),
            text=text,
            doc_id=str(metadata.get(self.doc_id) or ""),
            start=start,
            end=None if start is None else start + len(text),
            metadata=dict(metadata),
        )


# `llamaindex`: a retriever of LlamaIndex.


@dataclass
class LlamaIndex(RetrieverProvider):
    """A `BaseRetriever` of LlamaIndex, or anything with its `retrieve`.

    Attributes:
        retriever: "module:object" (a module of the current folder, or an installed one), or the
            retriever itself; or a function that makes one of the chunks of the benchmark.
        asynchronous: call `aretrieve` rather than `retrieve`.
        id: under which name the id stands in the metadata; "" for the id of the node itself.
        doc_id: under which name the id of the source document stands in the metadata; "" for the
            one the node was made from.
    """

    id: str = ""
    doc_id: str = ""
    name: ClassVar[str] = "llamaindex"
    methods: ClassVar[tuple[str, str]] = ("retrieve", "aretrieve")
    # nothing is imported here: the retriever brings its package along
    extra: ClassVar[str] = "llamaindex"

    def search(self, query: Query, k: int) -> list[Hit]:  # noqa: ARG002 - it has its own
        """Let it retrieve."""
        found = self.ask(query)
        hits = [self._hit(scored, place) for place, scored in enumerate(found, start=1)]
        return self.completed(hits, [getattr(scored, "score", None) for scored in found])

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
        placed = isinstance(start, int) and isinstance(end, int) and 0 <= start < end
        source = metadata.get(self.doc_id) if self.doc_id else getattr(node, "ref_doc_id", None)
        return Hit(
            id_in(metadata, self.id, "llamaindex", place) if self.id else own,
            0.0 if score is None else as_number(score, "score"),
            text=str(node.get_content() if hasattr(node, "get_content") else node.text),
            doc_id=str(source or ""),
            start=start if placed else None,
            end=end if placed else None,
            metadata=dict(metadata),
        )
