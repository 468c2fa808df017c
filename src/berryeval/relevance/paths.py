"""Paths and section names as they are compared: without host, extension, case and punctuation."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote

__all__ = ["Segments", "Words", "Written", "contains", "segments", "slug_words", "written"]

Segments: TypeAlias = tuple[str, ...]
Words: TypeAlias = tuple[str, ...]

_HOST: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)
_EXTENSION: Final = re.compile(r"(?<=.)\.(?:html?|xhtml|mdx?|markdown|adoc|rst|txt)$")
_NOT_A_WORD: Final = re.compile(r"[\W_]+")
_REMEMBERED: Final = 1 << 16  # many hits are of few pages


class Written(NamedTuple):
    """An id or address, taken apart."""

    path: Segments
    section: Words


def segments(path: str) -> Segments:
    """The parts of a path or URL between slashes.

    >>> segments("https://docs.example.org/Guide/REST.html?v=3")
    ('guide', 'rest')
    """
    plain = unquote(_HOST.sub("", path)).partition("?")[0].replace("\\", "/").lower()
    parts = [part for part in plain.split("/") if part not in {"", "."}]
    if parts:
        parts[-1] = _EXTENSION.sub("", parts[-1])
        if parts[-1] == "index" and len(parts) > 1:
            parts.pop()
    return tuple(parts)


@lru_cache(_REMEMBERED)
def slug_words(heading: str) -> Words:
    """The words of a heading, slug or fragment.

    >>> slug_words("Creating a REST controller") == slug_words("creating-a-rest-controller")
    True
    """
    return tuple(word for word in _NOT_A_WORD.split(unquote(heading).lower()) if word)


@lru_cache(_REMEMBERED)
def written(identity: str) -> Written:
    """An id or address as the path before the # and the words behind it."""
    path, _, section = identity.partition("#")
    return Written(segments(path), slug_words(section))


def contains(outer: tuple[str, ...], inner: tuple[str, ...]) -> bool:
    """Whether `inner` stands in `outer` in one piece."""
    size = len(inner)
    return any(outer[place : place + size] == inner for place in range(len(outer) - size + 1))
