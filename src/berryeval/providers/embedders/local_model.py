"""What tells a model apart that may lie in a folder and change there."""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["model_identity"]


def model_identity(model: str) -> str:
    """The name of a model; of one in a folder, with the sizes and times of its files."""
    folder = Path(model)
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
    except OSError:
        return model
    if not files:
        return model
    state = hashlib.sha256()
    for path in files:
        found = path.stat()
        state.update(f"{path.relative_to(folder)}:{found.st_size}:{found.st_mtime_ns}\n".encode())
    return f"{folder.resolve()}@{state.hexdigest()[:16]}"
