"""The default rules under a name, for benchmarks without rules of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from berryeval.data import TOKEN_THRESHOLD
from berryeval.relevance.packs.base import Labels
from berryeval.relevance.strategies import ANSWER_FIELDS, ID_FIELDS

if TYPE_CHECKING:
    from berryeval.data import Hit, Query
    from berryeval.relevance.packs.base import PackCorpus, Part

_RULES: Final = {
    "ids in metadata": list(ID_FIELDS),
    "expected answer in metadata": list(ANSWER_FIELDS),
    "overlap of words": "F1 of the sets of lower-case words",
    "threshold": TOKEN_THRESHOLD,
}


class GenericPack:
    """A pack that leaves relevance to judgments and the expected answer."""

    name = "generic"
    version = "1"
    seals: frozenset[Part] = frozenset()
    rules: Mapping[str, Any] = _RULES

    labels = Labels(grades=None)
    doubts: Sequence[str] = ()

    def bound(self, corpus: PackCorpus) -> GenericPack:  # noqa: ARG002 - protocol
        """Return the pack itself, which serves as its own empty rules."""
        return self

    def rules_for(self, query: Query) -> GenericPack:  # noqa: ARG002 - protocol
        """Return the pack itself."""
        return self

    def covered(self, hit: Hit) -> Mapping[str, float]:  # noqa: ARG002 - protocol
        """Return no labels."""
        return {}


PACK = GenericPack()
