"""What can be searched without being a provider: functions, objects with `search`, retrievers."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_searched", "searches", "wrapper_of"]

# Objects that are searched through a provider of ours, by a method that gives them away.
_KNOWN_BY: Final = (
    ("ainvoke", "langchain", "retriever"),
    ("aretrieve", "llamaindex", "retriever"),
    ("search", "callable", "function"),
    ("__call__", "callable", "function"),
)


def is_searched(thing: Any) -> bool:
    """Whether it looks like something that can be searched."""
    return any(hasattr(thing, method) for method, _, _ in _KNOWN_BY)


def searches(thing: Any, options: Mapping[str, Any] | None = None) -> bool:
    """Whether it is what searches, or else what makes a provider of these options."""
    if any(hasattr(thing, method) for method, _, _ in _KNOWN_BY if method != "__call__"):
        return True
    signature = inspect.signature(thing)
    try:
        signature.bind(**(options or {}))
    except TypeError:
        with suppress(TypeError):
            signature.bind("text", 1)
            return True
    return False


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
