# Types of the compiled module; native/bind/module.cpp lists what is in it.

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

def score_rows(
    retrieved: npt.NDArray[np.int32],
    relevant: npt.NDArray[np.int32],
    grades: npt.NDArray[np.int32] | npt.NDArray[np.float32] | npt.NDArray[np.float64] | None,
    threshold: float,
    requests: Sequence[tuple[str, int]],
    out: npt.NDArray[np.float32],
    threads: int,
) -> tuple[int, int, int] | None: ...
