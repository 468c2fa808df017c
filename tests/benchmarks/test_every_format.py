"""Every format: recognition, round trips, and no tracebacks."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.benchmarks import LOADERS, write_benchmark
from berryeval.benchmarks.loading import Source, detect_format, load_benchmark
from berryeval.benchmarks.named_data import LazyDocuments
from berryeval.errors import BerryEvalError
from tests.benchmarks.samples import SAMPLES

if TYPE_CHECKING:
    from tests.benchmarks.samples import Sample


@pytest.mark.parametrize("name", SAMPLES)
def test_exactly_one_loader_recognizes_a_format(name: str, tmp_path: Path) -> None:
    expected, sample = SAMPLES[name]
    assert detect_format(Source(sample.write(tmp_path))) == expected


def test_every_loader_has_a_sample() -> None:
    named = {"ir_datasets"}  # reads no files of ours
    assert {name for name, _ in SAMPLES.values()} == set(LOADERS) - named


@pytest.mark.parametrize("name", list(LOADERS))
def test_a_loader_has_a_summary_and_signs(name: str) -> None:
    loader = LOADERS.get(name)
    assert loader.summary
    assert loader.signs


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_round_trips_through_our_own(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    sample = SAMPLES[name][1]
    benchmark = load_benchmark(sample.write(tmp_path / "in"), **sample.options)
    write_benchmark(benchmark, tmp_path / "out")
    again = load_benchmark(tmp_path / "out")
    assert again == benchmark
    assert again.content_hash == benchmark.content_hash


@pytest.mark.parametrize("name", SAMPLES)
def test_every_record_has_a_location(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name][1]
    benchmark = load_benchmark(sample.write(tmp_path), **sample.options)
    lazy = isinstance(benchmark.documents, LazyDocuments)  # not read yet
    assert len(benchmark.locations["documents"]) == (0 if lazy else len(benchmark.documents))
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
def test_damaged_files_load_or_raise_our_error(name: str, data: st.DataObject) -> None:
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
def test_missing_files_load_or_raise_our_error(name: str) -> None:
    sample = SAMPLES[name][1]
    for victim in sample.files:
        rest = {file: content for file, content in sample.files.items() if file != victim}
        _loads_or_complains(replace(sample, files=rest))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b"\x00\xff\xfe", b"[" * 100_000])
def test_empty_and_binary_files_load_or_raise_our_error(name: str, content: bytes) -> None:
    sample = SAMPLES[name][1]
    for victim in sample.files:
        _loads_or_complains(replace(sample, files={**sample.files, victim: content}))


@pytest.mark.parametrize("name", list(LOADERS))
def test_a_loader_rejects_files_of_another_format(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("no benchmark", encoding="utf-8")
    for path in ("empty", "text.txt"):
        with pytest.raises(BerryEvalError, match=re.escape(str(tmp_path))):
            load_benchmark(tmp_path / path, format=name)
