"""The definitions of a program, found in its syntax tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from berryeval.chunkers.languages import Language

__all__ = ["Part", "parse_parts"]

# The first word of a node's kind, if it holds other definitions.
_CONTAINERS: Final = frozenset({
    "class", "interface", "trait", "impl", "mod", "module", "namespace", "object", "struct",
    "enum", "record", "companion",
})  # fmt: skip
_DEFINITIONS: Final = _CONTAINERS | frozenset({
    "function", "method", "constructor", "singleton", "type", "union", "macro", "property",
    "protocol", "destructor",
})  # fmt: skip
_BEFORE_KIND: Final = re.compile(r"(?:abstract|generator|async)_")
# What stands around a definition: its words say nothing of it.
_WRAPPERS: Final = frozenset({
    "decorated_definition", "export_statement", "template_declaration", "expression_statement",
    "type_declaration", "ambient_declaration", "lexical_declaration", "linkage_specification",
})  # fmt: skip
# What belongs to the definition behind it.
_LEADING: Final = ("comment", "attribute", "annotation", "decorator")
DEEPEST: Final = 20  # classes in classes; what is deeper is one part
_BODIES: Final = ("body", "block", "_list")


@dataclass(frozen=True)
class Part:
    """A stretch of a program: a definition, or what stands between definitions.

    Attributes:
        start: its first character: that of the comment above it, if there is one.
        end: where the next part starts.
        symbol: as "class Foo"; empty between definitions.
        parts: those inside a class and the like; the first starts behind the head of the class.
    """

    start: int
    end: int
    symbol: str
    parts: tuple[Part, ...] = ()


def parse_parts(text: str, language: Language) -> tuple[Part, ...] | None:
    """The parts of a program, from its first character to its last; None if it has errors."""
    data = text.encode(errors="surrogatepass")
    tree = language.parser().parse(data)
    if tree.root_node.has_error:
        return None
    reader = _Reader(_offsets(text, data), dict(language.words))
    return reader.parts(tree.root_node.children, (0, len(text)))


def _offsets(text: str, data: bytes) -> Callable[[int], int]:
    """From places in UTF-8, which is what grammars count, to places in the text."""
    if text.isascii():
        return int
    begins = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80  # noqa: PLR2004 - inside a character
    counts = np.concatenate(([0], np.cumsum(begins)))
    return lambda place: int(counts[place])


@dataclass(frozen=True)
class _Reader:
    """Makes parts of nodes."""

    offset: Callable[[int], int]
    words: Mapping[str, str]

    def parts(
        self, nodes: Sequence[Any], span: tuple[int, int], depth: int = 0
    ) -> tuple[Part, ...]:
        """The nodes as parts that fill the span without gaps."""
        begun: list[tuple[int, Any]] = []  # where a part starts, and the definition in it
        leads, line = False, 0  # whether the node before belongs to the next, and where it ends
        for node in nodes:
            if not node.is_named:
                continue
            if not leads or node.start_point[0] > line + 1:
                begun.append((self.offset(node.start_byte), None))
            begun[-1] = (begun[-1][0], _definition(node))
            leads, line = _is_leading(node), node.end_point[0]
        begun = begun or [(span[0], None)]
        starts = [span[0], *(start for start, _ in begun[1:])]
        ends = [*starts[1:], span[1]]
        return tuple(
            self._part(start, end, found, depth)
            for start, end, (_, found) in zip(starts, ends, begun, strict=True)
        )

    def _part(self, start: int, end: int, found: Any, depth: int) -> Part:
        if found is None:
            return Part(start, end, "")
        return Part(start, end, _symbol(found, self.words), self._inside(found, end, depth + 1))

    def _inside(self, node: Any, end: int, depth: int) -> tuple[Part, ...]:
        """The members of a class and the like."""
        body = node.child_by_field_name("body")
        if body is None:
            body = next((child for child in node.children if child.type.endswith(_BODIES)), None)
        if body is None or _kind(node) not in _CONTAINERS or depth > DEEPEST:
            return ()
        members = [child for child in body.children if child.is_named]
        if not members:
            return ()
        return self.parts(members, (self.offset(members[0].start_byte), end), depth)


def _is_leading(node: Any) -> bool:
    """Whether the node belongs to the definition right below it: a comment, an attribute."""
    return bool(node.type.endswith(_LEADING) or node.type.startswith(_LEADING))


def _definition(node: Any) -> Any:
    """The definition that a node is or wraps; None if it is another statement."""
    if _kind(node) in _DEFINITIONS and node.type not in _WRAPPERS:
        return node
    if node.type not in _WRAPPERS:
        return None
    return next((found for child in node.children if (found := _definition(child))), None)


def _kind(node: Any) -> str:
    """The first word of the node's kind, as "class" of "class_definition"."""
    if not node.is_named:  # a word such as `class` itself
        return ""
    word = _BEFORE_KIND.sub("", str(node.type)).partition("_")[0]
    return "namespace" if word == "internal" else word


def _symbol(node: Any, words: Mapping[str, str]) -> str:
    """A definition in a few words: "class Foo", "impl Show for Foo", "def bar"."""
    kind = _kind(node)
    name = node.child_by_field_name("name") or _declared(node)
    called = name.text.decode(errors="replace") if name is not None else ""
    if kind == "impl":
        trait, owner = (node.child_by_field_name(field) for field in ("trait", "type"))
        called = " for ".join(one.text.decode(errors="replace") for one in (trait, owner) if one)
    return f"{words.get(kind, kind)} {called}".strip()


def _declared(node: Any) -> Any:
    """The name inside a declarator, as C has it."""
    found = node.child_by_field_name("declarator")
    while found is not None and (inner := found.child_by_field_name("declarator")) is not None:
        found = inner
    return found
