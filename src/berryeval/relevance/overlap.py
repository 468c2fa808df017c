"""The last resort: a chunk is relevant if its words are those of the expected answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from berryeval.json_record import refused

if TYPE_CHECKING:
    from collections.abc import Collection

    from berryeval.records import Query

__all__ = ["ANSWER_FIELDS", "expected_answers", "overlap", "words"]

# Where a query's metadata may hold the expected answer; the first that is there counts.
ANSWER_FIELDS: Final = ("expected_answer", "answer", "ground_truth", "reference")
_WORD: Final = re.compile(r"\w+")


def words(text: str) -> frozenset[str]:
    """The words of a text in lower case, each once."""
    return frozenset(_WORD.findall(text.lower()))


def overlap(expected: Collection[str], chunk: Collection[str]) -> float:
    """F1 of two sets of words: twice what they share over what both hold.

    >>> overlap({"may", "7", "2023"}, {"on", "7", "may"})
    0.6666666666666666
    """
    shared = len(set(expected) & set(chunk))
    return 2 * shared / (len(expected) + len(chunk)) if shared else 0.0


def expected_answers(query: Query) -> tuple[frozenset[str], ...]:
    """The words of each expected answer of a query; of several, any will do."""
    field = next((name for name in ANSWER_FIELDS if query.metadata.get(name) is not None), None)
    if field is None:
        return ()
    value = query.metadata[field]
    answers = value if isinstance(value, list | tuple) else [value]
    if not all(map(_is_answer, answers)):
        where = f"metadata.{field} of query {query.id!r}"
        raise refused(where, "a string, a number or an array of these", value)
    known = (words(str(answer)) for answer in answers)
    return tuple(answer for answer in known if answer)


def _is_answer(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
