"""`qdrant`: vectors in Qdrant, on a server or inside this process.

Without a server the search is that of the Python client's local mode: exact, and meant for some ten
thousand chunks. A server is asked for an exact search too, unless `approximate` lets it use its
index; our tests of that speak to a server of their own that knows Qdrant's REST API.
"""

from __future__ import annotations

import secrets
import threading
import warnings
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from berryeval._internal.optional import imported
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.base import check_counts, first_line, searched_text
from berryeval.providers.embedders.base import EmbeddingProvider
from berryeval.providers.ranking import hits_with_ties

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.data import Chunk, Hit, Query


_REFUSED = range(400, 500)  # asking again would not help, except after 408 and 429
_TOO_SLOW, _TOO_MANY = 408, 429


@dataclass
class Qdrant(EmbeddingProvider):
    """Vectors in Qdrant, on a server or in this process, in a collection deleted at the end.

    Attributes:
        url: where the server is, as `https://host:6333`. Without, there is none: all is in this
            process.
        api_key: the key of the server.
        path: a folder for the collection when there is no server; without, it is in memory.
        embedder: who makes vectors of texts.
        embedder_options: what the embedder is made with.
        approximate: let the server use its index rather than look at all.
        batch_size: how many vectors are sent at once.
        timeout: how many seconds to wait for the server.
    """

    url: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    path: str = ""
    embedder: str = "wordllama"
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    approximate: bool = False
    batch_size: int = 256
    timeout: int = 30
    extra: ClassVar[str] = "qdrant"
    modules: ClassVar[Sequence[str]] = ("qdrant_client", "wordllama")
    in_process: ClassVar[bool] = True  # without a `url`
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _collection: str = field(default="", init=False, repr=False)
    # The local mode writes to its vectors when it searches.
    _one_at_a_time: Any = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        check_counts("qdrant", batch_size=self.batch_size, timeout=self.timeout)
        if self.url and self.path:
            msg = "qdrant takes a url or a path, not both"
            raise ConfigurationError(msg)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the collection and send a vector per chunk that says something."""
        self._drop()
        vectors = self.embed([searched_text(chunk) for chunk in chunks])
        places = np.flatnonzero(vectors.any(axis=1))
        if not len(places):
            return
        models = self._package.models
        shape = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
        with self._errors(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Local mode is not recommended")  # our docs say so
            name = f"berryeval-{secrets.token_hex(6)}"
            self._client.create_collection(name, vectors_config=shape)
            self._collection = name
            self._client.upload_collection(
                name, vectors=vectors[places], ids=places.tolist(), batch_size=self.batch_size,
                wait=True,
            )  # fmt: skip
        self._chunks = chunks

    def search(self, query: Query, k: int) -> list[Hit]:
        """The nearest chunks."""
        vector = self.embed_query(query.text)
        if not self._collection or not vector.any():
            return []
        exact = None  # the local mode knows no other way, and warns when it is told so
        if self.url:
            exact = self._package.models.SearchParams(exact=not self.approximate)

        def fetch(count: int) -> list[tuple[int, float]]:
            found = self._client.query_points(
                self._collection, query=vector.tolist(), limit=count, search_params=exact,
                with_payload=False,
            )  # fmt: skip
            # As precise as the server gives them: beyond that, equal vectors would not tie.
            return [(point.id, float(np.float32(point.score))) for point in found.points]

        with self._errors(), nullcontext() if self.url else self._one_at_a_time:
            return hits_with_ties(self._chunks, k, fetch)

    @cached_property
    def _package(self) -> Any:
        return imported("qdrant_client", "the provider qdrant", extra="qdrant")

    @cached_property
    def _client(self) -> Any:
        client = self._package.QdrantClient
        if self.url:
            return client(
                url=self.url, api_key=self.api_key or None, timeout=self.timeout,
                check_compatibility=False,  # a server that is not there is our error to report
            )  # fmt: skip
        if self.path:  # closed perhaps by another thread than the one that opened it
            return client(path=self.path, force_disable_check_same_thread=True)
        return client(":memory:")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """The errors of Qdrant as ours: which server, and whether asking again may help."""
        http = imported("qdrant_client.http.exceptions", "the provider qdrant", extra="qdrant")
        common = imported("qdrant_client.common.client_exceptions", "the provider qdrant")
        try:
            yield
        except common.ResourceExhaustedResponse as error:
            msg = f"Qdrant at {self._where}: too many requests"
            raise ProviderError(msg, passing=True, retry_after=error.retry_after_s) from None
        except http.UnexpectedResponse as error:
            refused = error.status_code in _REFUSED
            passing = not refused or error.status_code in (_TOO_SLOW, _TOO_MANY)
            msg = f"Qdrant at {self._where}: {error.status_code} {error.reason_phrase}"
            raise ProviderError(msg, passing=passing) from None
        except http.ResponseHandlingException as error:
            understood = not isinstance(error.source, ValueError)  # an answer, but not Qdrant's
            raise ProviderError(self._message(error.source), passing=understood) from None
        except common.QdrantException as error:  # a Retry-After that is no number of seconds
            raise ProviderError(self._message(error), passing=True) from None
        # Those of the local mode; and the client asserts that an answer holds a result.
        except (RuntimeError, ValueError, OSError, AssertionError) as error:
            raise ProviderError(self._message(error)) from None

    def _message(self, error: Exception) -> str:
        return f"Qdrant at {self._where}: {first_line(error)}"

    @property
    def _where(self) -> str:
        """The server without user and password."""
        if not self.url:
            return self.path or "memory"
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def _drop(self) -> None:
        if self._collection:
            name, self._collection = self._collection, ""
            with self._errors():
                self._client.delete_collection(name)

    def close(self) -> None:
        """Delete the collection and let go of the server."""
        super().close()
        with suppress(ProviderError):  # a server that is gone cannot be tidied
            self._drop()
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()
