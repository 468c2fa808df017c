"""The base class of providers that search other providers over the same chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from berryeval._internal.aio import BackgroundLoop
from berryeval._internal.validate import reject_unknown
from berryeval.errors import ConfigurationError
from berryeval.providers.answers import check_batch
from berryeval.providers.base import Provider, find_enter, find_exit

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval.data import Chunk, Query


@dataclass
class Combined(Provider):
    """A provider that enters, indexes, asks and closes others."""

    _children: list[Provider] = field(default_factory=list, init=False, repr=False)
    _entered: set[int] = field(default_factory=set, init=False, repr=False)
    _loop: BackgroundLoop = field(default_factory=BackgroundLoop, init=False, repr=False)

    def __enter__(self) -> Self:
        """Enter all providers that are context managers, or none if one fails."""
        with ExitStack() as undo:
            undo.callback(self._loop.close)
            for place, child in enumerate(self._children):
                if enter := find_enter(child):
                    undo.push(partial(self._leave, place))
                    self._loop.wait_for(enter())
                self._entered.add(place)
            undo.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave or close every provider, the last first, even if one of them fails."""
        with ExitStack() as ends:
            ends.callback(self._loop.close)
            for place in range(len(self._children)):
                ends.callback(self._leave, place, *error)

    def _leave(self, place: int, *error: object) -> None:
        entered = place in self._entered
        self._entered.discard(place)
        if leave := find_exit(self._children[place], *error, entered=entered):
            self._loop.wait_for(leave())

    def required(self) -> dict[str, str]:
        """Return the modules that the providers need."""
        return {name: extra for one in self._children for name, extra in one.required().items()}

    def needs_documents(self) -> bool:
        """Whether any of the providers does."""
        return any(one.needs_documents() for one in self._children)

    def searches_in_process(self) -> bool:
        """Whether all of the providers do."""
        return all(one.searches_in_process() for one in self._children)

    def existing_indexes(self) -> dict[str, int | None]:
        """Return the existing indexes of all providers."""
        return {
            name: rows for one in self._children for name, rows in one.existing_indexes().items()
        }

    def expect(self, queries: Sequence[Query]) -> None:
        """Pass the queries to each provider."""
        for child in self._children:
            child.expect(queries)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Let each provider index all chunks."""
        for child in self._children:
            child.on_progress = self.on_progress
            self._loop.wait_for(child.index(chunks))  # type: ignore[func-returns-value]

    def _ask(self, child: Provider, queries: Sequence[Query], k: int) -> list[Any]:
        """Return the provider's answer to every query, asked as a batch if possible."""
        together = getattr(child, "search_many", None)
        if together is None:
            return [self._loop.wait_for(child.search(query, k)) for query in queries]
        return check_batch(self._loop.wait_for(together(queries, k)), len(queries))

    def close(self) -> None:
        """Close every provider as if no error had occurred."""
        self.__exit__(None, None, None)


def read_part(owner: str, part: Mapping[str, Any], kind: str = "provider") -> tuple[str, Any]:
    """Return the type and the options of a part of a provider that is given as a mapping."""
    if "chunker" in part:
        raise ConfigurationError(
            f"the {kind}s of {owner} share its chunks; set the chunker of {owner} itself"
        )
    reject_unknown(f"a {kind} of {owner}", part, ["type", "options"])
    name, options = part.get("type"), part.get("options", {})
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise ConfigurationError(
            f"a {kind} of {owner} needs a type and may have options, found {list(part)}"
        )
    return name, options
