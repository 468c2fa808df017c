"""Every regular expression of the package, and texts that make slow ones visible.

`python -m tests._internal.patterns FIRST` tries the patterns from number FIRST on. The CPU time of
each is limited: a pattern that needs more ends the process, and its name was the last one written.
"""

from __future__ import annotations

import ast
import importlib
import re
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import berryeval

try:
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_parse as parser

LENGTH: Final = 100_000
SECONDS: Final = 4  # of CPU time per pattern; a linear one needs less than 1
PACKAGE: Final = Path(berryeval.__file__).parent
METHODS: Final[dict[str, Callable[[re.Pattern[Any], Any], object]]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "finditer": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
    "findall": lambda pattern, text: pattern.findall(text),
    "split": lambda pattern, text: pattern.split(text),
    "sub": lambda pattern, text: pattern.sub(text[:0], text),
    "subn": lambda pattern, text: pattern.subn(text[:0], text),
}
ANYWHERE: Final = ("finditer", "findall", "split", "sub", "subn")  # as `search`, again and again


class Used(NamedTuple):
    """A pattern, and how the package uses it."""

    where: str
    pattern: re.Pattern[Any]
    method: str


def find_patterns() -> list[Used]:
    """Find every call of `re`, and every method called on a pattern of a module."""
    found: dict[tuple[str, Any, int], Used] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        source = path.read_text(encoding="utf-8")
        if "import re\n" not in source and "Pattern" not in source:
            continue
        module = importlib.import_module(name.removesuffix(".__init__"))
        for node in ast.walk(ast.parse(source)):
            for pattern, method in _read_node(node, vars(module)):
                way = "finditer" if method in ANYWHERE else method
                where = f"{path.relative_to(PACKAGE)}:{node.lineno}"  # type: ignore[attr-defined]
                key = (way, pattern.pattern, pattern.flags)
                found.setdefault(key, Used(where, pattern, way))
    return list(found.values())


def _read_node(node: ast.AST, names: dict[str, Any]) -> Iterator[tuple[re.Pattern[Any], str]]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        called = node.func.value
        if isinstance(called, ast.Name) and called.id == "re" and node.func.attr in METHODS:
            yield _compile(node, names, "flags"), node.func.attr
        elif _is_compile(called):
            assert isinstance(called, ast.Call)
            yield _compile(called, names, "flags"), node.func.attr
    elif isinstance(node, ast.Assign | ast.AnnAssign) and _is_compile(node.value):
        assert isinstance(node.value, ast.Call)
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        assert isinstance(target, ast.Name)
        if target.id not in names:  # of a function: used where nobody looks
            yield _compile(node.value, names, "flags"), "search"
    elif isinstance(node, ast.Attribute) and node.attr in METHODS:
        owner = names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(owner, re.Pattern):
            yield owner, node.attr


def _is_compile(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"


def _compile(call: ast.Call, names: dict[str, Any], flags: str) -> re.Pattern[Any]:
    """Compile the pattern of a call; a value known only at run time is taken as the text `aa`."""
    pattern = ast.unparse(_Known(names).visit(call.args[0]))
    given = [one.value for one in call.keywords if one.arg == flags]
    given += [one for one in call.args[1:] if re.match(r"re\.[A-Z]", ast.unparse(one))]
    return re.compile(eval(pattern, names), eval(ast.unparse(given[0]), names) if given else 0)  # noqa: S307


class _Known(ast.NodeTransformer):
    """Replace what a module does not know by a text."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.operator | ast.expr_context):
            return node
        if isinstance(node, ast.FormattedValue):
            inner = node.value
            known = isinstance(inner, ast.Name) and inner.id in self.names
            return node if known else ast.FormattedValue(ast.Constant("aa"), -1, None)
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Name):
            if isinstance(node, ast.Name) and node.id not in self.names:
                return ast.Constant("aa")
            return self.generic_visit(node)
        return ast.Constant("aa.*aa.*aa")  # such as a joined list


# Texts from a pattern

_ALPHABET: Final = "a0 <>\"'()[]{}.,:/\\_-%#=@\n"
_BREAKERS: Final = ("", "\0")


class _Tree:
    """The parts of a pattern: what comes before each unbounded repeat, and what it repeats."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self.groups: dict[int, str] = {}
        self.repeats: list[tuple[str, str]] = []
        self.literals: set[str] = set()
        text = pattern.pattern
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
        self.bytes = isinstance(pattern.pattern, bytes)
        self.wholes = self._walk(list(parser.parse(text, flags & ~re.DEBUG)), [""])

    def _walk(self, nodes: list[Any], before: list[str]) -> list[str]:
        """Return texts that match the nodes behind each text of `before`."""
        for node in nodes:
            before = self._step(node, before)[:3]
        return before

    def _step(self, node: Any, before: list[str]) -> list[str]:  # noqa: C901, PLR0911 - a case per kind
        kind, value = str(node[0]), node[1]
        if kind == "LITERAL":
            self.literals.add(chr(value))
            return [one + chr(value) for one in before]
        if kind in {"ANY", "NOT_LITERAL", "IN", "CATEGORY"}:
            return [one + self._choose(node)[0] for one in before]
        if kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            least, most, inner = value
            for start in before if most > LENGTH // 10 else ():
                self.repeats += [(start, atom) for atom in self._atoms(list(inner))]
            once = self._walk(list(inner), before)
            for _ in range(1, min(least, 40)):
                once = self._walk(list(inner), once)
            return once if least else [*before, *once]
        if kind == "BRANCH":
            return [text for branch in value[1] for text in self._walk(list(branch), before[:2])]
        if kind == "SUBPATTERN":
            found = self._walk(list(value[-1]), before)
            if value[0] and before:
                self.groups[value[0]] = found[0][len(before[0]) :]
            return found
        if kind in {"ASSERT", "ASSERT_NOT"}:
            found = self._walk(list(value[1]), before)
            return [*before, *found] if kind == "ASSERT" else before
        if kind == "GROUPREF":
            return [one + self.groups.get(value, "") for one in before]
        return before  # an anchor

    def _atoms(self, nodes: list[Any]) -> list[str]:
        if len(nodes) == 1 and str(nodes[0][0]) in {"ANY", "NOT_LITERAL", "IN", "LITERAL"}:
            return self._choose(nodes[0])
        inside = _Tree.__new__(_Tree)
        inside.groups, inside.repeats, inside.literals = self.groups, [], self.literals
        return [text for text in inside._walk(nodes, [""]) if text]

    def _choose(self, node: Any) -> list[str]:
        """Return characters that match: those of the pattern and those of markup first."""
        if str(node[0]) == "LITERAL":
            return [chr(node[1])]
        fits = _matcher(node)
        signs = dict.fromkeys([*sorted(self.literals), *_ALPHABET, "b", "é", "中"])
        return [sign for sign in signs if fits(sign)][:4] or ["a"]


def _matcher(node: Any) -> Callable[[str], bool]:
    """Return a function that says whether a character matches a class."""
    kind, value = str(node[0]), node[1]
    if kind == "ANY":
        return lambda sign: sign != "\n"
    if kind == "NOT_LITERAL":
        return lambda sign: ord(sign) != value
    if kind == "IN":
        parts = [part for part in value if str(part[0]) != "NEGATE"]
        negated = len(parts) < len(value)
        return lambda sign: negated != any(_matcher(part)(sign) for part in parts)
    if kind == "RANGE":
        return lambda sign: value[0] <= ord(sign) <= value[1]
    if kind == "CATEGORY":
        letter = {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}[str(value).rsplit("_", 1)[-1]]
        return lambda sign: bool(re.match(letter, sign)) != ("NOT" in str(value))
    return lambda sign: ord(sign) == value


def make_texts(pattern: re.Pattern[Any]) -> Iterator[Any]:
    """Yield texts of `LENGTH` characters on which a pattern may be slow."""
    tree = _Tree(pattern)
    texts: dict[str, None] = {}
    for sign in (*"a0 <'([.\n\\", "%41"):
        texts[_fill(sign)] = None
    for start, atom in tree.repeats:
        for end in _BREAKERS:
            texts[start + _fill(atom) + end] = None
        texts[_fill(start + atom)] = None
        texts[_fill(start or atom)] = None
    for whole in tree.wholes:
        texts[_fill(whole[:-1] or "a")] = None
        texts[_fill(whole or "a")] = None
    for text in texts:
        yield text.encode("latin-1", "replace") if tree.bytes else text


def _fill(part: str) -> str:
    return part * (LENGTH // len(part))


def try_patterns(first: int) -> None:
    """Try the patterns from this number on, and write the number of each before it is tried."""
    for number, used in enumerate(find_patterns()):
        if number >= first:
            _write(f"{number} {used.where} {used.method} {used.pattern.pattern!r}")
            spent = resource.getrusage(resource.RUSAGE_SELF)
            limit = int(spent.ru_utime + spent.ru_stime) + 1 + SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            for text in make_texts(used.pattern):
                METHODS[used.method](used.pattern, text)
    _write("done")


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try_patterns(int(sys.argv[1]))
