"""Options that take one of a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["one_choice"]


def one_choice(option: str, value: object, words: Sequence[str]) -> None:
    """Refuse a value that is none of these words."""
    if value not in words:
        msg = f"{option} must be {' or '.join(map(repr, words))}, found {value!r:.80}"
        raise ConfigurationError(msg)
