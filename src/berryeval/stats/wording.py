"""Findings in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from berryeval.stats.comparison import PairedDifference

__all__ = ["number", "p_number", "p_value", "sentence_of"]

_NAMES: Final = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "tukey": "Tukey",
}
_LEAST_P: Final = 0.001  # nobody reads more decimals
_MANY: Final = 1_000_000  # queries, which nobody asks


def sentence_of(row: PairedDifference) -> str:
    """Who is better, by how much, how sure that is, and how large.

    "hybrid is better than bm25: nDCG@10 +0.041, 95 % CI [+0.012, +0.070], p = 0.004 (Holm,
    3 comparisons), small effect, 50 queries".
    """
    if row.p is None:
        return (
            f"nothing can be said of {row.system} against {row.baseline} in {row.measure}: "
            f"{row.cannot}"
        )
    parts = [f"{row.measure} {number(row.difference)}"]
    if row.interval is not None:
        low, high = (number(end) for end in row.interval)
        parts.append(f"{100 * row.level:g} % CI [{low}, {high}]")
    parts.append(p_value(row.p_corrected) + _family(row))
    if row.effect is not None:
        parts.append(f"{row.effect.word} effect")
    parts.append(f"{row.n} queries")
    return f"{_verdict(row)}: {', '.join(parts)}{_what_would_show(row)}"


def _verdict(row: PairedDifference) -> str:
    if not row.significant:
        return f"no difference is shown between {row.system} and {row.baseline}"
    if row.better:
        return f"{row.system} is better than {row.baseline}"
    if row.worse:
        return f"{row.system} is worse than {row.baseline}"
    return f"{row.system} is {'higher' if row.difference > 0 else 'lower'} than {row.baseline}"


def _family(row: PairedDifference) -> str:
    if row.comparisons == 1:
        return ""
    how = _NAMES.get(
        row.correction, "not corrected" if row.correction == "none" else row.correction
    )
    return f" ({how}, {row.comparisons} comparisons)"


def _what_would_show(row: PairedDifference) -> str:
    if row.significant or row.detectable is None:
        return ""
    least = number(row.detectable).lstrip("+")
    text = f"; with these queries a difference of {least} would be shown four times in five"
    if row.needed is None:
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


def p_number(p: float) -> str:
    """A p-value in a table: three decimals, and never 0.

    >>> p_number(0.0312), p_number(0.0004)
    ('0.031', '<0.001')
    """
    return f"{p:.3f}" if p >= _LEAST_P else f"<{_LEAST_P}"


def p_value(p: float | None) -> str:
    """A p-value in a sentence.

    >>> p_value(0.0312), p_value(0.0004), p_value(None)
    ('p = 0.031', 'p < 0.001', 'no p')
    """
    if p is None:
        return "no p"
    text = p_number(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
