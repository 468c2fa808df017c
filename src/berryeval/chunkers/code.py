"""Definitions of a program as chunks, found with tree-sitter."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval.chunkers.base import ChunkingWarning, OptionChunker, Piece, option, trim_span
from berryeval.chunkers.fixed import FixedChunker, windows

if TYPE_CHECKING:
    from berryeval.data import Document, Section


@dataclass(frozen=True)
class Language:
    """A programming language with a tree-sitter grammar."""

    module: str
    endings: tuple[str, ...]
    words: tuple[tuple[str, str], ...] = ()  # keywords of kinds that the grammar names differently
    member: str = "language"  # function that returns the grammar

    def parser(self) -> Any:
        """Create a parser."""
        sitter = import_optional("tree_sitter", "the chunker 'code'", extra="chunkers")
        grammar = import_optional(self.module, "the chunker 'code'", extra="chunkers")
        return sitter.Parser(sitter.Language(getattr(grammar, self.member)()))


_DEF: Final = (("function", "def"), ("method", "def"), ("singleton", "def"))
_FN: Final = (("function", "fn"), ("macro", "macro_rules!"))
_FUNC: Final = (("function", "func"), ("method", "func"))

LANGUAGES: Final = {
    "python": Language("tree_sitter_python", ("py", "pyi"), _DEF),
    "java": Language("tree_sitter_java", ("java",)),
    "javascript": Language("tree_sitter_javascript", ("js", "jsx", "mjs", "cjs")),
    "typescript": Language(
        "tree_sitter_typescript", ("ts", "mts", "cts"), member="language_typescript"
    ),
    "tsx": Language("tree_sitter_typescript", ("tsx",), member="language_tsx"),
    "go": Language("tree_sitter_go", ("go",), _FUNC),
    "rust": Language("tree_sitter_rust", ("rs",), _FN),
    "c": Language("tree_sitter_c", ("c", "h")),
    "cpp": Language("tree_sitter_cpp", ("cpp", "cc", "cxx", "hpp", "hh", "hxx")),
    "csharp": Language("tree_sitter_c_sharp", ("cs",)),
    "ruby": Language("tree_sitter_ruby", ("rb",), _DEF),
    "php": Language("tree_sitter_php", ("php",), member="language_php"),
    "kotlin": Language("tree_sitter_kotlin", ("kt", "kts"), (("function", "fun"),)),
    "scala": Language("tree_sitter_scala", ("scala", "sc"), (("function", "def"),)),
    "bash": Language("tree_sitter_bash", ("sh", "bash")),
}
_BY_ENDING: Final = {
    ending: name for name, language in LANGUAGES.items() for ending in language.endings
}


def language_of(*names: str) -> str:
    """Return the language of the first file name with a known extension, or ""."""
    endings = (name.rpartition("/")[2].rpartition(".")[2].lower() for name in names)
    return next((_BY_ENDING[ending] for ending in endings if ending in _BY_ENDING), "")


# First words of node kinds that contain other definitions.
_CONTAINERS: Final = frozenset({
    "class", "interface", "trait", "impl", "mod", "module", "namespace", "object", "struct",
    "enum", "record", "companion",
})  # fmt: skip
_DEFINITIONS: Final = _CONTAINERS | frozenset({
    "function", "method", "constructor", "singleton", "type", "union", "macro", "property",
    "protocol", "destructor",
})  # fmt: skip
_BEFORE_KIND: Final = re.compile(r"(?:abstract|generator|async)_")
# Nodes that only wrap a definition.
_WRAPPERS: Final = frozenset({
    "decorated_definition", "export_statement", "template_declaration", "expression_statement",
    "type_declaration", "ambient_declaration", "lexical_declaration", "linkage_specification",
})  # fmt: skip
# Nodes that belong to the definition after them.
_LEADING: Final = ("comment", "attribute", "annotation", "decorator")
DEEPEST: Final = 20  # nesting depth; deeper definitions are not split
_BODIES: Final = ("body", "block", "_list")


@dataclass(frozen=True)
class Part:
    """A definition with the comments above it, or the text between two definitions."""

    start: int
    end: int  # start of the next part
    symbol: str  # "class Foo"; empty between definitions
    parts: tuple[Part, ...] = ()  # members; the first starts after the head of the class


def parse_parts(text: str, language: Language) -> tuple[Part, ...] | None:
    """Split a program into parts without gaps; return None if it has syntax errors."""
    data = text.encode(errors="surrogatepass")
    tree = language.parser().parse(data)
    if tree.root_node.has_error:
        return None
    reader = _Reader(_offsets(text, data), dict(language.words))
    return reader.parts(tree.root_node.children, (0, len(text)))


def _offsets(text: str, data: bytes) -> Callable[[int], int]:
    """Return a function from UTF-8 offsets, which grammars use, to offsets in the text."""
    if text.isascii():
        return int
    begins = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80  # noqa: PLR2004 - continuation bytes
    counts = np.concatenate(([0], np.cumsum(begins)))
    return lambda place: int(counts[place])


@dataclass(frozen=True)
class _Reader:
    offset: Callable[[int], int]
    words: Mapping[str, str]

    def parts(
        self, nodes: Sequence[Any], span: tuple[int, int], depth: int = 0
    ) -> tuple[Part, ...]:
        """Convert nodes to parts that fill the span without gaps."""
        begun: list[tuple[int, Any]] = []  # start of a part and its definition
        leads, line = False, 0  # does the last node lead the next one; its last line
        for node in nodes:
            if not node.is_named:
                continue
            if not leads or node.start_point[0] > line + 1:
                begun.append((self.offset(node.start_byte), None))
            begun[-1] = (begun[-1][0], _definition(node))
            leads = node.type.endswith(_LEADING) or node.type.startswith(_LEADING)
            line = node.end_point[0]
        begun = begun or [(span[0], None)]
        starts = [span[0], *(start for start, _ in begun[1:])]
        ends = [*starts[1:], span[1]]
        return tuple(
            Part(start, end, _symbol(found, self.words), self._inside(found, end, depth + 1))
            if found is not None
            else Part(start, end, "")
            for start, end, (_, found) in zip(starts, ends, begun, strict=True)
        )

    def _inside(self, node: Any, end: int, depth: int) -> tuple[Part, ...]:
        body = node.child_by_field_name("body")
        if body is None:
            body = next((child for child in node.children if child.type.endswith(_BODIES)), None)
        if body is None or _kind(node) not in _CONTAINERS or depth > DEEPEST:
            return ()
        members = [child for child in body.children if child.is_named]
        if not members:
            return ()
        return self.parts(members, (self.offset(members[0].start_byte), end), depth)


def _definition(node: Any) -> Any:
    """Return the definition that a node is or wraps, if any."""
    if _kind(node) in _DEFINITIONS and node.type not in _WRAPPERS:
        return node
    if node.type not in _WRAPPERS:
        return None
    return next((found for child in node.children if (found := _definition(child))), None)


def _kind(node: Any) -> str:
    """Return the first word of the node's kind: "class" of "class_definition"."""
    if not node.is_named:  # a keyword such as `class`
        return ""
    word = _BEFORE_KIND.sub("", str(node.type)).partition("_")[0]
    return "namespace" if word == "internal" else word


def _symbol(node: Any, words: Mapping[str, str]) -> str:
    """Format a definition: "class Foo", "impl Show for Foo", "def bar"."""
    kind = _kind(node)
    name = node.child_by_field_name("name")
    inner = None if name else node.child_by_field_name("declarator")
    while inner:
        name, inner = inner, inner.child_by_field_name("declarator")
    called = name.text.decode(errors="replace") if name is not None else ""
    if kind == "impl":
        trait, owner = (node.child_by_field_name(field) for field in ("trait", "type"))
        called = " for ".join(one.text.decode(errors="replace") for one in (trait, owner) if one)
    return f"{words.get(kind, kind)} {called}".strip()


@dataclass(frozen=True)
class CodeChunker(OptionChunker):
    """Functions, classes and the text between them, of at most `size` characters.

    Small neighbours share a chunk. Long classes are split between methods, other long parts between
    lines. The section of a chunk is the path of its definition, as `("class Foo", "def bar")`;
    `metadata["symbols"]` lists the definitions in the chunk. The language follows from the
    extension of the document's source or id unless given. Text in an unknown language, or with
    syntax errors, is split between lines with a `ChunkingWarning`.
    """

    name: ClassVar[str] = "code"
    modules: ClassVar[tuple[str, ...]] = ("tree_sitter",)
    summary: ClassVar[str] = "functions and classes of programs, by their syntax"

    size: int = option(1500, "maximum characters per chunk", least=1)
    language: str = option("auto", "language of all documents", choices=("auto", *LANGUAGES))
    _warned: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def pieces(self, document: Document) -> Iterable[Piece]:
        """Return the positions of the chunks in text order."""
        parts = self._parts(document)
        if parts is None:
            return self._split_lines(document.text, 0, len(document.text), (), "")
        return self._split(document.text, parts, ())

    def _parts(self, document: Document) -> tuple[Part, ...] | None:
        auto = self.language == "auto"
        language = language_of(document.source, document.id) if auto else self.language
        if not language:
            self._warn(document, "the file extension is not that of a supported language")
            return None
        parts = parse_parts(document.text, LANGUAGES[language])
        if parts is None:
            self._warn(document, f"the {language} code has syntax errors")
        return parts

    def _warn(self, document: Document, reason: str) -> None:
        if reason not in self._warned:
            self._warned.add(reason)
            text = f"{document.id}: {reason}; splitting it, and similar documents, between lines"
            warnings.warn(text, ChunkingWarning, stacklevel=2)

    def _split(self, text: str, parts: Sequence[Part], path: Section) -> Iterator[Piece]:
        """Yield pieces: neighbours that fit share one, and longer parts are split."""
        together: list[Part] = []
        for part in parts:
            if together and _length(text, together[0].start, part.end) > self.size:
                yield from self._piece(text, together, path)
                together = []
            inner = (*path, part.symbol) if part.symbol else path
            if _length(text, part.start, part.end) <= self.size:
                together.append(part)
            elif part.parts:
                head = Part(part.start, part.parts[0].start, "")
                yield from self._split(text, (head, *part.parts), inner)
            else:
                yield from self._split_lines(text, part.start, part.end, inner, part.symbol)
        yield from self._piece(text, together, path)

    def _piece(self, text: str, parts: Sequence[Part], path: Section) -> Iterator[Piece]:
        if not parts:
            return
        start, end = trim_span(text, parts[0].start, parts[-1].end)
        symbols = [part.symbol for part in parts if part.symbol]
        if start < end:
            alone = (*path, *symbols) if len(parts) == 1 else path
            yield Piece(start, end, alone, metadata={"symbols": symbols} if symbols else {})

    def _split_lines(
        self, text: str, start: int, end: int, path: Section, symbol: str
    ) -> Iterator[Piece]:
        for span in windows(FixedChunker(size=self.size, boundary="line"), text, start, end):
            yield Piece(*span, section=path, metadata={"symbols": [symbol]} if symbol else {})


def _length(text: str, start: int, end: int) -> int:
    begin, stop = trim_span(text, start, end)
    return stop - begin
