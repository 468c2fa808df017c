"""Tests that the native and the NumPy backend draw the same samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.stats import resampling

native = pytest.importorskip(
    "berryeval._native", reason="this installation was built without a C++ compiler"
)
seeds = st.integers(0, 2**64 - 1)
columns = st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=150).map(
    lambda numbers: np.array(numbers, dtype=np.int64)
)


@settings(max_examples=60)
@given(values=columns, seed=seeds, samples=st.integers(0, 700), threads=st.sampled_from([1, 2, 8]))
def test_backends_count_the_same_sign_flips(
    values: Any, seed: int, samples: int, threads: int
) -> None:
    threshold = abs(int(values.sum()))
    ours = native.count_sign_flips(values, threshold, seed, samples, threads)
    assert ours == resampling.python_sign_flips(values, threshold, seed, samples)


@settings(max_examples=60)
@given(values=columns, seed=seeds, samples=st.integers(0, 700), threads=st.sampled_from([1, 2, 8]))
def test_backends_draw_the_same_resamples(
    values: Any, seed: int, samples: int, threads: int
) -> None:
    ours = np.empty(samples, dtype=np.int64)
    native.resample_sums(values, seed, ours, threads)
    assert ours.tobytes() == resampling.python_resample_sums(values, seed, samples).tobytes()


@settings(max_examples=60)
@given(
    rows=st.integers(1, 30), width=st.integers(1, 6), seed=seeds, samples=st.integers(0, 700),
    threads=st.sampled_from([1, 2, 8]),
)  # fmt: skip
def test_backends_draw_the_same_shuffles(
    rows: int, width: int, seed: int, samples: int, threads: int
) -> None:
    values = np.random.default_rng(seed).integers(-(2**40), 2**40, (rows, width))
    ours = np.empty(samples, dtype=np.int64)
    native.shuffled_ranges(values.reshape(-1), width, seed, ours, threads)
    assert ours.tobytes() == resampling.python_shuffled_ranges(values, seed, samples).tobytes()


def test_backends_agree_on_many_samples_taken_in_steps() -> None:
    values = np.random.default_rng(0).integers(-1000, 1000, 1000)
    for threads in (1, 2, 8):
        count = native.count_sign_flips(values, 20_000, 7, 30_000, threads)
        assert count == resampling.python_sign_flips(values, 20_000, 7, 30_000)
    sums = np.empty(3000, dtype=np.int64)
    native.resample_sums(values, 7, sums, 2)
    assert sums.tobytes() == resampling.python_resample_sums(values, 7, 3000).tobytes()


def test_sign_flips_are_fair_and_independent() -> None:
    for place in (0, 1, 7, 8, 63, 64, 99):
        values = np.zeros(100, dtype=np.int64)
        values[place] = 2
        values[(place + 13) % 100] = 1
        far = resampling.count_sign_flips(values, 3, 1, 40_000)  # both signs are equally likely
        assert abs(far - 20_000) < 500  # five standard deviations


@pytest.mark.parametrize(
    ("call", "arguments", "words"),
    [
        ("count_sign_flips", (np.empty(0, np.int64), 0, 0, 1, 1), "there must be values"),
        ("count_sign_flips", (np.array([2**62]), 0, 0, 1, 1), "too large"),
        ("resample_sums", (np.array([2**61, 1]), 0, np.empty(1, np.int64), 1), "too large"),
        ("shuffled_ranges", (np.arange(5), 2, 0, np.empty(1, np.int64), 1), "fill their rows"),
        ("shuffled_ranges", (np.arange(5), 0, 0, np.empty(1, np.int64), 1), "fill their rows"),
    ],
)
def test_misuse_of_the_native_module_raises(
    call: str, arguments: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        getattr(native, call)(*arguments)


def test_native_module_accepts_only_64_bit_integers() -> None:
    with pytest.raises(TypeError):
        native.count_sign_flips(np.ones(3), 0, 0, 1, 1)
