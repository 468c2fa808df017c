"""One query: its targets, and the rankings of all systems side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BaseModel, Field

from berryeval.data import SECTION_SEPARATOR
from berryeval.errors import DataError
from berryeval.reports import collect_wanted, shade_grade, values_by_query
from berryeval.runs import AnswerTally
from berryeval.web.query_table import (
    QueryTable,
    TableRequest,
    TableSystem,
    Text,
)

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.reports import System
    from berryeval.runs import AnswerRecord, HitRecord
    from berryeval.workflows import WholeText


_QUOTED: Final = re.compile(r"'([^']*)'")


class QueryRequest(TableRequest):
    """Which query to show, and the table that decides which one is next."""

    id: Annotated[str, Field(description="Id of the query")]
    whole: Annotated[bool, Field(description="Read whole texts, which takes longer")] = False


class PassageRequest(QueryRequest):
    """Which hit to show."""

    system: Annotated[str, Field(description="Label of the system")]
    rank: Annotated[int, Field(ge=1, description="Rank of the hit, from 1")]


class PassageText(BaseModel):
    """The whole text of a hit, and the address of its document if that is on the web."""

    text: Text
    address: Text = ""
    is_whole: Annotated[bool, Field(description="Whether the text is more than an excerpt")]


class TargetRank(BaseModel):
    """The rank at which a system found a target; null if it missed it."""

    system: Text
    rank: int | None


class WantedText(BaseModel):
    """A relevant target, with its text if a system found it or its benchmark is at hand."""

    name: Text
    grade: float
    shade: Annotated[int, Field(description="Strength of its color: 0 to 3")]
    text: Annotated[Text, Field(description="Its text, or the beginning, or nothing")]
    address: Annotated[Text, Field(description="Address of its document, if that is on the web")]
    ranks: list[TargetRank]

    @property
    def title(self) -> str:
        """The name without quotation marks: document > section."""
        return _QUOTED.sub(r"\1", self.name).replace(", section ", SECTION_SEPARATOR)


class RankedHit(BaseModel):
    """A hit of a ranking."""

    rank: int
    id: Text
    name: Annotated[Text, Field(description="Document and headings, if known")]
    score: float
    grade: Annotated[float | None, Field(description="Grade; null for an unjudged hit")]
    shade: int
    first: Annotated[
        int | None, Field(description="Rank of the same hit in the first ranking; null if none")
    ]
    again: Annotated[bool, Field(description="Whether it repeats a target found above")]
    excerpt: Annotated[Text, Field(description="Beginning of its text")]

    @property
    def heading(self) -> str:
        """The innermost heading above the hit, else its name."""
        return self.name.rpartition(SECTION_SEPARATOR)[2]


class SystemRanking(TableSystem):
    """The answer of a system to the query."""

    value: float | None
    outcome: Text
    error: Text
    latency: float | None
    answer: Text
    found: int
    hits: list[RankedHit]
    missed: list[Text]


class QueryDetail(BaseModel):
    """A query with everything that is known about its answers."""

    benchmark: Text
    metric: Text
    id: Text
    text: Text
    category: Text
    difficulty: Text
    description: Text
    expected: Text
    earlier_texts: Annotated[list[Text], Field(description="Texts that other runs asked instead")]
    wanted: list[WantedText]
    rankings: list[SystemRanking]
    place: Annotated[int | None, Field(description="Place among the queries asked for, from 1")]
    matching: Annotated[int, Field(description="Number of the queries asked for")]
    previous: Text | None
    next: Text | None

    @property
    def system_of(self) -> dict[str, SystemRanking]:
        """The rankings by label."""
        return {one.label: one for one in self.rankings}

    @property
    def grades(self) -> list[tuple[float, int]]:
        """The grades above 0 with their shades, highest first."""
        hits = [(hit.grade, hit.shade) for one in self.rankings for hit in one.hits if hit.grade]
        return sorted({*hits, *((one.grade, one.shade) for one in self.wanted)}, reverse=True)

    @property
    def shares_hits(self) -> bool:
        """Whether the rankings have hits in common, so that ranks can be compared."""
        return any(hit.first for one in self.rankings[1:] for hit in one.hits)

    @property
    def unjudged(self) -> int:
        """Number of different hits without a judgment."""
        hits = (hit for one in self.rankings for hit in one.hits)
        return len({hit.id for hit in hits if hit.grade is None})


def view_query(table: QueryTable, asked: QueryRequest) -> QueryDetail:
    """Collect what is known about a query."""
    query, metric = table.find_query(asked.id), table.choose_metric(asked.metric)
    answers = [
        (system, answer) for system in table.systems if (answer := system.find_answer(query.id))
    ]
    hits = answers[0][1].hits if answers else ()
    first = {hit.id: rank for rank, hit in reversed(list(enumerate(hits, start=1)))}
    order = [row.id for row in table.select(asked)]
    place = order.index(asked.id) if asked.id in order else None
    texts = _read_targets(table, query.id) if asked.whole or table.has_texts() else {}
    return QueryDetail(
        benchmark=table.section.name,
        metric=metric,
        id=query.id,
        text=query.text,
        category=query.category,
        difficulty=query.difficulty,
        description=query.description,
        expected=next((one.expected for _, one in answers if one.expected), ""),
        earlier_texts=_find_other_texts(table.systems, query),
        wanted=_view_wanted(table, answers, texts),
        rankings=[_view_ranking(table, *one, metric, first) for one in answers],
        place=None if place is None else place + 1,
        matching=len(order),
        previous=order[place - 1] if place else None,
        next=order[place + 1] if place is not None and place + 1 < len(order) else None,
    )


def _find_other_texts(systems: Sequence[System], query: Query) -> list[str]:
    parts = {id(one.benchmark): one.benchmark for one in systems}
    texts = {one.text for part in parts.values() for one in part.queries if one.id == query.id}
    return sorted(texts - {query.text})


def _read_targets(table: QueryTable, query: str) -> dict[str, WholeText]:
    """Return the whole texts of the targets of a query, as far as their benchmarks are at hand."""
    found: dict[str, WholeText] = {}
    for system in {one.run.id: one for one in table.systems}.values():
        texts = table.read_texts(system)
        found |= texts.list_targets(query) if texts else {}
    return found


def read_passage(table: QueryTable, asked: PassageRequest) -> PassageText:
    """Return the whole text of a hit, or the beginning that its run has."""
    system, query = table.find_system(asked.system), table.find_query(asked.id)
    answer = system.find_answer(query.id)
    if answer is None or asked.rank > len(answer.hits):
        raise DataError(f"no hit at rank {asked.rank} of {system.label} for this query")
    texts = table.read_texts(system)
    if texts is None:
        excerpt = system.passage(answer.hits[asked.rank - 1])
        return PassageText(text=excerpt, is_whole=not excerpt.endswith("…"))
    found = texts.find_hit(system.record.name, query.id, asked.rank)
    return PassageText(text=found.text, address=found.address, is_whole=True)


def _view_wanted(
    table: QueryTable,
    answers: Sequence[tuple[System, AnswerRecord]],
    texts: Mapping[str, WholeText],
) -> list[WantedText]:
    return [
        WantedText(
            name=one.name,
            grade=one.grade,
            shade=shade_grade(one.grade, table.highest),
            text=texts[one.name].text if one.name in texts else one.text,
            address=texts[one.name].address if one.name in texts else "",
            ranks=[
                TargetRank(system=system.label, rank=one.ranks[system.label])
                for system, _ in answers
                if system.label in one.ranks
            ],
        )
        for one in collect_wanted(answers, table.passages)
    ]


def _view_ranking(
    table: QueryTable, system: System, answer: AnswerRecord, metric: str, first: Mapping[str, int]
) -> SystemRanking:
    return SystemRanking(
        **table.view_system(system, metric).model_dump(),
        value=values_by_query(system, metric).get(answer.query_id),
        outcome=answer.outcome,
        error=answer.error,
        latency=answer.latency,
        answer=answer.answer,
        found=AnswerTally.of(answer).found,
        hits=[
            _view_hit(table, system, rank, hit, first.get(hit.id))
            for rank, hit in enumerate(answer.hits, start=1)
        ],
        missed=[one.name for one in answer.missed],
    )


def _view_hit(
    table: QueryTable, system: System, rank: int, hit: HitRecord, first: int | None
) -> RankedHit:
    return RankedHit(
        rank=rank,
        id=hit.id,
        name=system.name_of(hit),
        score=hit.score,
        grade=hit.grade,
        shade=shade_grade(hit.grade, table.highest),
        first=first,
        again=hit.again,
        excerpt=system.passage(hit),
    )
