"""Frozen dataclasses that go to JSON and come back: checked, and with what we do not know kept."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from berryeval.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self


# Takes a value and where it stands; gives what the field holds, or raises a DataError.
Reader: TypeAlias = Callable[[Any, str], Any]


class JsonRecord:
    """The JSON form of a dataclass: its fields by name, those at their default left out.

    A field `extra` keeps names that the class does not know, so that reading and writing a file
    loses nothing. What a field may hold is said by its annotation.
    """

    __slots__ = ()
    readers: ClassVar[Mapping[str, Reader]] = {}  # for annotations beyond those of READERS
    is_large: ClassVar[bool] = False  # its JSON text is made part by part

    @classmethod
    def from_json(cls, data: Any, where: str = "") -> Self:
        """From a JSON object; `where` says in messages where it stands, as "queries[3]"."""
        if not isinstance(data, Mapping):
            msg = f"{_at(where)}expected an object, found {found(data)}"
            raise DataError(msg)
        known = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        known.pop("extra", None)
        values: dict[str, Any] = {}
        for name, field in known.items():
            if name in data:
                values[name] = cls._read(str(field.type), data[name], f"{where}.{name}".lstrip("."))
            elif _is_required(field):
                msg = (
                    f"{_at(where)}has no {name!r}; found {', '.join(map(repr, data)) or 'nothing'}"
                )
                raise DataError(msg)
        values["extra"] = {name: value for name, value in data.items() if name not in known}
        try:
            return cls(**values)
        except DataError as error:
            msg = f"{_at(where)}{error}"
            raise DataError(msg) from None

    @classmethod
    def _read(cls, kind: str, value: Any, where: str) -> Any:
        if kind.endswith(" | None"):
            return None if value is None else cls._read(kind.removesuffix(" | None"), value, where)
        return (cls.readers.get(kind) or READERS[kind])(value, where)

    def to_json(self) -> dict[str, Any]:
        """The JSON object; `from_json` reads it back. Names in `extra` must be unknown ones."""
        return {name: plain(value) for name, value in self.json_parts()}

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """The names of the JSON object and what stands there, before it is made JSON."""
        for name, required, default in _layout(type(self)):
            value = getattr(self, name)
            if name != "extra" and (required or value != default):
                yield name, value
        extra: Mapping[str, Any] = getattr(self, "extra", {})
        known = {name for name, _, _ in _layout(type(self))} & extra.keys() if extra else ()
        if known:
            msg = f"extra holds {min(known)!r}, which is a field of {type(self).__name__} itself"
            raise DataError(msg)
        yield from extra.items()


class Parts:
    """A JSON object whose parts are made when they are wanted, and so never all at once."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Callable[[], Iterable[tuple[str, Any]]]) -> None:
        self._pairs = pairs

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """The names and what stands there."""
        yield from self._pairs()


def json_pieces(value: Any, *, ascii_only: bool = False) -> Iterator[str]:
    """The JSON text of a record, in small pieces; together they are what `json.dumps` gives."""
    if isinstance(value, JsonRecord | Parts):
        before = "{"
        for name, part in value.json_parts():
            yield f"{before}{json.dumps(name, ensure_ascii=ascii_only)}: "
            yield from json_pieces(part, ascii_only=ascii_only)
            before = ", "
        yield "{}" if before == "{" else "}"
    elif _is_array(value) and len(value) and isinstance(value[0], JsonRecord):
        before = "["
        for item in value:
            yield before
            if item.is_large:
                yield from json_pieces(item, ascii_only=ascii_only)
            else:
                yield json.dumps(plain(item), ensure_ascii=ascii_only, allow_nan=False)
            before = ", "
        yield "]"
    else:
        yield json.dumps(plain(value), ensure_ascii=ascii_only, allow_nan=False)


def _is_array(value: Any) -> bool:
    """Whether a value is an array other than a list of plain values, which is JSON as it is."""
    if isinstance(value, list):
        return any(isinstance(item, JsonRecord) for item in value[:1])
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


_layouts: dict[type[Any], tuple[tuple[str, bool, Any], ...]] = {}


def _layout(kind: type[Any]) -> tuple[tuple[str, bool, Any], ...]:
    """Of each field of a dataclass its name, whether it must be there, and what it is if not."""
    if kind not in _layouts:
        _layouts[kind] = tuple(
            (field.name, _is_required(field), None if _is_required(field) else _default(field))
            for field in dataclasses.fields(kind)
        )
    return _layouts[kind]


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})  # most values: so they are quick


def plain(value: Any) -> Any:
    """A value of a record as JSON has it."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, JsonRecord):
        return value.to_json()
    if isinstance(value, Parts):
        return {name: plain(part) for name, part in value.json_parts()}
    if _is_array(value):
        return [plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def found(value: object) -> str:
    """A value in messages: its kind in JSON's words, and what it is."""
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    kinds = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return f"{kinds.get(type(value), type(value).__name__)} {value!r:.80}"


def _at(where: str) -> str:
    return f"{where}: " if where else ""


def _is_required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def refused(where: str, wanted: str, value: object) -> DataError:
    """The error that a value is not what was expected."""
    return DataError(f"{_at(where)}expected {wanted}, found {found(value)}")


def unversioned(data: Any, where: str, what: str, version: int) -> dict[str, Any]:
    """A JSON object without its `schema_version`, which must be the one that is read here."""
    if not isinstance(data, Mapping):
        raise refused(where, "an object", data)
    found_version = data.get("schema_version")
    if found_version != version or isinstance(found_version, bool):
        newer = isinstance(found_version, int) and found_version > version
        hint = "; a newer BerryEval wrote it: pip install --upgrade berryeval" if newer else ""
        wanted = f"{what} of schema version {version}"
        msg = f"{_at(where)}expected {wanted}, found {found_version!r}{hint}"
        raise DataError(msg)
    return {name: value for name, value in data.items() if name != "schema_version"}


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise refused(where, "a string", value)
    return value


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise refused(where, "a whole number", value)
    return value


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise refused(where, "true or false", value)
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not is_finite(value):
        raise refused(where, "a number", value)
    return value


def is_finite(value: float) -> bool:
    """Whether a number is one that a float can hold."""
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def read_texts(value: Any, where: str) -> tuple[str, ...]:
    """An array of strings."""
    if not isinstance(value, list | tuple):
        raise refused(where, "an array of strings", value)
    return tuple(_text(item, f"{where}[{place}]") for place, item in enumerate(value))


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise refused(where, "an object", value)
    return dict(value)


def one_of(*words: str) -> Reader:
    """A reader that takes these words only."""

    def read(value: Any, where: str) -> str:
        if value not in words:
            raise refused(where, " or ".join(map(repr, words)), value)
        return str(value)

    return read


# What each annotation means in JSON.
READERS: Final[Mapping[str, Reader]] = {
    "bool": _flag,
    "str": _text,
    "int": _whole,
    "float": _number,
    "tuple[str, ...]": read_texts,
    "Mapping[str, Any]": _object,
}
