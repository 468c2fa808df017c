"""The whole texts of the hits and targets of a run, and where their documents come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from berryeval.anchors import Corpus, locate
from berryeval.benchmarks import name_of
from berryeval.errors import DataError
from berryeval.relevance import all_judgments
from berryeval.workflows.pooled_systems import Chunkings, read_systems

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Anchor, Chunk, Document, Hit, Judgment


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
        groups: dict[str | int, list[Judgment]] = {}
        for number, one in enumerate(self._judgments.get(query, ())):
            groups.setdefault(one.group or number, []).append(one)
        found = {}
        for members in groups.values():
            texts = [self._read_target(one.target) for one in members]
            name = " or ".join(name_of(one.target) for one in members)
            text = "\n\n".join(one.text for one in texts if one.text)
            found[name] = WholeText(text, next((one.address for one in texts if one.address), ""))
        return found

    @cached_property
    def _judgments(self) -> dict[str, list[Judgment]]:
        found: dict[str, list[Judgment]] = {}
        for one in all_judgments(self.benchmark):
            found.setdefault(one.query_id, []).append(one)
        return found

    @cached_property
    def _chunk_of(self) -> dict[str, Chunk]:
        return {one.id: one for one in self.chunkings.get("")} if self.benchmark.documents else {}

    def _find_document(self, name: str) -> Document | None:
        return self.benchmark.document_of.get(name)

    def _read_target(self, target: Anchor) -> WholeText:
        if target.chunk:
            chunk = self._chunk_of.get(target.chunk)
            document = self._find_document(chunk.doc_id if chunk else target.chunk)
            text = chunk.text if chunk else document.text if document else ""
            return WholeText(text, _find_address(document))
        document = self._find_document(target.document)
        if document is None:
            return WholeText(target.quote)
        place = locate(target, Corpus([document]))
        text = document.text if place.is_document else target.quote
        if place.spans:
            text = document.text[place.spans[0].start : place.spans[0].end]
        return WholeText(text, _find_address(document))


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
