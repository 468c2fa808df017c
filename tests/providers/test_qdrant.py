"""The provider `qdrant`: folders, and a server over HTTP. Shared behaviour is in test_engines."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ProviderError
from berryeval.providers.dense import Dense
from berryeval.providers.qdrant import Qdrant
from tests.providers.corpus import CHUNKS, query
from tests.providers.qdrant_server import KEY, qdrant_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.providers.qdrant_server import Server

# The client warns about sending a key unencrypted, which is safe on this machine.
pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


@pytest.fixture
def server() -> Iterator[Server]:
    with qdrant_server() as started:
        yield started


def test_a_folder_is_left_without_a_collection(tmp_path: Path) -> None:
    with Qdrant(path=str(tmp_path)) as provider:
        provider.index(CHUNKS)
        provider.index(CHUNKS)
        assert provider.search(query("tokens"), 1)[0].id == "tokens"
        assert len(list((tmp_path / "collection").iterdir())) == 1
    assert list((tmp_path / "collection").iterdir()) == []


# The client does not close a file that it could not lock.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_a_folder_in_use_is_reported(tmp_path: Path) -> None:
    with Qdrant(path=str(tmp_path)) as first, Qdrant(path=str(tmp_path)) as second:
        first.index(CHUNKS)
        with pytest.raises(ProviderError, match=r"Qdrant at .+already accessed") as caught:
            second.index(CHUNKS)
        assert not caught.value.passing
    del caught
    gc.collect()  # while the warning is not an error


def test_a_large_local_collection_causes_no_warning() -> None:
    with Qdrant() as provider:
        provider.index([Chunk(str(place), "d", f"number {place}") for place in range(20_001)])
        assert len(provider.search(query("number 7"), 5)) == 5


@pytest.mark.parametrize("approximate", [False, True])
def test_a_server_finds_the_same_as_dense(
    server: Server,
    approximate: bool,
) -> None:
    dense = Dense()
    dense.index(CHUNKS)
    expected = dense.search(query("rate limit"), 6)
    with Qdrant(server.url, KEY, batch_size=2, approximate=approximate) as provider:
        provider.index(CHUNKS)
        found = provider.search(query("rate limit"), 6)
    assert [hit.id for hit in found] == [hit.id for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=1e-5)
    batches = [body for method, path, body in server.asked if method == "PUT" and "/points" in path]
    assert [len(batch["points"]) for batch in batches] == [2, 2, 2]
    (asked,) = [body for method, _, body in server.asked if method == "POST"]
    assert asked["params"]["exact"] is not approximate
    assert server.client.get_collections().collections == []


@pytest.mark.parametrize(
    ("status", "headers", "message", "passing", "wait"),
    [
        (401, {}, "401 Unauthorized", False, None),
        (404, {}, "404 Not Found", False, None),
        (429, {}, "429 Too Many Requests", True, None),
        (429, {"Retry-After": "7"}, "too many requests", True, 7),
        (429, {"Retry-After": "tomorrow"}, "Retry-After", True, None),
        (503, {}, "503 Service Unavailable", True, None),
        (200, {}, "Search returned None", False, None),
    ],
)
def test_an_error_of_the_server_is_reported(
    server: Server, status: int, headers: dict[str, str], message: str, *,
    passing: bool, wait: int | None,
) -> None:  # fmt: skip
    with Qdrant(server.url, KEY) as provider:
        provider.index(CHUNKS)
        server.answer = status, headers, b'{"wrong": true}'
        with pytest.raises(ProviderError, match=f"^Qdrant at 127.0.0.1:[0-9]+: .*{message}") as it:
            provider.search(query("tokens"), 1)
        server.answer = None
        assert (it.value.passing, it.value.retry_after) == (passing, wait)
        assert KEY not in str(it.value)
        assert provider.search(query("tokens"), 1)[0].id == "tokens"


def test_a_wrong_key_is_rejected(server: Server) -> None:
    with Qdrant(server.url, "wrongkey") as provider:
        with pytest.raises(ProviderError, match="401 Unauthorized") as caught:
            provider.index(CHUNKS)
        assert "wrongkey" not in str(caught.value) + repr(provider)


def test_an_unreachable_server_is_named_without_its_secrets() -> None:
    with Qdrant("http://me:pass2word@127.0.0.1:1", KEY) as provider:
        with pytest.raises(ProviderError, match=r"Qdrant at 127\.0\.0\.1:1: .+refused") as caught:
            provider.index(CHUNKS)
        assert caught.value.passing
        shown = str(caught.value) + repr(provider)
        assert KEY not in shown
        assert "pass2word" not in shown
