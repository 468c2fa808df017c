"""What the columns of other people's tables are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.errors import DataError
from berryeval.tables import VALUE_OF, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["choose_columns", "is_header", "is_rank_header"]

# The first name that is there wins. Case, "-" and "_" make no difference.
QUERY = ("query", "query_id", "qid", "q_id", "topic", "topic_id")
DOCUMENT = (
    "document", "document_id", "doc_id", "docid", "doc", "docno",
    "corpus_id", "passage_id", "pid", "chunk_id",
)  # fmt: skip
RANK = ("rank",)
VALUE: dict[Kind, tuple[str, ...]] = {
    "run": ("score", "sim", "similarity"),
    "qrels": ("grade", "rel", "relevance", "relevance_label", "label", "score"),
}


def choose_columns(
    found: Sequence[str], kind: Kind, given: Mapping[str, str], source: str = ""
) -> tuple[str, str, str]:
    """The names of the query, document and number columns among those found.

    Args:
        found: the names that the table has.
        kind: what the table holds.
        given: names by role ("query", "document", "score" or "grade"), where the caller knows.
        source: where the table came from, for messages.
    """
    roles = {"query": QUERY, "document": DOCUMENT, VALUE_OF[kind]: VALUE[kind]}
    for role in given:
        if role not in roles:
            msg = f"unexpected keyword argument {role!r}; there are {', '.join(roles)}"
            raise TypeError(msg)
    plain = {_plain(name): name for name in reversed(found)}
    chosen = []
    for role, aliases in roles.items():
        wanted = given.get(role)
        if wanted is None:
            matches = [plain[alias] for alias in aliases if alias in plain]
        else:
            matches = [name for name in found if name == wanted]
        if not matches:
            looked_for = repr(wanted) if wanted is not None else f"any of {', '.join(aliases)}"
            start = f"{source}: " if source else ""
            msg = (
                f"{start}no column with the {role} ({looked_for}); found "
                f"{', '.join(map(repr, found)) or 'no columns'}"
            )
            raise DataError(msg)
        chosen.append(matches[0])
    query, document, value = chosen
    return query, document, value


def is_header(columns: Sequence[str], kind: Kind) -> bool:
    """Whether these are the names of a query, a document and a number column, in this order."""
    return _are_named(columns, (QUERY, DOCUMENT, VALUE[kind]))


def is_rank_header(columns: Sequence[str]) -> bool:
    """Whether these are the names of a query, a document and a rank column, in this order."""
    return _are_named(columns, (QUERY, DOCUMENT, RANK))


def _are_named(columns: Sequence[str], groups: tuple[tuple[str, ...], ...]) -> bool:
    return len(columns) == len(groups) and all(
        _plain(name) in aliases for name, aliases in zip(columns, groups, strict=True)
    )


def _plain(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")
