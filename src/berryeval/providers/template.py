"""Templates: `{query}`, `{k}` and `{query_id}` filled into the values of a structure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from berryeval.providers.base import writable

if TYPE_CHECKING:
    from berryeval.records import Query

__all__ = ["filled", "is_asked_for"]

_PLACEHOLDER: Final = re.compile(r"\{(query|k|query_id)\}")


def filled(template: Any, query: Query, k: int, escaped: Callable[[str], str] = writable) -> Any:
    """The template with its placeholders filled, in one pass: a text that holds one stays text.

    Args:
        template: a text, or lists and mappings of any depth that hold texts.
        query: whose text and id are filled in.
        k: how many hits are wanted; where it stands alone, it stays a number.
        escaped: what is done to a text before it is filled in.
    """
    if isinstance(template, Mapping):
        return {name: filled(value, query, k, escaped) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, query, k, escaped) for value in template]
    if not isinstance(template, str):
        return template
    if template == "{k}":
        return k
    values = {"query": query.text, "query_id": query.id, "k": str(k)}
    return _PLACEHOLDER.sub(lambda found: escaped(writable(values[found[1]])), template)


def is_asked_for(template: Any, *, any_of_them: bool = False) -> bool:
    """Whether the query stands anywhere in the template: its text or its id."""
    if isinstance(template, Mapping):
        return any(is_asked_for(value, any_of_them=any_of_them) for value in template.values())
    if isinstance(template, list | tuple):
        return any(is_asked_for(value, any_of_them=any_of_them) for value in template)
    if not isinstance(template, str):
        return False
    names = {found[1] for found in _PLACEHOLDER.finditer(template)}
    return bool(names if any_of_them else names - {"k"})
