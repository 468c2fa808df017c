"""Whether the fields of a hit hold what they should: a `Hit` made by hand may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import DataError, ProviderError

if TYPE_CHECKING:
    from berryeval.records import Hit

__all__ = ["check_fields"]

_KINDS: Final = (
    ("id", str, "a string"),
    ("text", str, "a string"),
    ("doc_id", str, "a string"),
    ("section", tuple, "a tuple of strings"),
    ("start", int | None, "a whole number"),
    ("end", int | None, "a whole number"),
    ("metadata", Mapping, "a mapping"),
    ("extra", Mapping, "a mapping"),
)


def check_fields(hit: Hit, place: int) -> None:
    """Refuse a hit that could be written down, but not be read again."""
    for name, kind, wanted in _KINDS:
        if not isinstance(getattr(hit, name), kind):
            raise _refused(hit, place, f"{name} as {wanted}", getattr(hit, name))
    try:
        hit.id.encode()
    except UnicodeEncodeError:
        raise _refused(hit, place, "id as valid Unicode text", hit.id) from None
    if not all(type(part) is str for part in hit.section):
        raise _refused(hit, place, "section as a tuple of strings", hit.section)
    if hit.extra:
        try:
            hit.to_json()
        except DataError as error:
            msg = f"hit {place} ({hit.id!r:.80}): {error}"
            raise ProviderError(msg) from None


def _refused(hit: Hit, place: int, wanted: str, value: Any) -> ProviderError:
    found = f"{type(value).__name__} {value!r:.80}"
    return ProviderError(f"hit {place} ({hit.id!r:.80}): expected {wanted}, found {found}")
