"""The kernel for CUDA devices, run by Triton's interpreter on tensors of the host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="Triton has wheels for Linux only")

# Triton decides at its import whether kernels are compiled or interpreted, so in another process.
PROGRAM = """
import numpy as np, torch
from berryeval.metrics import evaluate_arrays
from berryeval.metrics.triton_kernel import score_in_graph, score_tensors
from tests.metrics.test_device_arrays import GRADES, as_torch, draw_arrays

torch.cuda.current_device = lambda: None  # the device of tensors on the host
METRICS = ["recall@3", "precision@5", "mrr@4", "ndcg@5", "ndcg@2", "hit_rate@1"]
REQUESTS = [("recall", 3), ("precision_of_retrieved", 5), ("mrr", 4), ("ndcg", 5), ("ndcg", 2),
            ("hit_rate", 1)]
for seed, graded in enumerate(GRADES):
    arrays = draw_arrays(seed, 300, graded)
    level = 2 if graded else 1
    expected = evaluate_arrays(*arrays[:2], METRICS, grades=arrays[2], threshold=level)
    found, faulty = score_tensors(*map(as_torch, arrays), level, REQUESTS)
    assert faulty is None or not faulty.any()
    for (name, values), tensor in zip(expected.items(), found, strict=True):
        assert values.tobytes() == tensor.numpy().tobytes(), (graded, name)
retrieved, relevant, grades = draw_arrays(9, 5, "float32")
grades[3, relevant[3] != -1] = float("nan")
_, faulty = score_tensors(*map(as_torch, (retrieved, relevant, grades)), 1, REQUESTS)
assert faulty.tolist() == [False, False, False, True, False], faulty
often = retrieved, *(np.tile(one, (1, 5)) for one in draw_arrays(9, 5, "float32")[1:])
expected = evaluate_arrays(*often[:2], METRICS, grades=often[2], threshold=2)
found, _ = score_tensors(*map(as_torch, often), 2, REQUESTS)
for values, tensor in zip(expected.values(), found, strict=True):
    assert values.tobytes() == tensor.numpy().tobytes()
often[1][:, -1], often[2][:, [1, -1]] = often[1][:, 1], [0, 9]
_, faulty = score_tensors(*map(as_torch, often), 1, REQUESTS)
assert faulty.tolist() == (often[1][:, 1] != -1).tolist(), faulty
for rows, graded in ((0, None), (300, None), (300, "float32")):
    arrays = [None if one is None else as_torch(one) for one in draw_arrays(5, rows, graded)]
    if graded:
        arrays[2][7], arrays[1][7, 0] = float("nan"), 1
    given = (*arrays, 1.0, *map(list, zip(*REQUESTS)))
    torch.library.opcheck(score_in_graph, given, test_utils=("test_schema", "test_faketensor"))
    compiled = torch.compile(score_in_graph, backend="aot_eager", fullgraph=True)(*given)
    assert compiled.isnan().any(0).tolist() == [bool(graded) and row == 7 for row in range(rows)]
    found, _ = score_tensors(*arrays, 1, REQUESTS) if rows else (torch.empty(6, 0), None)
    torch.testing.assert_close(compiled[:, :7], torch.stack(list(found))[:, :7], rtol=0, atol=0)
wide = as_torch(np.zeros((2, 40), dtype=np.int32))
assert score_tensors(wide, wide, None, 1, REQUESTS) is None  # broadcasting takes it
"""


def test_the_kernel_gives_the_bytes_of_the_native_core() -> None:
    """Binary and graded, padding, repeated ids, unusable grades; also in a compiled program."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "", "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
