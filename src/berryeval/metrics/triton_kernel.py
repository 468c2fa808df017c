"""The array metrics as one kernel for tensors on CUDA devices: every id is read once.

It follows `_python.score_rows` step by step: the same additions in the same order, in float64.
"""

# mypy: disable-error-code="assignment, no-untyped-call, no-untyped-def, untyped-decorator"
from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Final

import torch
import triton
import triton.language as tl

from berryeval.metrics.array_checks import LARGEST_GRADE

_WIDEST: Final = 32  # relevant ids that fit in the registers of a thread; broadcasting takes more
_DEEPEST: Final = 4096
_ROWS: Final = tl.constexpr(128)  # of a block, one per thread
_LARGEST: Final = tl.constexpr(LARGEST_GRADE)
_RECALL, _PRECISION_OF_RETRIEVED, _PRECISION_OF_K, _MRR, _NDCG, _HIT_RATE = map(
    tl.constexpr, range(6)
)
_CODES: Final = {
    "recall": 0, "precision_of_retrieved": 1, "precision_of_k": 2, "mrr": 3, "ndcg": 4,
    "hit_rate": 5,
}  # fmt: skip


def fits_kernel(width: int, requests: Sequence[tuple[str, int]]) -> bool:
    """Whether the kernel can score rows with this number of relevant ids at these cutoffs."""
    return 0 < width <= _WIDEST and max(k for _, k in requests) <= _DEEPEST


def score_tensors(
    retrieved: torch.Tensor,
    relevant: torch.Tensor,
    grades: torch.Tensor | None,
    threshold: float,
    requests: Sequence[tuple[str, int]],
) -> tuple[list[torch.Tensor], torch.Tensor | None] | None:
    """Return the scores of each request and the rows with unusable grades; None if it cannot.

    See `broadcast.score_rows`.
    """
    if not len(relevant) or not fits_kernel(relevant.shape[1], requests):
        return None
    out, faulty = _launch(retrieved, relevant, grades, threshold, tuple(requests))
    return [out] if len(requests) == 1 else list(out.unbind(0)), faulty


@torch.library.custom_op(
    "berryeval::score_rows",
    mutates_args=(),
    schema="(Tensor retrieved, Tensor relevant, Tensor? grades, float threshold, str[] metrics, "
    "int[] cutoffs) -> Tensor",
)
def score_in_graph(
    retrieved: torch.Tensor,
    relevant: torch.Tensor,
    grades: torch.Tensor | None,
    threshold: float,
    metrics: Sequence[str],
    cutoffs: Sequence[int],
) -> torch.Tensor:
    """Score as one step of a compiled program; rows with unusable grades are NaN."""
    requests = tuple(zip(metrics, cutoffs, strict=True))
    out, faulty = _launch(retrieved, relevant, grades, threshold, requests)
    if faulty is not None:
        out.masked_fill_(faulty, float("nan"))
    return out.view(len(requests), len(retrieved))


@score_in_graph.register_fake
def _shape_in_graph(
    retrieved: torch.Tensor, _1: object, _2: object, _3: object, metrics: Sequence[str], _4: object
) -> torch.Tensor:
    return retrieved.new_empty((len(metrics), retrieved.shape[0]), dtype=torch.float32)


def _launch(
    retrieved: torch.Tensor,
    relevant: torch.Tensor,
    grades: torch.Tensor | None,
    threshold: float,
    requests: tuple[tuple[str, int], ...],
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Run the kernel; the scores of one request have no dimension for the requests."""
    rows, width = relevant.shape
    tables, constants = _plan(requests, threshold, retrieved.device)
    shape = (rows,) if len(requests) == 1 else (len(requests), rows)
    out = torch.empty(shape, dtype=torch.float32, device=retrieved.device)
    retrieved, relevant = _by_row(retrieved), _by_row(relevant)
    faulty, stride = None, 0
    if grades is not None:
        grades = _by_row(grades)
        stride = grades.stride(0)
        faulty = torch.empty(rows, dtype=torch.bool, device=retrieved.device)
    if not rows:
        return out, faulty
    there = retrieved.device.index
    with nullcontext() if there == torch.cuda.current_device() else torch.cuda.device(there):
        _score_block[(-(-rows // 128),)](
            retrieved, relevant, grades, tables, out, faulty,
            rows, retrieved.stride(0), relevant.stride(0), stride,
            WIDTH=width, GRADED=grades is not None, enable_fp_fusion=False, **constants,
        )  # fmt: skip
    return out, faulty


def _by_row(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.stride(1) == 1 else tensor.contiguous()


@lru_cache(maxsize=256)
def _plan(
    requests: tuple[tuple[str, int], ...], threshold: float, device: torch.device
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Return numbers for the device, and the constants of the kernel.

    The numbers are the threshold, the discount of each rank, and the DCG of 0, 1, 2, … ids at the
    top.
    """
    depth = max(k for _, k in requests)
    discounts = [math.log2(rank + 1) for rank in range(1, depth + 1)]
    ideals = [0.0]
    for discount in discounts:
        ideals.append(ideals[-1] + 1 / discount)
    tables = torch.tensor([threshold, *discounts, *ideals], dtype=torch.float64, device=device)
    codes = tuple(_CODES[name] for name, _ in requests)
    return tables, {"CODES": codes, "CUTOFFS": tuple(k for _, k in requests), "DEPTH": depth}


# One thread scores one row, so that all of it stays in registers. Names in capitals are constants
# of the compiled kernel; tuples hold a number per relevant id.


@triton.jit
def _score_block(  # noqa: ANN202, PLR0913, PLR0917
    retrieved, relevant, grades, tables, out, faulty,  # noqa: ANN001
    rows, retrieved_stride, relevant_stride, grades_stride,  # noqa: ANN001
    WIDTH: tl.constexpr, GRADED: tl.constexpr, CODES: tl.constexpr, CUTOFFS: tl.constexpr,  # noqa: N803
    DEPTH: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Score 128 rows for all requests."""
    row = tl.program_id(0).to(tl.int64) * _ROWS + tl.arange(0, _ROWS)
    is_row = row < rows
    top = retrieved + row * retrieved_stride
    judged = relevant + row * relevant_stride
    beside = judged if not GRADED else grades + row * grades_stride
    bad = tl.zeros([_ROWS], tl.int32)
    ids, values, firsts = (), (), ()
    for place in tl.static_range(WIDTH):
        one = tl.load(judged + place, is_row, -1)
        value = tl.full([_ROWS], 1.0, tl.float64)
        if GRADED:
            value = tl.load(beside + place, is_row, 0).to(tl.float64)
            bad |= ((one != -1) & ((tl.abs(value) <= _LARGEST) == 0)).to(tl.int32)
        ids, values = ids + (one,), values + (value,)  # noqa: RUF005
        firsts = firsts + (tl.full([_ROWS], DEPTH + 1, tl.int32),)  # noqa: RUF005
    ids, is_contradicted = _keep_first(ids, values, judged, beside, is_row, WIDTH, GRADED)
    if GRADED:
        tl.store(faulty + row, (bad | is_contradicted) > 0, is_row)

    for rank in range(DEPTH, 0, -1):  # from the end, so that the first rank remains
        document = tl.load(top + rank - 1, is_row, -1)
        found = ()
        for place in tl.static_range(WIDTH):
            found = found + (tl.where(document == ids[place], rank, firsts[place]),)  # noqa: RUF005
        firsts = found

    for request in tl.static_range(len(CODES)):
        if CODES[request] == _NDCG:
            score = _compute_ndcg(
                ids, values, firsts, tables, CUTOFFS[request], DEPTH, WIDTH, GRADED
            )
        else:
            score = _count_hits(
                ids, values, firsts, tables, top, is_row,
                CODES[request], CUTOFFS[request], DEPTH, WIDTH,
            )  # fmt: skip
        tl.store(out + request * rows + row, score.to(tl.float32), is_row)


@triton.jit
def _keep_first(  # noqa: ANN202
    ids, values, judged, beside, is_row,  # noqa: ANN001
    WIDTH: tl.constexpr, GRADED: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Return the ids with -1 for repeated ones, and the rows where one of these has two grades."""
    bad = tl.zeros([_ROWS], tl.int32)
    for before in range(WIDTH - 1):  # a loop at run time: unrolled, it takes minutes to compile
        one = tl.load(judged + before, is_row, -1)
        value = tl.load(beside + before, is_row, 0).to(tl.float64) if GRADED else 1.0
        left = ()
        for place in tl.static_range(WIDTH):
            is_same = (ids[place] == one) & (one != -1) & (place > before)
            if GRADED:
                bad |= (is_same & (values[place] != value)).to(tl.int32)
            left = left + (tl.where(is_same, -1, ids[place]),)  # noqa: RUF005
        ids = left
    return ids, bad


@triton.jit
def _count_hits(  # noqa: ANN202, PLR0917
    ids, values, firsts, tables, top, is_row,  # noqa: ANN001
    CODE: tl.constexpr, K: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Return the metrics that count relevant ids, or look for the first."""
    threshold = tl.load(tables)
    hits = tl.zeros([_ROWS], tl.int32)
    known = tl.zeros([_ROWS], tl.int32)
    best = tl.full([_ROWS], DEPTH + 1, tl.int32)
    for place in tl.static_range(WIDTH):
        is_counted = (ids[place] != -1) & (values[place] >= threshold)
        known += is_counted.to(tl.int32)
        hits += (is_counted & (firsts[place] <= K)).to(tl.int32)
        best = tl.where(is_counted, tl.minimum(best, firsts[place]), best)
    if CODE == _MRR:
        hits = (best <= K).to(tl.int32)
        total = best
    elif CODE == _HIT_RATE:
        hits = tl.minimum(hits, 1)
        total = hits
    elif CODE == _RECALL:
        total = known
    elif CODE == _PRECISION_OF_RETRIEVED:
        total = tl.zeros([_ROWS], tl.int32)
        for place in range(K):
            total += (tl.load(top + place, is_row, -1) != -1).to(tl.int32)
    else:
        total = tl.full([_ROWS], K, tl.int32)
    return hits.to(tl.float64) / tl.maximum(total, 1).to(tl.float64)


@triton.jit
def _compute_ndcg(  # noqa: ANN202
    ids, values, firsts, tables,  # noqa: ANN001
    K: tl.constexpr, DEPTH: tl.constexpr, WIDTH: tl.constexpr, GRADED: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """Return nDCG; gains are added from rank 1 down, as on the CPU."""
    known = tl.zeros([_ROWS], tl.int32)
    gains = ()
    for place in tl.static_range(WIDTH):
        known += (ids[place] != -1).to(tl.int32)
        gains = gains + (tl.where((ids[place] != -1) & (values[place] > 0), values[place], 0.0),)  # noqa: RUF005
    dcg = tl.zeros([_ROWS], tl.float64)
    best = tl.zeros([_ROWS], tl.float64)
    for rank in range(1, K + 1):
        here = tl.zeros([_ROWS], tl.float64)
        for place in tl.static_range(WIDTH):  # at most one is at this rank
            here = tl.where(firsts[place] == rank, gains[place], here)
        dcg += here / tl.load(tables + rank)
    if GRADED:
        for rank in range(1, (min(WIDTH, K)) + 1):
            highest = tl.zeros([_ROWS], tl.float64)
            for place in tl.static_range(WIDTH):
                highest = tl.maximum(highest, gains[place])
            best += highest / tl.load(tables + rank)
            left, is_taken = (), highest <= 0
            for place in tl.static_range(WIDTH):
                is_it = (gains[place] == highest) & (is_taken == 0)
                is_taken = is_taken | is_it
                left = left + (tl.where(is_it, 0.0, gains[place]),)  # noqa: RUF005
            gains = left
    else:
        best = tl.load(tables + 1 + DEPTH + tl.minimum(known, K))
    return tl.minimum(tl.where(best > 0, dcg / tl.where(best > 0, best, 1.0), 0.0), 1.0)
