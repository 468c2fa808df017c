"""The provider `chroma`: folders, batches and errors. What it shares is in test_engines."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import chromadb
import pytest
from chromadb.config import Settings

from berryeval.data.records import Chunk
from berryeval.errors import ProviderError
from berryeval.providers.chroma import Chroma
from berryeval.providers.dense import Dense
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = ["harbour", "engine", "violin", "glacier", "market"]


def test_a_folder_of_the_user_keeps_what_it_had(tmp_path: Path) -> None:
    """Only our own collection goes, and the old one when it is indexed anew."""
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


def test_nothing_is_reported_and_no_model_is_loaded() -> None:
    """Telemetry is off, and the collection has no embedding function of Chroma's."""
    with Chroma() as provider:
        provider.index(CHUNKS)
        assert provider._client.get_settings().anonymized_telemetry is False
        assert provider._collection._embedding_function is None


def test_more_chunks_than_one_batch_are_searched_well() -> None:
    """The index is approximate: nearly all of the ten nearest are found."""
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


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    """With its name."""
    file = tmp_path / "file"
    file.write_text("x")
    with Chroma(str(file)) as provider, pytest.raises(ProviderError, match=r"Chroma at .+file: "):
        provider.index(CHUNKS)
