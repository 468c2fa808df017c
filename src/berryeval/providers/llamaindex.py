"""`llamaindex`: a retriever of LlamaIndex.

It finds as many nodes as it is set up for (`similarity_top_k`, commonly 2): set it up for as many
as are evaluated.
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

__all__ = ["LlamaIndex"]


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
