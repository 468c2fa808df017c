"""Which queries are shown where there are too many for a page."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from berryeval.reports.html.views.failures import disagreements_of, failing_of
from berryeval.reports.html.views.standings import answering, deciding_measure
from berryeval.reports.html.views.worst import by_spread, worst_first

if TYPE_CHECKING:
    from berryeval.reports.model import Section

__all__ = ["most_telling"]


def most_telling(section: Section, limit: int) -> set[str]:
    """Every query that the page speaks of, then in turns the next worst of every system.

    Those on which systems differ most take their turn too. There are more than the limit only if
    the page speaks of more.
    """
    measure = deciding_measure(section)
    systems = answering(section, measure) if measure else []
    chosen = {query.id for one in failing_of(section) for query, _ in one.worst}
    chosen |= {one.query.id for one in disagreements_of(section)}
    orders = [[query.id for query, _ in worst_first(section, one, measure)] for one in systems]
    orders.append([query.id for query, _, _ in by_spread(section, systems, measure)])
    orders.append([] if systems else [query.id for query in section.queries])
    for query in chain.from_iterable(zip_longest(*orders)):
        if len(chosen) >= limit:
            break
        if query is not None:
            chosen.add(query)
    return chosen
