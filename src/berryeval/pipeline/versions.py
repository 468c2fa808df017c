"""The versions of what decides what comes back: of the libraries of providers and chunkers in use.

They follow from the plan alone. What else the process has loaded is of no importance to the run,
but where code that is not ours searches: it may use any library that we know.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import berryeval
from berryeval.providers import PROVIDERS

if TYPE_CHECKING:
    from berryeval.pipeline.plan import ProviderSpec

__all__ = ["versions_of"]

_EMBEDDING: Final = "embedder"  # stands for whichever embedder is asked for
_OF_VECTORS: Final = frozenset({_EMBEDDING, "sqlite-vec"})  # a search for words does without
_PROVIDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "bm25": ("bm25s", "snowballstemmer"),
    "dense": (_EMBEDDING,),
    "hybrid": (),
    "postgres": ("psycopg", _EMBEDDING),
    "sqlite": ("apsw", "sqlite-vec", _EMBEDDING),
    "lancedb": ("lancedb", _EMBEDDING),
    "chroma": ("chromadb", _EMBEDDING),
    "qdrant": ("qdrant-client", _EMBEDDING),
    "elasticsearch": ("httpx", _EMBEDDING),
    "http": ("httpx",),
    "run-file": (),
}
_EMBEDDERS: Final[Mapping[str, str]] = {
    "wordllama": "wordllama",
    "model2vec": "model2vec",
    "openai": "httpx",
    "sentence-transformers": "sentence-transformers",
}
_CHUNKERS: Final[Mapping[str, str]] = {
    "chonkie": "chonkie",
    "code": "tree-sitter",
    "langchain": "langchain-text-splitters",
}
# What code of others may search with: the module to look for, the package that brings it.
_ANY: Final[Mapping[str, str]] = {
    "apsw": "apsw",
    "bm25s": "bm25s",
    "chromadb": "chromadb",
    "httpx": "httpx",
    "lancedb": "lancedb",
    "langchain_core": "langchain-core",
    "llama_index.core": "llama-index-core",
    "model2vec": "model2vec",
    "psycopg": "psycopg",
    "qdrant_client": "qdrant-client",
    "sentence_transformers": "sentence-transformers",
    "snowballstemmer": "snowballstemmer",
    "sqlite_vec": "sqlite-vec",
    "wordllama": "wordllama",
}


def versions_of(specs: Iterable[ProviderSpec], chunkers: Iterable[str] = ()) -> dict[str, str]:
    """The versions of what may change the outcome of a run.

    Args:
        specs: the providers in use.
        chunkers: those in use.
    """
    packages = {"numpy"}
    for spec in specs:
        packages.update(_of_provider(spec.type, spec.options))
    packages.update(_CHUNKERS.get(chunker.partition("-")[0], "") for chunker in chunkers)
    versions = {"berryeval": berryeval.__version__, "python": platform.python_version()}
    for package in sorted(packages):
        installed = _installed(package)
        if installed:
            versions[package] = installed
    return versions


def _of_provider(name: str, options: Mapping[str, Any]) -> Iterator[str]:
    known = PROVIDERS.canonical(name)
    if known == "hybrid":
        for child, given in _fused(options):
            yield from _of_provider(child, given)
        return
    if known not in _PROVIDERS:
        yield from (package for module, package in _ANY.items() if module in sys.modules)
        return
    asked = {"mode": "", "embedder": "", **_defaults(known), **options}
    for package in _PROVIDERS[known]:
        if package not in _OF_VECTORS or asked["mode"] != "text":
            yield _of_embedder(str(asked["embedder"])) if package == _EMBEDDING else package


def _defaults(provider: str) -> dict[str, Any]:
    """What the options of a provider are where it is not told."""
    kind = PROVIDERS.get(provider)
    return {one.name: one.default for one in fields(kind)} if is_dataclass(kind) else {}


def _fused(options: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The providers that a hybrid one fuses, each with its options."""
    by_name = options.get("options")
    for child in options.get("providers") or _defaults("hybrid")["providers"]:
        given = child.get("options") if isinstance(child, Mapping) else None
        name = child.get("type") if isinstance(child, Mapping) else child
        if isinstance(name, str) and given is None and isinstance(by_name, Mapping):
            given = by_name.get(name)
        yield str(name), given if isinstance(given, Mapping) else {}


def _of_embedder(name: str) -> str:
    return _EMBEDDERS.get(name, name)


def _installed(package: str) -> str:
    try:
        return metadata.version(package) if package else ""
    except metadata.PackageNotFoundError:
        return ""
