"""The provider `run-file`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Query
from berryeval.data.run import Run
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.catalogue import build_provider
from tests.providers.corpus import CHUNKS

if TYPE_CHECKING:
    from pathlib import Path

ROWS = {"q1": {"pool": 1.0, "tokens": 3.5, "b": 1.0, "handbook": 2.0}, "q2": {"é x": 0.5}}


@pytest.mark.parametrize("name", ["run.trec", "run.json", "run.parquet", "run.json.gz"])
def test_every_format_is_read(name: str, tmp_path: Path) -> None:
    rows = ROWS if "trec" not in name else {"q1": ROWS["q1"]}
    path = tmp_path / name
    getattr(Run.from_dict(rows), f"to_{name.split('.')[1]}")(path)
    with build_provider("run-file", {"path": str(path)}) as provider:
        provider.index(CHUNKS)
        hits = provider.search(Query("q1", "any"), 3)
        assert provider.search(Query("q9", "any"), 3) == []
        assert provider.search(Query("\ud800", "any"), 3) == []
    assert [(hit.id, hit.score, hit.rank) for hit in hits] == [
        ("tokens", 3.5, 1), ("handbook", 2.0, 2), ("pool", 1.0, 3),
    ]  # fmt: skip
    assert [hit.doc_id for hit in hits] == ["handbook"] * 3
    assert hits[0].text == CHUNKS[0].text


def test_the_order_of_the_lines_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 a 1 0.5 t\nq1 Q0 c 2 2 t\nq1 Q0 d 3 0.5 t\nq1 Q0 b 4 0.5 t\n")
    hits = build_provider("run-file", {"path": str(path)}).search(Query("q1", ""), 3)
    assert [hit.id for hit in hits] == ["c", "d", "b"]


def test_a_run_file_works_without_chunks(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    Run.from_dict(ROWS).to_json(path)
    hits = build_provider("run", {"path": str(path)}).search(Query("q2", ""), 3)
    assert [(hit.id, hit.text, hit.doc_id) for hit in hits] == [("é x", "", "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"run\.trec: "),
        ("q1 Q0 a 1 high t\n", r"run\.trec:1: "),
        ("q1 Q0 a 1 1.0 t\nq1 Q0 a 2 0.5 t\n", "'a'"),
    ],
)
def test_an_invalid_file_is_a_permanent_error(
    content: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.trec"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ProviderError, match=message) as caught:
        build_provider("run-file", {"path": str(path)}).index(CHUNKS)
    assert not caught.value.passing


def test_lenient_skips_faulty_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 a 1 high t\nq1 Q0 b 2 0.5 t\n")
    options: dict[str, Any] = {"path": str(path), "lenient": True}
    hits = build_provider("run-file", options).search(Query("q1", ""), 3)
    assert [hit.id for hit in hits] == ["b"]


def test_a_missing_path_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="path of run-file is missing"):
        build_provider("run-file")
