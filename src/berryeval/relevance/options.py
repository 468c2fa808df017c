"""What may be chosen about relevance, and what a pack does not let anyone choose."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from berryeval._internal.validate import nearest
from berryeval.anchors import CoverageRule
from berryeval.errors import ConfigurationError
from berryeval.relevance.hits import TOKEN_THRESHOLD
from berryeval.relevance.packs.base import check_sealed

if TYPE_CHECKING:
    from berryeval.relevance.packs.base import Pack


@dataclass(frozen=True)
class RelevanceOptions:
    """What may be chosen about relevance.

    Attributes:
        threshold: the overlap with the expected answer (F1 of their words) from which on a chunk
            is relevant, where neither judgments nor a pack decide.
        coverage: the share of the shorter of hit and target that both must have in common.
    """

    threshold: float = TOKEN_THRESHOLD
    coverage: float = 0.5

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        for name, value in dataclasses.asdict(self).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or not 0 < value <= 1:
                msg = f"relevance.{name} must be a number above 0 and at most 1, found {value!r}"
                raise ConfigurationError(msg)

    @property
    def rule(self) -> CoverageRule:
        """When a hit covers a target."""
        return CoverageRule(self.coverage)


def options_for(
    pack: Pack | None, given: RelevanceOptions | Mapping[str, Any] | None
) -> RelevanceOptions:
    """The options as given, by name or as an object, unless the pack forbids them."""
    chosen = _chosen(given)
    if pack is not None and chosen:
        check_sealed(pack, {"relevance": chosen})
    known = [field.name for field in dataclasses.fields(RelevanceOptions)]
    for name in chosen:
        if name not in known:
            near = nearest(str(name), known)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
            msg = f"unknown option relevance.{name}; {hint}"
            raise ConfigurationError(msg)
    return RelevanceOptions(**chosen)


def _chosen(given: RelevanceOptions | Mapping[str, Any] | None) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    default = RelevanceOptions()
    values = {field.name: getattr(given, field.name) for field in dataclasses.fields(given)}
    return {name: value for name, value in values.items() if value != getattr(default, name)}
