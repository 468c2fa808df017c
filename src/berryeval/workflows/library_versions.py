"""Versions of the libraries that a run depends on."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import berryeval
from berryeval.providers import PROVIDERS

if TYPE_CHECKING:
    from berryeval.workflows.plan import ProviderSpec

_EMBEDDING: Final = "embedder"  # placeholder for the package of the embedder in use
_VECTORS: Final = frozenset({_EMBEDDING, "sqlite-vec"})  # not needed by text search
_PROVIDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "bm25": ("bm25s", "snowballstemmer"),
    "dense": (_EMBEDDING,),
    "hybrid": (),
    "rerank": (),
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
_RERANKERS: Final[Mapping[str, str]] = {
    "cross-encoder": "sentence-transformers",
    "http": "httpx",
    "chat": "httpx",
}
_CHUNKERS: Final[Mapping[str, str]] = {
    "chonkie": "chonkie",
    "code": "tree-sitter",
    "langchain": "langchain-text-splitters",
}
# Packages that custom providers may use, by module.
_CUSTOM: Final[Mapping[str, str]] = {
    "apsw": "apsw",
    "bm25s": "bm25s",
    "chromadb": "chromadb",
    "dspy": "dspy",
    "haystack": "haystack-ai",
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


def find_versions(specs: Iterable[ProviderSpec], chunkers: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of packages that may change the outcome of a run."""
    packages = {"numpy"}
    for spec in specs:
        packages.update(_find_packages(spec.type, spec.options))
    packages.update(_CHUNKERS.get(chunker.partition("-")[0], "") for chunker in chunkers)
    versions = {"berryeval": berryeval.__version__, "python": platform.python_version()}
    for package in sorted(packages):
        installed = _find_version(package)
        if installed:
            versions[package] = installed
    return versions


def _find_packages(name: str, options: Mapping[str, Any]) -> Iterator[str]:
    known = PROVIDERS.canonical(name)
    if known == "hybrid":
        for child, given in _list_fused(options):
            yield from _find_packages(child, given)
        return
    if known == "rerank":
        first, given = _read_part(options.get("provider", "bm25"))
        yield from _find_packages(first, given)
        reranker, _ = _read_part(options.get("reranker", "cross-encoder"))
        yield from (_RERANKERS[reranker],) if reranker in _RERANKERS else _find_loaded()
        return
    if known not in _PROVIDERS:
        yield from _find_loaded()
        return
    asked = {"mode": "", "embedder": "", **_default_options(known), **options}
    for package in _PROVIDERS[known]:
        if package not in _VECTORS or asked["mode"] != "text":
            embedder = str(asked["embedder"])
            yield _EMBEDDERS.get(embedder, embedder) if package == _EMBEDDING else package


def _find_loaded() -> Iterator[str]:
    """Yield the packages in use that a function or object of others may depend on."""
    return (package for module, package in _CUSTOM.items() if module in sys.modules)


def _read_part(part: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the type and options of a part of a provider; a function or object has neither."""
    if not isinstance(part, Mapping):
        return (part if isinstance(part, str) else "callable"), {}
    given = part.get("options")
    return str(part.get("type")), given if isinstance(given, Mapping) else {}


def _default_options(provider: str) -> dict[str, Any]:
    kind = PROVIDERS.get(provider)
    return {one.name: one.default for one in fields(kind)} if is_dataclass(kind) else {}


def _list_fused(options: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the providers that a hybrid one fuses, each with its options."""
    by_name = options.get("options")
    for child in options.get("providers") or _default_options("hybrid")["providers"]:
        given = child.get("options") if isinstance(child, Mapping) else None
        name = child.get("type") if isinstance(child, Mapping) else child
        if isinstance(name, str) and given is None and isinstance(by_name, Mapping):
            given = by_name.get(name)
        yield str(name), given if isinstance(given, Mapping) else {}


@cache
def _find_version(package: str) -> str:
    try:
        return metadata.version(package) if package else ""
    except metadata.PackageNotFoundError:
        return ""
