"""Frozen dataclasses as JSON: checked when read, and with unknown fields kept."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

from berryeval._internal.plain import show
from berryeval._internal.text import prefix_place
from berryeval._internal.validate import is_number, is_whole
from berryeval.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self


R = TypeVar("R", bound="JsonRecord")
# Converts a value, given its place for messages, or raises a DataError.
Reader: TypeAlias = Callable[[Any, str], Any]


def open_field(**options: Any) -> Any:
    """Return a dataclass field for a mapping; it is not part of the hash."""
    return dataclasses.field(default_factory=dict, hash=False, **options)


class JsonRecord:
    """Base of dataclasses that convert to JSON objects; fields at their default are left out.

    A field `extra` keeps names that the class does not know, so that reading and writing a file
    loses nothing. The annotation of a field selects its reader.
    """

    __slots__ = ()
    readers: ClassVar[Mapping[str, Reader]] = {}  # for annotations beyond those of READERS
    is_large: ClassVar[bool] = False  # encoded field by field

    @classmethod
    def from_json(cls, data: Any, where: str = "") -> Self:
        """Read a JSON object; `where` is its place for messages, such as "queries[3]"."""
        if not isinstance(data, Mapping):
            raise type_mismatch(where, "an object", data)
        known = _field_readers(cls)  # type: ignore[arg-type]
        values: dict[str, Any] = {}
        inside = f"{where}." if where else ""
        for name, (read, is_optional, is_required) in known.items():
            if name in data:
                value = data[name]
                if value is None and is_optional:
                    values[name] = None
                else:
                    values[name] = read(value, inside + name)
            elif is_required:
                names = ", ".join(map(repr, data)) or "nothing"
                raise DataError(f"{prefix_place(where)}has no {name!r}; found {names}")
        extra = {name: value for name, value in data.items() if name not in known}
        _require_finite(extra, where)
        values["extra"] = extra
        try:
            return cls(**values)
        except DataError as error:
            raise DataError(f"{prefix_place(where)}{error}") from None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that `from_json` reads."""
        return {name: to_plain(value) for name, value in self.json_parts()}

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and unconverted values of the JSON object.

        A name in `extra` that is also a field is an error.
        """
        layout = _field_layout(type(self))  # type: ignore[arg-type]
        for name, required, default in layout:
            value = getattr(self, name)
            if name != "extra" and (required or value != default):
                yield name, value
        extra: Mapping[str, Any] = getattr(self, "extra", {})
        known = {name for name, _, _ in layout} & extra.keys() if extra else ()
        if known:
            raise DataError(
                f"extra holds {min(known)!r}, which is a field of {type(self).__name__} itself"
            )
        yield from extra.items()


class LazyObject:
    """A JSON object whose values are built one at a time while it is encoded."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Callable[[], Iterable[tuple[str, Any]]]) -> None:
        self._pairs = pairs

    def json_parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and unconverted values of the JSON object."""
        yield from self._pairs()


def iter_json(value: Any, *, ascii_only: bool = False) -> Iterator[str]:
    """Yield the JSON text of a record in pieces; joined they equal the output of `json.dumps`."""
    if isinstance(value, JsonRecord | LazyObject):
        before = "{"
        for name, part in value.json_parts():
            yield f"{before}{json.dumps(name, ensure_ascii=ascii_only)}: "
            yield from iter_json(part, ascii_only=ascii_only)
            before = ", "
        yield "{}" if before == "{" else "}"
    elif _needs_conversion(value) and len(value) and isinstance(value[0], JsonRecord):
        before = "["
        for item in value:
            yield before
            if item.is_large:
                yield from iter_json(item, ascii_only=ascii_only)
            else:
                yield json.dumps(to_plain(item), ensure_ascii=ascii_only, allow_nan=False)
            before = ", "
        yield "]"
    else:
        yield json.dumps(to_plain(value), ensure_ascii=ascii_only, allow_nan=False)


def _needs_conversion(value: Any) -> bool:
    """Whether a value is a sequence other than a list of plain values."""
    if isinstance(value, list):
        return any(isinstance(item, JsonRecord) for item in value[:1])
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


@cache
def _field_layout(kind: type[Any]) -> tuple[tuple[str, bool, Any], ...]:
    """Return name, whether it is required, and default of each field of a dataclass."""
    made = dataclasses.MISSING
    return tuple(
        (
            one.name,
            _is_required(one),
            one.default if (new := one.default_factory) is made else new(),
        )
        for one in dataclasses.fields(kind)
    )


_LARGEST: Final = 1 << 63
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def to_plain(value: Any) -> Any:
    """Convert a value of a record to what `json.dumps` takes."""
    if type(value) in _SCALARS:  # most values: return them without further checks
        return value
    if isinstance(value, JsonRecord):
        return value.to_json()
    if isinstance(value, LazyObject):
        return {name: to_plain(part) for name, part in value.json_parts()}
    if _needs_conversion(value):
        return [to_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def describe_json(value: object) -> str:
    """Describe a value for messages: its JSON type and its beginning."""
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    kinds = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return f"{kinds.get(type(value), type(value).__name__)} {show(value)}"


@cache
def _field_readers(cls: type[JsonRecord]) -> dict[str, tuple[Reader, bool, bool]]:
    """Return the reader of each field but `extra`, and whether it may be None or is required."""
    found = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        kind, optional = str(field.type), str(field.type).endswith(" | None")
        plain = kind.removesuffix(" | None")
        if field.name != "extra":
            read = cls.readers.get(plain) or READERS[plain]
            found[field.name] = (read, optional, _is_required(field))
    return found


def _is_required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def type_mismatch(where: str, wanted: str, value: object) -> DataError:
    """Return the error "<where>: expected <wanted>, found <value>"."""
    return DataError(f"{prefix_place(where)}expected {wanted}, found {describe_json(value)}")


def strip_schema_version(data: Any, where: str, what: str, version: int) -> dict[str, Any]:
    """Return a JSON object without its `schema_version`, which must equal `version`."""
    if not isinstance(data, Mapping):
        raise type_mismatch(where, "an object", data)
    found_version = data.get("schema_version")
    if found_version != version or isinstance(found_version, bool):
        newer = isinstance(found_version, int) and found_version > version
        hint = "; a newer BerryEval wrote it: pip install --upgrade berryeval" if newer else ""
        wanted = f"{what} of schema version {version}"
        raise DataError(f"{prefix_place(where)}expected {wanted}, found {found_version!r}{hint}")
    return {name: value for name, value in data.items() if name != "schema_version"}


def _reader(wanted: str, fits: Callable[[Any], bool]) -> Reader:
    def read(value: Any, where: str) -> Any:
        if not fits(value):
            raise type_mismatch(where, wanted, value)
        return value

    return read


def array_reader(kind: type[R]) -> Callable[[Any, str], tuple[R, ...]]:
    """Return a reader of arrays of these records."""

    def read(value: Any, where: str) -> tuple[R, ...]:
        if not isinstance(value, list | tuple):
            raise type_mismatch(where, "an array", value)
        return tuple(kind.from_json(item, f"{where}[{i}]") for i, item in enumerate(value))

    return read


def read_strings(value: Any, where: str) -> tuple[str, ...]:
    """Read an array of strings."""
    if not isinstance(value, list | tuple):
        raise type_mismatch(where, "an array of strings", value)
    read = READERS["str"]
    return tuple(read(item, f"{where}[{place}]") for place, item in enumerate(value))


def read_object(value: Any, where: str) -> dict[str, Any]:
    """Read an object."""
    if not isinstance(value, Mapping):
        raise type_mismatch(where, "an object", value)
    _require_finite(value, where)
    return dict(value)


def _require_finite(values: Mapping[str, Any], where: str) -> None:
    """Reject infinite numbers at any depth: JSON reads them (1e999) but cannot write them."""
    found: list[tuple[str, Any]] = [(f"{where}.{name}", one) for name, one in values.items()]
    while found:
        place, value = found.pop()
        if isinstance(value, float) and not is_number(value):
            raise type_mismatch(place.lstrip("."), "a finite number", value)
        if isinstance(value, dict):
            found += [(f"{place}.{name}", one) for name, one in value.items()]
        elif isinstance(value, list):
            found += [(f"{place}[{number}]", one) for number, one in enumerate(value)]


def _read_whole(value: Any, where: str) -> int:
    """Read a whole number that every database can hold."""
    if not is_whole(value):
        raise type_mismatch(where, "a whole number", value)
    if not -_LARGEST <= value < _LARGEST:
        raise type_mismatch(where, "a whole number of at most 64 bits", value)
    return value


def choice_reader(*words: str) -> Reader:
    """Return a reader that accepts only these words."""
    return _reader(" or ".join(map(repr, words)), words.__contains__)


READERS: Final[Mapping[str, Reader]] = {  # by annotation
    "bool": _reader("true or false", lambda value: isinstance(value, bool)),
    "str": _reader("a string", lambda value: isinstance(value, str)),
    "int": _read_whole,
    "float": _reader("a number", is_number),
    "tuple[str, ...]": read_strings,
    "Mapping[str, Any]": read_object,
}
