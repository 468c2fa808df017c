"""Embedders from an OpenAI-compatible server and from model2vec, and what they share."""

from __future__ import annotations

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError, MissingDependencyError, ProviderError
from berryeval.providers.dense import Dense
from berryeval.providers.embedders.base import build_embedder, embed_query, embed_texts
from berryeval.providers.embedders.cache import model_identity
from berryeval.providers.embedders.openai import OpenAi
from tests.providers.corpus import CHUNKS, query
from tests.providers.loopback import Asked, Loopback, Reply, loopback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CANARY = "canary-77b0aa"
LENGTH = 64


def vector(text: str, length: int = LENGTH) -> list[float]:
    """Hash the words of a text into a vector, so that texts with common words are close."""
    row = [0.0] * length
    for word in text.lower().split():
        row[hashlib.sha256(word.encode()).digest()[0] % length] += 1.0
    return row


def embeddings(asked: Asked) -> Any:
    assert (asked.method, asked.path) == ("POST", "/v1/embeddings")
    body = asked.body
    if any(not text for text in body["input"]):
        return Reply({"error": {"message": "'$.input' is invalid"}}, 400)
    length = body.get("dimensions", LENGTH)
    data = [{"index": p, "embedding": vector(t, length)} for p, t in enumerate(body["input"])]
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": {}}


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(embeddings) as place:
        yield place


@contextmanager
def open_ai(server: Loopback, **options: Any) -> Iterator[OpenAi]:
    embedder = OpenAi(**{"base_url": f"{server.url}/v1", "cache": "", **options})
    try:
        yield embedder
    finally:
        embedder.close()


def test_vectors_are_in_the_order_of_the_texts(server: Loopback) -> None:
    texts = ["one two", "", "three", " \n", "four five six", "\x00"]
    with open_ai(server, batch_size=2, model="m", api_key=CANARY) as embedder:
        rows = embedder.embed(texts)
    assert np.array_equal(rows, [vector(text.replace("\x00", " ")) for text in texts])
    assert [asked.body["input"] for asked in server.asked] == [
        ["one two", "three"], ["four five six"],
    ]  # fmt: skip
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {CANARY}"}
    assert server.asked[0].body["model"] == "m"
    assert "dimensions" not in server.asked[0].body


def test_options_reach_the_server(server: Loopback) -> None:
    options = {"dimensions": 8, "query_prefix": "query: ", "text_prefix": "text: "}
    with open_ai(server, **options) as embedder:
        assert embedder.embed(["a"]).shape == (1, 8)
        assert embedder.embed_queries(["a", "b"]).shape == (2, 8)
    assert [asked.body["input"] for asked in server.asked] == [
        ["text: a"], ["query: a", "query: b"],
    ]  # fmt: skip


def test_dense_search_works_with_openai(server: Loopback) -> None:
    options = {"base_url": f"{server.url}/v1", "api_key": CANARY, "cache": ""}
    with (
        Dense(embedder="openai", embedder_options=options) as provider,
        ThreadPoolExecutor(4) as threads,
    ):
        provider.index([*CHUNKS, Chunk("odd", "d", "ünï\ud800")])
        texts = ["access tokens expire", "backups run", "connection pool"] * 5
        found = list(threads.map(lambda text: provider.search(query(text), 1)[0].id, texts))
        assert found == ["tokens", "backup", "pool"] * 5
        assert provider.search(query(" "), 3) == []
        provider.index([Chunk("e", "d", ""), Chunk("f", "d", " ")])
        assert provider.search(query("access tokens"), 3) == []
    assert CANARY not in repr(provider)


def test_a_busy_server_is_retried_while_indexing_only() -> None:
    busy = [Reply({"error": "slow down"}, 429, {"Retry-After": "0"})] * 3

    def answer(asked: Asked) -> Any:
        return busy.pop() if busy else embeddings(asked)

    with loopback(answer) as server, open_ai(server, attempts=3) as embedder:
        with pytest.raises(ProviderError, match="status 429") as caught:
            embed_query(embedder, "text")
        assert (caught.value.passing, caught.value.retry_after) == (True, 0)
        assert len(server.asked) == 1
        assert embed_texts(embedder, ["text"]).any()
        assert len(server.asked) == 4
        busy.extend([Reply({}, 429, {"Retry-After": "0"})] * 9)
        with pytest.raises(ProviderError, match="status 429"):
            embed_texts(embedder, ["text"])
        assert len(server.asked) == 7


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Reply({"error": {"message": f"Incorrect API key provided: {CANARY}"}}, 401), "status 401"),
        (Reply(b"<html>"), "expected JSON, found '<html>'"),
        ([], "found no array 'data' for 2 texts"),
        ({"data": [{"embedding": [1.0]}]}, "found 1 vectors for 2 texts"),
        (
            {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]},
            r"lengths \[1, 2\]",
        ),
        ({"data": [{"index": 0, "embedding": [1.0]}] * 2}, r"the index 0 at data\[1\]"),
        ({"data": [{"index": 5, "embedding": [1.0]}] * 2}, r"the index 5 at data\[0\]"),
        ({"data": [{"embedding": "AAAA"}] * 2}, r"found 'AAAA' at data\[0\]\.embedding"),
        ({"data": [{"embedding": [1.0, None]}] * 2}, r"found \[1\.0, None\] at data\[0\]"),
        (Reply(b'{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}'), r"found \[nan\] at data"),
        ({"data": [{"embedding": []}] * 2}, r"found \[\] at data\[0\]"),
        ({"data": [3, 4]}, r"the index None at data\[0\]"),
    ],
)
def test_an_invalid_answer_is_described_without_the_key(answer: Any, message: str) -> None:
    with (
        loopback(lambda _: answer) as server,
        open_ai(server, api_key=CANARY, attempts=1) as embedder,
        pytest.raises(ProviderError, match=message) as caught,
    ):
        embedder.embed(["one", "two"])
    assert CANARY not in str(caught.value)
    assert CANARY not in repr(embedder)
    assert not caught.value.passing


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("openai", {"batch_size": 0}, "batch_size of the embedder openai must be a whole number"),
        ("openai", {"attempts": "3"}, "attempts of the embedder openai must be a whole number"),
        ("openai", {"base_url": "api"}, "url of the embedder openai must look like http"),
        ("openai", {"api_key": 3}, "api_key of the embedder openai must be text, found int"),
        (
            "openai",
            {"api_key": f"{CANARY}\n"},
            "'Authorization' of the embedder openai must",
        ),
        ("openai", {"headers": 3}, "headers of the embedder openai must map names to values"),
        ("openai", {"modle": "m"}, "embedder 'openai' has no option 'modle'; did you mean 'model'"),
        ("opnai", {}, "unknown embedder 'opnai'; did you mean 'openai'"),
        ("sentence-transformers", {"batch_size": -1}, "batch_size of the embedder sentence-trans"),
    ],
)
def test_invalid_options_are_rejected(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        build_embedder(name, options)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "module"),
    [("sentence-transformers", "sentence_transformers"), ("model2vec", "model2vec")],
)
def test_a_missing_package_is_named_with_its_install_command(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    embedder = build_embedder(name, {"cache": ""})
    with pytest.raises(MissingDependencyError, match=f'pip install "{name}>='):
        embed_texts(embedder, ["text"])


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from model2vec import StaticModel

    words = ["[UNK]", "[PAD]", "tokens", "expire", "backup", "night", "pool", "database"]
    tokenizer = Tokenizer(WordLevel({word: p for p, word in enumerate(words)}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.random.default_rng(0).normal(size=(len(words), 16)).astype(np.float32)
    folder = tmp_path_factory.mktemp("model")
    StaticModel(vectors, tokenizer).save_pretrained(str(folder))
    return folder


def test_model2vec_vectors_match_the_package(model_folder: Path) -> None:
    from model2vec import StaticModel

    embedder = build_embedder("model2vec", {"model": str(model_folder), "query_prefix": "night "})
    texts = ["tokens expire", "pool", "", "zzz", "a\x00b\ud800"]
    theirs = StaticModel.from_pretrained(str(model_folder)).encode(["tokens expire", "pool"])
    ours = embedder.embed(texts)
    assert ours.shape == (5, 16)
    assert np.allclose(ours[:2], theirs)
    night = embedder.embed(["night pool"])[0]
    assert np.allclose(embed_query(embedder, "pool"), night / np.linalg.norm(night), atol=1e-6)


def test_a_model_can_be_given_capitals_in_lower_case(model_folder: Path) -> None:
    plain = build_embedder("model2vec", {"model": str(model_folder)})
    lower = build_embedder("model2vec", {"model": str(model_folder), "lower_capitals": True})
    assert np.array_equal(lower.embed(["TOKENS expiRE"]), plain.embed(["tokens expire"]))
    assert np.array_equal(lower.embed(["Tokens"]), plain.embed(["Tokens"]))
    assert np.array_equal(embed_query(lower, "POOL"), embed_query(plain, "pool"))
    assert not np.array_equal(plain.embed(["POOL"]), plain.embed(["pool"]))
    assert lower.identity != plain.identity  # type: ignore[attr-defined]


def test_dense_search_works_with_model2vec(model_folder: Path) -> None:
    provider = Dense("model2vec", {"model": str(model_folder)})
    chunks = [Chunk(word, "d", word) for word in ("tokens", "backup", "pool")]
    provider.index(chunks)
    with ThreadPoolExecutor(4) as threads:
        asked = ["pool", "tokens", "backup"] * 5
        found = list(threads.map(lambda text: provider.search(query(text), 1)[0].id, asked))
    assert found == asked


def test_a_missing_model_is_reported(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    embedder = build_embedder("model2vec", {"model": str(tmp_path)})
    with pytest.raises(ConfigurationError, match=r"model of the embedder model2vec: .* cannot be"):
        embed_texts(embedder, ["text"])


def test_the_identity_of_a_model_folder_changes_with_its_files(tmp_path: Path) -> None:
    assert model_identity("org/name") == "org/name"
    (tmp_path / "weights").write_bytes(b"1")
    before = model_identity(str(tmp_path))
    assert before == model_identity(str(tmp_path))
    (tmp_path / "weights").write_bytes(b"12")
    assert model_identity(str(tmp_path)) != before
