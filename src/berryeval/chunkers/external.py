"""Splitters of other packages: what they give, put back where it stands in the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from berryeval._internal.optional import imported
from berryeval.chunkers.alignment import NotInTextError, align, starts_by_twin
from berryeval.chunkers.base import Choice, OptionChunker, Piece, Whole, option
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.data import Document


class _Given(NamedTuple):
    """What a splitter says of a piece; the offset is None where it says none."""

    text: str
    start: int | None


def made_splitter(package: Any, name: str, owner: str, **options: Any) -> Any:
    """A splitter of another package, or an error in our words if it does not like the options."""
    try:
        return getattr(package, name)(**options)
    except (TypeError, ValueError) as error:
        shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
        msg = f"{owner}: {name}({shown}) refuses its options: {error}"
        raise ConfigurationError(msg) from error


def split(splitter: Any, document: Document) -> list[Piece]:
    """The pieces that a splitter makes of a document, with their offsets.

    The offsets it gives are used if each is true and no two pieces are the same; else all pieces
    are placed anew. Where a splitter changed the text, white space and case may differ: the chunk
    then has the document's own text. Blank pieces are left out.

    Raises:
        DataError: a piece is not in the text, or not in order.
    """

    def ask(text: str) -> list[str]:
        return [one.text for one in _given(splitter, text, document.id)]

    given = _given(splitter, document.text, document.id)
    starts = _true_starts(document.text, given)
    if starts is None:
        text, pieces = document.text, [one.text for one in given]
        try:
            starts = align(text, pieces, lambda: starts_by_twin(text, pieces, ask))
        except NotInTextError:
            return _normalised(document, pieces, ask)
    ends = [start + len(one.text) for start, one in zip(starts, given, strict=True)]
    return _distinct(sorted(zip(starts, ends, strict=True), key=itemgetter(0)))


def _given(splitter: Any, text: str, name: str) -> list[_Given]:
    """What the splitter makes of a text, without blank pieces."""
    for method in ("chunk", "split_text", "__call__"):
        if hasattr(splitter, method):
            who = f"{name}: the splitter {_name(splitter)}"
            pieces = _pieces(getattr(splitter, method), text, who)
            return [one for one in map(_read, pieces) if one.text.strip()]
    msg = f"expected a splitter with chunk, split_text or a call, found {type(splitter).__name__}"
    raise ConfigurationError(msg)


def _pieces(ask: Callable[[str], Any], text: str, who: str) -> list[Any]:
    """What a splitter that anyone may have written makes of a text."""
    try:
        found = ask(text)
        is_some = isinstance(found, Iterable) and not isinstance(found, str | bytes | Mapping)
        pieces = list(found) if is_some else None
    except Exception as error:
        what = str(error) or type(error).__name__
        msg = f"{who} failed: {what}"
        raise DataError(msg) from error
    if pieces is None:
        msg = f"{who} should give a list of pieces, found {found!r:.80}"
        raise DataError(msg)
    return pieces


def _name(splitter: Any) -> str:
    return str(getattr(splitter, "__name__", type(splitter).__name__))


def _read(piece: Any) -> _Given:
    if isinstance(piece, str):
        return _Given(piece, None)
    text = getattr(piece, "text", getattr(piece, "page_content", None))
    if not isinstance(text, str):
        msg = f"expected pieces that are strings or have a text, found {piece!r:.80}"
        raise DataError(msg)
    start = getattr(piece, "start_index", None)
    return _Given(text, start if isinstance(start, int) else None)


def _true_starts(text: str, given: Sequence[_Given]) -> list[int] | None:
    """The offsets that the splitter gave, if each piece stands there.

    Two pieces of one span are a sign that each was looked for from the beginning.
    """
    starts = [one.start for one in given if one.start is not None and one.start >= 0]
    if len(starts) < len(given) or len(set(zip(starts, given, strict=True))) < len(given):
        return None
    true = all(text.startswith(one.text, start) for one, start in zip(given, starts, strict=True))
    return starts if true else None


def _normalised(
    document: Document, pieces: Sequence[str], ask: Callable[[str], list[str]]
) -> list[Piece]:
    """The pieces placed by their letters alone, without white space and case."""
    text, offsets = _squeezed(document.text)
    words = [_letters(piece) for piece in pieces]
    try:
        starts = align(text, words, lambda: starts_by_twin(document.text, words, ask, _letters))
    except NotInTextError as error:
        place, count = error.place + 1, len(pieces)
        msg = (
            f"{document.id}: piece {place} of {count} that the splitter made is not in the text "
            f"behind the one before it: {pieces[error.place]!r:.80}; a splitter that rewrites the "
            "text, or mixes the order, has no offsets"
        )
        raise DataError(msg) from None
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    return _distinct(
        (offsets[start], offsets[end - 1] + 1) for start, end in zip(starts, ends, strict=True)
    )


def _distinct(spans: Iterable[tuple[int, int]]) -> list[Piece]:
    """The pieces, without those that a splitter gave twice."""
    return [Piece(*span) for span in dict.fromkeys(spans)]


def _letters(text: str) -> str:
    return _squeezed(text)[0]


def _squeezed(text: str) -> tuple[str, list[int]]:
    """The text in small letters without white space, and where each character was."""
    pairs = [
        (letter, place)
        for place, character in enumerate(text)
        if not character.isspace()
        for letter in character.casefold()
    ]
    return "".join(letter for letter, _ in pairs), [place for _, place in pairs]


# The chunkers of Chonkie.

_CLASSES: Final = {
    "recursive": "RecursiveChunker",
    "sentence": "SentenceChunker",
    "token": "TokenChunker",
}
_WITH_OVERLAP: Final = ("sentence", "token")


@dataclass(frozen=True)
class ChonkieChunker(OptionChunker):
    """One of Chonkie's chunkers, by its kind, or any that you made: `splitter`.

    `size` and `overlap` count characters, as Chonkie does unless it is given a tokenizer.
    """

    name: ClassVar[str] = "chonkie"
    summary: ClassVar[str] = "the chunkers of Chonkie, their offsets checked"

    kind: str = option("recursive", Choice(words=tuple(_CLASSES)), "which of them")
    size: int = option(400, Whole(least=1), "how many characters a chunk has at most")
    overlap: int = option(0, Whole(), "how many of them the next chunk repeats")
    splitter: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse options that cannot be."""
        super().__post_init__()
        if self.overlap and self.kind not in _WITH_OVERLAP:
            msg = f"Chonkie's {_CLASSES[self.kind]} has no overlap; {' and '.join(_WITH_OVERLAP)}"
            msg += f" have one, found overlap={self.overlap}"
            raise ConfigurationError(msg)

    def pieces(self, document: Document) -> Iterable[Piece]:
        """Where the chunks of the document are, in order."""
        return split(self.splitter or self._made, document)

    @cached_property
    def _made(self) -> Any:
        package = imported("chonkie", "the chunker 'chonkie'", extra="chunkers")
        options: dict[str, Any] = {"chunk_size": self.size}
        if self.overlap:
            options["chunk_overlap"] = self.overlap
        return made_splitter(package, _CLASSES[self.kind], str(self), **options)


# The text splitters of LangChain.

_FROM_LANGCHAIN_CLASSES: Final = {
    "recursive": "RecursiveCharacterTextSplitter",
    "character": "CharacterTextSplitter",
    "markdown": "MarkdownTextSplitter",
    "python": "PythonCodeTextSplitter",
    "latex": "LatexTextSplitter",
}


@dataclass(frozen=True)
class LangChainChunker(OptionChunker):
    """One of LangChain's text splitters, by its kind, or any that you made: `splitter`.

    `size` and `overlap` count characters.
    """

    name: ClassVar[str] = "langchain"
    summary: ClassVar[str] = "the text splitters of LangChain, with offsets"

    kind: str = option("recursive", Choice(words=tuple(_FROM_LANGCHAIN_CLASSES)), "which of them")
    size: int = option(400, Whole(least=1), "how many characters a chunk has at most")
    overlap: int = option(0, Whole(), "how many of them the next chunk repeats at most")
    splitter: Any = field(default=None, compare=False)

    def pieces(self, document: Document) -> Iterable[Piece]:
        """Where the chunks of the document are, in order."""
        return split(self.splitter or self._made, document)

    @cached_property
    def _made(self) -> Any:
        module = "langchain_text_splitters"
        package = imported(module, "the chunker 'langchain'", extra="chunkers")
        return made_splitter(
            package, _FROM_LANGCHAIN_CLASSES[self.kind], str(self),
            chunk_size=self.size, chunk_overlap=self.overlap,
        )  # fmt: skip
