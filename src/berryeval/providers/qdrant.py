"""`qdrant`: vectors in Qdrant, on a server or in this process.

Without a server, the Python client's local mode is used: exact, and meant for some ten thousand
chunks. A server is also searched exactly unless `approximate` lets it use its index. The tests of
the server mode use a small server that implements Qdrant's REST API.
"""

from __future__ import annotations

import secrets
import threading
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval._internal.validate import require_whole
from berryeval.errors import BerryEvalError, ConfigurationError, ProviderError
from berryeval.providers.base import first_line, searchable_text
from berryeval.providers.engine import EngineProvider
from berryeval.providers.ranking import fetch_hits

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit, Query
    from berryeval.providers.existing import ExistingIndex, IndexReader


_CLIENT_ERRORS = range(400, 500)  # permanent, except 408 and 429
_TOO_SLOW, _TOO_MANY = 408, 429


@dataclass
class Qdrant(EngineProvider):
    """Vectors in Qdrant, on a server or in this process, in a temporary collection.

    Attributes:
        url: Address of the server, such as `https://host:6333`; by default everything is in this
            process.
        api_key: API key of the server.
        path: Folder for the collection if there is no server; in memory by default.
        approximate: Whether the server may use its index rather than search exactly.
        batch_size: Vectors per request.
        timeout: Seconds to wait for the server.
    """

    url: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    path: str = ""
    approximate: bool = False
    batch_size: int = 256
    timeout: int = 30
    extra: ClassVar[str] = "qdrant"
    modules: ClassVar[Sequence[str]] = ("qdrant_client", "wordllama")
    in_process: ClassVar[bool] = True
    index_word: ClassVar[str] = "collection"
    temporary_options: ClassVar[Collection[str]] = ("batch_size",)
    _collection: str = field(default="", init=False, repr=False)
    # The local mode of the client is not made for several threads.
    _one_at_a_time: Any = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        require_whole("batch_size of qdrant", self.batch_size)
        require_whole("timeout of qdrant", self.timeout)
        if self.url and self.path:
            raise ConfigurationError("qdrant takes a url or a path, not both")
        super().__post_init__()

    def _build_reader(self, existing: ExistingIndex) -> IndexReader:
        from berryeval.providers.readers.qdrant_collection import QdrantCollection

        return QdrantCollection(existing, self)

    def searches_in_process(self) -> bool:
        """Whether there is no server."""
        return not self.url and super().searches_in_process()

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Create the collection and upload a vector for every chunk with content."""
        if self.existing:
            self.open_existing(chunks)
            return
        self._drop()
        vectors = self.embed([searchable_text(chunk) for chunk in chunks])
        places = np.flatnonzero(vectors.any(axis=1))
        if not len(places):
            return
        models = self._import().models
        # With COSINE, every search in local mode rescales the stored vectors, so that scores would
        # depend on the searches before; ours have length 1.
        distance = models.Distance.COSINE if self.url else models.Distance.DOT
        shape = models.VectorParams(size=vectors.shape[1], distance=distance)
        labels = self.label(chunks)
        payload = [{"scope": labels[place]} for place in places.tolist()] if labels else None
        with self.convert_errors(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Local mode is not recommended")  # documented
            name = f"berryeval-{secrets.token_hex(6)}"
            self._client.create_collection(name, vectors_config=shape)
            self._collection = name
            self._client.upload_collection(
                name, vectors=vectors[places], ids=places.tolist(), payload=payload,
                batch_size=self.batch_size, wait=True,
            )  # fmt: skip
            if payload and self.url:  # local mode has no such index
                keyword = models.PayloadSchemaType.KEYWORD
                self._client.create_payload_index(name, "scope", keyword, wait=True)
        self._chunks = chunks

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the nearest chunks."""
        if self.existing:
            return self.search_existing(query, k)
        vector = self.embed_query(query.text)
        if not self._collection or not vector.any():
            return []
        exact = self.search_parameters()
        inside = self._build_filter(query)

        def fetch(count: int) -> list[tuple[int, float]]:
            found = self._client.query_points(
                self._collection, query=vector.tolist(), limit=count, search_params=exact,
                with_payload=False, query_filter=inside,
            )  # fmt: skip
            # Rounded to the server's precision; otherwise equal vectors would not tie.
            return [(point.id, float(np.float32(point.score))) for point in found.points]

        with self.convert_errors(), self.take_turns():
            return fetch_hits(self._chunks, k, fetch)

    def search_parameters(self) -> Any:
        """Return how a server is to search; local mode is always exact, and warns about it."""
        return self._import().models.SearchParams(exact=not self.approximate) if self.url else None

    def take_turns(self) -> AbstractContextManager[Any]:
        """Search one at a time in local mode."""
        return nullcontext() if self.url else self._one_at_a_time

    def _build_filter(self, query: Query) -> Any:
        """Return the scope of a query as a filter; None without a scope."""
        models = self._import().models
        parts = [
            models.FieldCondition(key="scope", match=models.MatchAny(any=labels))
            for labels in self.filters(query)
        ]
        return models.Filter(must=parts) if parts else None

    @staticmethod
    def _import(module: str = "qdrant_client") -> Any:
        return import_optional(module, "the provider qdrant", extra="qdrant")

    @cached_property
    def _client(self) -> Any:
        return self.connect(self.path)

    def connect(self, path: str) -> Any:
        """Return a client of the server, or else of a folder or a database in memory."""
        client = self._import().QdrantClient
        if self.url:
            return client(
                url=self.url, api_key=self.api_key or None, timeout=self.timeout,
                check_compatibility=False,  # a missing server is reported below
            )  # fmt: skip
        if path:  # another thread may close it
            return client(path=path, force_disable_check_same_thread=True)
        return client(":memory:")

    @contextmanager
    def convert_errors(self) -> Iterator[None]:
        """Convert the errors of Qdrant's client."""
        http = self._import("qdrant_client.http.exceptions")
        common = self._import("qdrant_client.common.client_exceptions")
        try:
            yield
        except common.ResourceExhaustedResponse as error:
            raise ProviderError(
                f"Qdrant at {self._where}: too many requests",
                passing=True,
                retry_after=error.retry_after_s,
            ) from None
        except http.UnexpectedResponse as error:
            permanent = error.status_code in _CLIENT_ERRORS
            passing = not permanent or error.status_code in (_TOO_SLOW, _TOO_MANY)
            raise ProviderError(
                f"Qdrant at {self._where}: {error.status_code} {error.reason_phrase}",
                passing=passing,
            ) from None
        except http.ResponseHandlingException as error:
            reached = not isinstance(error.source, ValueError)  # else not Qdrant's answer
            raise ProviderError(self._message(error.source), passing=reached) from None
        except common.QdrantException as error:  # an invalid Retry-After header
            raise ProviderError(self._message(error), passing=True) from None
        except BerryEvalError:
            raise
        # Errors of local mode; the client also asserts that an answer has a result.
        except (RuntimeError, ValueError, OSError, AssertionError) as error:
            raise ProviderError(self._message(error)) from None

    def _message(self, error: Exception) -> str:
        return f"Qdrant at {self._where}: {first_line(error)}"

    @property
    def _where(self) -> str:
        """Name of the server in messages, without user and password."""
        if not self.url:
            return self.path or "memory"
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def _drop(self) -> None:
        if self._collection:
            name, self._collection = self._collection, ""
            with self.convert_errors():
                self._client.delete_collection(name)
