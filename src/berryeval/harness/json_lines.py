"""Whatever a provider returned as one line of JSON that every reader takes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["json_text"]

_DEEPEST: Final = 20


def json_text(entry: Mapping[str, Any]) -> bytes:
    """The entry as JSON in UTF-8.

    What JSON has no form for (dates, arrays, numbers that are none) becomes its text.
    """
    try:
        text = json.dumps(entry, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(_plain(entry), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair; escaped, it is JSON all the same
        return json.dumps(json.loads(text)).encode()


def _plain(value: Any, depth: int = 0) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {str(key): _plain(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [_plain(item, depth + 1) for item in value]
        if callable(getattr(value, "tolist", None)):  # arrays and their numbers
            return _plain(value.tolist(), depth + 1)
    return f"{value!s:.200}"
