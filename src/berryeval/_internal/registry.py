"""`Registry`: objects by name, imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of named objects of one kind, in the order in which they were added.

    Bundled objects are given as "module:member" and imported on first use. Other objects come from
    entry points of installed packages (group `berryeval.<kind>s`) and from `register`.

        >>> colors = Registry("color", {"red": "colors:red"})
        >>> @colors.register("blue", aliases=["azure"])
        ... def blue():
        ...     return "#00f"
        >>> colors.get("azure") is blue
        True
        >>> colors.get("blau")
        Traceback (most recent call last):
        berryeval.errors.ConfigurationError: unknown color 'blau'; did you mean 'blue'?
    """

    def __init__(
        self, kind: str, bundled: Mapping[str, str], aliases: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self._homes: dict[str, str | T] = dict(bundled)
        self._aliases: dict[str, str] = dict(aliases or {})
        self._searched = False

    def register(self, name: str, *, aliases: list[str] | None = None) -> Callable[[T], T]:
        """Return a decorator that adds an object; a name that is taken is an error."""
        self._search_entry_points()

        def add(thing: T) -> T:
            for taken in (name, *(aliases or [])):
                if taken in self._homes or taken in self._aliases:
                    raise ConfigurationError(f"there is a {self.kind} {taken!r} already")
            self._homes[name] = thing
            self._aliases.update(dict.fromkeys(aliases or [], name))
            return thing

        return add

    def get(self, name: str) -> T:
        """Return the object with this name or alias."""
        self._search_entry_points()
        known = self._aliases.get(name, name)
        if known not in self._homes:
            hint = suggest(name, self._homes, aliases=self._aliases)
            raise ConfigurationError(f"unknown {self.kind} {name!r}; {hint}")
        home = self._homes[known]
        if isinstance(home, str):
            module, _, member = home.partition(":")
            home = self._homes[known] = cast("T", getattr(import_module(module), member))
        return home

    def canonical(self, name: str) -> str:
        """Return the name that an alias stands for; other names stay as they are."""
        return self._aliases.get(name, name)

    def __iter__(self) -> Iterator[str]:
        self._search_entry_points()
        return iter(self._homes)

    def __contains__(self, name: str) -> bool:
        self._search_entry_points()
        return name in self._homes or name in self._aliases

    def aliases_of(self, name: str) -> list[str]:
        """Return the aliases of a name."""
        return [alias for alias, known in self._aliases.items() if known == name]

    def _search_entry_points(self) -> None:
        if self._searched:
            return
        for point in _entry_points(tuple(sys.path)).select(group=f"berryeval.{self.kind}s"):
            self._homes.setdefault(point.name, point.value)
        self._searched = True  # last, so that no thread misses any


@cache
def _entry_points(_path: tuple[str, ...]) -> Any:
    """Read the entry points of all packages, which takes a while, once per `sys.path`."""
    from importlib.metadata import entry_points

    return entry_points()
