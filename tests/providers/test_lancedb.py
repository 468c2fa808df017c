"""The provider `lancedb`: folders and errors. What it shares is in test_engines."""

from __future__ import annotations

from pathlib import Path

import lancedb
import pytest

from berryeval.errors import ProviderError
from berryeval.providers.lancedb import LanceDb
from tests.providers.corpus import CHUNKS, query


def test_the_temporary_folder_is_removed() -> None:
    """It is there while it is searched, and no longer."""
    with LanceDb() as provider:
        provider.index(CHUNKS)
        folder = Path(provider._folder)
        assert folder.is_dir()
    assert not folder.exists()


def test_a_folder_of_the_user_keeps_what_it_had(tmp_path: Path) -> None:
    """Only our own table goes, and the old one when it is indexed anew."""
    database = lancedb.connect(str(tmp_path))
    database.create_table("mine", [{"x": 1}])
    with LanceDb(str(tmp_path)) as provider:
        provider.index(CHUNKS)
        provider.index(CHUNKS)
        assert provider.search(query("tokens"), 1)[0].id == "tokens"
        assert len(database.list_tables().tables) == 2
    assert database.list_tables().tables == ["mine"]


def test_a_language_nobody_speaks_is_said() -> None:
    """In LanceDB's words; asking again would not help."""
    with LanceDb(language="Klingon") as provider:
        with pytest.raises(ProviderError, match=r"^LanceDB at .+Klingon") as caught:
            provider.index(CHUNKS)
        assert not caught.value.passing
        assert ".rs:" not in str(caught.value)


def test_a_path_that_is_no_folder_is_said(tmp_path: Path) -> None:
    """With its name."""
    file = tmp_path / "file"
    file.write_text("x")
    with LanceDb(str(file)) as provider, pytest.raises(ProviderError, match=r"LanceDB at .+file: "):
        provider.index(CHUNKS)
