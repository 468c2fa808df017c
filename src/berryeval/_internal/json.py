"""JSON text, whole files and files with one value per line, read strictly.

A name that stands twice in one object, NaN and infinities are refused: other readers would lose the
one and spread the others.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from berryeval._internal.files import PathLike, name_of, read_bytes
from berryeval._internal.records import JsonRecord, is_finite, refused
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt


# `Node`: a JSON value that knows where it stands, so that every complaint can say it.

T = TypeVar("T", bound=JsonRecord)


@contextmanager
def at(where: str) -> Iterator[None]:
    """Say of what goes wrong inside where it went wrong."""
    try:
        yield
    except DataError as error:
        msg = f"{where}: {error}"
        raise DataError(msg) from None


@dataclass(frozen=True)
class Node:
    """A value of a JSON file, checked when it is taken out.

    Attributes:
        value: the value itself.
        source: the file, with the line where each line is a value of its own.
        path: where in it the value stands, as "qa[3].evidence".
    """

    value: Any
    source: str
    path: str = ""

    @property
    def where(self) -> str:
        """The place, for messages."""
        return f"{self.source}: {self.path}" if self.path else self.source

    def object(self) -> dict[str, Any]:
        """The value, which must be an object."""
        if not isinstance(self.value, dict):
            raise refused(self.where, "an object", self.value)
        return self.value

    def __getitem__(self, name: str) -> Node:
        fields = self.object()
        if name not in fields:
            there = ", ".join(map(repr, fields)) or "nothing"
            msg = f"{self.where}: has no {name!r}; found {there:.200}"
            raise DataError(msg)
        return self._child(name)

    def get(self, *names: str) -> Node | None:
        """The first of these fields that is there and not null."""
        fields = self.object()
        for name in names:
            if fields.get(name) is not None:
                return self._child(name)
        return None

    def one_of(self, *names: str) -> Node:
        """The first of these fields that is there; one of them must be."""
        found = self.get(*names)
        return self[names[0]] if found is None else found

    def _child(self, name: str) -> Node:
        return Node(self.value[name], self.source, f"{self.path}.{name}" if self.path else name)

    def items(self) -> list[Node]:
        """The elements of the value, which must be an array."""
        if not isinstance(self.value, list):
            raise refused(self.where, "an array", self.value)
        return [
            Node(value, self.source, f"{self.path}[{place}]")
            for place, value in enumerate(self.value)
        ]

    def fields(self) -> Iterator[tuple[str, Node]]:
        """The names and values of the value, which must be an object."""
        for name in self.object():
            yield name, self._child(name)

    def has(self, *names: str) -> bool:
        """Whether the value is an object with all of these names."""
        return isinstance(self.value, dict) and all(name in self.value for name in names)

    def text(self) -> str:
        """The value, which must be a string."""
        if not isinstance(self.value, str):
            raise refused(self.where, "a string", self.value)
        return self.value

    def texts(self) -> list[str]:
        """The value, which must be an array of strings."""
        return [item.text() for item in self.items()]

    def number(self) -> float:
        """The value, which must be a finite number."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise refused(self.where, "a number", value)
        if not is_finite(value):
            raise refused(self.where, "a finite number", value)
        return value

    def whole(self) -> int:
        """The value, which must be a whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise refused(self.where, "a whole number", self.value)
        return self.value

    def flag(self) -> bool:
        """The value, which must be true or false."""
        if not isinstance(self.value, bool):
            raise refused(self.where, "true or false", self.value)
        return self.value

    def id(self) -> str:
        """The value as an id: a string that is not empty, or a whole number."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise refused(self.where, "an id (a string or a whole number)", value)
        return str(value)

    def plain(self) -> str:
        """The value as text: a string as it is, a number or a truth value as JSON writes it."""
        if isinstance(self.value, bool):
            return str(self.value).lower()
        if isinstance(self.value, int | float):
            return str(self.value)
        return self.text()

    def besides(self, *names: str) -> dict[str, Any]:
        """The fields of the object other than these."""
        return {name: value for name, value in self.object().items() if name not in names}

    def record(self, kind: type[T]) -> T:
        """The value as a record, with the fields the record does not know kept."""
        with at(self.where):
            return kind.from_json(self.value)


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
