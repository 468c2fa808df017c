"""The first sentence of a section: the best provider, and whether its lead is significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from berryeval._internal.text import pluralize
from berryeval.reports.html.contrasts import describe_lead, describe_ties
from berryeval.reports.html.typography import join_names, shorten, span, value

if TYPE_CHECKING:
    from berryeval.reports.html.contrasts import Contrast
    from berryeval.reports.html.standings import Row, Standings


Certainty = Literal["certain", "open", "none"]
_SEE_ABOVE: Final = "The comparison above says which differences are significant."


@dataclass(frozen=True)
class Headline:
    """The main result of a section; certainty is "none" if there is nothing to decide."""

    certainty: Certainty
    leader: str
    sentence: str
    because: tuple[str, ...]


def build_headline(
    standings: Standings, contrasts: Sequence[Contrast], *, compared: bool = False
) -> Headline:
    """Build the headline of a section.

    Systems with failed queries are named but do not count as beaten: their scores show failures,
    not search quality. If the section is `compared` on the same page, the headline names the
    leader only, and leaves significance to the comparison with its own test and level.
    """
    if not standings.rows:
        return Headline("none", "", "No provider has scores.", ("The reasons are below.",))
    failures = _describe_failures(standings)
    if all(row.outcomes.silent for row in standings.rows):
        return Headline("none", "", "No conclusion: no query was answered.", failures)
    top, metric = standings.rows[0], standings.metrics[0]
    reached = _describe_value(top, metric)
    if not contrasts and len(standings.rows) > 1:
        return Headline(
            "none", "", f"{metric} does not rank providers.",
            ("Add a quality metric, such as nDCG@10.", *failures),
        )  # fmt: skip
    if not contrasts:
        alone = "Add a second provider for comparison."
        cell = None if standings.unscored else top.cells[0]
        reach = f"reaches {metric} {value(cell.value)}." if cell else ""
        words = reach or "is the only provider with scores."
        return Headline("none", top.label, words, (reached, alone, *failures))
    sound = [one for one in contrasts if not one.outcomes.failed]
    if not sound:
        return Headline("none", top.label, _describe_survivor(top, metric), (reached, *failures))
    judge = _name_leader if compared else _judge_leader
    certainty, words, because = judge(top, sound, standings)
    return Headline(certainty, top.label, words, (reached, *because, *failures))


def _describe_survivor(top: Row, metric: str) -> str:
    """Describe a leader all of whose rivals have failed queries."""
    if top.outcomes.failed:
        return f"has the best {metric}, but every provider failed on some queries."
    return "is the only provider that answered every query."


def _name_leader(
    top: Row, sound: Sequence[Contrast], standings: Standings
) -> tuple[Certainty, str, tuple[str, ...]]:
    """Name the system with the best value, and nothing more."""
    metric = standings.metrics[0]
    equals = [one.other for one in sound if one.equal]
    words = f"{_join(equals)} are tied by {metric}." if equals else f"has the best {metric}."
    if top.outcomes.failed and standings.downwards[0]:
        words = f"has the best {metric}, but failed on some queries."
    return "none", words, (_SEE_ABOVE,)


def _judge_leader(
    top: Row, sound: Sequence[Contrast], standings: Standings
) -> tuple[Certainty, str, tuple[str, ...]]:
    """Judge the lead over the systems that answered every query."""
    metric = standings.metrics[0]
    equals = [one for one in sound if one.equal]
    open_ = [one for one in sound if not one.certain and not one.equal]
    beaten = [one.other for one in sound if one.certain]
    rest = [one for one in sound if not one.equal]
    because = (*describe_ties(equals), *(describe_lead(rest[0]) if rest else ()))
    if beaten and open_:
        because += (f"It is significantly better than {join_names(beaten)}.",)
    if top.outcomes.failed and standings.downwards[0]:  # where lower is better, failing may help
        return "open", f"has the best {metric}, but failed on some queries.", because
    if equals:
        names = _join([one.other for one in equals])
        return *_judge_ties(f"{names} are tied by {metric}", open_, beaten), because
    if not open_:
        among = "" if _all_answered(standings) else " of those that answered every query"
        words = f"is the best provider by {metric}{among}; its lead is statistically significant."
        return "certain", words, because
    turned = [one.other for one in open_ if (one.difference or 0) < 0]
    if turned:
        shared = f"on the queries it shares with {join_names(turned)}"
        return "open", f"has the best {metric}, but not {shared}.", because
    others = join_names([one.other for one in open_])
    return "open", f"has the best {metric}, but its lead over {others} is not significant.", because


def _judge_ties(
    tied: str, open_: Sequence[Contrast], beaten: Sequence[str]
) -> tuple[Certainty, str]:
    if open_:
        others = join_names([one.other for one in open_])
        return "open", f"{tied}; their lead over {others} is not significant."
    if beaten:
        return "certain", f"{tied}, and significantly better than the others."
    return "open", f"{tied}."


def _all_answered(standings: Standings) -> bool:
    """Whether every provider except perhaps the first answered every query."""
    return not any(row.outcomes.failed for row in standings.rows[1:])


def _describe_failures(standings: Standings) -> tuple[str, ...]:
    found = [row.outcomes.sentence(shorten(row.label, 60)) for row in standings.rows]
    if standings.unscored:
        verb = "has" if len(standings.unscored) == 1 else "have"
        found.append(f"{join_names(standings.unscored)} {verb} no scores.")
    return tuple(filter(None, found))


def _describe_value(row: Row, metric: str) -> str:
    cell = row.cells[0]
    if cell is None:
        return ""
    queries = pluralize(row.queries, "query")
    ends = "" if cell.interval is None else f", 95 % confidence interval {span(cell.interval)}"
    return f"{metric} {value(cell.value)} over {queries}{ends}."


def _join(names: Sequence[str]) -> str:
    """Join names that follow the leader's: "and a", or ", a and b"."""
    return f"and {join_names(names)}" if len(names) == 1 else f", {join_names(names)}"
