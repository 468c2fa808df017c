"""Round trips through spreadsheets: write the pairs that are left, and take the grades back."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from berryeval._internal.files import read_bytes
from berryeval._internal.validate import require_choice
from berryeval.data import content_hash
from berryeval.errors import DataError
from berryeval.judging import JudgeKind, SheetRow, Vote, format_sheet, read_sheet
from berryeval.workflows.judge_desk import open_desk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval._internal.files import PathLike
    from berryeval.judging import Mark, Pair
    from berryeval.workflows.judge_desk import JudgeDesk

_SHEET: Final = "sheet"  # in votes: hash of the file that they come from


@dataclass(frozen=True)
class Sheet:
    """The text of a sheet, and the number of its pairs."""

    text: str
    pairs: int
    judge: str


@dataclass(frozen=True)
class ImportedSheet:
    """What came back in a sheet.

    Attributes:
        votes: Votes that were added.
        known: Number of grades that were in the ledger already.
        empty: Number of rows without a grade.
        missing: Number of pairs that the judge has not judged and that are not in the sheet.
    """

    votes: tuple[Vote, ...]
    known: int
    empty: int
    missing: int


def export_sheet(
    kind: str = "csv",
    *,
    judge: str | None = None,
    benchmark: str | None = None,
    ledger: str | None = None,
) -> Sheet:
    """Return the pairs of the pool that a judge has not judged, as CSV or JSON lines."""
    desk = open_desk(benchmark, ledger, judge)
    rows = _build_rows(desk, desk.session.left)
    return Sheet(format_sheet(rows.values(), kind), len(rows), desk.session.judge)


def _build_rows(desk: JudgeDesk, pairs: Iterable[Pair]) -> dict[str, SheetRow]:
    return {
        pair.id: SheetRow(
            pair.id,
            pair.query_id,
            desk.query_text(pair),
            "\n".join(desk.describe_wanted(pair)),
            pair.text,
        )
        for pair in pairs
    }


def import_sheet(
    path: PathLike,
    judge: str,
    *,
    kind: str = "human",
    adjudicates: bool = False,
    encoding: str = "utf-8",
    benchmark: str | None = None,
    ledger: str | None = None,
) -> ImportedSheet:
    """Check a sheet and add its grades as votes; those that are in the ledger stay single.

    A grade that the judge has changed since the same file was imported stays changed.
    """
    require_choice("--kind", kind, get_args(JudgeKind))
    desk = open_desk(benchmark, ledger, judge)
    session = desk.session
    pairs = {pair.id: pair for pair in session.pool.pairs}
    try:
        found = read_sheet(path, _build_rows(desk, pairs.values()), session.scale, encoding)
    except DataError as error:
        raise DataError(f"{error}; nothing was imported") from None
    name = sha256(read_bytes(path).tobytes()).hexdigest()[:16]

    facts = {"kind": kind, "adjudicates": adjudicates, "extra": {_SHEET: name}}
    votes = [_build_vote(pairs[mark.pair], mark, session.judge, facts) for mark in found.marks]
    own = [one for one in session.ledger.votes() if one.judge == session.judge]
    known = {(one.key, one.extra.get(_SHEET)) for one in own}
    last = {(one.key, one.adjudicates): one for one in own}
    new = [
        one
        for one in votes
        if (one.key, name) not in known and not _is_same(last.get((one.key, one.adjudicates)), one)
    ]
    listed = {*(mark.pair for mark in found.marks), *found.empty}
    missing = sum(pair.id not in listed for pair in session.left)
    added = tuple(session.ledger.append(new)) if new else ()
    return ImportedSheet(added, len(votes) - len(new), len(found.empty), missing)


def _build_vote(pair: Pair, mark: Mark, judge: str, facts: dict[str, Any]) -> Vote:
    seen = content_hash(pair.text) if pair.text else ""
    return Vote(
        pair.query_id, pair.target, mark.grade, judge, note=mark.note, content=seen, **facts
    )


def _is_same(before: Vote | None, vote: Vote) -> bool:
    if before is None or before.withdrawn:
        return False
    return (before.grade, before.note) == (vote.grade, vote.note)


def find_sheet_format(output: PathLike | None, given: str | None) -> str:
    """Return the format of a sheet: the given one, or that of the ending, else CSV."""
    if given is not None:
        return given
    return "jsonl" if output and Path(output).suffix in {".jsonl", ".ndjson"} else "csv"
