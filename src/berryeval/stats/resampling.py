"""Sign flips, resamples and shuffles in the native core and in NumPy.

Random words are addressed by index and sums are of integers, so both backends and any number of
threads give bit-identical results.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend

if TYPE_CHECKING:
    from berryeval.stats.paired import Whole

_FLIPS, _RESAMPLES, _SHUFFLES = 1, 2, 3  # streams of words, as in the native core
_SIGNS: Final = 64  # per word
_CELLS_AT_ONCE: Final = 1 << 19  # size limit of temporary tables
_MASK: Final = (1 << 64) - 1
_Words = npt.NDArray[np.uint64]


def count_sign_flips(
    values: Whole, threshold: int, seed: int, samples: int, *, threads: int | None = None
) -> int:
    """Count the random sign choices whose sum has an absolute value of at least `threshold`."""
    if _backend.native is None:
        return python_sign_flips(values, threshold, seed, samples)
    workers = threads or _backend.thread_count()
    return int(_backend.native.count_sign_flips(values, threshold, _bits(seed), samples, workers))


def resample_sums(values: Whole, seed: int, resamples: int, *, threads: int | None = None) -> Whole:
    """Return the sums of resamples drawn with replacement.

    Columns of the same length and seed get the same resamples.
    """
    if _backend.native is not None:
        sums = np.empty(resamples, dtype=np.int64)
        workers = threads or _backend.thread_count()
        _backend.native.resample_sums(values, _bits(seed), sums, workers)
        return sums
    return python_resample_sums(values, seed, resamples)


def shuffled_ranges(values: Whole, seed: int, samples: int, *, threads: int | None = None) -> Whole:
    """Return the ranges of the column sums after shuffling each row among the columns."""
    if _backend.native is not None:
        ranges = np.empty(samples, dtype=np.int64)
        workers = threads or _backend.thread_count()
        flat, columns = values.reshape(-1), values.shape[1]
        _backend.native.shuffled_ranges(flat, columns, _bits(seed), ranges, workers)
        return ranges
    return python_shuffled_ranges(values, seed, samples)


def python_sign_flips(values: Whole, threshold: int, seed: int, samples: int) -> int:
    """Compute `count_sign_flips` in NumPy."""
    blocks = -(-len(values) // _SIGNS)
    padded = np.zeros(blocks * _SIGNS, dtype=np.int64)
    padded[: len(values)] = values
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    tables = padded.reshape(-1, 8) @ bits.T  # per byte of signs: the sum it flips
    flat = tables.reshape(-1)
    starts = np.arange(len(tables)) * 256
    total, count = int(values.sum()), 0
    step = max(1, _CELLS_AT_ONCE // len(tables))
    for start in range(0, samples, step):
        rows = min(step, samples - start)
        words = _words(seed, _FLIPS, start * blocks, rows * blocks)
        signs = words.astype("<u8").view(np.uint8).reshape(rows, -1)
        flipped = flat[signs + starts].sum(axis=1)
        count += int((np.abs(total - 2 * flipped) >= threshold).sum())
    return count


def python_resample_sums(values: Whole, seed: int, resamples: int) -> Whole:
    """Compute `resample_sums` in NumPy."""
    size = len(values)
    pairs = (size + 1) // 2
    sums = np.empty(resamples, dtype=np.int64)
    step = max(1, _CELLS_AT_ONCE // size)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        words = _words(seed, _RESAMPLES, start * pairs, rows * pairs).reshape(rows, pairs, 1)
        halves = np.concatenate([words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)], axis=2)
        draws = halves.reshape(rows, -1)[:, :size]
        sums[start : start + rows] = values[_below(size, draws)].sum(axis=1)
    return sums


def python_shuffled_ranges(values: Whole, seed: int, samples: int) -> Whole:
    """Compute `shuffled_ranges` in NumPy."""
    size, columns = values.shape
    ranges = np.empty(samples, dtype=np.int64)
    step = max(1, _CELLS_AT_ONCE // values.size)
    for start in range(0, samples, step):
        rows = min(step, samples - start)
        cells = rows * size
        draws = _words(seed, _SHUFFLES, start * size * (columns - 1), cells * (columns - 1))
        draws = draws.reshape(cells, columns - 1) >> np.uint64(32)
        shuffled = np.tile(values, (rows, 1))
        at = np.arange(cells)
        for last in range(columns - 1, 0, -1):
            other = _below(last + 1, draws[:, columns - 1 - last])
            shuffled[at, other], shuffled[:, last] = shuffled[:, last].copy(), shuffled[at, other]
        sums = shuffled.reshape(rows, size, columns).sum(axis=1)
        ranges[start : start + rows] = sums.max(axis=1) - sums.min(axis=1)
    return ranges


def _words(seed: int, purpose: int, start: int, count: int) -> _Words:
    """Return random words from index `start`: SplitMix64 keyed by seed and purpose."""
    key = int(_mix(_mix(np.array([_bits(seed)], dtype=np.uint64)) ^ np.uint64(purpose))[0])
    places = np.arange(start + 1, start + count + 1, dtype=np.uint64)
    return _mix(places * np.uint64(0x9E3779B97F4A7C15) + np.uint64(key))


def _bits(seed: int) -> int:
    return index(seed) & _MASK


def _mix(words: _Words) -> _Words:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _below(count: int, bits: _Words) -> npt.NDArray[np.intp]:
    """Return integers below `count`, each from 32 random bits."""
    return ((bits * np.uint64(count)) >> np.uint64(32)).astype(np.intp)
