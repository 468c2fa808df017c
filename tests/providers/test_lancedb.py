"""The provider `lancedb`: folders and errors. Shared behaviour is in test_engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from berryeval.errors import ProviderError
from berryeval.providers.lancedb import LanceDb
from tests.providers.corpus import CHUNKS, query


def test_the_temporary_folder_is_removed() -> None:
    with LanceDb() as provider:
        provider.index(CHUNKS)
        folder = Path(provider._folder)
        assert folder.is_dir()
    assert not folder.exists()


def test_a_user_folder_keeps_its_tables(tmp_path: Path) -> None:
    import lancedb

    database = lancedb.connect(str(tmp_path))
    database.create_table("mine", [{"x": 1}])
    with LanceDb(str(tmp_path)) as provider:
        provider.index(CHUNKS)
        provider.index(CHUNKS)
        assert provider.search(query("tokens"), 1)[0].id == "tokens"
        assert len(database.list_tables().tables) == 2
    assert database.list_tables().tables == ["mine"]


def test_an_unknown_language_is_reported() -> None:
    with LanceDb(language="Klingon") as provider:
        with pytest.raises(ProviderError, match=r"^LanceDB at .+Klingon") as caught:
            provider.index(CHUNKS)
        assert not caught.value.passing
        assert ".rs:" not in str(caught.value)


def test_a_path_that_is_not_a_folder_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with LanceDb(str(file)) as provider, pytest.raises(ProviderError, match=r"LanceDB at .+file: "):
        provider.index(CHUNKS)
