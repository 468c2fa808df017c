"""Comparison results as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval._internal.numbers import format_p_equation, format_precise_delta
from berryeval.stats.paired import sign_of

if TYPE_CHECKING:
    from berryeval.stats.comparison import PairedDifference

_NAMES: Final = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "tukey": "Tukey",
}
_DIRECTIONS: Final = {1: "higher", 0: "the same", -1: "lower"}
_SIGN_TEST: Final = "sign test"
_MEAN_TESTS: Final = ("randomisation test", "paired t test", "bootstrap test")  # of equal power
_MANY: Final = 1_000_000  # queries; larger numbers are not printed


def format_finding(row: PairedDifference) -> str:
    """Format a row as a sentence.

    "hybrid is better than bm25: nDCG@10 +0.041, 95 % CI [+0.012, +0.070], p = 0.004 (Holm,
    3 comparisons), small effect, 50 queries".
    """
    if row.p_corrected is None:
        return f"{row.system} cannot be compared with {row.baseline} by {row.metric}: {row.cannot}"
    parts = [f"{row.metric} {format_precise_delta(row.difference)}"]
    if row.interval is not None:
        low, high = (format_precise_delta(end) for end in row.interval)
        parts.append(f"{100 * row.level:g} % CI [{low}, {high}]")
    if not row.mixed:
        family = f" ({_family(row)})" if row.comparisons > 1 else ""
        parts.append(format_p_equation(row.p_corrected) + family)
    if row.effect is not None:
        parts.append(f"{row.effect.word} effect")
    parts.append(f"{row.n} queries")
    return f"{_verdict(row)}: {', '.join(parts)}{_power_clause(row)}"


def _verdict(row: PairedDifference) -> str:
    if not row.significant:
        return f"no significant difference between {row.system} and {row.baseline}"
    if row.mixed:
        return _mixed_verdict(row)
    if row.better:
        return f"{row.system} is better than {row.baseline}"
    if row.worse:
        return f"{row.system} is worse than {row.baseline}"
    return f"{row.system} is {'higher' if row.difference > 0 else 'lower'} than {row.baseline}"


def _mixed_verdict(row: PairedDifference) -> str:
    """Format a finding where the test and the mean point in different directions.

    "b wins more queries than a (43 of 50, sign test p < 0.001), but its mean is lower, so neither
    is significantly better".
    """
    name = row.test.partition(",")[0]
    direction = _DIRECTIONS[row.test_sign or 0]
    evidence = format_p_equation(row.p_corrected) + (
        f", {_family(row)}" if row.comparisons > 1 else ""
    )
    if name != _SIGN_TEST:
        test = "Tukey's test" if row.correction == "tukey" else f"the {name}"
        found = f"is {direction} than {row.baseline} by {test} ({evidence})"
    elif row.direction == "up":
        more = "more" if direction == "higher" else "fewer"
        found = (
            f"wins {more} queries than {row.baseline} ({row.wins} of {row.n}, {name} {evidence})"
        )
    else:
        most = max(row.wins, row.losses)
        found = (
            f"is {direction} than {row.baseline} in {most} of {row.n} queries ({name} {evidence})"
        )
    end = "" if row.direction == "neither" else ", so neither is significantly better"
    mean = f"its {row.aggregate} is {_DIRECTIONS[sign_of(row.difference)]}"
    return f"{row.system} {found}, but {mean}{end}"


def _family(row: PairedDifference) -> str:
    how = _NAMES.get(
        row.correction, "not corrected" if row.correction == "none" else row.correction
    )
    return f"{how}, {row.comparisons} comparisons"


def _power_clause(row: PairedDifference) -> str:
    if row.significant or row.detectable is None:
        return ""
    least = format_precise_delta(row.detectable).lstrip("+")
    test = "this test" if row.test.startswith(_MEAN_TESTS) else "the t test"
    text = f"; with {row.n} queries {test} has 80 % power for a difference of {least}"
    if row.needed is None or row.needed <= row.n:  # the t test needs no more, but this test does
        return text
    seen = format_precise_delta(abs(row.difference)).lstrip("+")
    needed = f"{row.needed:,}" if row.needed <= _MANY else f"more than {_MANY:,}"
    return f"{text}, and {needed} queries would detect {seen}"
