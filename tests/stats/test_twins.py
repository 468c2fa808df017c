"""Native and Python draw the same samples, to the bit, on any number of threads."""

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
def test_sign_flips(values: Any, seed: int, samples: int, threads: int) -> None:
    """The same count of sums that are as far from 0."""
    threshold = abs(int(values.sum()))
    ours = native.count_sign_flips(values, threshold, seed, samples, threads)
    assert ours == resampling.python_sign_flips(values, threshold, seed, samples)


@settings(max_examples=60)
@given(values=columns, seed=seeds, samples=st.integers(0, 700), threads=st.sampled_from([1, 2, 8]))
def test_resamples(values: Any, seed: int, samples: int, threads: int) -> None:
    """The same sums of the same resamples."""
    ours = np.empty(samples, dtype=np.int64)
    native.resample_sums(values, seed, ours, threads)
    assert ours.tobytes() == resampling.python_resample_sums(values, seed, samples).tobytes()


@settings(max_examples=60)
@given(
    rows=st.integers(1, 30), width=st.integers(1, 6), seed=seeds, samples=st.integers(0, 700),
    threads=st.sampled_from([1, 2, 8]),
)  # fmt: skip
def test_shuffles(rows: int, width: int, seed: int, samples: int, threads: int) -> None:
    """The same ranges of the same shuffles."""
    values = np.random.default_rng(seed).integers(-(2**40), 2**40, (rows, width))
    ours = np.empty(samples, dtype=np.int64)
    native.shuffled_ranges(values.reshape(-1), width, seed, ours, threads)
    assert ours.tobytes() == resampling.python_shuffled_ranges(values, seed, samples).tobytes()


def test_many_samples_are_taken_in_steps() -> None:
    """More samples than are looked at together, and more values than a word has signs."""
    values = np.random.default_rng(0).integers(-1000, 1000, 1000)
    for threads in (1, 2, 8):
        count = native.count_sign_flips(values, 20_000, 7, 30_000, threads)
        assert count == resampling.python_sign_flips(values, 20_000, 7, 30_000)
    sums = np.empty(3000, dtype=np.int64)
    native.resample_sums(values, 7, sums, 2)
    assert sums.tobytes() == resampling.python_resample_sums(values, 7, 3000).tobytes()


def test_sign_flips_are_fair() -> None:
    """Of 64 and more places each sign is negative half of the time, and pairs are independent."""
    for place in (0, 1, 7, 8, 63, 64, 99):
        values = np.zeros(100, dtype=np.int64)
        values[place] = 2
        values[(place + 13) % 100] = 1
        far = resampling.count_sign_flips(values, 3, 1, 40_000)  # both signs alike
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
def test_misuse_of_the_native_module_is_an_exception(
    call: str, arguments: tuple[Any, ...], words: str
) -> None:
    """Never a crash, and never a sum that overflows."""
    with pytest.raises(ValueError, match=words):
        getattr(native, call)(*arguments)


def test_no_silent_conversion_in_the_native_module() -> None:
    """Only whole numbers of 64 bits are taken."""
    with pytest.raises(TypeError):
        native.count_sign_flips(np.ones(3), 0, 0, 1, 1)
