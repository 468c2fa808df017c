"""Z-score files: "query measure mean deviation", what systems usually reach on a topic."""

from __future__ import annotations

from berryeval.errors import DataError
from berryeval.io.files import PathLike, name_of, read_bytes

__all__ = ["ZScores", "read_zscores"]

_COLUMNS = 4

ZScores = dict[str, dict[str, tuple[float, float]]]


def read_zscores(path: PathLike) -> ZScores:
    """The mean and the standard deviation by query and measure."""
    source = name_of(path)
    found: ZScores = {}
    for number, line in enumerate(read_bytes(path).tobytes().split(b"\n"), start=1):
        columns = line.decode(errors="replace").split()
        if not columns:
            continue
        if len(columns) != _COLUMNS:
            msg = (
                f"{source}:{number}: expected 4 columns (query measure mean deviation), "
                f"found {len(columns)}"
            )
            raise DataError(msg)
        try:
            mean, deviation = float(columns[2]), float(columns[3])
        except ValueError:
            texts = f"{columns[2]!r} and {columns[3]!r}"
            msg = f"{source}:{number}: mean and deviation must be numbers, found {texts}"
            raise DataError(msg) from None
        found.setdefault(columns[0], {}).setdefault(columns[1], (mean, deviation))
    return found
