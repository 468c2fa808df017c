"""Splitters of other packages, with offsets added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from berryeval._internal.optional import import_optional
from berryeval.chunkers.base import OptionChunker, Piece, option
from berryeval.chunkers.placement import NotInTextError, align, find_starts_by_twin
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from berryeval.data import Document


class _Given(NamedTuple):
    text: str
    start: int | None


def make_splitter(package: Any, name: str, owner: str, **options: Any) -> Any:
    """Create a splitter of another package; report options it rejects as our error."""
    try:
        return getattr(package, name)(**options)
    except (TypeError, ValueError) as error:
        shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
        raise ConfigurationError(
            f"{owner}: {name}({shown}) rejects its options: {error}"
        ) from error


def split(splitter: Any, document: Document) -> list[Piece]:
    """Split a document and return the pieces with their offsets.

    Offsets from the splitter are used if all are correct and no two pieces are the same; otherwise
    all pieces are located in the text, in order. A splitter may change white space and case: the
    chunk then has the document's own text. Blank pieces are dropped.
    """

    def split_texts(text: str) -> list[str]:
        return [one.text for one in _split_text(splitter, text, document.id)]

    given = _split_text(splitter, document.text, document.id)
    starts = _correct_starts(document.text, given)
    if starts is None:
        text, pieces = document.text, [one.text for one in given]
        try:
            starts = align(text, pieces, lambda: find_starts_by_twin(text, pieces, split_texts))
        except NotInTextError:
            return _locate_normalized(document, pieces, split_texts)
    spans = [(start, start + len(one.text)) for start, one in zip(starts, given, strict=True)]
    return _unique_pieces(sorted(spans, key=itemgetter(0)))


def _split_text(splitter: Any, text: str, name: str) -> list[_Given]:
    for method in ("chunk", "split_text", "__call__"):
        if hasattr(splitter, method):
            called = getattr(splitter, "__name__", type(splitter).__name__)
            owner = f"{name}: the splitter {called}"
            pieces = _call(getattr(splitter, method), text, owner)
            return [one for one in map(_read, pieces) if one.text.strip()]
    raise ConfigurationError(
        f"expected a splitter with chunk, split_text or a call, found {type(splitter).__name__}"
    )


def _call(split_text: Callable[[str], Any], text: str, owner: str) -> list[Any]:
    try:
        found = split_text(text)
        is_list = isinstance(found, Iterable) and not isinstance(found, str | bytes | Mapping)
        pieces = list(found) if is_list else None
    except Exception as error:
        raise DataError(f"{owner} failed: {str(error) or type(error).__name__}") from error
    if pieces is None:
        raise DataError(f"{owner} must return a list of pieces, found {found!r:.80}")
    return pieces


def _read(piece: Any) -> _Given:
    if isinstance(piece, str):
        return _Given(piece, None)
    text = getattr(piece, "text", getattr(piece, "page_content", None))
    if not isinstance(text, str):
        raise DataError(f"expected pieces that are strings or have a text, found {piece!r:.80}")
    start = getattr(piece, "start_index", None)
    return _Given(text, start if isinstance(start, int) else None)


def _correct_starts(text: str, given: Sequence[_Given]) -> list[int] | None:
    """Return the splitter's own offsets if they are all correct."""
    starts = [one.start for one in given if one.start is not None and one.start >= 0]
    # Two pieces with the same span show that the splitter searched for each from the beginning.
    if len(starts) < len(given) or len(set(zip(starts, given, strict=True))) < len(given):
        return None
    true = all(text.startswith(one.text, start) for one, start in zip(given, starts, strict=True))
    return starts if true else None


def _locate_normalized(
    document: Document, pieces: Sequence[str], split_texts: Callable[[str], list[str]]
) -> list[Piece]:
    """Locate pieces by their letters, ignoring white space and case."""
    text, offsets = _squeeze(document.text)
    words = [_letters(piece) for piece in pieces]
    try:
        starts = align(
            text, words, lambda: find_starts_by_twin(document.text, words, split_texts, _letters)
        )
    except NotInTextError as error:
        raise DataError(
            f"{document.id}: piece {error.place + 1} of {len(pieces)} from the splitter is not in "
            f"the text after the previous piece: {pieces[error.place]!r:.80}; a splitter must keep "
            "the words and their order"
        ) from None
    return _unique_pieces(
        (offsets[start], offsets[start + len(word) - 1] + 1)
        for start, word in zip(starts, words, strict=True)
    )


def _unique_pieces(spans: Iterable[tuple[int, int]]) -> list[Piece]:
    return [Piece(*span) for span in dict.fromkeys(spans)]


def _letters(text: str) -> str:
    return _squeeze(text)[0]


def _squeeze(text: str) -> tuple[str, list[int]]:
    """Return the text casefolded and without white space, and each character's position."""
    pairs = [
        (letter, place)
        for place, character in enumerate(text)
        if not character.isspace()
        for letter in character.casefold()
    ]
    return "".join(letter for letter, _ in pairs), [place for _, place in pairs]


_CHONKIE_CLASSES: Final = {
    "recursive": "RecursiveChunker",
    "sentence": "SentenceChunker",
    "token": "TokenChunker",
}
_WITH_OVERLAP: Final = ("sentence", "token")


@dataclass(frozen=True)
class _SplitterChunker(OptionChunker):
    splitter: Any = field(default=None, compare=False, kw_only=True)

    def pieces(self, document: Document) -> Iterable[Piece]:
        """Return the positions of the chunks in text order."""
        return split(self.splitter or self._created, document)

    @cached_property
    def _created(self) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class ChonkieChunker(_SplitterChunker):
    """A chunker of Chonkie, by kind, or your own as `splitter`.

    `size` and `overlap` are in characters, the default of Chonkie.
    """

    name: ClassVar[str] = "chonkie"
    modules: ClassVar[tuple[str, ...]] = ("chonkie",)
    summary: ClassVar[str] = "the chunkers of Chonkie, their offsets checked"

    kind: str = option("recursive", "splitter to use", choices=_CHONKIE_CLASSES)
    size: int = option(400, "maximum characters per chunk", least=1)
    overlap: int = option(0, "characters that the next chunk repeats", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.overlap and self.kind not in _WITH_OVERLAP:
            name, kinds = _CHONKIE_CLASSES[self.kind], " or ".join(_WITH_OVERLAP)
            raise ConfigurationError(
                f"Chonkie's {name} has no overlap, found {self.overlap}; use the kind {kinds}"
            )

    @cached_property
    def _created(self) -> Any:
        package = import_optional("chonkie", "the chunker 'chonkie'", extra="chunkers")
        options: dict[str, Any] = {"chunk_size": self.size}
        if self.overlap:
            options["chunk_overlap"] = self.overlap
        return make_splitter(package, _CHONKIE_CLASSES[self.kind], str(self), **options)


_LANGCHAIN_CLASSES: Final = {
    "recursive": "RecursiveCharacterTextSplitter",
    "character": "CharacterTextSplitter",
    "markdown": "MarkdownTextSplitter",
    "python": "PythonCodeTextSplitter",
    "latex": "LatexTextSplitter",
}


@dataclass(frozen=True)
class LangChainChunker(_SplitterChunker):
    """A text splitter of LangChain, by kind, or your own as `splitter`.

    `size` and `overlap` are in characters.
    """

    name: ClassVar[str] = "langchain"
    modules: ClassVar[tuple[str, ...]] = ("langchain_text_splitters",)
    summary: ClassVar[str] = "the text splitters of LangChain, with offsets"

    kind: str = option("recursive", "splitter to use", choices=_LANGCHAIN_CLASSES)
    size: int = option(400, "maximum characters per chunk", least=1)
    overlap: int = option(0, "maximum characters that the next chunk repeats", least=0)

    @cached_property
    def _created(self) -> Any:
        module = "langchain_text_splitters"
        package = import_optional(module, "the chunker 'langchain'", extra="chunkers")
        return make_splitter(
            package, _LANGCHAIN_CLASSES[self.kind], str(self),
            chunk_size=self.size, chunk_overlap=self.overlap,
        )  # fmt: skip
