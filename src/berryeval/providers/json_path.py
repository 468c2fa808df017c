"""Paths into a JSON answer: `hits.hits`, `data[0].items`, `groups[*].documents[*]`.

Names stand between dots; `[0]` is a place of an array, `[*]` every place of it, and `["a.b"]` a
name that holds a dot or a bracket. A `$` in front may stand and means nothing; the empty path is
the whole answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from berryeval.errors import ConfigurationError, ProviderError

__all__ = ["JsonPath"]

_STEP: Final = re.compile(
    r'\.?(?P<name>[^.\[\]"]+)|\[(?P<place>-?\d+|\*)\]|\["(?P<quoted>[^"]+)"\]'
)
_EVERY: Final = "*"
_SHOWN: Final = 80


@dataclass(frozen=True)
class JsonPath:
    """A path, as it is written, and its steps."""

    text: str
    steps: tuple[str | int, ...] = ()
    every: tuple[int, ...] = ()  # which steps are [*]

    @classmethod
    def parse(cls, text: object, option: str) -> JsonPath:
        """The path of this text; `option` says in messages whose it is."""
        if not isinstance(text, str):
            msg = f"{option} must be a path as 'hits[*].id', found {type(text).__name__}"
            raise ConfigurationError(msg)
        rest = text.removeprefix("$").removeprefix(".")
        steps: list[str | int] = []
        every: list[int] = []
        place = 0
        while place < len(rest):
            found = _STEP.match(rest, place)
            if not found or (place == 0 and rest.startswith(".")):
                msg = f"{option}: cannot be read from {rest[place:]!r} on; a path is as 'a.b[0].c'"
                raise ConfigurationError(msg)
            if found["place"] == _EVERY:
                every.append(len(steps))
                steps.append(_EVERY)
            else:
                steps.append(
                    int(found["place"]) if found["place"] else found["name"] or found["quoted"]
                )
            place = found.end()
        return cls(text, tuple(steps), tuple(every))

    def one(self, data: Any) -> Any:
        """What stands there; a `ProviderError` says how far the path goes and what is there."""
        found = self.all(data)
        return found if self.every else found[0]

    def find(self, data: Any) -> Any:
        """What stands there, of a path without `[*]`; None if nothing does."""
        for step in self.steps:
            if isinstance(step, int):
                if not isinstance(data, list) or not -len(data) <= step < len(data):
                    return None
                data = data[step]
            elif isinstance(data, dict):
                data = data.get(step)
            else:
                return None
        return data

    def all(self, data: Any) -> list[Any]:
        """All that stands there: one thing, or with `[*]` any number."""
        here = [("", data)]
        for number, step in enumerate(self.steps):
            if number in self.every:
                here = [pair for where, value in here for pair in self._items(where, value)]
            else:
                here = [self._step(where, value, step) for where, value in here]
        return [value for _, value in here]

    def _items(self, where: str, value: Any) -> list[tuple[str, Any]]:
        if not isinstance(value, list):
            raise self._missing(where, "an array", value)
        return [(f"{where}[{place}]", item) for place, item in enumerate(value)]

    def _step(self, where: str, value: Any, step: str | int) -> tuple[str, Any]:
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                raise self._missing(where, f"an array with a place {step}", value)
            return f"{where}[{step}]", value[step]
        if not isinstance(value, dict) or step not in value:
            raise self._missing(where, f"an object with {step!r}", value)
        return f"{where}.{step}".lstrip("."), value[step]

    def _missing(self, where: str, expected: str, value: Any) -> ProviderError:
        at = f"at {where!r} " if where else "at its top "
        msg = f"nothing at the path {self.text!r} of the answer: {at}expected {expected}, found "
        return ProviderError(msg + _described(value))


def _described(value: Any) -> str:
    """What was found, without repeating what may be long or private."""
    if isinstance(value, dict):
        names = ", ".join(map(repr, value))
        return f"an object with {names[:_SHOWN]}" if names else "an empty object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return f"{value!r:.{_SHOWN}}"
