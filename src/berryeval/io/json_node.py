"""`Node`: a JSON value that knows where it stands, so that every complaint can say it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from berryeval.errors import DataError
from berryeval.json_record import JsonRecord, is_finite, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Node", "at"]

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
