"""The options of a chunker: declared as fields of a dataclass, checked, and read from words."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Final

from berryeval.errors import ConfigurationError

__all__ = ["Choice", "Kind", "Option", "Whole", "Word", "check_options", "option", "options_of"]

_KEY: Final = "berryeval.chunkers"


@dataclass(frozen=True)
class Kind:
    """What an option may hold."""

    wanted: str  # in messages: "... must be <wanted>, found ..."

    def accepts(self, value: Any) -> bool:
        """Whether the option may hold the value."""
        return isinstance(value, str)

    def read(self, word: str) -> Any:
        """The value that a word in the textual form means."""
        return word


class Word(Kind):
    """Any word."""


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number, not below the least; or none, if that is a choice."""

    wanted: str = ""
    least: int = 0
    optional: bool = False

    def __post_init__(self) -> None:
        """Say what is wanted."""
        none = " or None" if self.optional else ""
        object.__setattr__(self, "wanted", f"a whole number of at least {self.least}{none}")

    def accepts(self, value: Any) -> bool:
        """Whether the option may hold the value."""
        if value is None:
            return self.optional
        return isinstance(value, int) and not isinstance(value, bool) and value >= self.least

    def read(self, word: str) -> Any:
        """The number, or the word itself, which is then refused."""
        return int(word) if word.isascii() and word.isdigit() else word


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    wanted: str = ""
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Say what is wanted."""
        object.__setattr__(self, "wanted", " or ".join(map(repr, self.words)))

    def accepts(self, value: Any) -> bool:
        """Whether the option may hold the value."""
        return value in self.words


@dataclass(frozen=True)
class Option:
    """An option: its name, what it may hold, what it holds if not given, and what it is for."""

    name: str
    kind: Kind
    default: Any
    text: str


def option(default: Any, kind: Kind, text: str) -> Any:
    """A field of a chunker that users may set."""
    return dataclasses.field(default=default, metadata={_KEY: (kind, text)})


def options_of(chunker: Any) -> dict[str, Option]:
    """The options of a chunker or of its class, by name; none, if it declares none."""
    if not dataclasses.is_dataclass(chunker):
        return {}
    return {
        field.name: Option(field.name, *_kind(field), text=field.metadata[_KEY][1])
        for field in dataclasses.fields(chunker)
        if _KEY in field.metadata
    }


def _kind(field: dataclasses.Field[Any]) -> tuple[Kind, Any]:
    return field.metadata[_KEY][0], field.default


def check_options(chunker: Any, name: str) -> None:
    """Refuse a chunker with a value that an option cannot hold."""
    for known in options_of(chunker).values():
        value = getattr(chunker, known.name)
        if not known.kind.accepts(value):
            msg = f"{known.name} of the chunker {name!r} must be {known.kind.wanted}"
            msg += f", found {value!r}"
            raise ConfigurationError(msg)
