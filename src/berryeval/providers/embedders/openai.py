"""Embeddings from any server that speaks the `/v1/embeddings` of OpenAI."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval.errors import ProviderError
from berryeval.providers.base import check_counts, writable
from berryeval.providers.web import JsonServer, check_headers, check_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt


@dataclass
class OpenAi:
    """Embeddings from OpenAI, or from any server that speaks its `/v1/embeddings`.

    A text without a word is not sent: it has no direction. When chunks are embedded, errors that
    can pass are waited for here; when a query is, the harness does the waiting.

    Attributes:
        model: what the server calls the model.
        base_url: where it is, up to and with `/v1`.
        api_key: sent as `Authorization: Bearer ...`; "" for a server that wants none.
        headers: sent besides.
        dimensions: how many numbers per vector, for models that can shorten them; 0 for all.
        batch_size: how many texts to send at once.
        query_prefix: put before every query; some models want one.
        text_prefix: put before every text that is searched.
        attempts: how often to ask while chunks are embedded.
        timeout: seconds without a byte after which a request is given up.
        verify: whether the certificate of the server is checked.
        cache: a folder for vectors that were made once, None for the usual one, "" for none.
    """

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
        """Refuse what could not be sent."""
        name = "the embedder openai"
        check_counts(name, batch_size=self.batch_size, attempts=self.attempts)
        check_texts(name, model=self.model, api_key=self.api_key)
        check_headers(name, self.headers)
        headers = dict(self.headers)
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        self._server = JsonServer(
            name, self.base_url, headers, timeout=self.timeout, verify=self.verify
        )

    @property
    def identity(self) -> str:
        """What decides the numbers: who makes them, of which model and text."""
        where = self._server.shown_url
        return f"openai:{where}:{self.model}:{self.dimensions}:{self.text_prefix}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per text."""
        return self._rows([self.text_prefix + text for text in texts], texts, self.attempts)

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per query."""
        return self._rows([self.query_prefix + text for text in texts], texts, attempts=1)

    def _rows(
        self, inputs: Sequence[str], texts: Sequence[str], attempts: int
    ) -> npt.NDArray[np.float32]:
        said = [place for place, text in enumerate(texts) if writable(text).strip()]
        rows: list[list[float]] = []
        for start in range(0, len(said), self.batch_size):
            part = [writable(inputs[place]) for place in said[start : start + self.batch_size]]
            rows += self._asked(part, attempts)
        lengths = {len(row) for row in rows} or {1}
        if len(lengths) > 1:
            msg = f"vectors of different lengths {sorted(lengths)}"
            raise self._unexpected(msg)
        vectors = np.zeros((len(texts), lengths.pop()), dtype=np.float32)
        if said:
            vectors[said] = rows
        return vectors

    def _asked(self, inputs: list[str], attempts: int) -> list[list[float]]:
        body: dict[str, Any] = {
            "model": self.model, "input": inputs, "encoding_format": "float",
        }  # fmt: skip
        if self.dimensions:
            body["dimensions"] = self.dimensions
        answer = self._server.ask("POST", "/embeddings", attempts=attempts, body=body)
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list) or len(data) != len(inputs):
            found = f"{len(data)} vectors" if isinstance(data, list) else "no array 'data'"
            msg = f"{found} for {len(inputs)} texts"
            raise self._unexpected(msg)
        rows: list[list[float] | None] = [None] * len(inputs)
        for place, item in enumerate(data):
            index = item.get("index", place) if isinstance(item, dict) else None
            vector = item.get("embedding") if isinstance(item, dict) else None
            if not isinstance(index, int) or not 0 <= index < len(rows) or rows[index] is not None:
                msg = f"the index {index!r:.80} at data[{place}]"
                raise self._unexpected(msg)
            if not _is_vector(vector):
                msg = f"{vector!r:.80} at data[{place}].embedding"
                raise self._unexpected(msg)
            rows[index] = vector
        return [row for row in rows if row is not None]

    def _unexpected(self, found: str) -> ProviderError:
        msg = (
            f"the embedder openai: {self._server.shown_url}: expected a vector of finite numbers "
            f"for each text, found {found}"
        )
        return ProviderError(self._server.masked(msg))

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


def _is_vector(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, int | float) and math.isfinite(item) for item in value)
    )
