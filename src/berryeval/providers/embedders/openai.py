"""Embeddings from any server with the OpenAI `/v1/embeddings` protocol."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from berryeval._internal.plain import show
from berryeval._internal.validate import require_text, require_whole
from berryeval.errors import ProviderError
from berryeval.providers.base import clean_text
from berryeval.providers.web import JsonServer

if TYPE_CHECKING:
    import numpy.typing as npt


_VECTOR_BYTES: Final = 500_000  # in an answer, for more dimensions than any model has


@dataclass
class OpenAi:
    """Embeddings from OpenAI or any server with its `/v1/embeddings` protocol.

    Texts without words are not sent; their vectors are all zeros. Temporary errors are retried here
    while chunks are embedded, and by the runner while queries are.

    Attributes:
        model: Model name on the server.
        base_url: Address up to and including `/v1`.
        api_key: Key sent as `Authorization: Bearer ...`; "" for none.
        headers: Further headers.
        dimensions: Length of the vectors, for models that can shorten them; 0 for the full length.
        batch_size: Texts per request.
        query_prefix: Text put before every query; some models need one.
        text_prefix: Text put before every indexed text.
        attempts: Maximum number of attempts while chunks are embedded.
        timeout: Seconds without data after which a request fails.
        verify: Whether to check the certificate of the server.
        cache: Folder for computed vectors, None for the default folder, "" for none.
    """

    modules: ClassVar[Sequence[str]] = ("httpx",)
    extra: ClassVar[str] = "http"
    is_remote: ClassVar[bool] = True
    model: str = "text-embedding-3-small"
    base_url: str = field(default="https://api.openai.com/v1", repr=False)
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    dimensions: int = 0
    batch_size: int = 100
    query_prefix: str = ""
    text_prefix: str = ""
    attempts: int = 5
    timeout: float = 60.0
    verify: bool = True
    cache: str | None = None
    _server: JsonServer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        name = "the embedder openai"
        require_whole(f"batch_size of {name}", self.batch_size)
        require_whole(f"attempts of {name}", self.attempts)
        require_text(f"model of {name}", self.model)
        require_text(f"api_key of {name}", self.api_key)
        self._server = JsonServer(
            name, self.base_url, self.headers, timeout=self.timeout, verify=self.verify,
            authorization=f"Bearer {self.api_key}" if self.api_key else "",
        )  # fmt: skip

    @property
    def identity(self) -> str:
        """Everything that determines the vectors."""
        where = self._server.shown_url
        return f"openai:{where}:{self.model}:{self.dimensions}:{self.text_prefix}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per text."""
        return self._embed_all([self.text_prefix + text for text in texts], texts, self.attempts)

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per query."""
        return self._embed_all([self.query_prefix + text for text in texts], texts, attempts=1)

    def _embed_all(
        self, inputs: Sequence[str], texts: Sequence[str], attempts: int
    ) -> npt.NDArray[np.float32]:
        places = [place for place, text in enumerate(texts) if clean_text(text).strip()]
        rows: list[list[float]] = []
        for start in range(0, len(places), self.batch_size):
            part = [clean_text(inputs[place]) for place in places[start : start + self.batch_size]]
            rows += self._request(part, attempts)
        lengths = {len(row) for row in rows} or {1}
        if len(lengths) > 1:
            raise self._unexpected(f"vectors of different lengths {sorted(lengths)}")
        vectors = np.zeros((len(texts), lengths.pop()), dtype=np.float32)
        if places:
            vectors[places] = rows
        return vectors

    def _request(self, inputs: list[str], attempts: int) -> list[list[float]]:
        body: dict[str, Any] = {"model": self.model, "input": inputs, "encoding_format": "float"}
        if self.dimensions:
            body["dimensions"] = self.dimensions
        most = _VECTOR_BYTES * len(inputs)
        answer = self._server.ask("POST", "/embeddings", attempts=attempts, body=body, most=most)
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list) or len(data) != len(inputs):
            found = f"{len(data)} vectors" if isinstance(data, list) else "no array 'data'"
            raise self._unexpected(f"{found} for {len(inputs)} texts")
        rows: list[list[float] | None] = [None] * len(inputs)
        for place, item in enumerate(data):
            index = item.get("index", place) if isinstance(item, dict) else None
            vector = item.get("embedding") if isinstance(item, dict) else None
            if not isinstance(index, int) or not 0 <= index < len(rows) or rows[index] is not None:
                raise self._unexpected(f"the index {show(index)} at data[{place}]")
            if not vector or not isinstance(vector, list) or not all(map(_is_finite, vector)):
                raise self._unexpected(f"{show(vector)} at data[{place}].embedding")
            rows[index] = vector
        return [row for row in rows if row is not None]

    def _unexpected(self, found: str) -> ProviderError:
        msg = (
            f"the embedder openai: {self._server.shown_url}: expected a vector of finite numbers "
            f"for each text, found {found}"
        )
        return ProviderError(self._server.mask(msg))

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
