"""Your own function as a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.aio import BackgroundLoop
from berryeval._internal.plain import show
from berryeval._internal.validate import require_choice
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.callable import load_object, read_parameters
from berryeval.providers.rerankers.base import Reranking, read_scores, scores_by_order, text_of

if TYPE_CHECKING:
    from berryeval.data import Hit, Query

_WHAT: Final = "the function of the reranker"
_ARITY: Final = 2  # the query and the hits


@dataclass
class FunctionReranker:
    """Your own function `(text, texts)` or `(query, hits)`, plain or `async`.

    It returns a score for each text, in their order; or the ids of hits, best first, of which those
    it leaves out keep their order after the others; or a `Reranking` with scores and cost.

    Attributes:
        function: "module:function" (in the current folder or installed), or the function itself.
        argument: "texts" for the text of the query and a list of texts, "hits" for the `Query` and
            a list of `Hit`s. By default "hits" if its second parameter has that name.
        returns: "scores", or "order" for positions from 0, best first. A list of ids needs neither.
    """

    function: Any = field(default="", repr=False)  # may hold secrets
    argument: str = ""
    returns: str = "scores"
    _called: Any = field(init=False, repr=False)
    _with_hits: bool = field(init=False, repr=False)
    _loop: BackgroundLoop = field(default_factory=BackgroundLoop, init=False, repr=False)

    def __post_init__(self) -> None:
        require_choice("argument of the reranker function", self.argument, ("", "texts", "hits"))
        require_choice("returns of the reranker function", self.returns, ("scores", "order"))
        if isinstance(self.function, str) and not self.function:
            raise ConfigurationError(
                "function of the reranker is missing; set it to 'module:function'"
            )
        self._called = load_object(self.function, "function of the reranker")
        if not callable(self._called):
            raise ConfigurationError(
                "function of the reranker: expected a function (text, texts) or an object with "
                f"rerank(query, hits), found {type(self._called).__name__}"
            )
        parameters = read_parameters(self._called)
        names = [one.name for one in parameters or ()]
        if parameters is not None and len(names) < _ARITY:
            raise ConfigurationError(
                "function of the reranker: expected a function (text, texts) or (query, hits), "
                f"found one with the parameters ({', '.join(names)})"
            )
        self._with_hits = self.argument == "hits" or (not self.argument and "hits" in names[1:2])

    @property
    def in_process(self) -> bool:
        """Whether the function says that it does all its work in this process."""
        return bool(getattr(self._called, "in_process", False))

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """Call the function."""
        asked: tuple[Any, list[Any]] = (query, list(hits))
        if not self._with_hits:
            asked = (query.text, [text_of(hit) for hit in hits])
        given = self._loop.wait_for(self._called(*asked))
        if isinstance(given, Reranking):
            return given
        values = getattr(given, "tolist", lambda: given)()
        if isinstance(values, list | tuple) and any(isinstance(one, str) for one in values):
            return _read_order(_find_places(values, hits), len(hits))
        if self.returns == "order" and isinstance(values, list | tuple):
            return _read_order(values, len(hits))
        return Reranking(read_scores(given, len(hits), _WHAT))

    def close(self) -> None:
        """Stop what still runs."""
        self._loop.close()


def _read_order(places: Sequence[Any], count: int) -> Reranking:
    if not places:
        raise ProviderError(f"{_WHAT}: expected an order of {count} hits, found an empty one")
    scores = scores_by_order(places, count, _WHAT)
    return Reranking(scores, unplaced=count - len(places))


def _find_places(ids: Sequence[Any], hits: Sequence[Hit]) -> list[int]:
    known = {hit.id: place for place, hit in enumerate(hits)}
    if unknown := [one for one in ids if one not in known]:
        raise ProviderError(
            f"{_WHAT}: expected ids of the {len(hits)} hits it was given, found {show(unknown[0])}"
        )
    return [known[one] for one in ids]
