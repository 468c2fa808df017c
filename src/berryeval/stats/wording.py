"""Findings in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval.stats.paired import sign_of

if TYPE_CHECKING:
    from berryeval.stats.comparison import PairedDifference


_NAMES: Final = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "tukey": "Tukey",
}
_WAYS: Final = {1: "higher", 0: "the same", -1: "lower"}
_OF_SIGNS: Final = "sign test"
_OF_MEANS: Final = ("randomisation test", "paired t test", "bootstrap test")  # of like power
_MANY: Final = 1_000_000  # queries, which nobody asks


def sentence_of(row: PairedDifference) -> str:
    """Who is better, by how much, how sure that is, and how large.

    "hybrid is better than bm25: nDCG@10 +0.041, 95 % CI [+0.012, +0.070], p = 0.004 (Holm,
    3 comparisons), small effect, 50 queries".
    """
    if row.p_corrected is None:
        return (
            f"nothing can be said of {row.system} against {row.baseline} in {row.metric}: "
            f"{row.cannot}"
        )
    parts = [f"{row.metric} {number(row.difference)}"]
    if row.interval is not None:
        low, high = (number(end) for end in row.interval)
        parts.append(f"{100 * row.level:g} % CI [{low}, {high}]")
    if not row.mixed:
        family = f" ({_family(row)})" if row.comparisons > 1 else ""
        parts.append(p_value(row.p_corrected) + family)
    if row.effect is not None:
        parts.append(f"{row.effect.word} effect")
    parts.append(f"{row.n} queries")
    return f"{_verdict(row)}: {', '.join(parts)}{_what_would_show(row)}"


def _verdict(row: PairedDifference) -> str:
    if not row.significant:
        return f"no difference is shown between {row.system} and {row.baseline}"
    if row.mixed:
        return _both_ways(row)
    if row.better:
        return f"{row.system} is better than {row.baseline}"
    if row.worse:
        return f"{row.system} is worse than {row.baseline}"
    return f"{row.system} is {'higher' if row.difference > 0 else 'lower'} than {row.baseline}"


def _both_ways(row: PairedDifference) -> str:
    """What the test found, and that the values do not differ that way.

    "b wins more queries than a (43 of 50, sign test p < 0.001), but its mean is lower, so neither
    is shown to be better".
    """
    name = row.test.partition(",")[0]
    way = _WAYS[row.test_sign or 0]
    sure = p_value(row.p_corrected) + (f", {_family(row)}" if row.comparisons > 1 else "")
    if name != _OF_SIGNS:
        test = "Tukey's test" if row.correction == "tukey" else f"the {name}"
        found = f"is {way} than {row.baseline} by {test} ({sure})"
    elif row.direction == "up":
        more = "more" if way == "higher" else "fewer"
        found = f"wins {more} queries than {row.baseline} ({row.wins} of {row.n}, {name} {sure})"
    else:
        most = max(row.wins, row.losses)
        found = f"is {way} than {row.baseline} in {most} of {row.n} queries ({name} {sure})"
    end = "" if row.direction == "neither" else ", so neither is shown to be better"
    return f"{row.system} {found}, but its {row.aggregate} is {_WAYS[sign_of(row.difference)]}{end}"


def _family(row: PairedDifference) -> str:
    how = _NAMES.get(
        row.correction, "not corrected" if row.correction == "none" else row.correction
    )
    return f"{how}, {row.comparisons} comparisons"


def _what_would_show(row: PairedDifference) -> str:
    if row.significant or row.detectable is None:
        return ""
    least = number(row.detectable).lstrip("+")
    text = f"; with these queries a difference of {least} would be shown four times in five"
    if not row.test.startswith(_OF_MEANS):
        text += " by the t test"
    if row.needed is None or row.needed <= row.n:  # so many there are, and it was not shown
        return text
    seen = number(abs(row.difference)).lstrip("+")
    needed = f"{row.needed:,}" if row.needed <= _MANY else f"more than {_MANY:,}"
    return f"{text}, and one of {seen} with {needed} queries"


def number(value: float) -> str:
    """A difference with its sign, to three decimals, or to as many as show that it is not 0."""
    if abs(value) >= 10:  # noqa: PLR2004 - a count, not a share
        return f"{value:+.1f}"
    text = f"{value:+.3f}"
    if value and not float(text):
        return f"{value:+.1g}"
    return text


def p_value(p: float | None) -> str:
    """A p-value in a sentence.

    >>> p_value(0.0312), p_value(0.0004), p_value(None)
    ('p = 0.031', 'p < 0.001', 'no p')
    """
    if p is None:
        return "no p"
    text = numbers.p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
