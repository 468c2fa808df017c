"""The table of chunkers, and the textual form in which configurations name them."""

from __future__ import annotations

import inspect
from typing import Any, Final

from berryeval._internal.registry import Registry
from berryeval._internal.validate import nearest
from berryeval.chunkers.base import Choice, Chunker, Option, Whole, options_of
from berryeval.errors import ConfigurationError

CHUNKERS: Final = Registry[type[Chunker]](
    "chunker",
    {
        "fixed": "berryeval.chunkers.fixed:FixedChunker",
        "sentence": "berryeval.chunkers.sentence:SentenceChunker",
        "section": "berryeval.chunkers.section:SectionChunker",
        "whole": "berryeval.chunkers.whole:WholeChunker",
        "code": "berryeval.chunkers.code:CodeChunker",
        "chonkie": "berryeval.chunkers.external:ChonkieChunker",
        "langchain": "berryeval.chunkers.external:LangChainChunker",
    },
)


def make_chunker(name: str, **options: Any) -> Chunker:
    """A chunker by name, with its options.

    >>> str(make_chunker("fixed", size=200, unit="tokens"))
    'fixed-200-tokens'
    >>> make_chunker("fixed", overlaps=50)
    Traceback (most recent call last):
    berryeval.errors.ConfigurationError: the chunker 'fixed' has no option 'overlaps'; ...
    """
    made = CHUNKERS.get(name)
    known = list(inspect.signature(made).parameters)
    for given in options:
        if given not in known:
            raise _unknown_option(name, given, known)
    return made(**options)


def parse_chunker(text: str) -> Chunker:
    """A chunker from its textual form: a name, then options, all with hyphens between them.

    A bare number is the first option that is a number, a bare word the option that has this choice;
    any other option is its name and its value.

    >>> parse_chunker("fixed-400-overlap-50")
    FixedChunker(size=400, overlap=50, unit='characters', boundary='word')
    >>> str(parse_chunker("fixed-tokens-100"))
    'fixed-100-tokens'
    """
    name, *words = text.split("-")
    known = options_of(CHUNKERS.get(name))
    options: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        bare = None if word in known else _meant_by(word, known)
        if bare is None and word not in known:
            choices = [choice for option in known.values() for choice in _choices(option)]
            raise _unknown_option(name, word, [*known, *choices], text)
        if bare is None and not words:
            msg = f"the chunker {text!r} has no value behind {word!r}"
            raise ConfigurationError(msg)
        meant = bare or known[word]
        if meant.name in options:
            msg = f"the chunker {text!r} gives {meant.name!r} twice"
            raise ConfigurationError(msg)
        options[meant.name] = meant.kind.read(word if bare else words.pop(0))
    return make_chunker(name, **options)


def _meant_by(word: str, known: dict[str, Option]) -> Option | None:
    """The option that a bare word or number sets."""
    for option in known.values():
        is_number = isinstance(option.kind, Whole) and isinstance(option.kind.read(word), int)
        if is_number or word in _choices(option):
            return option
    return None


def _choices(option: Option) -> tuple[str, ...]:
    return option.kind.words if isinstance(option.kind, Choice) else ()


def _unknown_option(name: str, given: str, known: list[str], text: str = "") -> ConfigurationError:
    near = nearest(given, known)
    there = f"there are {', '.join(known)}" if known else "it has none"
    hint = f"did you mean {' or '.join(near)}?" if near else there
    where = f" (in {text!r})" if text else ""
    return ConfigurationError(f"the chunker {name!r} has no option {given!r}{where}; {hint}")
