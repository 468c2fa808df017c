"""What the retrievers of other frameworks share: where they come from, and how they are called."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.answers import KnownChunks, check_all_scored, id_text
from berryeval.providers.base import Provider
from berryeval.providers.own_loop import OwnLoop
from berryeval.providers.python_object import named_object

if TYPE_CHECKING:
    from berryeval.records import Chunk, Hit, Query

__all__ = ["RetrieverProvider", "id_in"]


@dataclass
class RetrieverProvider(Provider):
    """A retriever of another framework, called by the methods that framework gives it."""

    retriever: Any = field(default="", repr=False)  # may hold secrets
    asynchronous: bool = False
    name: ClassVar[str]
    methods: ClassVar[tuple[str, str]]  # what searches; the same, awaited
    _found: Any = field(default=None, init=False, repr=False)
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)
    _loop: OwnLoop = field(default_factory=OwnLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        """Find the retriever, or what makes one."""
        option = f"retriever of {self.name}"
        if isinstance(self.retriever, str) and not self.retriever:
            msg = f"{option} is missing; give it as 'module:object'"
            raise ConfigurationError(msg)
        self._found = named_object(self.retriever, option)
        if not self._is_retriever(self._found) and not callable(self._found):
            msg = (
                f"{option}: expected an object with {self.methods[0]!r}, or a function that makes "
                f"one of the chunks; found {type(self._found).__name__}"
            )
            raise ConfigurationError(msg)

    def _is_retriever(self, thing: Any) -> bool:
        return not isinstance(thing, type) and hasattr(thing, self.methods[self.asynchronous])

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the retriever of the chunks, if there is a function for it."""
        self._known = KnownChunks(chunks)
        maker = named_object(self.retriever, f"retriever of {self.name}")
        if self._is_retriever(maker):
            return
        made = self._done(maker(chunks))
        if not self._is_retriever(made):
            msg = (
                f"{self.name}: the function that makes the retriever must return an object with "
                f"{self.methods[self.asynchronous]!r}, found {type(made).__name__}"
            )
            raise ProviderError(msg)
        self._found = made

    def ask(self, query: Query, **options: Any) -> list[Any]:
        """What the retriever returns."""
        if not self._is_retriever(self._found):
            msg = f"{self.name}: there is no retriever yet; it is made by `index`"
            raise ProviderError(msg)
        search = getattr(self._found, self.methods[self.asynchronous])
        found = self._done(search(query.text, **options))
        if not isinstance(found, Sequence) or isinstance(found, str | bytes):
            msg = f"{self.name}: expected a list, found {type(found).__name__} {found!r:.80}"
            raise ProviderError(msg)
        return list(found)

    def completed(self, hits: Sequence[Hit], scores: Sequence[Any]) -> list[Hit]:
        """The hits with what the chunks know about them; all have a score, or none has."""
        try:
            check_all_scored(hits, [score is not None for score in scores])
        except ProviderError as error:
            msg = f"{self.name}: {error}"
            raise ProviderError(msg) from None
        return [self._known.completed(hit) for hit in hits]

    def _done(self, answer: Any) -> Any:
        return self._loop.result(answer) if isinstance(answer, Awaitable) else answer

    def close(self) -> None:
        """Stop what still runs."""
        self._loop.close()


def id_in(metadata: Mapping[str, Any], name: str, owner: str, place: int) -> str:
    """The id that stands in the metadata of a hit."""
    found = id_text(metadata.get(name))
    if found is not None:
        return found
    there = ", ".join(map(repr, metadata)) or "nothing"
    msg = (
        f"{owner}: hit {place} has no id at metadata[{name!r}]; there is {there}. "
        "Say with the option id under which name the id stands"
    )
    raise ProviderError(msg)
