"""Names of files, made from any text."""

from __future__ import annotations

import hashlib
import re
from typing import Final

__all__ = ["safe_name"]

_LONGEST: Final = 200  # bytes; file systems take 255
_UNSAFE: Final = re.compile(r"[^\w.:+-]+")


def safe_name(label: str) -> str:
    """A label as a name that every file system takes.

    >>> safe_name("our search: v2/beta")
    'our-search--v2-beta'
    """
    name = _UNSAFE.sub("-", label).strip("-.").replace(":", "-") or "unnamed"
    if len(name.encode()) > _LONGEST:
        name = f"{name[: _LONGEST // 4]}-{hashlib.sha256(label.encode()).hexdigest()[:12]}"
    return name
