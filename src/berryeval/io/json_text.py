"""JSON text, whole files and files with one value per line, read strictly.

A name that stands twice in one object, NaN and infinities are refused: other readers would lose the
one and spread the others.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from berryeval.errors import DataError
from berryeval.io.files import PathLike, name_of, read_bytes
from berryeval.io.json_node import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt

__all__ = [
    "json_bytes",
    "parse_json",
    "read_json_lines",
    "read_json_node",
    "read_text",
    "repeated_name",
]


def read_text(path: PathLike) -> str:
    """The content of a file, which must be UTF-8 text."""
    return _decoded(read_bytes(path).tobytes(), name_of(path))


def _decoded(data: bytes, source: str, first_line: int = 1) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + first_line
        msg = f"{source}:{line}: not UTF-8 text (a binary file?)"
        raise DataError(msg) from None


def parse_json(
    text: str,
    source: str,
    *,
    as_dict: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None,
    line: int | None = None,
    expected: str = "JSON",
) -> Any:
    """The value of a text.

    Args:
        text: the text.
        source: what messages call the file.
        as_dict: makes the objects, and takes numbers as they come; otherwise the text is read
            strictly.
        line: which line of the file this is, if it is one of many.
        expected: what the file should have held, for messages.
    """
    where = source if line is None else f"{source}:{line}"
    if not text.strip():
        msg = f"{where}: is empty, expected {expected}"
        raise DataError(msg)
    strict: dict[str, Any] = {
        "object_pairs_hook": _distinct,
        "parse_constant": partial(_refuse_constant, where=where),
    }
    try:
        return json.loads(text, **({"object_pairs_hook": as_dict} if as_dict else strict))
    except _RepeatedError:
        msg = f"{where}: {repeated_name(text)}"
    except json.JSONDecodeError as error:
        number = error.lineno if line is None else line
        msg = f"{source}:{number}: not valid JSON ({error.msg}, column {error.colno})"
    except RecursionError:
        msg = f"{where}: not {expected}, but nested too deep to read"
    except DataError:
        raise
    except ValueError as error:  # a whole number of thousands of digits
        msg = f"{where}: not valid JSON ({error})"
    raise DataError(msg) from None


class _RepeatedError(Exception):
    """A name stands twice in an object."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        raise _RepeatedError
    return plain


class _Object(NamedTuple):
    """An object of a JSON text with all of its names, in order."""

    pairs: list[tuple[str, Any]]


def repeated_name(text: str) -> str:
    """Of a JSON text in which a name stands twice in one object: which, and where."""
    found = [("", json.loads(text, object_pairs_hook=_Object))]
    while found:
        path, value = found.pop()
        if isinstance(value, _Object):
            seen: set[str] = set()
            for name, _ in value.pairs:
                if name in seen:
                    there = f"{path}: " if path else ""
                    return f"{there}{name!r} stands twice in one object"
                seen.add(name)
            inner = [(f"{path}.{name}".lstrip("."), one) for name, one in value.pairs]
        else:
            items = value if isinstance(value, list) else []
            inner = [(f"{path}[{place}]", one) for place, one in enumerate(items)]
        found += reversed(inner)
    return "no name stands twice in one object"


def _refuse_constant(name: str, *, where: str) -> None:
    msg = f"{where}: {name} is no number in JSON; write null where there is none"
    raise DataError(msg)


def read_json_node(path: PathLike, expected: str = "JSON") -> Node:
    """The value of a file."""
    source = name_of(path)
    return Node(parse_json(read_text(path), source, expected=expected), source)


def read_json_lines(path: PathLike) -> Iterator[tuple[int, Node]]:
    """The values of a file with one JSON value per line, each with the number of its line.

    Blank lines are passed over; a file with nothing else has no values.
    """
    source = name_of(path)
    for number, data in enumerate(_lines(read_bytes(path)), start=1):
        if data.strip():
            text = _decoded(data, source, number)
            yield number, Node(parse_json(text, source, line=number), f"{source}:{number}")


def _lines(content: npt.NDArray[np.uint8]) -> Iterator[bytes]:
    """The lines one by one: a corpus is not held in memory twice."""
    start = 0
    for end in re.finditer(b"\n", content.data):
        yield content[start : end.start()].tobytes()
        start = end.end()
    yield content[start:].tobytes()


def json_bytes(value: Any) -> bytes:
    """A value as one line of JSON, without its end."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair: only an escape can hold it
        return json.dumps(value, allow_nan=False).encode()
