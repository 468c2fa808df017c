"""The table of chunkers and the textual form that configurations use."""

from __future__ import annotations

import inspect
from typing import Any, Final

from berryeval._internal.registry import Registry
from berryeval._internal.validate import reject_unknown
from berryeval.chunkers.base import Chunker, options_of
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
    """Create a chunker by name.

    >>> str(make_chunker("fixed", size=200, unit="tokens"))
    'fixed-200-tokens'
    >>> make_chunker("fixed", overlaps=50)
    Traceback (most recent call last):
    berryeval.errors.ConfigurationError: the chunker 'fixed' has no option 'overlaps'; ...
    """
    chunker = CHUNKERS.get(name)
    reject_unknown(f"the chunker {name!r}", options, inspect.signature(chunker).parameters)
    return chunker(**options)


def parse_chunker(text: str) -> Chunker:
    """Create a chunker from its textual form: a name and options, separated by hyphens.

    A bare number sets the first numeric option and a bare word the option with that choice; any
    other option is written as its name and its value.

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
        fitting = (
            option
            for option in known.values()
            if word in option.choices or isinstance(option.read(word), int)
        )
        bare = None if word in known else next(fitting, None)
        if bare is None:
            choices = [choice for option in known.values() for choice in option.choices]
            reject_unknown(f"the chunker {text!r}", [word], [*known, *choices])
            if not words:
                raise ConfigurationError(f"the chunker {text!r} has no value after {word!r}")
        option = bare or known[word]
        if option.name in options:
            raise ConfigurationError(f"the chunker {text!r} sets {option.name!r} twice")
        options[option.name] = option.read(word if bare else words.pop(0))
    return make_chunker(name, **options)
