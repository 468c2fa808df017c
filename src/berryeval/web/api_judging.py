"""The API of judging: pairs to judge, votes, progress, and the agreement of judges."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from berryeval.errors import DataError, NotWrittenError
from berryeval.judging import Pair, Stop, mark_words
from berryeval.web.accounts import Person
from berryeval.web.guard import check_role, require_role
from berryeval.web.rooms import GivenVote, Room, Rooms
from berryeval.web.site import site_of
from berryeval.workflows import JudgesCompared, measure_judges, read_status

router = APIRouter(prefix="/api/v1/judging", tags=["judging"])
_LONGEST: Final = 50_000  # characters of a passage
_AHEAD: Final = 50  # pairs of an answer
_AT_ONCE: Final = 500  # votes of a request
Looker = Annotated[Person, Depends(require_role("look"))]
Judge = Annotated[Person, Depends(require_role("judge"))]
Adjudicator = Annotated[Person, Depends(require_role("administer"))]


class RoomSummary(BaseModel):
    """A pool and its progress."""

    name: str = Field(description="Name of the room: that of the benchmark.")
    pairs: int = Field(description="Pairs of the pool.")
    queries: int = Field(description="Queries of the pool.")
    strategy: str = Field(description="How the pairs were chosen: depth, random or decisive.")
    judged: int = Field(description="Pairs that you have judged.")
    disputed: int = Field(description="Pairs that judges disagree about.")
    judges: dict[str, int] = Field(description="Pairs that each judge has judged.")


class PassagePiece(BaseModel):
    """A piece of a passage."""

    text: str
    marked: bool = Field(description="Whether it is a word of the query.")


class OtherVote(BaseModel):
    """A vote as adjudicators see it."""

    judge: str
    grade: float | None = Field(description="Grade; null if the judge cannot tell.")
    note: str


class ShownPair(BaseModel):
    """A pair as judges see it: neither system nor rank, and no vote of others."""

    id: str
    query: str
    wanted: list[str] = Field(description="What the query wants, as far as the benchmark says it.")
    name: str = Field(description="Document and headings of the passage.")
    before: str = Field(description="Text before the passage.")
    passage: list[PassagePiece]
    after: str = Field(description="Text after the passage.")
    more: int = Field(description="Characters of the passage that are left out.")
    votes: list[OtherVote] = Field(description="Only for those who adjudicate.")


class JudgeProgress(BaseModel):
    """Your progress."""

    pairs: int
    judged: int


class NextPairs(BaseModel):
    """The next pairs; without any, the reason."""

    pairs: list[ShownPair]
    ending: str
    progress: JudgeProgress


class SentVote(BaseModel):
    """A vote on a pair."""

    pair: str = Field(description="Id of the pair.", max_length=100)
    grade: float | None = Field(None, description="Grade; null if you cannot tell.")
    note: str = Field("", description="Remark.", max_length=10_000)
    withdrawn: bool = Field(False, description="Take your last vote on the pair back.")
    adjudicates: bool = Field(False, description="End a disagreement of others.")
    request: str = Field(
        "", description="Id of your own; a vote with the same id counts once.", max_length=100
    )


class SentVotes(BaseModel):
    """Votes, in the order in which they were given."""

    votes: list[SentVote] = Field(min_length=1, max_length=_AT_ONCE)


class StoredVotes(BaseModel):
    """Votes that are on the disk."""

    stored: int
    progress: JudgeProgress


@router.get("")
def list_rooms(request: Request, person: Looker) -> list[RoomSummary]:
    """List the pools that can be judged."""
    rooms = site_of(request).rooms
    return [summarize(rooms.get(name), person.name) for name in rooms.find_pools()]


def summarize(room: Room, judge: str) -> RoomSummary:
    """Return the progress of a pool."""
    room.look()
    return RoomSummary(
        name=room.name,
        pairs=len(room.pool.pairs),
        queries=len({pair.query_id for pair in room.pool.pairs}),
        strategy=room.pool.strategy,
        judged=room.measure_progress(judge).judged,
        disputed=room.count_disputed(),
        judges={name: count for name, count in room.count_by_judge().items() if count},
    )


@router.get("/{room}/pairs", response_model=NextPairs)
def list_pairs(
    request: Request,
    room: str,
    person: Judge,
    *,
    count: Annotated[int, Query(ge=1, le=_AHEAD, description="Number of pairs.")] = 1,
    without: Annotated[
        str, Query(description="Ids of pairs not to return, with commas between them.")
    ] = "",
    adjudicate: Annotated[
        bool, Query(description="Pairs that judges disagree about, with their votes.")
    ] = False,
) -> Response:
    """Return the next pairs to judge; the same until you vote on them."""
    check_role(person, "administer" if adjudicate else "judge")
    found = site_of(request).rooms.get(room)
    chosen = found.choose(person.name, count, without.split(","), adjudicates=adjudicate)
    pairs, ending = ([], chosen.reason) if isinstance(chosen, Stop) else (chosen, "")
    show = show_disputed if adjudicate else show_pair
    rest = NextPairs(pairs=[], ending=ending, progress=_measure(found, person.name))
    text = ",".join(show(found, one) for one in pairs)
    return _answer(rest.model_dump_json().replace('"pairs":[]', f'"pairs":[{text}]', 1))


def _answer(text: str) -> Response:
    """Answer with JSON that is of the right form already."""
    return Response(text, media_type="application/json")


def show_pair(room: Room, pair: Pair) -> str:
    """Return a pair as judges see it, in JSON; made once, because every judge sees it."""
    if pair.id not in room.shown:
        room.shown[pair.id] = json.dumps(_view_pair(room, pair).model_dump())
    return room.shown[pair.id]


def show_disputed(room: Room, pair: Pair) -> str:
    """Return a pair as adjudicators see it: with the votes."""
    votes = [
        OtherVote(judge=one.judge, grade=one.grade, note=one.note) for one in room.votes_on(pair)
    ]
    return json.dumps(_view_pair(room, pair).model_copy(update={"votes": votes}).model_dump())


def _view_pair(room: Room, pair: Pair) -> ShownPair:
    query = room.opened.query_text(pair)
    pieces = mark_words(pair.text[:_LONGEST], query)
    return ShownPair(
        id=pair.id,
        query=query,
        wanted=room.opened.describe_wanted(pair),
        name=pair.name,
        before=pair.before,
        passage=[PassagePiece(text=one.text, marked=one.marked) for one in pieces],
        after=pair.after,
        more=max(0, len(pair.text) - _LONGEST),
        votes=[],
    )


@router.post("/{room}/votes", response_model=StoredVotes)
async def add_votes(request: Request, room: str, sent: SentVotes, person: Judge) -> Response:
    """Store votes: when this answers, they are on the disk. All of them, or an error and none."""
    check_role(person, "administer" if any(one.adjudicates for one in sent.votes) else "judge")
    found = await find_room(site_of(request).rooms, room)
    given = [
        GivenVote(**{**one.model_dump(), "request": one.request or uuid.uuid4().hex})
        for one in sent.votes
    ]
    stored = await asyncio.wrap_future(found.submit(person.name, given))
    progress = _measure(found, person.name)
    return _answer(StoredVotes(stored=len(stored), progress=progress).model_dump_json())


async def find_room(rooms: Rooms, name: str) -> Room:
    """Return a room for votes, in a thread if it has to be opened; if it cannot be, they wait."""
    found = rooms.find_open(name)
    if found is not None:
        return found
    try:
        return await run_in_threadpool(rooms.get, name)
    except DataError as error:
        if name not in rooms.find_pools():
            raise
        raise NotWrittenError(f"{error}; the votes were not kept") from None


def _measure(room: Room, judge: str) -> JudgeProgress:
    return JudgeProgress(**room.measure_progress(judge)._asdict())


@router.get("/{room}/status")
def show_status(request: Request, room: str, _person: Looker) -> dict[str, Any]:
    """Return the progress of a pool, and the comparisons that are undecided."""
    rooms = site_of(request).rooms
    found = rooms.get(room)
    return rooms.remember(
        found, "status", lambda: read_status(found.source, rooms.ledger)
    ).to_json()


@router.get("/{room}/agreement")
def show_agreement(request: Request, room: str, _person: Looker) -> dict[str, Any]:
    """Return the agreement of the judges."""
    measured = measure_room(site_of(request).rooms, room)
    conclusions = measured.conclusions
    return {
        "benchmark": measured.benchmark.name,
        "agreement": measured.agreement.to_json(),
        "conclusions": None if conclusions is None else conclusions.to_json(),
        "notes": list(measured.notes),
    }


def measure_room(rooms: Rooms, name: str) -> JudgesCompared:
    """Measure the agreement of the judges of a room."""
    room = rooms.get(name)
    return rooms.remember(room, "agreement", lambda: measure_judges(room.source, rooms.ledger))
