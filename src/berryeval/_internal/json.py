"""Strict reading of JSON files and of files with one JSON value per line.

A repeated name in an object, NaN and infinities are errors: lenient readers drop the one and pass
on the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from berryeval._internal.files import PathLike, display_name, read_bytes, stream_any
from berryeval._internal.plain import show
from berryeval._internal.serial import JsonRecord, describe_json, type_mismatch
from berryeval._internal.text import explain_encoding, prefix_place
from berryeval._internal.validate import is_number, is_whole
from berryeval.errors import DataError

T = TypeVar("T", bound=JsonRecord)
DEEPEST: Final = 100  # levels of arrays and objects; functions that walk them are recursive
_NO_SIGNS: Final = bytes(sorted({*range(256)} - {*b'[]{}"'}))


@contextmanager
def locate_errors(where: str) -> Iterator[None]:
    """Put a place in front of the message of every DataError raised inside."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


@dataclass(frozen=True)
class Node:
    """A JSON value with its file (and line) and path inside the file; accessors check its type."""

    value: Any
    source: str
    path: str = ""

    @property
    def where(self) -> str:
        """The file and path, for messages."""
        return f"{self.source}: {self.path}" if self.path else self.source

    def object(self) -> dict[str, Any]:
        """Return the value, which must be an object."""
        if not isinstance(self.value, dict):
            raise type_mismatch(self.where, "an object", self.value)
        return self.value

    def __getitem__(self, name: str) -> Node:
        fields = self.object()
        if name not in fields:
            there = ", ".join(map(repr, fields)) or "nothing"
            raise DataError(f"{self.where}: has no {name!r}; found {there:.200}")
        return self._child(name)

    def get(self, *names: str) -> Node | None:
        """Return the first of these fields that is present and not null."""
        fields = self.object()
        for name in names:
            if fields.get(name) is not None:
                return self._child(name)
        return None

    def one_of(self, *names: str) -> Node:
        """Return the first of these fields that is present; none is an error."""
        found = self.get(*names)
        return self[names[0]] if found is None else found

    def _child(self, name: str) -> Node:
        return Node(self.value[name], self.source, f"{self.path}.{name}" if self.path else name)

    def items(self) -> list[Node]:
        """Return the elements of the value, which must be an array."""
        if not isinstance(self.value, list):
            raise type_mismatch(self.where, "an array", self.value)
        return [
            Node(value, self.source, f"{self.path}[{place}]")
            for place, value in enumerate(self.value)
        ]

    def fields(self) -> Iterator[tuple[str, Node]]:
        """Yield the names and values of the value, which must be an object."""
        for name in self.object():
            yield name, self._child(name)

    def has(self, *names: str) -> bool:
        """Whether the value is an object with all of these names."""
        return isinstance(self.value, dict) and all(name in self.value for name in names)

    def text(self) -> str:
        """Return the value, which must be a string."""
        if not isinstance(self.value, str):
            raise type_mismatch(self.where, "a string", self.value)
        return self.value

    def texts(self) -> list[str]:
        """Return the value, which must be an array of strings."""
        return [item.text() for item in self.items()]

    def number(self) -> float:
        """Return the value, which must be a finite number."""
        if not is_number(self.value):
            real = isinstance(self.value, float | int) and not isinstance(self.value, bool)
            raise type_mismatch(self.where, "a finite number" if real else "a number", self.value)
        return self.value

    def whole(self) -> int:
        """Return the value, which must be a whole number."""
        if not is_whole(self.value):
            raise type_mismatch(self.where, "a whole number", self.value)
        return self.value

    def flag(self) -> bool:
        """Return the value, which must be true or false."""
        if not isinstance(self.value, bool):
            raise type_mismatch(self.where, "true or false", self.value)
        return self.value

    def id(self) -> str:
        """Return the value as an id: a nonempty string or a whole number."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise type_mismatch(self.where, "an id (a string or a whole number)", value)
        return str(value)

    def plain(self) -> str:
        """Return a string as it is, or a number or boolean as JSON writes it."""
        if isinstance(self.value, bool):
            return str(self.value).lower()
        if isinstance(self.value, int | float):
            return str(self.value)
        return self.text()

    def besides(self, *names: str) -> dict[str, Any]:
        """Return the fields of the object other than these."""
        return {name: value for name, value in self.object().items() if name not in names}

    def record(self, kind: type[T]) -> T:
        """Read the value as a record, keeping unknown fields."""
        with locate_errors(self.where):
            return kind.from_json(self.value)


def read_text(path: PathLike) -> str:
    """Read a file, which must be UTF-8 text."""
    return decode_text(read_bytes(path).tobytes(), display_name(path))


def decode_text(data: bytes, source: str, first_line: int = 1) -> str:
    """Decode UTF-8 text."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + first_line
        raise DataError(f"{source}:{line}: {explain_encoding(data)}") from None


def parse_json(
    text: str,
    source: str,
    *,
    as_dict: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None = None,
    repeats: bool = False,
    line: int | None = None,
    expected: str = "JSON",
) -> Any:
    """Parse a JSON text; `as_dict` builds its objects and turns the strict checks off.

    With `repeats`, a repeated name is no error, which reads large files of our own faster.
    """
    where = source if line is None else f"{source}:{line}"
    if not text.strip():
        raise DataError(f"{where}: is empty, expected {expected}")
    options: dict[str, Any] = {"parse_constant": partial(_reject_constant, where=where)}
    if as_dict:
        options = {"object_pairs_hook": as_dict}
    elif not repeats:
        options["object_pairs_hook"] = _reject_repeats
    try:
        return _load(text, where, options)
    except json.JSONDecodeError as error:
        number = error.lineno if line is None else line
        msg = f"{source}:{number}: not valid JSON ({error.msg}, column {error.colno})"
    except RecursionError:
        msg = f"{where}: not {expected}, but nested too deep to read"
    except DataError:
        raise
    except ValueError as error:  # an integer with thousands of digits
        msg = f"{where}: not valid JSON ({error})"
    raise DataError(msg) from None


def _is_deep(text: str) -> bool:
    """Whether arrays and objects are nested deeper than `DEEPEST`, without calling itself."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    plain = text.encode(errors="surrogatepass").replace(rb"\\", b"").replace(rb"\"", b"")
    pieces = plain.translate(None, _NO_SIGNS).split(b'"')
    signs = np.frombuffer(b"".join(pieces[::2]), dtype=np.uint8)  # outside of strings
    opening = (signs == ord("[")) | (signs == ord("{"))
    depths = np.cumsum(np.where(opening, 1, -1), dtype=np.int64)
    return bool(depths.max(initial=0) > DEEPEST)


def _load(text: str, where: str, options: Mapping[str, Any]) -> Any:
    if _is_deep(text):
        raise RecursionError
    try:
        return json.loads(text, **options)
    except _RepeatedError:
        raise DataError(f"{where}: {find_repeated_name(text)}") from None


class _RepeatedError(Exception):
    """An object has the same name twice."""


def _reject_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        raise _RepeatedError
    return plain


class _Object(NamedTuple):
    """A JSON object with all of its names, in order."""

    pairs: list[tuple[str, Any]]


def find_repeated_name(text: str) -> str:
    """Describe the first repeated name of a JSON text, with its path."""
    found = [("", json.loads(text, object_pairs_hook=_Object))]
    while found:
        path, value = found.pop()
        if isinstance(value, _Object):
            seen: set[str] = set()
            for name, _ in value.pairs:
                if name in seen:
                    there = prefix_place(path)
                    return f"{there}{name!r} appears twice in one object"
                seen.add(name)
            inner = [(f"{path}.{name}".lstrip("."), one) for name, one in value.pairs]
        else:
            items = value if isinstance(value, list) else []
            inner = [(f"{path}[{place}]", one) for place, one in enumerate(items)]
        found += reversed(inner)
    return "no name appears twice in one object"


def _reject_constant(name: str, *, where: str) -> None:
    raise DataError(f"{where}: {name} is not valid JSON; write null for a missing number")


def read_json_object(path: PathLike) -> dict[str, Any]:
    """Read a file of our own that holds an object."""
    source = display_name(path)
    data = parse_json(read_text(path), source, repeats=True)
    if not isinstance(data, dict):
        raise type_mismatch(source, "an object", data)
    return data


def read_json_node(path: PathLike) -> Node:
    """Read the value of a file."""
    source = display_name(path)
    return Node(parse_json(read_text(path), source), source)


def read_json_lines(path: PathLike) -> Iterator[tuple[int, Node]]:
    """Yield the line number and value of each line of a file; blank lines are skipped."""
    source = display_name(path)
    for number, data in enumerate(_split_lines(stream_any(path)), start=1):
        if data.strip():
            text = decode_text(data, source, number)
            yield number, Node(parse_json(text, source, line=number), f"{source}:{number}")


def _split_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file that is read in pieces."""
    begun: list[bytes] = []
    for piece in pieces:
        *lines, last = piece.split(b"\n")
        for line in lines:
            yield b"".join((*begun, line)) if begun else line
            begun.clear()
        begun.append(last)
    yield b"".join(begun)


def encode_json_line(value: Any) -> bytes:
    """Encode a value as one line of JSON, without the line feed."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # a lone surrogate needs an escape
        return json.dumps(value, allow_nan=False).encode()


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: is_number(value) and value == int(value),
    "number": is_number,
}


def find_mismatch(value: Any, schema: Mapping[str, Any], where: str = "the answer") -> str:
    """Return how a value differs from a JSON Schema of plain kinds; "" if it does not.

    >>> find_mismatch({"grade": "3"}, {"properties": {"grade": {"type": "integer"}}})
    "the answer.grade: expected integer, found string '3'"
    """
    kind = schema.get("type", "object")
    if not _KINDS[kind](value):
        return f"{where}: expected {kind}, found {describe_json(value)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where}: expected one of {schema['enum']}, found {describe_json(value)}"
    if kind == "array" and "items" in schema:
        parts = [(one, schema["items"], f"{where}[{place}]") for place, one in enumerate(value)]
    elif kind == "object":
        known = schema.get("properties", {})
        if missing := [name for name in schema.get("required", ()) if name not in value]:
            return f"{where}: has no {missing[0]!r}"
        odd = [name for name in value if name not in known]
        if odd and schema.get("additionalProperties") is False:
            return f"{where}: expected no {show(odd[0])}"
        parts = [(value[name], known[name], f"{where}.{name}") for name in known if name in value]
    else:
        parts = []
    return next(filter(None, (find_mismatch(*part) for part in parts)), "")
