"""Which format it is, and which benchmarks are bundled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from berryeval.benchmarks.loaders.catalogue import LOADERS, Loader
from berryeval.benchmarks.loading import bundled_benchmarks, bundled_folder, load_benchmark
from berryeval.errors import ConfigurationError, DataError
from tests.benchmarks.samples import BEIR, LOCOMO, OWN

if TYPE_CHECKING:
    from pathlib import Path


def test_bundled_benchmarks_load() -> None:
    """What comes with the package is whole, and has the name it is asked for by."""
    for name in bundled_benchmarks():
        benchmark = load_benchmark(name)
        assert benchmark.name == name
        assert benchmark.documents
        assert benchmark == load_benchmark(bundled_folder(name))


def test_a_path_that_is_not_there() -> None:
    """Neither a file nor a bundled name."""
    with pytest.raises(DataError, match="nowhere: no such file or folder, and no bundled"):
        load_benchmark("nowhere")
    with pytest.raises(DataError, match="no such file or folder"):
        load_benchmark("a\0b")


def test_no_known_format(tmp_path: Path) -> None:
    """The error names the formats, and what to do."""
    (tmp_path / "x.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"x\.json: no known format; say which with --format, or format="
    ):
        load_benchmark(tmp_path / "x.json")


def test_several_formats_are_never_guessed(tmp_path: Path) -> None:
    """Signs of two formats in one folder: the error names both, and `format` decides."""
    OWN.write(tmp_path)
    (tmp_path / "golden-set.json").write_text("[]", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"could be berryeval or golden-set; say which with --format berryeval, or"
    ):
        load_benchmark(tmp_path)
    assert load_benchmark(tmp_path, format="berryeval").name == "drinks"


def test_unknown_formats_and_options(tmp_path: Path) -> None:
    """Both are refused with what there is."""
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


def test_a_broken_file_is_not_called_unknown(tmp_path: Path) -> None:
    """A JSON file that cannot be read says why, whichever format it may have been."""
    path = LOCOMO.write(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"locomo\.json:\d+: not valid JSON"):
        load_benchmark(path)


def test_a_loader_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registered loader is asked like the others."""
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
