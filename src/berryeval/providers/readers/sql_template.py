"""SQL that a user wrote, with the named parameters `:query`, `:vector` and `:k`.

The values are always bound as parameters: the text of a query never becomes part of a statement.

>>> template = SqlTemplate.parse("SELECT id FROM d WHERE t @@ to_tsquery(:query) LIMIT :k", "query")
>>> template.for_psycopg()
'SELECT id FROM d WHERE t @@ to_tsquery(%(query)s) LIMIT %(k)s'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from berryeval._internal.plain import show
from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError

PARAMETERS: Final = ("query", "vector", "k")
_INSIDE: Final = r"[\w$\x80-\U0010ffff]"  # characters inside a name: in a$$, $$ begins no text
_TOKEN: Final = re.compile(
    rf"""
      (?P<text> (?<!{_INSIDE})[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*"
              | (?<!{_INSIDE})\$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
    | (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?P<unclosed> (?: ['"] | /\* | (?<!{_INSIDE})\$\w*\$ ).* )
    | ::
    | (?<![\w:]):(?P<name>[A-Za-z_]\w*)
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)
# As SQLite and LanceDB also write names. One that does not end goes on to the end of the text.
_QUOTED_NAME: Final = re.compile(r"`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)")
_READS: Final = re.compile(r"[\s(]*(select|with)\b", re.IGNORECASE)


@dataclass(frozen=True)
class SqlTemplate:
    """One SELECT statement and the names of its parameters."""

    text: str
    names: frozenset[str]

    @classmethod
    def parse(cls, text: object, where: str) -> SqlTemplate:
        """Check a statement; `where` names the option in messages."""
        if not isinstance(text, str):
            raise ConfigurationError(f"{where} must be SQL, found {type(text).__name__}")
        bare = _without(text, "comment")
        if not _READS.match(bare):
            raise ConfigurationError(f"{where} must be a SELECT statement, found {show(text, 60)}")
        require_single(text, where)
        names = frozenset(_names(text))
        for name in sorted(names - {*PARAMETERS}):
            raise ConfigurationError(
                f"{where} has the parameter :{name}; {suggest(name, PARAMETERS)}"
            )
        for wanted, words in ((("query", "vector"), ":query or :vector"), (("k",), ":k")):
            if not names & {*wanted}:
                raise ConfigurationError(
                    f"{where} must contain {words}, which is filled in for each query"
                )
        return cls(text.rstrip().rstrip(";"), names)

    def for_psycopg(self) -> str:
        """Return the statement with the parameters of psycopg."""
        return escape_percent(self.text, parameters=True)


def require_single(text: str, where: str) -> None:
    """Reject several statements."""
    bare = _without(text, "comment", "text")
    if ";" in bare.rstrip().rstrip(";"):
        raise ConfigurationError(f"{where} must be a single statement, found several")


def require_condition(text: object, where: str, *, has_operator: bool = False) -> None:
    """Reject what is not a condition for WHERE; `has_operator` says that ? is an operator."""
    if not isinstance(text, str) or not text.strip():
        raise ConfigurationError(
            f"{where} must be a condition in SQL, such as \"language = 'en'\", found {show(text)}"
        )
    bare = _without(text, "text")
    if any(sign in bare for sign in (";", "--", "/*")) or not _is_balanced(bare):
        raise ConfigurationError(
            f"{where} must be one condition without ; and comments, with all brackets closed"
        )
    names = [f":{name}" for name in _names(text)]
    if not has_operator and "?" in _QUOTED_NAME.sub(" ", bare):
        names.append("?")
    for name in names:
        raise ConfigurationError(f"{where} has the parameter {name}; write the value instead")


def _is_balanced(bare: str) -> bool:
    """Whether no bracket closes what it has not opened: it would end the condition."""
    depth = 0
    for sign in bare:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def escape_percent(text: str, *, parameters: bool = False) -> str:
    """Double every %, and turn `:name` into the parameters of psycopg if wanted."""

    def replace(found: re.Match[str]) -> str:
        return f"%({found['name']})s" if found["name"] and parameters else found[0]

    return _TOKEN.sub(replace, text.replace("%", "%%"))


def _names(text: str) -> Iterator[str]:
    return (found["name"] for found in _TOKEN.finditer(text) if found["name"])


def _without(text: str, *groups: str) -> str:
    return _TOKEN.sub(lambda found: " " if any(found[one] for one in groups) else found[0], text)
