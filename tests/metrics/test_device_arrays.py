"""Arrays of torch, JAX and other libraries: the same values, in the same kind of array."""

from __future__ import annotations

from typing import Any

import array_api_compat
import array_api_strict
import jax
import numpy as np
import pytest
import torch

from berryeval.metrics import evaluate_arrays, mrr, ndcg, recall_at_k
from berryeval.metrics.broadcast import Rows, score_rows
from berryeval.metrics.device_arrays import _score_with_jax

METRICS = ["recall@3", "precision@5", "mrr@4", "ndcg@5", "ndcg@2", "hit_rate@1", "precision"]


def draw_arrays(seed: int, rows: int, graded: str) -> tuple[Any, Any, Any]:
    """Draw rankings and judgments with padding anywhere, repeated ids and equal grades."""
    chance = np.random.default_rng(seed)
    retrieved = chance.integers(-1, 12, size=(rows, 6), dtype=np.int32)
    relevant = chance.integers(-1, 12, size=(rows, 4), dtype=np.int32)
    if not graded:
        return retrieved, relevant, None
    of_id = chance.integers(-1, 4, size=(rows, 13))  # one grade per id and row
    grades = np.take_along_axis(of_id, relevant.astype(np.int64) + 1, axis=1).astype(graded)
    return retrieved, relevant, grades * 0.7 if graded == "float64" else grades


def as_torch(array: Any) -> Any:
    return None if array is None else torch.from_numpy(array)


GRADES = ["", "int32", "float32", "float64"]


@pytest.mark.parametrize("graded", GRADES)
@pytest.mark.parametrize("library", ["torch", "jax", "array_api_strict"])
def test_broadcasting_gives_the_bytes_of_the_native_core(library: str, graded: str) -> None:
    retrieved, relevant, grades = draw_arrays(7, 4_000, graded)
    level = 2 if graded else 1
    expected = evaluate_arrays(retrieved, relevant, METRICS, grades=grades, threshold=level)
    requests = [
        ("recall", 3), ("precision_of_retrieved", 5), ("mrr", 4), ("ndcg", 5), ("ndcg", 2),
        ("hit_rate", 1), ("precision_of_retrieved", 6),
    ]  # fmt: skip
    with jax.enable_x64(True):
        convert: Any = {
            "torch": torch.from_numpy,
            "jax": jax.numpy.asarray,
            "array_api_strict": array_api_strict.asarray,
        }[library]
        ids, known = convert(retrieved), convert(relevant)
        given = None if grades is None else convert(grades)
        xp = array_api_compat.array_namespace(ids)
        if library == "jax":
            scores, faulty = _score_with_jax(ids, known, given, level, tuple(requests))
        else:
            rows = Rows(xp, ids, known, given, xp.float64)
            scores, faulty = score_rows(rows, level, requests)
        assert faulty is None or not bool(xp.any(faulty))
        for one, wanted in zip(scores, expected.values(), strict=True):
            assert np.asarray(one).tobytes() == wanted.tobytes()


@pytest.mark.parametrize(("count", "width"), [(5, 0), (0, 4), (0, 0)])
def test_broadcasting_scores_rows_without_relevant_ids_and_no_rows(count: int, width: int) -> None:
    retrieved, relevant, _ = draw_arrays(1, count, "")
    expected = evaluate_arrays(retrieved, relevant[:, :width], METRICS)
    ids: list[Any] = [array_api_strict.asarray(one) for one in (retrieved, relevant[:, :width])]
    found = evaluate_arrays(ids[0], ids[1], METRICS)
    for name, values in expected.items():
        assert found[name].shape == (count,)
        assert np.asarray(found[name]).tobytes() == values.tobytes()


@pytest.mark.parametrize("graded", GRADES)
@pytest.mark.parametrize("ids", [torch.int32, torch.int64])
def test_tensors_on_the_cpu_give_the_bytes_of_numpy_arrays(graded: str, ids: Any) -> None:
    arrays = draw_arrays(3, 500, graded)
    expected = evaluate_arrays(*arrays[:2], METRICS, grades=arrays[2])
    retrieved, relevant, grades = map(as_torch, arrays)
    found = evaluate_arrays(retrieved.to(ids), relevant.to(ids), METRICS, grades=grades)
    for name, values in expected.items():
        assert isinstance(found[name], torch.Tensor)
        assert found[name].dtype == torch.float32
        assert found[name].numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize("graded", ["", "float32"])
def test_a_program_of_torch_compiles_as_a_whole(graded: str) -> None:
    arrays = draw_arrays(5, 300, graded)

    @torch.compile(backend="aot_eager", fullgraph=True)
    def score(retrieved: Any, relevant: Any, grades: Any) -> Any:
        best = recall_at_k(retrieved, relevant, 3, grades=grades) * 2
        return best, evaluate_arrays(retrieved, relevant, METRICS, grades=grades)

    doubled, found = score(*map(as_torch, arrays))
    expected = evaluate_arrays(*arrays[:2], METRICS, grades=arrays[2])
    assert (doubled / 2).numpy().tobytes() == expected["recall@3"].tobytes()
    for name, values in expected.items():
        assert found[name].numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize("double", [False, True])
def test_a_program_of_jax_compiles(double: bool) -> None:
    arrays = draw_arrays(6, 300, "float32")
    with jax.enable_x64(double):
        score = jax.jit(lambda a, b, c: evaluate_arrays(a, b, METRICS, grades=c))
        found = score(*map(jax.numpy.asarray, arrays))
        given: Any = [jax.numpy.asarray(one) for one in arrays]
        outside = evaluate_arrays(given[0], given[1], METRICS, grades=given[2])
    expected = evaluate_arrays(*arrays[:2], METRICS, grades=arrays[2])
    for name, values in expected.items():
        assert isinstance(outside[name], jax.Array)
        assert np.asarray(outside[name]).tobytes() == values.tobytes()
        if double:
            assert np.asarray(found[name]).tobytes() == values.tobytes()
        else:  # JAX has no float64 then
            np.testing.assert_allclose(np.asarray(found[name]), values, rtol=3e-7)


@pytest.mark.parametrize("place", range(3))
def test_arrays_of_jax_may_be_constants_of_a_program(place: int) -> None:
    given = [jax.numpy.asarray(one) for one in draw_arrays(6, 8, "float32")]

    @jax.jit
    def score(array: Any) -> Any:
        arrays = list(given)
        arrays[place] = array
        retrieved, relevant, grades = arrays
        return ndcg(retrieved, relevant, 3, grades=grades)

    expected = ndcg(given[0], given[1], 3, grades=given[2])
    np.testing.assert_allclose(score(given[place]), expected, rtol=3e-7)


def test_unusable_grades_are_errors_and_nan_where_a_compiler_reads_the_program() -> None:
    retrieved = torch.tensor([[1, 2], [1, 2]], dtype=torch.int32)
    relevant = torch.tensor([[1, 2], [1, 1]], dtype=torch.int32)
    grades = torch.tensor([[1.0, 2.0], [1.0, 2.0]])
    message = "one grade per row, found 1.0 and 2.0 for id 1 in row 1, columns 0 and 1"
    with pytest.raises(ValueError, match=message):
        ndcg(retrieved, relevant, 2, grades=grades)
    strict: Any = [array_api_strict.asarray(one.numpy()) for one in (retrieved, relevant, grades)]
    with pytest.raises(ValueError, match=message):
        ndcg(strict[0], strict[1], 2, grades=strict[2])
    grades[1] = torch.tensor([float("nan"), 1.0])
    strict[2] = array_api_strict.asarray(grades.numpy())
    with pytest.raises(ValueError, match=r"finite .* found nan in row 1, column 0 \(id 1\)"):
        ndcg(strict[0], strict[1], 2, grades=strict[2])
    compiled: Any = torch.compile(ndcg, backend="aot_eager", fullgraph=True)
    found = compiled(retrieved, relevant, 2, grades=grades)
    assert found.isnan().tolist() == [False, True]


def test_arrays_of_different_kinds_or_devices_are_an_error_that_names_both() -> None:
    ids = torch.zeros((2, 3), dtype=torch.int32)
    with pytest.raises(ValueError, match="retrieved is a torch array on cpu, relevant is a numpy"):
        mrr(ids, np.zeros((2, 3), np.int32), 1)
    with pytest.raises(ValueError, match="retrieved is a numpy array on cpu, relevant is a torch"):
        mrr(np.zeros((2, 3), np.int32), ids, 1)
    with pytest.raises(TypeError, match="retrieved must be an array like the others, found list"):
        mrr([[1, 2]], ids, 1)
    with pytest.raises(TypeError, match="relevant must be an array like the others, found list"):
        mrr(ids, [[1, 2]], 1)
    with pytest.raises(ValueError, match="relevant is a torch array on meta; move them to one"):
        mrr(ids, ids.to("meta"), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda a, b, g: (a.float(), b, g),
            "retrieved must have dtype int32 or int64, found fl",
        ),
        (lambda a, b, g: (a[0], b, g), r"retrieved must be 2-D, .* found 1-D, shape \(3,\)"),
        (lambda a, b, g: (a, b[:1], g), "as many rows as retrieved, one per query: found 1 and 2"),
        (lambda a, b, g: (a, b, g[:, :1]), r"the shape of relevant, \(2, 3\); found \(2, 1\)"),
        (lambda a, b, g: (a, b, g.half()), "grades must have dtype .* found float16"),
        (lambda a, b, g: (a + 2**40, b, g), "retrieved has ids beyond int32"),
    ],
)
def test_wrong_tensors_are_errors(change: Any, message: str) -> None:
    ids = torch.zeros((2, 3), dtype=torch.int64)
    retrieved, relevant, grades = change(ids, ids.clone(), torch.ones((2, 3)))
    with pytest.raises(ValueError, match=message):
        ndcg(retrieved, relevant, 1, grades=grades)
