"""The benchmarks that come with the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["bundled_benchmarks", "bundled_folder"]


def _data() -> Traversable:
    return files("berryeval.benchmarks") / "data"


def bundled_benchmarks() -> list[str]:
    """Their names, in order."""
    data = _data()
    if not data.is_dir():
        return []
    return sorted(entry.name for entry in data.iterdir() if _is_benchmark(entry))


def _is_benchmark(entry: Traversable) -> bool:
    return entry.is_dir() and not entry.name.startswith((".", "_"))


def bundled_folder(name: str) -> Path:
    """Where the files of a bundled benchmark are."""
    return Path(str(_data() / name))
