"""`MetricAccumulator`: means of array metrics over the batches of a training loop."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

from berryeval.metrics import LOW_BITS, UNIT_BITS, evaluate_arrays, sum_scores

if TYPE_CHECKING:
    from berryeval.metrics import Denominator


class MetricAccumulator:
    """Means of array metrics over all queries of all batches.

    Scores stay on the device. Sums are whole numbers, so that a mean depends neither on the order
    nor on the batches and processes. Where torch.distributed runs, `compute` adds up all processes.

    Example:
        >>> import numpy as np
        >>> means = MetricAccumulator(["recall@3", "mrr"])
        >>> for ids in ([[7, 2, 9]], [[2, 1, 3]]):
        ...     means.update(np.array(ids, dtype=np.int32), np.array([[2, 5]], dtype=np.int32))
        >>> means.compute()
        {'recall@3': 0.5, 'mrr': 0.75}
    """

    def __init__(
        self,
        metrics: Iterable[str],
        *,
        k: SupportsIndex | None = None,
        threshold: float = 1,
        denominator: Denominator = "retrieved",
        reduce: bool = True,
    ) -> None:
        """Take the arguments of `evaluate_arrays`, and whether to add up all processes."""
        if isinstance(metrics, str):
            raise TypeError(
                f"metrics must be a list of names, found {metrics!r}; write [{metrics!r}]"
            )
        self.metrics = list(dict.fromkeys(metrics))
        self.reduce = reduce
        self._options: dict[str, Any] = {
            "k": k, "threshold": threshold, "denominator": denominator
        }  # fmt: skip
        self._sums: Any = None  # the three whole numbers of `sum_scores` per metric
        self._count = 0

    def update(self, retrieved: Any, relevant: Any, *, grades: Any = None) -> None:
        """Score a batch: arrays of `evaluate_arrays`, of any library and on any device."""
        options = dict(self._options)
        if grades is None:
            options["threshold"] = 1
        scores = evaluate_arrays(retrieved, relevant, self.metrics, grades=grades, **options)
        sums = [part for one in scores.values() for part in sum_scores(one)]
        before = self._sums or [0] * len(sums)
        self._sums = [old + new for old, new in zip(before, sums, strict=True)]
        self._count += int(retrieved.shape[0])

    def merge(self, other: MetricAccumulator) -> None:
        """Add the batches of another accumulator of the same metrics and options."""
        if other.metrics != self.metrics:
            raise ValueError(f"cannot merge {other.metrics} into {self.metrics}")
        if other._options != self._options:
            raise ValueError(f"cannot merge scores with {other._options} into {self._options}")
        if other._sums is not None:
            before = self._sums or [0] * len(other._sums)
            self._sums = [int(a) + int(b) for a, b in zip(before, other._sums, strict=True)]
        self._count += other._count

    def compute(self) -> dict[str, float]:
        """Return the mean of each metric over all queries since the last reset, as floats.

        Raises ValueError if there were none, because a mean of nothing must not look like a score,
        and if a compiled program met grades that cannot be used.
        """
        numbers = [int(one) for one in self._sums or [0] * (3 * len(self.metrics))]
        *numbers, count = self._reduce([*numbers, self._count])
        if not count:
            raise ValueError("no query was scored since the last reset; call update first")
        high, low, unusable = (numbers[part::3] for part in range(3))
        if any(unusable):
            raise ValueError(
                f"{max(unusable)} of {count} queries have two grades for one id, or one that is "
                "not finite; update without torch.compile names the row"
            )
        return {
            name: ((high << LOW_BITS) + low) / (count << UNIT_BITS)
            for name, high, low in zip(self.metrics, high, low, strict=True)
        }

    def reset(self) -> None:
        """Forget all batches."""
        self._sums, self._count = None, 0

    def _reduce(self, numbers: list[int]) -> list[int]:
        """Add the whole numbers of all processes of torch.distributed."""
        distributed = getattr(sys.modules.get("torch"), "distributed", None)
        if not self.reduce or distributed is None or not distributed.is_available():
            return numbers
        if not distributed.is_initialized():
            return numbers
        import torch

        on_gpu = distributed.get_backend() == "nccl"
        tensor = torch.tensor(numbers, device="cuda" if on_gpu else "cpu")
        distributed.all_reduce(tensor)
        summed: list[int] = tensor.tolist()
        return summed

    def __repr__(self) -> str:
        return f"MetricAccumulator({self.metrics}, {self._count} queries)"
