"""`lancedb`: vectors, full text, or both fused, in a folder of LanceDB.

Vectors are searched exactly unless `approximate` asks for an HNSW index. Full text is LanceDB's own
BM25; any word of the query may match.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.optional import imported
from berryeval.errors import ProviderError
from berryeval.providers.base import check_choice, check_counts, first_line, searched_text, writable
from berryeval.providers.embedders.base import TextAndVectorProvider
from berryeval.providers.ranking import hits_with_ties

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.data import Chunk, Hit, Query


Mode: TypeAlias = Literal["text", "vector", "hybrid"]
_SOURCE: Final = re.compile(r", \S+\.rs:\d+.*")  # where in its own source an error was raised


@dataclass
class LanceDb(TextAndVectorProvider):
    """Vectors, full text or both in LanceDB, in a table that is dropped at the end.

    Attributes:
        path: the folder of the database, or its address as LanceDB takes it. Without, a temporary
            folder that is removed at the end.
        mode: "text" ranks by BM25, "vector" by the cosine of embeddings, "hybrid" by both, fused by
            reciprocal rank.
        language: whose endings are cut off and whose stop words are left out.
        embedder: who makes vectors of texts.
        embedder_options: what the embedder is made with.
        approximate: search vectors with an HNSW index rather than by looking at all.
        k: how fast a rank loses worth in the fusion.
        depth: how many hits of each kind are fused, at least as many as are asked for.
    """

    path: str = ""
    mode: Mode = "hybrid"
    language: str = "English"
    embedder: str = "wordllama"
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    approximate: bool = False
    k: int = 60
    depth: int = 100
    extra: ClassVar[str] = "lancedb"
    modules: ClassVar[Sequence[str]] = ("lancedb", "pyarrow", "wordllama")
    in_process: ClassVar[bool] = True
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _folder: str = field(default="", init=False, repr=False)
    _table: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        check_choice("lancedb", "mode", self.mode, get_args(Mode))
        check_counts("lancedb", k=self.k, depth=self.depth)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the table and its indexes."""
        self._drop()
        if not len(chunks):
            return
        columns = self._columns([searched_text(chunk) for chunk in chunks])
        with self._errors():
            name = f"berryeval_{secrets.token_hex(6)}"
            self._table = self._database.create_table(name, columns, on_bad_vectors="null")
            index = self._imported("lancedb.index")
            if self.mode != "vector":
                self._table.create_index("text", config=index.FTS(language=self.language))
            if (
                self.mode != "text"
                and self.approximate
                and columns["vector"].null_count < len(chunks)
            ):
                self._table.create_index("vector", config=index.HnswFlat(distance_type="cosine"))
        self._chunks = chunks

    def _columns(self, texts: list[str]) -> Any:
        arrow = self._imported("pyarrow")
        columns = {"place": arrow.array(range(len(texts)), arrow.int64())}
        if self.mode != "vector":
            columns["text"] = arrow.array(map(writable, texts), arrow.string())
        if self.mode != "text":
            vectors = self.embed(texts)
            columns["vector"] = arrow.FixedSizeListArray.from_arrays(
                arrow.array(vectors.reshape(-1)), vectors.shape[1],
                mask=arrow.array(~vectors.any(axis=1)),
            )  # fmt: skip
        return arrow.table(columns)

    def search(self, query: Query, k: int) -> list[Hit]:
        """By words, by meaning, or by both."""
        if self._table is None:
            return []
        with self._errors():
            return self.by_mode(query, k)

    def _by_text(self, query: Query, k: int) -> list[Hit]:
        # As an object the text is words; as a string it would be searched for operators.
        asked = self._imported("lancedb.query").MatchQuery(writable(query.text), "text")

        def fetch(count: int) -> list[tuple[int, float]]:
            found = self._table.search(asked, query_type="fts").limit(count)
            return _pairs(found, "_score")

        return hits_with_ties(self._chunks, k, fetch)

    def _by_vector(self, query: Query, k: int) -> list[Hit]:
        vector = self.embed_query(query.text)
        if not vector.any():
            return []

        def fetch(count: int) -> list[tuple[int, float]]:
            found = self._table.search(vector, query_type="vector", vector_column_name="vector")
            found = found.distance_type("cosine").limit(count)
            if not self.approximate:
                found = found.bypass_vector_index()
            return [(place, 1.0 - distance) for place, distance in _pairs(found, "_distance")]

        return hits_with_ties(self._chunks, k, fetch)

    @staticmethod
    def _imported(module: str) -> Any:
        return imported(module, "the provider lancedb", extra="lancedb")

    @cached_property
    def _database(self) -> Any:
        package = self._imported("lancedb")
        if not self.path:
            self._folder = tempfile.mkdtemp(prefix="berryeval-lancedb-")
        return package.connect(self.path or self._folder)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """The errors of LanceDB as ours; it has no class of its own for them."""
        try:
            yield
        except (RuntimeError, ValueError, OSError) as error:
            said = _SOURCE.sub("", first_line(error))
            msg = f"LanceDB at {self.path or self._folder}: {said}"
            raise ProviderError(msg) from None

    def _drop(self) -> None:
        if self._table is not None:
            table, self._table = self._table, None
            with self._errors():
                self._database.drop_table(table.name)

    def close(self) -> None:
        """Drop the table, and remove a folder that was made here."""
        super().close()
        try:
            self._drop()
        finally:
            self.__dict__.pop("_database", None)
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = ""


def _pairs(found: Any, score: str) -> list[tuple[int, float]]:
    """Places with scores, in the order of the engine."""
    rows = found.select(["place", score]).to_arrow()
    return list(zip(rows["place"].to_pylist(), rows[score].to_pylist(), strict=True))
