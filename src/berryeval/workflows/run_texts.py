"""The whole texts of the hits and targets of a run, and where their documents come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from berryeval.anchors import Targets
from berryeval.errors import DataError
from berryeval.relevance import all_judgments
from berryeval.workflows.pooled_systems import Chunkings, read_systems
from berryeval.workflows.recording import name_target

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.anchors import Location, Target
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Document, Hit


class WholeText(NamedTuple):
    """A text, and the address of its document; empty unless that is a page of the web."""

    text: str
    address: str = ""


@dataclass(frozen=True)
class RunTexts:
    """The texts of a run on one benchmark.

    Attributes:
        benchmark: The benchmark.
        hits: Hits by provider and query.
        chunkings: The chunks of the benchmark.
    """

    benchmark: Benchmark
    hits: Mapping[str, Mapping[str, Sequence[Hit]]]
    chunkings: Chunkings

    def find_hit(self, provider: str, query: str, rank: int) -> WholeText:
        """Return the text of a hit."""
        hits = self.hits.get(provider, {}).get(query, ())
        if not 1 <= rank <= len(hits):
            raise DataError(f"{provider} has no hit at rank {rank} for the query {query!r:.80}")
        hit = hits[rank - 1]
        document = self._find_document(hit.doc_id or hit.id)
        text = hit.text or (document.text if document else "")
        return WholeText(text, _find_address(document, hit))

    def list_targets(self, query: str) -> dict[str, WholeText]:
        """Return the texts of the targets of a query, by the names that a record has for them."""
        return {name_target(one): self._read_target(one) for one in self._targets.of(query)}

    @cached_property
    def _targets(self) -> Targets:
        documents = self.benchmark.documents
        chunks = self.chunkings.get("") if documents else None
        return Targets.locate(all_judgments(self.benchmark), documents, chunks=chunks)

    def _find_document(self, name: str) -> Document | None:
        return self.benchmark.document_of.get(name)

    def _read_target(self, target: Target) -> WholeText:
        texts = filter(None, map(self._targets.read, target.members))
        documents = map(self._find_document, map(self._name_document, target.members))
        address = next(filter(None, map(_find_address, documents)), "")
        return WholeText("\n\n".join(texts), address)

    def _name_document(self, place: Location) -> str:
        chunk = self._targets.chunks.get(place.anchor.chunk)
        return chunk.doc_id if chunk else place.anchor.document or place.anchor.chunk


def _find_address(document: Document | None, hit: Hit | None = None) -> str:
    """Return the first address of the web that a document or hit names."""
    fields = [one.metadata for one in (document, hit) if one is not None]
    given = [document.source if document else "", *(one.get("url") for one in fields)]
    found = (one for one in given if isinstance(one, str))
    return next((one for one in found if _is_web(one)), "")


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


def read_texts(run: str, benchmark: str | None = None, store: PathLike | None = None) -> RunTexts:
    """Read the texts of a run; its benchmark must be as it was.

    Args:
        run: The run; see `find_run`.
        benchmark: Name of the benchmark in the run; None if it has only one.
        store: Store of past runs, if not the default.
    """
    found = read_systems([run], benchmark, store)
    hits = {one.run.rpartition("#")[2]: one.hits for one in found.systems}
    return RunTexts(found.benchmark, hits, found.chunkings)
