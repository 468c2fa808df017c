"""Columns of Arrow's string views, as polars has them: read where they lie, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from berryeval import _backend
from berryeval.tables import StringColumn

__all__ = ["ViewColumn", "as_views"]

_VIEW = 16  # bytes of each


class ViewColumn:
    """Strings as views of sixteen bytes, and the buffers that long ones point into.

    Needs the native backend. Whoever keeps the strings takes a copy: the frame may change.
    """

    __slots__ = ("buffers", "views")

    def __init__(self, views: npt.NDArray[np.uint8], buffers: list[npt.NDArray[np.uint8]]) -> None:
        self.views = views
        self.buffers = buffers

    @property
    def arrays(self) -> tuple[npt.NDArray[np.uint8], list[npt.NDArray[np.uint8]]]:
        """Views and buffers, as native code takes them."""
        return self.views, self.buffers

    def copy(self) -> StringColumn:
        """The strings as a column of their own."""
        native: Any = _backend.native
        return StringColumn(*native.copy_views(self.arrays, _backend.thread_count()))

    def grouped(self, documents: StringColumn) -> tuple[Any, ...]:
        """The rows of these queries and documents by query, as `group_rows` of native code."""
        native: Any = _backend.native
        threads = _backend.thread_count()
        found: tuple[Any, ...] = native.group_view_rows(self.arrays, documents.arrays, threads)
        return found

    def take(self, places: npt.NDArray[np.int64]) -> StringColumn:
        """The strings at these places."""
        return self.copy().take(places)

    def __len__(self) -> int:
        return len(self.views) // _VIEW

    def __getitem__(self, index: int) -> str:
        return ViewColumn(self.views[_VIEW * index : _VIEW * (index + 1)], self.buffers).copy()[0]


def as_views(array: Any) -> ViewColumn | None:
    """The views of a pyarrow array; None where there are none, or native code to read them."""
    if _backend.native is None or str(array.type) != "string_view" or array.null_count:
        return None
    _, views, *buffers = array.buffers()
    if not len(array):
        return ViewColumn(np.zeros(0, np.uint8), [])
    start = _VIEW * array.offset
    return ViewColumn(
        np.frombuffer(views, dtype=np.uint8)[start : start + _VIEW * len(array)],
        [np.frombuffer(buffer, dtype=np.uint8) for buffer in buffers],
    )
