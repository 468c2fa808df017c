"""`Registry`: things by name, imported when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


T = TypeVar("T")


class Registry(Generic[T]):
    """A table from names to things of one kind, in the order in which they were added.

    What is bundled is written as "module:member" and imported on first use. Others come from entry
    points of installed packages (the group `berryeval.<kind>s`) and from `register`.

        >>> colours = Registry("colour", {"red": "colours:red"})
        >>> @colours.register("blue", aliases=["azure"])
        ... def blue():
        ...     return "#00f"
        >>> colours.get("azure") is blue
        True
        >>> colours.get("blau")
        Traceback (most recent call last):
        berryeval.errors.ConfigurationError: unknown colour 'blau'; did you mean 'blue'?
    """

    def __init__(
        self, kind: str, bundled: Mapping[str, str], aliases: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self._homes: dict[str, str | T] = dict(bundled)
        self._aliases: dict[str, str] = dict(aliases or {})
        self._searched = False

    def register(self, name: str, *, aliases: list[str] | None = None) -> Callable[[T], T]:
        """Add a thing, as a decorator; a name that exists already is refused."""
        self._search_entry_points()

        def add(thing: T) -> T:
            for taken in (name, *(aliases or [])):
                if taken in self._homes or taken in self._aliases:
                    msg = f"there is a {self.kind} {taken!r} already"
                    raise ConfigurationError(msg)
            self._homes[name] = thing
            self._aliases.update(dict.fromkeys(aliases or [], name))
            return thing

        return add

    def get(self, name: str) -> T:
        """The thing of this name or alias."""
        self._search_entry_points()
        known = self._aliases.get(name, name)
        if known not in self._homes:
            hint = suggest(name, self._homes, aliases=self._aliases)
            msg = f"unknown {self.kind} {name!r}; {hint}"
            raise ConfigurationError(msg)
        home = self._homes[known]
        if isinstance(home, str):
            module, _, member = home.partition(":")
            home = self._homes[known] = cast("T", getattr(import_module(module), member))
        return home

    def canonical(self, name: str) -> str:
        """The name itself of a thing that may be called by an alias."""
        return self._aliases.get(name, name)

    def __iter__(self) -> Iterator[str]:
        self._search_entry_points()
        return iter(self._homes)

    def __contains__(self, name: str) -> bool:
        self._search_entry_points()
        return name in self._homes or name in self._aliases

    def aliases_of(self, name: str) -> list[str]:
        """The other names of a thing."""
        return [alias for alias, known in self._aliases.items() if known == name]

    def _search_entry_points(self) -> None:
        if self._searched:
            return
        self._searched = True
        from importlib.metadata import entry_points

        for point in entry_points(group=f"berryeval.{self.kind}s"):
            self._homes.setdefault(point.name, point.value)
