"""The first sentence of a section: which is best, and is that significant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from berryeval._internal.text import counted
from berryeval.reports.html.certainty import equal_words, lead_words, listed
from berryeval.reports.html.words import short, span, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.certainty import Contrast
    from berryeval.reports.html.standings import Row, Standings


Sure = Literal["certain", "open", "none"]
_SEE_ABOVE: Final = "What of this is significant, the comparison above says."


@dataclass(frozen=True)
class Finding:
    """What the numbers say.

    Attributes:
        sure: how a reader should take it; "none" if there is nothing to be sure of.
        leader: the system that it speaks of first; empty if there is none.
        headline: the sentence, after the name of the leader.
        because: what it rests on.
    """

    sure: Sure
    leader: str
    headline: str
    because: tuple[str, ...]


def finding_of(
    standings: Standings, contrasts: Sequence[Contrast], *, compared: bool = False
) -> Finding:
    """The verdict on a section.

    Who did not answer is named, and not counted as beaten: its values say how it failed, not how
    well it searches. Of what is `compared` on the same page, only who leads is said here: whether
    that is significant is for the comparison to say, by the test and level that were asked for.
    """
    if not standings.rows:
        return Finding("none", "", "No provider has scores.", ("The reasons are below.",))
    failures = _failures(standings)
    if all(row.outcomes.silent for row in standings.rows):
        words = "Nothing can be said: no query was answered."
        return Finding("none", "", words, failures)
    top, metric = standings.rows[0], standings.metrics[0]
    reached = _reached(top, metric)
    if not contrasts and len(standings.rows) > 1:
        return Finding(
            "none", "", f"{metric} says not who is better.",
            ("Ask for a metric of quality.", *failures),
        )  # fmt: skip
    if not contrasts:
        alone = "It stands alone: a second provider would show how good that is."
        return Finding(
            "none", top.label, "is the only one with scores.", (reached, alone, *failures)
        )
    sound = [one for one in contrasts if not one.outcomes.failed]
    if not sound:
        return Finding("none", top.label, _last_standing(top, metric), (reached, *failures))
    judge = _leads if compared else _among
    sure, words, because = judge(top, sound, standings)
    return Finding(sure, top.label, words, (reached, *because, *failures))


def _last_standing(top: Row, metric: str) -> str:
    """Of a leader all of whose rivals have failed queries."""
    if top.outcomes.failed:
        return f"has the best {metric}, but every provider failed on some queries."
    return "is the only one that answered every query."


def _leads(
    top: Row, sound: Sequence[Contrast], standings: Standings
) -> tuple[Sure, str, tuple[str, ...]]:
    """Who has the best value, and no more than that."""
    metric = standings.metrics[0]
    equals = [one.other for one in sound if one.equal]
    words = f"{_joined(equals)} score the same." if equals else f"has the best {metric}."
    if top.outcomes.failed and standings.downwards[0]:
        words = f"has the best {metric}, but failed on some queries."
    return "none", words, (_SEE_ABOVE,)


def _among(
    top: Row, sound: Sequence[Contrast], standings: Standings
) -> tuple[Sure, str, tuple[str, ...]]:
    """The leader against those that answered every query."""
    metric = standings.metrics[0]
    equals = [one for one in sound if one.equal]
    open_ = [one for one in sound if not one.certain and not one.equal]
    beaten = [one.other for one in sound if one.certain]
    rest = [one for one in sound if not one.equal]
    because = (*equal_words(equals), *(lead_words(rest[0]) if rest else ()))
    if beaten and open_:
        because += (f"It is significantly better than {listed(beaten)}.",)
    if top.outcomes.failed and standings.downwards[0]:  # where less is better, failing may help
        return "open", f"has the best {metric}, but failed on some queries.", because
    if equals:
        return *_equals(_joined([one.other for one in equals]), open_, beaten), because
    if not open_:
        among = "" if _all_sound(standings) else " of those that answered every query"
        return "certain", f"is best{among}, and that is statistically significant.", because
    turned = [one.other for one in open_ if (one.difference or 0) < 0]
    if turned:
        shared = f"on the queries it shares with {listed(turned)}"
        return "open", f"has the best {metric}, but not {shared}.", because
    others = listed([one.other for one in open_])
    return "open", f"is ahead, but cannot be told apart from {others}.", because


def _equals(names: str, open_: Sequence[Contrast], beaten: Sequence[str]) -> tuple[Sure, str]:
    """Of a leader that is not alone at the top."""
    if open_:
        others = listed([one.other for one in open_])
        return "open", (
            f"{names} score the same; they are ahead, but cannot be told apart from {others}."
        )
    if beaten:
        return "certain", f"{names} score the same, and are significantly better than the others."
    return "open", f"{names} score the same."


def _all_sound(standings: Standings) -> bool:
    """Whether every query was answered by every provider but perhaps the first."""
    return not any(row.outcomes.failed for row in standings.rows[1:])


def _failures(standings: Standings) -> tuple[str, ...]:
    """Who failed on how many queries, and who has no scores."""
    found = [row.outcomes.sentence(short(row.label, 60)) for row in standings.rows]
    if standings.unscored:
        verb = "has" if len(standings.unscored) == 1 else "have"
        found.append(f"{listed(standings.unscored)} {verb} no scores.")
    return tuple(filter(None, found))


def _reached(row: Row, metric: str) -> str:
    cell = row.cells[0]
    if cell is None:
        return ""
    queries = counted(row.queries, "query", "queries")
    ends = "" if cell.interval is None else f", 95 % interval {span(cell.interval)}"
    return f"{metric} {value(cell.value)} over {queries}{ends}."


def _joined(names: Sequence[str]) -> str:
    """Names that follow that of the leader: "and a", or ", a and b"."""
    return f"and {listed(names)}" if len(names) == 1 else f", {listed(names)}"
