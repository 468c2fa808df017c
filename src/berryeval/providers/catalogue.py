"""The table of providers, and how one is made from its name and options."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from berryeval._internal.registry import Registry
from berryeval._internal.validate import nearest
from berryeval.errors import ConfigurationError
from berryeval.providers.base import Provider
from berryeval.providers.callable import parameters_of, searches, wrapper_of

PROVIDERS: Final[Registry[Callable[..., Any]]] = Registry(
    "provider",
    {
        "bm25": "berryeval.providers.bm25:Bm25",
        "dense": "berryeval.providers.dense:Dense",
        "hybrid": "berryeval.providers.hybrid:Hybrid",
        "postgres": "berryeval.providers.postgres:Postgres",
        "sqlite": "berryeval.providers.sqlite:Sqlite",
        "lancedb": "berryeval.providers.lancedb:LanceDb",
        "chroma": "berryeval.providers.chroma:Chroma",
        "qdrant": "berryeval.providers.qdrant:Qdrant",
        "elasticsearch": "berryeval.providers.elasticsearch:Elasticsearch",
        "http": "berryeval.providers.http:Http",
        "callable": "berryeval.providers.callable:Function",
        "langchain": "berryeval.providers.retrievers:LangChain",
        "llamaindex": "berryeval.providers.retrievers:LlamaIndex",
        "run-file": "berryeval.providers.run_file:RunFile",
    },
    {
        "pgvector": "postgres",
        "sqlite-vec": "sqlite",
        "lance": "lancedb",
        "chromadb": "chroma",
        "opensearch": "elasticsearch",
        "function": "callable",
        "llama-index": "llamaindex",
        "run": "run-file",
    },
)


def make_provider(source: Any, options: Mapping[str, Any] | None = None) -> Provider:
    """The provider of this name with these options.

    Instead of a name, a class of providers may be given, a function that searches, an object with a
    method `search`, a retriever of LangChain or LlamaIndex, or a provider, which is returned as it
    is and takes no options.
    """
    given = dict(options or {})
    if isinstance(source, str):
        kind, owner = PROVIDERS.get(source), f"provider {source!r}"
        inner = given.get("function") if PROVIDERS.canonical(source) == "callable" else None
        if isinstance(inner, Provider):
            return make_provider(given.pop("function"), given)
    elif isinstance(source, Provider):
        check_options("a provider that is made already", [], given)
        return source
    elif isinstance(source, type) and issubclass(source, Provider):
        kind, owner = source, f"provider {source.__name__!r}"
    else:
        name, option = wrapper_of(source)
        return make_provider(name, {option: source, **given})
    with suppress(RecursionError):  # too deep: who uses the option says so
        _check_finite(owner, given)
    if not isinstance(kind, type) and searches(kind, given):
        return make_provider(kind, given)
    made = kind(**_checked(owner, kind, given))
    return made if isinstance(made, Provider) else make_provider(made)


def _checked(owner: str, kind: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The options, if it takes them, as the kinds of values it wants."""
    if not dataclasses.is_dataclass(kind):
        parameters = parameters_of(kind)
        if parameters is None:
            return given
        if all(one.kind is not one.VAR_KEYWORD for one in parameters):
            check_options(owner, [one.name for one in parameters], given)
        return given
    known = [field.name for field in dataclasses.fields(kind) if field.init]
    check_options(owner, known, given)
    kinds = {field.name: str(field.type) for field in dataclasses.fields(kind)}
    return {name: _typed(owner, name, kinds[name], value) for name, value in given.items()}


def _check_finite(owner: str, value: Any, where: str = "") -> None:
    """Refuse infinity and what is no number, however deep: no file of a run could hold them."""
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"{owner}: {where} must be a finite number, found {value}"
        raise ConfigurationError(msg)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _check_finite(owner, inner, f"{where}.{name}" if where else str(name))
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            _check_finite(owner, inner, f"{where}[{place}]")


def _typed(owner: str, name: str, kind: str, value: Any) -> Any:
    """The option as a number or a flag, if it has to be one; texts come from the environment."""
    if kind not in _SIMPLE:
        return value
    wanted, read = _SIMPLE[kind]
    try:
        return read(value)
    except (KeyError, TypeError, ValueError):
        msg = f"{owner}: {name} must be {wanted}, found {value!r:.80}"
        raise ConfigurationError(msg) from None


def _whole(value: Any) -> int:
    if isinstance(value, (bool, float)):
        raise TypeError
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(number := float(value)):
        raise ValueError
    return number


def _flag(value: Any) -> bool:
    return value if isinstance(value, bool) else _FLAGS[value.strip().lower()]


_FLAGS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_SIMPLE: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "int": ("a whole number", _whole),
    "float": ("a number", _number),
    "bool": ("true or false", _flag),
}


def check_options(owner: str, known: list[str], given: Mapping[str, Any]) -> None:
    """Refuse an option that the owner does not have."""
    for option in given:
        if option not in known:
            near = nearest(option, known, 1)
            takes = f"it takes {', '.join(known) or 'none'}"
            hint = f"did you mean {near[0]!r}?" if near else takes
            msg = f"{owner} has no option {option!r}; {hint}"
            raise ConfigurationError(msg)
