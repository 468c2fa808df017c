# Types of the compiled module; native/bind/module.cpp lists what is in it.

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# name, numbers, words and lists by parameter, gains by level
Spec: TypeAlias = tuple[
    str, dict[str, float], dict[str, str], dict[str, list[float]], list[tuple[float, float]]
]

def score_rows(
    retrieved: npt.NDArray[np.int32],
    relevant: npt.NDArray[np.int32],
    grades: npt.NDArray[np.int32] | npt.NDArray[np.float32] | npt.NDArray[np.float64] | None,
    threshold: float,
    requests: Sequence[tuple[str, int]],
    out: npt.NDArray[np.float32],
    threads: int,
) -> tuple[int, int, int] | None: ...
def metric_names() -> list[str]: ...
def evaluate(
    qrels: tuple[Any, ...],
    run: tuple[Any, ...],
    run_query_of: npt.NDArray[np.int64],
    specs: Sequence[Spec],
    ties: str,
    single_precision: bool,
    depth: int,
    out: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
    threads: int,
) -> tuple[bool, int] | None: ...
def score_run_text(
    qrels: tuple[Any, ...],
    text: npt.NDArray[np.uint8],
    specs: Sequence[Spec],
    ties: str,
    single_precision: bool,
    depth: int,
    out: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
    threads: int,
) -> dict[str, Any]: ...
def score_run_file(
    qrels: tuple[Any, ...],
    file: int,
    size: int,
    specs: Sequence[Spec],
    ties: str,
    single_precision: bool,
    depth: int,
    out: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
    threads: int,
) -> dict[str, Any]: ...

class DictPlan:
    def __init__(
        self,
        names: list[str],
        specs: Sequence[Spec],
        ties: str,
        single_precision: bool,
        depth: int,
        judged_only: bool,
    ) -> None: ...

class DictScorer:
    def __init__(
        self, plan: DictPlan, rows: object, fields: tuple[int, int, int] | None, /
    ) -> None: ...
    def queries(self) -> list[str]: ...
    def score(
        self, rows: object, fields: tuple[int, int, int] | None, /
    ) -> dict[str, dict[str, float]] | None: ...

def group_tuples(
    rows: object, query_at: int, document_at: int, value_at: int
) -> dict[Any, dict[Any, Any]]: ...
def fuse(
    runs: list[tuple[Any, ...]],
    places: npt.NDArray[np.int64],
    recipe: tuple[Any, ...],
    depth: int,
    threads: int,
) -> tuple[Any, ...]: ...
def score_fusions(
    qrels: tuple[Any, ...],
    runs: list[tuple[Any, ...]],
    places: npt.NDArray[np.int64],
    recipes: list[tuple[Any, ...]],
    spec: Spec,
    out: npt.NDArray[np.float64],
    threads: int,
) -> tuple[int, int] | None: ...
def relevant_ranks(
    qrels: tuple[Any, ...],
    run: tuple[Any, ...],
    run_query_of: npt.NDArray[np.int64],
    rel: float,
    threads: int,
) -> tuple[tuple[bool, int] | None, npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
def read_table(kind: str, text: npt.NDArray[np.uint8], lenient: bool) -> Any: ...
def table_from_dict(
    rows: object,
    finite: bool,
    dict_types: tuple[type, ...],
    number_types: tuple[type, ...],
) -> tuple[Any, Any, Any, Any] | None: ...
def group_rows(
    queries: tuple[Any, Any], documents: tuple[Any, Any], threads: int
) -> tuple[Any, npt.NDArray[np.int64], npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]: ...
def take_strings(text: tuple[Any, Any], places: npt.NDArray[np.int64]) -> tuple[Any, Any]: ...
def decimal_strings(numbers: npt.NDArray[np.int64]) -> tuple[Any, Any]: ...
def count_sign_flips(
    values: npt.NDArray[np.int64], threshold: int, seed: int, samples: int, threads: int
) -> int: ...
def resample_sums(
    values: npt.NDArray[np.int64], seed: int, out: npt.NDArray[np.int64], threads: int
) -> None: ...
def shuffled_ranges(
    values: npt.NDArray[np.int64],
    columns: int,
    seed: int,
    out: npt.NDArray[np.int64],
    threads: int,
) -> None: ...
