"""The provider `chroma`: folders, batches and errors. Shared behaviour is in test_engines."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ProviderError
from berryeval.providers.chroma import Chroma
from berryeval.providers.dense import Dense
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = ["harbour", "engine", "violin", "glacier", "market"]


def test_a_user_folder_keeps_its_collections(tmp_path: Path) -> None:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    made: Any = chromadb.PersistentClient(str(tmp_path), settings=settings)
    with closing(made) as client:
        client.create_collection("mine", embedding_function=None)
        with Chroma(str(tmp_path)) as provider:
            provider.index(CHUNKS)
            provider.index(CHUNKS)
            assert client.count_collections() == 2
            assert provider.search(query("tokens"), 1)[0].id == "tokens"
        assert [collection.name for collection in client.list_collections()] == ["mine"]


def test_telemetry_is_off_and_no_model_is_loaded() -> None:
    with Chroma() as provider:
        provider.index(CHUNKS)
        assert provider._client.get_settings().anonymized_telemetry is False
        assert provider._collection._embedding_function is None


def test_the_index_finds_most_of_the_nearest_chunks() -> None:
    words = [f"{word} number {number}" for number in range(1200) for word in TOPICS]
    chunks = [Chunk(str(place), "d", text) for place, text in enumerate(words)]
    with Chroma(ef_search=200) as provider, Dense() as dense:
        assert len(chunks) > provider._client.get_max_batch_size()
        for one in (provider, dense):
            one.index(chunks)
        found = 0
        for topic in TOPICS:
            asked = query(f"the {topic} with number 77")
            best = {hit.id for hit in dense.search(asked, 10)}
            found += len(best & {hit.id for hit in provider.search(asked, 10)})
        assert found >= 0.9 * 10 * len(TOPICS)
    assert provider._collection is None


def test_an_unusable_folder_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with Chroma(str(file)) as provider, pytest.raises(ProviderError, match=r"Chroma at .+file: "):
        provider.index(CHUNKS)
