"""The whole texts of hits and targets of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from berryeval.errors import DataError
from berryeval.workflows import read_texts
from tests.web.query_world import ADDRESS, RUN, TEXTS, write_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the run."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("world")
def test_a_hit_has_its_whole_text_and_the_address_of_its_document() -> None:
    texts = read_texts(RUN)
    assert texts.find_hit("new", "q1", 1) == (TEXTS["keys"][0], ADDRESS)
    assert texts.find_hit("old", "q1", 2) == (TEXTS["doors"][0], "")  # no address of the web
    with pytest.raises(DataError, match="no hit at rank 3"):
        texts.find_hit("old", "q1", 3)


@pytest.mark.usefixtures("world")
def test_targets_have_their_text_by_the_names_of_the_record() -> None:
    found = read_texts(RUN).list_targets("q2")
    assert found == {
        "'lamps'": (TEXTS["lamps"][0], ""),
        "'keys', quote 'The last word is lantern.'": ("The last word is lantern.", ADDRESS),
    }


def test_a_benchmark_that_changed_is_not_read(world: Path) -> None:
    path = world / "relay" / "queries.jsonl"
    path.write_text(path.read_text("utf-8").replace("lamp", "light"), encoding="utf-8")
    with pytest.raises(DataError, match="has changed"):
        read_texts(RUN)
