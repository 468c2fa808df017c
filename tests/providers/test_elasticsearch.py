"""The provider `elasticsearch`, over real HTTP against a small server with the same API."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.bm25 import Bm25
from berryeval.providers.catalogue import build_provider
from berryeval.providers.dense import Dense
from berryeval.providers.elasticsearch import Elasticsearch
from tests.providers.corpus import CHUNKS, query
from tests.providers.loopback import Loopback, Reply, loopback
from tests.providers.search_cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MODES = ["text", "vector", "hybrid"]
CANARY = "canary-81d3e0"


@pytest.fixture(params=["elasticsearch", "opensearch"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    return Cluster(request.param)


@pytest.fixture
def server(cluster: Cluster) -> Iterator[Loopback]:
    with loopback(cluster) as place:
        yield place


def search_ids(
    server: Loopback, text: str, chunks: Sequence[Chunk] = CHUNKS, **options: Any
) -> list[str]:
    with build_provider("elasticsearch", {"url": server.url, **options}) as provider:
        provider.index(chunks)
        hits = provider.search(query(text), 3)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        return [hit.id for hit in hits]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_finds_the_answer(server: Loopback, mode: str) -> None:
    assert search_ids(server, "when do access tokens expire", mode=mode)[0] == "tokens"
    if mode != "text":
        assert search_ids(server, "restoring lost data from a copy", mode=mode)[0] == "backup"


def test_text_scores_match_the_bm25_provider(server: Loopback) -> None:
    own = Bm25(stemmer="", stopwords=False)
    own.index(CHUNKS)
    with Elasticsearch(server.url, analyzer="standard") as provider:
        provider.index(CHUNKS)
        for text in ("thirty days", "requests per minute", "the database of the night"):
            expected = own.search(query(text), 6)
            found = provider.search(query(text), 6)
            assert [hit.id for hit in found] == [hit.id for hit in expected]
            assert [hit.score for hit in found] == pytest.approx([h.score for h in expected], 1e-5)


def test_vector_scores_match_the_dense_provider(server: Loopback) -> None:
    dense = Dense()
    dense.index(CHUNKS)
    expected = dense.search(query("rate limit"), 6)
    with Elasticsearch(server.url, mode="vector") as provider:
        provider.index(CHUNKS)
        found = provider.search(query("rate limit"), 6)
    assert [hit.id for hit in found] == [hit.id for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([h.score for h in expected], abs=1e-5)


def test_hybrid_mode_fuses_by_rank(server: Loopback) -> None:
    with Elasticsearch(server.url, mode="hybrid") as provider:
        provider.index(CHUNKS)
        first = provider.search(query("access tokens"), 2)[0]
    assert first.id == "tokens"
    assert first.score == pytest.approx(2 / 61)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["", "the of", 'a "b" AND (c OR d* ~)', "a\x00b", "ünï\ud800"])
def test_unusual_queries_are_plain_text(server: Loopback, mode: str, text: str) -> None:
    assert len(search_ids(server, text, mode=mode)) <= 3


@pytest.mark.parametrize("mode", MODES)
def test_unusual_chunks_are_indexed(server: Loopback, mode: str) -> None:
    odd = [Chunk("x" * 600, "d", 'new\nline "quoted"'), Chunk("\ud800", "d", "\x00"), CHUNKS[0]]
    assert search_ids(server, "quoted line", odd, mode=mode)[0] == "x" * 600
    assert search_ids(server, "anything", [], mode=mode) == []
    assert search_ids(server, "anything", [Chunk("e", "d", "")], mode=mode) == []


def test_ties_are_ordered_by_descending_id(server: Loopback) -> None:
    same = [Chunk(name, "d", "same words here") for name in ["b", "D", "a", "é"]]
    assert search_ids(server, "words", same) == ["é", "b", "a"]


def test_the_index_is_deleted(cluster: Cluster, server: Loopback) -> None:
    provider = Elasticsearch(server.url, prefix="mine")
    assert provider.search(query("tokens"), 1) == []
    provider.index(CHUNKS)
    provider.index(CHUNKS[:2])
    (name,) = cluster.indices
    assert name.startswith("mine-")
    assert len(cluster.indices[name].documents) == 2
    provider.close()
    assert not cluster.indices


def test_many_chunks_are_sent_in_several_requests(cluster: Cluster, server: Loopback) -> None:
    many = [Chunk(f"c{place}", "d", f"word{place}") for place in range(2500)]
    long = [Chunk(f"l{place}", "d", "x" * 1_500_000) for place in range(4)]
    with Elasticsearch(server.url) as provider:
        provider.index(many)
        (index,) = cluster.indices.values()
        assert len(index.seen) == 2500
        assert provider.search(query("word1234"), 1)[0].id == "c1234"
        provider.index(long)
    sizes = [len(asked.content) for asked in server.asked if asked.path.endswith("_bulk")]
    assert len(sizes) == 5
    assert max(sizes) < 5_000_000


def test_threads_share_one_client(server: Loopback) -> None:
    with Elasticsearch(server.url, mode="hybrid") as provider, ThreadPoolExecutor(4) as threads:
        provider.index(CHUNKS)
        asked = {"tokens": "access tokens", "backup": "nightly backups", "pool": "connection pool"}
        jobs = {name: threads.submit(provider.search, query(t), 1) for name, t in asked.items()}
        assert {name: job.result()[0].id for name, job in jobs.items()} == {n: n for n in asked}


def test_a_busy_server_is_retried_while_indexing(cluster: Cluster, server: Loopback) -> None:
    busy = Reply({"error": "busy"}, 429, {"Retry-After": "0"})
    cluster.answers = {"_bulk": [busy, busy], "_search": [busy]}
    with Elasticsearch(server.url) as provider:
        provider.index(CHUNKS)
        with pytest.raises(ProviderError, match="_search: status 429") as caught:
            provider.search(query("tokens"), 1)
        assert (caught.value.passing, caught.value.retry_after) == (True, 0)
        assert provider.search(query("tokens"), 1)[0].id == "tokens"


@pytest.mark.parametrize(
    ("ending", "answer", "message"),
    [
        ("_bulk", {"errors": True, "items": [{"index": {"error": {"reason": "too long"}}}, {}]},
         "_bulk: 1 of 2 chunks were rejected; the first: too long"),
        ("_bulk", {"errors": True, "items": []}, "0 of 0 chunks were rejected; .* no reason given"),
        ("_bulk", [], r"expected an object with 'errors' and 'items', found \[\]"),
        ("_search", {"hits": {}}, "no hits in the answer .KeyError: 'hits'"),
        ("_search", {"hits": {"hits": [{"_id": "99", "_score": 1}]}}, "IndexError"),
        ("_search", {"hits": {"hits": [{"_id": "0", "_score": None}]}}, "TypeError"),
        ("_search", [], "no hits in the answer"),
        ("_search", Reply({"error": {"reason": "shards"}}, 503), "status 503 .*shards"),
        ("/", {"tagline": "hello"}, "reports no version; is it another server"),
        ("/", Reply({"error": f"no {CANARY}"}, 401), r"status 401 Unauthorized: .*no \*\*\*"),
    ],
)  # fmt: skip
def test_invalid_answers_are_described(
    cluster: Cluster, server: Loopback, ending: str, answer: Any, message: str
) -> None:
    cluster.answers = {ending: [answer]}
    with Elasticsearch(server.url, api_key=CANARY) as provider:

        def work() -> None:
            provider.index(CHUNKS)
            provider.search(query("tokens"), 1)

        with pytest.raises(ProviderError, match=message) as caught:
            work()
    assert CANARY not in str(caught.value)
    assert not cluster.indices


def test_an_error_of_the_server_is_reported(server: Loopback) -> None:
    with pytest.raises(ProviderError, match=r"analyzer \[klingon\] has not been") as caught:
        search_ids(server, "x", analyzer="klingon")
    assert not caught.value.passing


def test_an_unreachable_server_is_named_without_its_password() -> None:
    provider = Elasticsearch(
        f"http://me:{CANARY}@127.0.0.1:1", flavour="opensearch", user="me", password=CANARY
    )
    provider._index = "gone"
    with pytest.raises(ProviderError, match=r"elasticsearch: DELETE http://127.0.0.1:1/gone: "):
        provider.index(CHUNKS)
    provider._index = "gone"
    provider.close()
    assert CANARY not in repr(provider)


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"api_key": CANARY}, f"ApiKey {CANARY}"),
        ({"user": "me", "password": CANARY}, "Basic bWU6Y2FuYXJ5LTgxZDNlMA=="),
        ({"headers": {"Authorization": f"Bearer {CANARY}"}}, f"Bearer {CANARY}"),
    ],
)
def test_every_request_is_authenticated(
    server: Loopback, options: dict[str, Any], sent: str
) -> None:
    assert search_ids(server, "tokens", **options)[0] == "tokens"
    assert {asked.headers["authorization"] for asked in server.asked} == {sent}
    assert CANARY not in repr(Elasticsearch(server.url, **options))


def test_the_index_uses_the_vector_type_of_the_flavour(cluster: Cluster, server: Loopback) -> None:
    search_ids(server, "tokens", mode="vector", flavour=cluster.flavour)
    made = next(asked.body for asked in server.asked if asked.method == "PUT")
    kind = {"elasticsearch": "dense_vector", "opensearch": "knn_vector"}[cluster.flavour]
    assert made["mappings"]["properties"]["embedding"]["type"] == kind
    assert made["settings"]["index"].get("knn", False) == (cluster.flavour == "opensearch")
    assert made["settings"]["index"]["number_of_shards"] == 1
    assert '"embedding"' in json.dumps(server.asked[-2].body)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "words"}, "mode of elasticsearch must be one of text, vector, hybrid, found"),
        ({"flavour": "solr"}, "flavour of elasticsearch must be one of"),
        ({"url": "localhost"}, "url of elasticsearch must look like http"),
        ({"prefix": "_Bad"}, "prefix of elasticsearch must be a to z and 0 to 9, found '_Bad'"),
        (
            {"candidates": 0},
            "candidates of elasticsearch must be a whole number of at least 1",
        ),
        ({"api_key": 12345}, "api_key of elasticsearch must be text, found int"),
        ({"headers": 3}, "headers of elasticsearch must map names to values"),
        ({"analyser": "x"}, "provider 'opensearch' has no option 'analyser'; did you mean"),
    ],
)
def test_invalid_options_are_rejected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider("opensearch", options)
