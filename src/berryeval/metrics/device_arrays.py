"""Array metrics on arrays of torch, JAX, CuPy and others, computed where the arrays are.

Results are arrays of the same kind on the same device. Arrays in the memory of the host go to the
native core without a copy. Tensors on CUDA devices are scored by one kernel (`triton_kernel`), also
inside `torch.compile`; everything else by broadcasting (`broadcast`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, NoReturn

import numpy as np

from berryeval.metrics.array_checks import (
    LARGEST_GRADE,
    PADDING_ID,
    raise_grade_conflict,
    raise_unusable_grade,
)
from berryeval.metrics.broadcast import Rows, score_rows

_CELLS_AT_ONCE: Final = 1 << 26  # compared ids, to bound the memory of a step
UNIT_BITS: Final = 44  # of a sum of scores
LOW_BITS: Final = 22  # of these, those of its low part
_IDS: Final = ("int32", "int64")
_HAS_TRITON: Final = find_spec("triton") is not None  # comes with torch for CUDA devices
_GRADES: Final = ("int32", "int64", "float32", "float64")


def check_foreign(retrieved: Any, relevant: Any) -> None:
    """Check kinds, devices, types and shapes of ids; nothing of this reads the device."""
    _check_array("retrieved", retrieved, _IDS, retrieved)
    _check_array("relevant", relevant, _IDS, retrieved)
    if relevant.shape[0] != retrieved.shape[0]:
        raise ValueError(
            f"relevant must have as many rows as retrieved, one per query: "
            f"found {relevant.shape[0]} and {retrieved.shape[0]}"
        )


def check_foreign_grades(retrieved: Any, relevant: Any, grades: Any) -> None:
    """Check kind, device, type and shape of grades."""
    _check_array("grades", grades, _GRADES, retrieved)
    if tuple(grades.shape) != tuple(relevant.shape):
        raise ValueError(
            f"grades must have the shape of relevant, {tuple(relevant.shape)}; "
            f"found {tuple(grades.shape)}"
        )


def _check_array(name: str, array: Any, dtypes: tuple[str, ...], retrieved: Any) -> None:
    if not hasattr(array, "dtype"):
        raise TypeError(f"{name} must be an array like the others, found {type(array).__name__}")
    same = type(array) is type(retrieved) or _library_of(array) == _library_of(retrieved)
    devices = [_device_of(array), _device_of(retrieved)]
    if not same or (devices[0] != devices[1] and None not in devices):
        raise ValueError(
            f"all arrays must be of one library and on one device: retrieved is "
            f"{_describe(retrieved)}, {name} is {_describe(array)}; move them to one"
        )
    found = str(array.dtype).rpartition(".")[2]
    if found not in dtypes:
        raise ValueError(f"{name} must have dtype {' or '.join(dtypes)}, found {found}")
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise ValueError(
            f"{name} must be 2-D, one row per query; found {array.ndim}-D, "
            f"shape {tuple(array.shape)}"
        )


def score_foreign(
    retrieved: Any,
    relevant: Any,
    grades: Any,
    threshold: float,
    requests: Sequence[tuple[str, int]],
    score_host: Callable[..., Any],
) -> list[Any]:
    """Return one array of scores per request; `score_host` scores NumPy arrays.

    Unusable grades raise ValueError; inside `torch.compile` and `jax.jit`, where no value can be
    looked at, the scores of such rows are NaN.
    """
    library = _library_of(retrieved)
    if any(is_traced(one) for one in (retrieved, relevant, grades)):
        if library == "torch" and retrieved.is_cuda and _HAS_TRITON:
            from berryeval.metrics.triton_kernel import fits_kernel, score_in_graph

            if fits_kernel(relevant.shape[1], requests):
                names, cutoffs = [name for name, _ in requests], [k for _, k in requests]
                found = score_in_graph(retrieved, relevant, grades, threshold, names, cutoffs)
                return list(found.unbind(0))
        rows = _take_rows(library, retrieved, relevant, grades, requests)
        scores, faulty = score_rows(rows, threshold, requests)
        return scores if faulty is None else [_spoil(rows.xp, one, faulty) for one in scores]
    if _is_on_host(library, retrieved):
        ids = _narrow("retrieved", _to_host(retrieved)), _narrow("relevant", _to_host(relevant))
        values = None if grades is None else _to_host_grades(grades)
        return [_from_host(library, one) for one in score_host(*ids, values)]
    scores, faulty = _score_on_device(library, retrieved, relevant, grades, threshold, requests)
    if faulty is not None and bool(_namespace_of(library, faulty).any(faulty)):
        _raise_unusable(relevant, grades, faulty)
    return scores


def sum_scores(scores: Any) -> tuple[Any, Any, Any]:
    """Return the sum of scores between 0 and 1 as two whole numbers, high and low, and the NaN.

    Together the first two count units of 2**-44, in which float32 scores above 1e-6 are exact: the
    sum does not depend on the order. The third is the number of scores that are NaN, which have no
    units. Tensors of torch stay on their device.
    """
    library = "numpy" if isinstance(scores, np.ndarray) else _library_of(scores)
    with _enable_double() if library == "jax" else nullcontext():
        xp = _namespace_of(library, scores)
        unusable = xp.isnan(scores)
        usable = xp.where(unusable, xp.zeros_like(scores), scores)
        units = xp.astype(xp.round(xp.astype(usable, xp.float64) * 2**UNIT_BITS), xp.int64)
        high, low = xp.sum(units >> LOW_BITS), xp.sum(units & (2**LOW_BITS - 1))
        sums = high, low, xp.sum(xp.astype(unusable, xp.int64))
        return sums if library == "torch" else (int(high), int(low), int(sums[2]))


def _score_on_device(
    library: str,
    retrieved: Any,
    relevant: Any,
    grades: Any,
    threshold: float,
    requests: Sequence[tuple[str, int]],
) -> tuple[list[Any], Any]:
    if library == "torch" and retrieved.is_cuda:
        kernel = _load_kernel()
        if kernel and (found := kernel(retrieved, relevant, grades, threshold, requests)):
            return found
    if library == "jax":
        return _score_with_jax(retrieved, relevant, grades, threshold, tuple(requests))
    depth = max(k for _, k in requests)
    width = relevant.shape[1]
    step = max(1, _CELLS_AT_ONCE // max(1, (depth + width) * width))
    parts = []
    for start in range(0, max(1, retrieved.shape[0]), step):
        part = slice(start, min(start + step, retrieved.shape[0]))
        rows = _take_rows(
            library, retrieved[part, :], relevant[part, :],
            None if grades is None else grades[part, :], requests,
        )  # fmt: skip
        parts.append(score_rows(rows, threshold, requests))
    if len(parts) == 1:
        return parts[0]
    join = _namespace_of(library, retrieved).concat
    scores = [join([scores[place] for scores, _ in parts]) for place in range(len(requests))]
    return scores, None if grades is None else join([faulty for _, faulty in parts])


@cache
def _load_kernel() -> Callable[..., tuple[list[Any], Any] | None] | None:
    try:
        from berryeval.metrics.triton_kernel import score_tensors
    except ImportError:  # a build of torch without Triton: broadcasting serves
        return None
    return score_tensors


def _take_rows(
    library: str, retrieved: Any, relevant: Any, grades: Any, requests: Sequence[tuple[str, int]]
) -> Rows:
    xp = _namespace_of(library, retrieved)
    has_double = not (
        (library == "jax" and not _jax().config.jax_enable_x64)
        or (library == "torch" and retrieved.device.type == "mps")
    )
    depth = max(k for _, k in requests)
    real = xp.float64 if has_double else xp.float32
    return Rows(xp, retrieved[:, :depth], relevant, grades, real)


def _namespace_of(library: str, array: Any) -> Any:
    if library == "torch":  # in a way that its compiler can follow
        from array_api_compat import torch

        return torch
    from array_api_compat import array_namespace

    return array_namespace(array)


def _score_with_jax(
    retrieved: Any,
    relevant: Any,
    grades: Any,
    threshold: float,
    requests: tuple[tuple[str, int], ...],
) -> tuple[list[Any], Any]:
    """Compile the metrics, in float64 whatever JAX is set to."""
    with _enable_double():
        found: tuple[list[Any], Any] = _compile_for_jax()(
            retrieved, relevant, grades, threshold, requests
        )
    return found


def _enable_double() -> Any:
    jax = _jax()
    has_own = hasattr(jax, "enable_x64")  # since JAX 0.8
    return (jax.enable_x64 if has_own else jax.experimental.enable_x64)(True)


@cache
def _compile_for_jax() -> Any:
    def score(retrieved: Any, relevant: Any, grades: Any, threshold: float, requests: Any) -> Any:
        rows = _take_rows("jax", retrieved, relevant, grades, requests)
        return score_rows(rows, threshold, requests)

    return _jax().jit(score, static_argnums=(3, 4))


def _jax() -> Any:
    import jax

    return jax


def _spoil(xp: Any, scores: Any, faulty: Any) -> Any:
    return xp.where(faulty, xp.full_like(scores, float("nan")), scores)


def _raise_unusable(relevant: Any, grades: Any, faulty: Any) -> NoReturn:
    """Raise the error of the first row whose grades cannot be used."""
    row = int(np.argmax(_to_host(faulty)))
    ids, values = _to_host(relevant[row, :]).tolist(), _to_host(grades[row, :]).tolist()
    first: dict[int, int] = {}
    for column, (document, grade) in enumerate(zip(ids, values, strict=True)):
        if document == PADDING_ID:
            continue
        if not abs(grade) <= LARGEST_GRADE:
            raise_unusable_grade(document, grade, row, column)
        known = first.setdefault(document, column)
        if values[known] != grade:
            raise_grade_conflict(document, values[known], grade, row, known, column)
    raise AssertionError(ids, values)


def _library_of(array: Any) -> str:
    if hasattr(array, "__torch_function__"):
        return "torch"
    name = type(array).__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


def is_traced(array: Any) -> bool:
    """Whether a compiler reads the program, and the array has no values yet."""
    library = _library_of(array)
    if library == "torch":
        import torch

        return bool(torch.compiler.is_compiling())
    return library == "jax" and isinstance(array, _jax().core.Tracer)


def _is_on_host(library: str, array: Any) -> bool:
    if library == "torch":
        return bool(array.device.type == "cpu")
    return library == "jax" and all(device.platform == "cpu" for device in array.devices())


def _to_host(array: Any) -> np.ndarray[Any, Any]:
    """Return a NumPy array; of an array in the memory of the host, it is a view."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
    elif hasattr(array, "get"):  # CuPy
        array = array.get()
    return np.asarray(array)


def _narrow(name: str, ids: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return ids as the native core reads them: int32, row by row."""
    if ids.dtype == np.int64:
        limits = np.iinfo(np.int32)
        if ids.size and (ids.min() < limits.min or ids.max() > limits.max):
            raise ValueError(
                f"{name} has ids beyond int32, which arrays on the CPU cannot have; number the "
                "documents from 0"
            )
    return np.ascontiguousarray(ids, dtype=np.int32)


def _to_host_grades(grades: Any) -> np.ndarray[Any, Any]:
    values = _to_host(grades)
    return np.ascontiguousarray(values, np.float64 if values.dtype == np.int64 else values.dtype)


def _from_host(library: str, scores: np.ndarray[Any, Any]) -> Any:
    if library == "torch":
        import torch

        return torch.from_numpy(scores)
    return _jax().numpy.asarray(scores)


def _device_of(array: Any) -> Any:
    return getattr(array, "device", None)  # JAX has none where its compiler reads the program


def _describe(array: Any) -> str:
    return f"a {_library_of(array)} array on {_device_of(array) or 'cpu'}"
