"""When a chunk covers a target: how much of the shorter one both must share."""

from __future__ import annotations

from dataclasses import dataclass

from berryeval.errors import ConfigurationError

__all__ = ["CoverageRule"]


@dataclass(frozen=True)
class CoverageRule:
    """A chunk covers a span if they share at least `share` of the shorter of both.

    So a chunk inside a long target covers it, and so does a chunk that holds a short target.
    Spans that only touch share nothing.

        >>> rule = CoverageRule()
        >>> rule.covers((0, 100), (50, 250)), rule.covers((0, 100), (51, 250))
        (True, False)
        >>> rule.covers((0, 100), (100, 101))
        False
    """

    share: float = 0.5

    def __post_init__(self) -> None:
        """Refuse a share that nothing or everything would reach."""
        if not 0 < self.share <= 1:
            msg = f"expected a share of the shorter span above 0 and at most 1, found {self.share}"
            raise ConfigurationError(msg)

    def covers(self, chunk: tuple[int, int], target: tuple[int, int]) -> bool:
        """Whether the chunk covers the target; both are `(start, end)` of one document."""
        shared = min(chunk[1], target[1]) - max(chunk[0], target[0])
        shorter = min(chunk[1] - chunk[0], target[1] - target[0])
        return shared > 0 and shared / shorter >= self.share  # a product may be rounded up
