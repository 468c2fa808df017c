"""Whatever the format: known by its signs, written and read back, and never a traceback."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.benchmarks.loaders.catalogue import LOADERS
from berryeval.benchmarks.loading import Source, detect_format, load_benchmark
from berryeval.benchmarks.writing import write_benchmark
from berryeval.errors import BerryEvalError
from tests.benchmarks.samples import SAMPLES

if TYPE_CHECKING:
    from tests.benchmarks.samples import Sample


@pytest.mark.parametrize("name", SAMPLES)
def test_a_format_is_known_by_its_signs(name: str, tmp_path: Path) -> None:
    """One loader, and the right one, knows each sample."""
    expected, sample = SAMPLES[name]
    assert detect_format(Source(sample.write(tmp_path))) == expected


def test_every_loader_has_a_sample() -> None:
    """Nothing is loaded that nobody tried."""
    assert {name for name, _ in SAMPLES.values()} == set(LOADERS)


@pytest.mark.parametrize("name", list(LOADERS))
def test_a_loader_says_what_it_is(name: str) -> None:
    """The list of formats can be made from the loaders."""
    loader = LOADERS.get(name)
    assert loader.summary
    assert loader.signs


@pytest.mark.parametrize("name", SAMPLES)
def test_what_was_loaded_is_written_and_read_back_equal(name: str, tmp_path: Path) -> None:
    """Our own form loses nothing of any other."""
    (tmp_path / "in").mkdir()
    sample = SAMPLES[name][1]
    benchmark = load_benchmark(sample.write(tmp_path / "in"), **sample.options)
    write_benchmark(benchmark, tmp_path / "out")
    again = load_benchmark(tmp_path / "out")
    assert again == benchmark
    assert again.content_hash == benchmark.content_hash


@pytest.mark.parametrize("name", SAMPLES)
def test_every_record_has_its_place(name: str, tmp_path: Path) -> None:
    """Messages about a record can say where it stands."""
    sample = SAMPLES[name][1]
    benchmark = load_benchmark(sample.write(tmp_path), **sample.options)
    assert len(benchmark.locations["documents"]) == len(benchmark.documents)
    assert len(benchmark.locations["queries"]) == len(benchmark.queries)
    assert len(benchmark.locations["judgments"]) == len(benchmark.judgments)
    for places in benchmark.locations.values():
        assert all(place.startswith(str(tmp_path)) for place in places)


def _loads_or_complains(sample: Sample) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            benchmark = load_benchmark(sample.write(Path(folder)), **sample.options)
        except BerryEvalError:
            return
        assert benchmark.queries


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=25)
@given(data=st.data())
def test_damaged_files_are_loaded_or_refused(name: str, data: st.DataObject) -> None:
    """A file that was cut, overwritten or removed gives a benchmark or a clear error."""
    sample = SAMPLES[name][1]
    victim = data.draw(st.sampled_from(sorted(sample.files)))
    content = sample.files[victim]
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 20)))
    cut = data.draw(st.booleans())
    noise = data.draw(
        st.sampled_from([b"", b"{", b"]", b'"', b"null", b"-1", b"1e999", b"NaN", b"\xff", b"\0",
                         b"\t", b",", b"<top>", b"[[", b'{"a":1}', b"\n", b"true"])
    )  # fmt: skip
    damaged = content[:start] + noise + (b"" if cut else content[end:])
    _loads_or_complains(replace(sample, files={**sample.files, victim: damaged}))


@pytest.mark.parametrize("name", SAMPLES)
def test_missing_files_are_refused_or_not_needed(name: str) -> None:
    """Without any one of its files a sample is loaded or refused."""
    sample = SAMPLES[name][1]
    for victim in sample.files:
        rest = {file: content for file, content in sample.files.items() if file != victim}
        _loads_or_complains(replace(sample, files=rest))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b"\x00\xff\xfe", b"[" * 100_000])
def test_files_with_nothing_in_them(name: str, content: bytes) -> None:
    """Empty, binary and absurd files are refused, or taken where nothing need be there."""
    sample = SAMPLES[name][1]
    for victim in sample.files:
        _loads_or_complains(replace(sample, files={**sample.files, victim: content}))


@pytest.mark.parametrize("name", list(LOADERS))
def test_a_folder_or_file_of_another_kind(name: str, tmp_path: Path) -> None:
    """A loader that is told to read what it cannot says so."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("no benchmark", encoding="utf-8")
    for path in ("empty", "text.txt"):
        with pytest.raises(BerryEvalError, match=re.escape(str(tmp_path))):
            load_benchmark(tmp_path / path, format=name)
