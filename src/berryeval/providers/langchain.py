"""`langchain`: a retriever of LangChain.

It finds as many documents as it is set up for, commonly 4: set it up for as many as are evaluated,
or name the argument that says how many. A document that was split with `add_start_index` says where
it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval.errors import ProviderError
from berryeval.providers.json_values import as_number
from berryeval.providers.retrievers import RetrieverProvider, id_in
from berryeval.records import Hit

if TYPE_CHECKING:
    from berryeval.records import Query

__all__ = ["LangChain"]


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
