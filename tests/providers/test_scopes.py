"""Every provider searches only the scope of a query, and finds as many hits there as it asks for.

The best texts for the query are in the wrong conversation.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data import Chunk, Query
from berryeval.errors import BerryEvalError
from berryeval.providers.catalogue import build_provider
from tests.providers.loopback import loopback
from tests.providers.qdrant_server import KEY, qdrant_server
from tests.providers.search_cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.data import Hit

TEXT = "where does the red boat sail"
CHUNKS = [
    *(
        Chunk(f"ann-{n}", f"day-{n % 4}", f"A boat of ours, number {n}, is grey and it's slow.",
              metadata={"conversation": "ann", "tags": ["sea", f"t{n % 2}"], "year": 2020 + n % 2})
        for n in range(20)
    ),
    *(
        Chunk(f"ben-{n}", f"day-{4 + n % 4}", f"The red boat sails to harbour {n}.",
              metadata={"conversation": "ben", "tags": ["sea"], "year": 2020})
        for n in range(60)
    ),
]  # fmt: skip
ANN = Query("q1", TEXT, scope={"conversation": "ann"})
BEN = Query("q2", TEXT, scope={"conversation": "ben"})

ENGINES: list[tuple[str, dict[str, Any]]] = [
    ("bm25", {}),
    ("bm25", {"feedback": 5}),
    ("dense", {}),
    ("dense", {"feedback": 3}),
    ("hybrid", {}),
    ("hybrid", {"fusion": "scores"}),
    ("sqlite", {"mode": "text"}),
    ("sqlite", {"mode": "vector"}),
    ("sqlite", {}),
    ("lancedb", {"mode": "text"}),
    ("lancedb", {"mode": "vector"}),
    ("lancedb", {"mode": "vector", "approximate": True}),
    ("lancedb", {}),
    ("chroma", {}),
    ("qdrant", {}),
    ("postgres", {"mode": "text"}),
    ("postgres", {"mode": "vector"}),
    ("postgres", {"mode": "vector", "approximate": True}),
    ("postgres", {}),
    ("qdrant-server", {}),
    ("elasticsearch", {"mode": "text"}),
    ("elasticsearch", {"mode": "vector"}),
    ("elasticsearch", {"mode": "hybrid"}),
    ("opensearch", {"mode": "vector"}),
]


pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


@pytest.fixture(scope="module", params=ENGINES, ids=str)
def provider(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Every bundled engine, with the chunks of both conversations."""
    name, options = request.param
    if name == "postgres":
        options = {**options, "dsn": request.getfixturevalue("dsn")}
    if name == "qdrant-server":
        with (
            qdrant_server() as server,
            build_provider("qdrant", {"url": server.url, "api_key": KEY}) as found,
        ):
            found.index(CHUNKS)
            yield found
        return
    if name in {"elasticsearch", "opensearch"}:
        with (
            loopback(Cluster(name)) as cluster,
            build_provider(name, {**options, "url": cluster.url}) as found,
        ):
            found.index(CHUNKS)
            yield found
        return
    with build_provider(name, options) as found:
        found.index(CHUNKS)
        yield found


def owners(hits: Sequence[Hit]) -> set[str]:
    return {hit.id.partition("-")[0] for hit in hits}


def test_a_query_finds_only_its_own_conversation_and_full_depth(provider: Any) -> None:
    assert owners(provider.search(Query("q", TEXT), 10)) == {"ben"}
    for query, owner, there in ((ANN, "ann", 20), (BEN, "ben", 60)):
        hits = provider.search(query, 10)
        assert (len(hits), owners(hits)) == (10, {owner})
        assert [hit.rank for hit in hits] == list(range(1, 11))
        assert len(provider.search(query, 70)) == there


def test_a_scope_may_have_several_values_and_fields(provider: Any) -> None:
    def found(**scope: Any) -> set[str]:
        return {hit.id for hit in provider.search(Query("q", TEXT, scope=scope), 80)}

    everything = {chunk.id for chunk in CHUNKS}
    assert found(conversation=["ann", "ben"]) == everything
    assert found(doc_id=["day-1", "day-3"]) == {f"ann-{n}" for n in range(1, 20, 2)}
    assert found(tags="t1") == {f"ann-{n}" for n in range(1, 20, 2)}
    assert found(tags=["sea", "none"]) == everything
    assert found(conversation="ann", year=2020) == {f"ann-{n}" for n in range(0, 20, 2)}
    assert found(conversation="ann", doc_id="day-5") == set()
    assert found(conversation='o\'neil "x" \\ %s') == set()


def test_concurrent_queries_of_two_scopes_do_not_mix(provider: Any) -> None:
    queries = [ANN, BEN] * 20
    expected = [[hit.id for hit in provider.search(one, 10)] for one in (ANN, BEN)] * 20
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda one: [h.id for h in provider.search(one, 10)], queries))
    assert found == expected
    if hasattr(provider, "search_many"):
        together = provider.search_many(queries, 10)
        assert [[hit.id for hit in hits] for hits in together] == expected


def test_an_unknown_field_is_named(provider: Any) -> None:
    with pytest.raises(BerryEvalError, match=r"'convresation'.* mean 'conversation'"):
        provider.search(Query("q", TEXT, scope={"convresation": "ann"}), 5)
