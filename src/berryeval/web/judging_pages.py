"""Pages of judging: the pools, a session, progress, agreement, and adjudication."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from berryeval._internal import numbers
from berryeval._internal.text import truncate
from berryeval.errors import BerryEvalError, DataError
from berryeval.judging import MEASURES, Agreement, name_grades
from berryeval.web.api_judging import Adjudicator, Judge, Looker, measure_room, summarize
from berryeval.web.frame import render
from berryeval.web.site import site_of
from berryeval.workflows import Conclusions, JudgesCompared, PoolStatus, read_status

if TYPE_CHECKING:
    from berryeval.web.rooms import Room

router = APIRouter(include_in_schema=False, prefix="/judge")
_DISPUTES: Final = 50  # pairs that the page on agreement lists
_CHIEF: Final = ("agreement", "kappa relevant", "kappa quadratic", "alpha ordinal")  # of two judges
_QUERY: Final = 120  # characters of a query in that list


@router.get("")
def show_rooms(request: Request, person: Looker) -> Response:
    """Show the pools and their progress."""
    rooms = site_of(request).rooms
    found, problems = [], []
    for name in rooms.find_pools():
        try:
            found.append(summarize(rooms.get(name), person.name))
        except BerryEvalError as error:  # noqa: PERF203 - other rooms are shown
            problems.append(f"{name}: {error}")
    return render(request, "judging.html", rooms=found, problems=problems)


@router.get("/{room}")
def show_session(request: Request, room: str, person: Judge) -> Response:
    """Show the page on which a judge goes through a pool."""
    return _show_desk(request, room, person.name, adjudicates=False)


@router.get("/{room}/adjudicate")
def show_adjudication(request: Request, room: str, person: Adjudicator) -> Response:
    """Show the page that ends disagreements, with the votes of the judges."""
    return _show_desk(request, room, person.name, adjudicates=True)


def _show_desk(request: Request, name: str, judge: str, *, adjudicates: bool) -> Response:
    room = site_of(request).rooms.get(name)
    return render(
        request,
        "judge.html",
        **_describe(room, judge, "adjudicate" if adjudicates else "judge"),
        notes=room.greet(judge),
        judge=judge,
        adjudicates=adjudicates,
        grades=(grades := _list_grades(room.opened.scale)),
        keys=json.dumps(grades),
    )


def _describe(room: Room, judge: str, current: str) -> dict[str, Any]:
    """Return what all pages of a room show."""
    return {"room": summarize(room, judge), "current": current}


def _list_grades(scale: tuple[float, ...]) -> list[dict[str, Any]]:
    """Return the grades with the key of each: the grade itself, or its place in the scale."""
    single = all(len(f"{grade:g}") == 1 for grade in scale)
    return [
        {"grade": grade, "shown": f"{grade:g}", "name": name,
         "key": f"{grade:g}" if single else str(place)}
        for place, (grade, name) in enumerate(name_grades(scale).items(), start=1)
    ]  # fmt: skip


@router.get("/{room}/status")
def show_status(request: Request, room: str, person: Looker) -> Response:
    """Show the progress of a pool, and the comparisons that are undecided."""
    rooms = site_of(request).rooms
    found = rooms.get(room)
    status: PoolStatus = rooms.remember(
        found, "status", lambda: read_status(found.source, rooms.ledger)
    )
    comparisons = [
        {
            "system": one.system,
            "baseline": one.baseline,
            "metric": one.metric,
            "judged": f"{one.judged:,} of {one.pairs:,}",
            "difference": numbers.format_delta(one.difference),
            "bounds": numbers.format_delta_interval(one.low, one.high),
            "verdict": one.verdict,
            "probability": "certain" if one.is_certain else f"{one.probability:.0%}",
            "decided": one.is_decided,
            "needed": "" if one.is_decided else f"about {more:,}" if more is not None else "all",
        }
        for one, more in status.outlooks
    ]
    return render(
        request,
        "judging_status.html",
        **_describe(found, person.name, "status"),
        pool_status=status,
        comparisons=comparisons,
        undecided=sum(not one["decided"] for one in comparisons),
    )


@router.get("/{room}/agreement")
def show_agreement(request: Request, room: str, person: Looker) -> Response:
    """Show the agreement of the judges."""
    found = site_of(request).rooms.get(room)
    problem, shown = "", {}
    try:
        shown = _view_agreement(measure_room(site_of(request).rooms, room))
    except DataError as error:  # such as a single judge
        problem = str(error)
    return render(
        request,
        "agreement.html",
        **_describe(found, person.name, "agreement"),
        problem=problem,
        **shown,
    )


def _view_agreement(measured: JudgesCompared) -> dict[str, Any]:
    found = measured.agreement
    same = found.measures["agreement"].value
    disputes = []
    for one in found.disputes[:_DISPUTES]:
        query_id, target = measured.targets[one.item]
        query = measured.benchmark.query_of.get(query_id)
        grades = [(judge, numbers.format_grade(grade)) for judge, grade in one.grades.items()]
        disputes.append(
            {
                "query": truncate(query.text if query else query_id, _QUERY),
                "place": " > ".join((target.document or target.chunk, *target.section)),
                "grades": grades,
            }
        )
    return {
        "same": None if same is None else f"{same:.0%}",
        "tables": [_view_table(found), *(_view_table(one, _CHIEF) for one in found.pairs)],
        "disputes": disputes,
        "more": len(found.disputes) - len(disputes),
        "measure_notes": [*found.notes, *measured.notes],
        "conclusions": _view_conclusions(measured.conclusions),
    }


def _view_table(one: Agreement, names: Sequence[str] = tuple(MEASURES)) -> dict[str, Any]:
    rows = [
        {
            "name": MEASURES[name],
            "value": "" if value.value is None else numbers.format_metric(value.value),
            "interval": numbers.format_interval(*value.interval) if value.interval else "",
        }
        for name, value in one.measures.items()
        if name in names
    ]
    scale = [numbers.format_grade(grade) for grade in one.scale]
    return {
        "judges": one.judges,
        "count": one.items,
        "level": f"{one.level:.0%}",
        "rows": rows,
        "cannot": list(dict.fromkeys(filter(None, (a.cannot for a in one.measures.values())))),
        "scale": scale,
        "confusion": list(zip(scale, one.confusion, strict=True)) if one.confusion else [],
    }


def _view_conclusions(found: Conclusions | None) -> dict[str, Any] | None:
    if found is None or not found.scores:
        return None
    judges = list(found.scores)
    return {
        "metric": found.metric,
        "pairs": found.pairs,
        "judges": judges,
        "rows": [
            (name, [numbers.format_metric(found.scores[judge][name]) for judge in judges])
            for name in next(iter(found.scores.values()))
        ],
        "changes": [
            (system, baseline, list(own.items()))
            for (baseline, system), own in found.changes.items()
        ],
        "compared": len(found.findings),
        "notes": found.notes,
    }
