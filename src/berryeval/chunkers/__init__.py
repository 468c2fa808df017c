"""Chunkers: split documents into pieces with exact offsets.

`parse_chunker("fixed-400-overlap-50")` returns a chunker, and `chunker.chunk(document)` its chunks
in text order, with `document.text[chunk.start:chunk.end] == chunk.text` and reproducible ids.

    >>> from berryeval.chunkers import parse_chunker
    >>> from berryeval.data import Document
    >>> chunker = parse_chunker("sentence-1")
    >>> [chunk.text for chunk in chunker.chunk(Document("tea", "Boil water. Add leaves."))]
    ['Boil water.', 'Add leaves.']
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.chunkers.base import (
        Chunker,
        ChunkingWarning,
        OptionChunker,
        Piece,
        option,
        options_of,
    )
    from berryeval.chunkers.catalogue import CHUNKERS, make_chunker, parse_chunker
    from berryeval.chunkers.code import CodeChunker
    from berryeval.chunkers.external import ChonkieChunker, LangChainChunker
    from berryeval.chunkers.fixed import FixedChunker
    from berryeval.chunkers.section import SectionChunker
    from berryeval.chunkers.sentence import SentenceChunker
    from berryeval.chunkers.whole import WholeChunker

    __all__ = [
        "CHUNKERS",
        "ChonkieChunker",
        "Chunker",
        "ChunkingWarning",
        "CodeChunker",
        "FixedChunker",
        "LangChainChunker",
        "OptionChunker",
        "Piece",
        "SectionChunker",
        "SentenceChunker",
        "WholeChunker",
        "make_chunker",
        "option",
        "options_of",
        "parse_chunker",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
