"""Recognizing formats, and the bundled benchmarks."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from berryeval.benchmarks.loading import (
    LOADERS,
    Loader,
    bundled_benchmarks,
    bundled_folder,
    load_benchmark,
)
from berryeval.errors import ConfigurationError, DataError
from tests.benchmarks.samples import BEIR, LOCOMO, OWN

if TYPE_CHECKING:
    from pathlib import Path


def test_bundled_benchmarks_load() -> None:
    for name in bundled_benchmarks():
        benchmark = load_benchmark(name)
        assert benchmark.name == name
        assert benchmark.documents
        assert benchmark == load_benchmark(bundled_folder(name))


def test_a_missing_path_is_rejected() -> None:
    with pytest.raises(DataError, match="nowhere: no such file or folder, and no bundled"):
        load_benchmark("nowhere")
    with pytest.raises(DataError, match="no such file or folder"):
        load_benchmark("a\0b")


def test_a_similar_file_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").touch()
    with pytest.raises(DataError, match=r"of this name; did you mean '.*questions\.csv'\?$"):
        load_benchmark(tmp_path / "question.csv")


def test_an_unknown_format_lists_the_loaders(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"x\.json: unknown format; choose one with --format, or format="
    ):
        load_benchmark(tmp_path / "x.json")


def test_an_ambiguous_format_is_never_guessed(tmp_path: Path) -> None:
    OWN.write(tmp_path)
    (tmp_path / "golden-set.json").write_text("[]", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"could be berryeval or golden-set; choose one with --format berryeval, or"
    ):
        load_benchmark(tmp_path)
    assert load_benchmark(tmp_path, format="berryeval").name == "drinks"


def test_unknown_formats_and_options_suggest_the_closest(tmp_path: Path) -> None:
    folder = BEIR.write(tmp_path)
    with pytest.raises(ConfigurationError, match="unknown loader 'bier'; did you mean 'beir'"):
        load_benchmark(folder, format="bier")
    with pytest.raises(
        ConfigurationError, match=r"beir has no option 'splt'; did you mean 'split'\?"
    ):
        load_benchmark(folder, splt="dev")
    with pytest.raises(
        ConfigurationError, match="split of the loader beir must be a text, found 7"
    ):
        load_benchmark(folder, split=7)


def test_a_broken_file_reports_its_json_error(tmp_path: Path) -> None:
    path = LOCOMO.write(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"locomo\.json:\d+: not valid JSON"):
        load_benchmark(path)


def test_a_registered_loader_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOADERS, "_homes", dict(LOADERS._homes))
    beir = LOADERS.get("beir")
    mine = Loader(
        summary="mine",
        signs="mine.txt",
        recognises=lambda source: source.has("mine.txt"),
        load=beir.load,
    )
    LOADERS.register("mine")(mine)
    BEIR.write(tmp_path)
    (tmp_path / "mine.txt").touch()
    with pytest.raises(DataError, match="could be beir or mine"):
        load_benchmark(tmp_path)
    assert load_benchmark(tmp_path, format="mine").queries


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "json", "csv", "tsv", "txt", "jsonl.gz"])
@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file_is_reported_as_empty(tmp_path: Path, ending: str, content: bytes) -> None:
    file = tmp_path / f"x.{ending}"
    file.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    with pytest.raises(DataError, match=rf"x\.{ending}: is empty, expected"):
        load_benchmark(file)


def test_an_empty_folder_is_reported_as_empty(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is empty, expected a benchmark"):
        load_benchmark(tmp_path)
