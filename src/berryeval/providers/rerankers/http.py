"""Rerankers on servers with the protocol of Cohere, Jina or text-embeddings-inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from berryeval._internal.plain import show
from berryeval._internal.validate import (
    is_number,
    is_whole,
    require_choice,
    require_text,
    require_whole,
)
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.base import add_costs, clean_text
from berryeval.providers.rerankers.base import Reranking, text_of
from berryeval.providers.web import JsonServer

if TYPE_CHECKING:
    from berryeval.data import Hit, Query


class _Shape(NamedTuple):
    """How a kind of server is asked, and where its answer has the scores."""

    url: str  # "" if everybody has their own
    texts: str  # field of the request
    score: str  # field of a result
    batch: int  # most texts per request by default
    cost: Mapping[str, str]  # path in the answer by unit


_SHAPES: Final[Mapping[str, _Shape]] = {
    "cohere": _Shape(
        "https://api.cohere.com/v2/rerank", "documents", "relevance_score", 1000,
        {"search_units": "meta.billed_units.search_units"},
    ),
    "jina": _Shape(
        "https://api.jina.ai/v1/rerank", "documents", "relevance_score", 1000,
        {"tokens": "usage.total_tokens"},
    ),
    "tei": _Shape("", "texts", "score", 32, {}),
}  # fmt: skip
_WHAT: Final = "the reranker http"


@dataclass
class HttpReranker:
    """A reranker behind an address, such as Cohere, Jina, text-embeddings-inference or vLLM.

    Every text must get exactly one score, otherwise the query fails. More texts than `batch_size`
    are sent in several requests, so scores must not depend on the other texts of a request; those
    of cross-encoders do not. Temporary errors are tried again by the runner.

    Attributes:
        shape: Protocol: "cohere" (also vLLM and others with `/v2/rerank`), "jina" (`/v1/rerank`) or
            "tei" (`/rerank` of text-embeddings-inference).
        url: Whole address of the endpoint; for "tei" required, otherwise that of the company.
        model: Model name on the server; may be "" for a server of your own with one model.
        api_key: Key sent as `Authorization: Bearer ...`; "" for none.
        headers: Further headers.
        batch_size: Most texts per request; 0 for 1,000, or 32 for "tei", whose servers by default
            take no more.
        timeout: Seconds without data after which a request fails.
        verify: Whether to check the certificate of the server.
    """

    modules: ClassVar[Sequence[str]] = ("httpx",)
    extra: ClassVar[str] = "http"
    is_remote: ClassVar[bool] = True
    shape: str = "cohere"
    url: str = field(default="", repr=False)
    model: str = ""
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    batch_size: int = 0
    timeout: float = 60.0
    verify: bool = True
    _server: JsonServer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_choice(f"shape of {_WHAT}", self.shape, _SHAPES)
        require_whole(f"batch_size of {_WHAT}", self.batch_size, least=0)
        require_text(f"api_key of {_WHAT}", self.api_key)
        require_text(f"model of {_WHAT}", self.model)
        url = self.url or self._shape.url
        if not url:
            raise ConfigurationError(
                f"url of {_WHAT} is missing; set it to the address of the endpoint, such as "
                "http://localhost:8080/rerank"
            )
        if not self.url and not self.model:
            raise ConfigurationError(f"model of {_WHAT} is missing; set it to one that {url} has")
        self._server = JsonServer(
            _WHAT, url, self.headers, timeout=self.timeout, verify=self.verify,
            authorization=f"Bearer {self.api_key}" if self.api_key else "",
        )  # fmt: skip

    @property
    def _shape(self) -> _Shape:
        return _SHAPES[self.shape]

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """Ask the server for the score of each hit."""
        size = self.batch_size or self._shape.batch
        scores: list[float] = []
        costs = []
        for start in range(0, len(hits), size):
            texts = [text_of(hit) for hit in hits[start : start + size]]
            answer = self._server.ask("POST", body=self._build_body(query, texts))
            scores += self._read_scores(answer, len(texts))
            costs.append(self._read_cost(answer))
        return Reranking(scores, add_costs(costs))

    def _build_body(self, query: Query, texts: list[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model} if self.model else {}
        body |= {"query": clean_text(query.text), self._shape.texts: texts}
        if self.shape == "tei":
            return {**body, "truncate": True}  # a longer text would be an error of the request
        more = {"return_documents": False} if self.shape == "jina" else {}
        return {**body, "top_n": len(texts), **more}

    def _read_scores(self, answer: Any, count: int) -> list[float]:
        """Return a score for each text; every index must come once, with a finite number."""
        results = answer.get("results") if isinstance(answer, Mapping) else answer
        if (self.shape == "tei") == isinstance(answer, Mapping) or not isinstance(results, list):
            wanted = "an array" if self.shape == "tei" else "an object with an array 'results'"
            raise self._unexpected(f"{wanted}, found {show(answer)}")
        if len(results) != count:
            raise self._unexpected(f"{count} results, one per text, found {len(results)}")
        scores: dict[int, float] = {}
        for place, one in enumerate(results):
            index = one.get("index") if isinstance(one, Mapping) else None
            score = one.get(self._shape.score) if isinstance(one, Mapping) else None
            if not is_whole(index) or not 0 <= index < count:
                raise self._unexpected(
                    f"an index from 0 to {count - 1}, found {show(index)} in result {place}"
                )
            if index in scores:
                raise self._unexpected(f"each index once, found {index} twice")
            if not is_number(score):
                raise self._unexpected(
                    f"a finite number as {self._shape.score!r}, found {show(score)} in result "
                    f"{place}"
                )
            scores[index] = float(score)
        return [scores[index] for index in range(count)]

    def _read_cost(self, answer: Any) -> dict[str, float]:
        """Return what the server says that it counts; nothing if it says nothing."""
        found = {}
        for unit, path in self._shape.cost.items():
            amount = answer
            for name in path.split("."):
                amount = amount.get(name) if isinstance(amount, Mapping) else None
            if is_number(amount) and amount >= 0:
                found[unit] = amount
        return found

    def _unexpected(self, words: str) -> ProviderError:
        where = self._server.shown_url
        return ProviderError(self._server.mask(f"{_WHAT}: {where}: expected {words}"))

    def close(self) -> None:
        """Close the connections."""
        self._server.close()
