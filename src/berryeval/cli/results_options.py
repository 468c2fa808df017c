"""Options that the commands about past runs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.store import Store
    from berryeval.store.queries import Filters

Flag = Annotated[bool, Parameter(negative="")]
Several = Annotated[
    list[str] | None,
    Parameter(name=["--measures", "--metrics", "-m"], consume_multiple=True, negative=""),
]


def read_filters(
    benchmark: str | None = None,
    provider: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Filters:
    """What the options ask for."""
    from berryeval.store.queries import Filters
    from berryeval.store.times import read_time

    return Filters(
        benchmark,
        provider,
        None if since is None else read_time(since, "--since"),
        None if until is None else read_time(until, "--until", end=True),
    )


def refuse_unknown(store: Store, filters: Filters) -> None:
    """Say so if no run has such a benchmark or provider at all, with the nearest."""
    from berryeval.errors import DataError
    from berryeval.registry import nearest

    for kind, wanted, known in (
        ("benchmark", filters.benchmark, store.benchmarks),
        ("provider", filters.provider, store.providers),
    ):
        if wanted is None or wanted in (names := known()):
            continue
        near = nearest(wanted, names)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
        if names:
            msg = f"no run in the store {store.shown} has a {kind} {wanted!r}; {hint}"
            raise DataError(msg)


def refuse_measures(
    store: Store, measures: Sequence[str], filters: Filters, asked: str | None
) -> None:
    """Say so if no run has one of these measures at all, and how one gets it.

    Args:
        store: that is looked into.
        measures: by their names.
        filters: of the runs that are meant; one of them is named, if there is one.
        asked: what `--store` said.
    """
    from berryeval.errors import MeasureError
    from berryeval.io.command_lines import to_score_again
    from berryeval.measures import parse_measure
    from berryeval.registry import nearest

    names = store.measures()
    for measure in measures:
        try:
            known = str(parse_measure(measure))
            runs = store.names(filters) or store.names() or ["latest"]
            hint = f"{to_score_again(runs[0], measure, store=asked)} adds it to one"
        except MeasureError:
            if not names:
                raise
            known = measure
            hint = f"there are {', '.join(nearest(measure, names) or names)}"
        if names and known not in names:
            msg = f"no run in the store {store.shown} has {measure!r}; {hint}"
            raise MeasureError(msg)


def failures_of(failed: int, queries: int) -> str:
    """How many queries ended without an answer, beside a value that counts them as 0."""
    return f"{failed} of {queries} failed" if failed else ""
