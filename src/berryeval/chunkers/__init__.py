"""Chunkers: documents cut into pieces whose offsets are exact.

`parse_chunker("fixed-400-overlap-50")` gives a chunker; `chunker.chunk(document)` gives chunks with
`document.text[chunk.start:chunk.end] == chunk.text`, in the order of the text, each with an id that
is the same whenever the same text is cut in the same way.
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.chunkers.base import Chunker, ChunkingWarning, OptionChunker, Piece, options_of
    from berryeval.chunkers.catalogue import CHUNKERS, make_chunker, parse_chunker
    from berryeval.chunkers.code import CodeChunker
    from berryeval.chunkers.external import ChonkieChunker, LangChainChunker
    from berryeval.chunkers.fixed import FixedChunker
    from berryeval.chunkers.section import SectionChunker
    from berryeval.chunkers.sentence import SentenceChunker
    from berryeval.chunkers.whole import WholeChunker
else:
    __getattr__, __dir__ = open_door(__name__)
