"""What can be searched without being a provider: functions, objects with `search`, retrievers."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["is_searched", "parameters_of", "searches", "wrapper_of"]

# Objects that are searched through a provider of ours, by a method that gives them away.
_KNOWN_BY: Final = (
    ("ainvoke", "langchain", "retriever"),
    ("aretrieve", "llamaindex", "retriever"),
    ("search", "callable", "function"),
    ("__call__", "callable", "function"),
)
_A_SEARCH: Final = ("text", "k")
_HOW_MANY: Final = frozenset(
    ("k", "n", "limit", "top_k", "topk", "top_n", "n_results", "num_results", "max_results")
)
_IN_ORDER: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def is_searched(thing: Any) -> bool:
    """Whether it looks like something that can be searched."""
    return any(hasattr(thing, method) for method, _, _ in _KNOWN_BY)


def parameters_of(thing: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """What it is called with; None if that cannot be known, as of some that are written in C."""
    try:
        return list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return None


def searches(thing: Any, options: Mapping[str, Any] | None = None) -> bool:
    """Whether it is what searches, or else what makes a provider of these options."""
    if any(hasattr(thing, method) for method, _, _ in _KNOWN_BY if method != "__call__"):
        return True
    parameters = parameters_of(thing)
    if parameters is None:
        return not options
    ordered = [one for one in parameters if one.kind in _IN_ORDER]
    if len(ordered) < len(_A_SEARCH) or any(one.name in (options or ()) for one in parameters):
        return False
    # Of one that could be both, the name of the second parameter says what it is.
    needed = [one for one in ordered if one.default is one.empty]
    return ordered[1].name in _HOW_MANY or (not options and len(needed) == len(_A_SEARCH))


def wrapper_of(source: Any) -> tuple[str, str]:
    """The provider that searches with such an object, and the option that takes it."""
    if isinstance(source, type):
        name = source.__name__
        msg = f"expected a provider, found the class {name}; call it: {name}()"
        raise ConfigurationError(msg)
    for method, name, option in _KNOWN_BY:
        if hasattr(source, method):
            return name, option
    msg = (
        "a provider is a name, a function (text, k), a retriever of LangChain or LlamaIndex, or an "
        f"object with search(query, k); found {type(source).__name__}"
    )
    raise ConfigurationError(msg)
