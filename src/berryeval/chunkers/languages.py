"""The programming languages that can be cut at their definitions: one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from berryeval.optional import imported

__all__ = ["LANGUAGES", "Language", "language_of"]


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes:
        module: the module with its grammar.
        endings: of the files written in it.
        words: what a definition is called, where its kind in the grammar says it otherwise.
        member: the name of the function that gives the grammar.
    """

    module: str
    endings: tuple[str, ...]
    words: tuple[tuple[str, str], ...] = ()
    member: str = "language"

    def parser(self) -> Any:
        """A parser of this language."""
        sitter = imported("tree_sitter", "the chunker 'code'", extra="chunkers")
        grammar = imported(self.module, "the chunker 'code'", extra="chunkers")
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
    """The language by the ending of the first of these file names that has a known one, or ""."""
    endings = (name.rpartition("/")[2].rpartition(".")[2].lower() for name in names)
    return next((_BY_ENDING[ending] for ending in endings if ending in _BY_ENDING), "")
