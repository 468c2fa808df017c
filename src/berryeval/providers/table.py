"""The table of providers, and how one is made from its name and options."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.registry import Registry, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.providers.base import Provider

__all__ = ["PROVIDERS", "make_provider"]

PROVIDERS: Final[Registry[type[Provider]]] = Registry(
    "provider",
    {
        "bm25": "berryeval.providers.bm25:Bm25",
        "dense": "berryeval.providers.dense:Dense",
        "hybrid": "berryeval.providers.hybrid:Hybrid",
        "postgres": "berryeval.providers.postgres:Postgres",
        "sqlite": "berryeval.providers.sqlite:Sqlite",
        "lancedb": "berryeval.providers.lance:LanceDb",
        "chroma": "berryeval.providers.chroma:Chroma",
        "qdrant": "berryeval.providers.qdrant:Qdrant",
    },
    {"pgvector": "postgres", "sqlite-vec": "sqlite", "lance": "lancedb", "chromadb": "chroma"},
)


def make_provider(name: str, options: Mapping[str, Any] | None = None) -> Provider:
    """The provider of this name with these options."""
    kind = PROVIDERS.get(name)
    given = dict(options or {})
    if dataclasses.is_dataclass(kind):
        known = [field.name for field in dataclasses.fields(kind) if field.init]
        check_options(f"provider {name!r}", known, given)
    return kind(**given)


def check_options(owner: str, known: list[str], given: Mapping[str, Any]) -> None:
    """Refuse an option that the owner does not have."""
    for option in given:
        if option not in known:
            near = nearest(option, known, 1)
            takes = f"it takes {', '.join(known) or 'none'}"
            hint = f"did you mean {near[0]!r}?" if near else takes
            msg = f"{owner} has no option {option!r}; {hint}"
            raise ConfigurationError(msg)
