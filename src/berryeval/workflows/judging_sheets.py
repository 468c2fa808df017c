"""Round trips through spreadsheets: write the pairs that are left, and take the grades back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from berryeval._internal.text import pluralize
from berryeval._internal.validate import require_choice
from berryeval.data import content_hash
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import JudgeKind, SheetRow, Vote, format_sheet, hash_query, read_sheet
from berryeval.workflows.judge_desk import open_desk
from berryeval.workflows.run_folder import write_text_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval._internal.files import PathLike
    from berryeval.judging import Mark, Pair
    from berryeval.workflows.judge_desk import JudgeDesk

_LISTED: Final = 5  # lines in a message


@dataclass(frozen=True)
class Sheet:
    """The text of a sheet, the number of its pairs, for whom it is, its format, and remarks."""

    text: str
    pairs: int
    judge: str
    kind: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportedSheet:
    """The result of importing a sheet.

    Attributes:
        votes: Votes that were added.
        known: Number of grades that were in the ledger already.
        empty: Number of rows without a grade.
        missing: Number of pairs that the judge has not judged and that are not in the sheet.
        judge: Name of the judge.
        notes: Remarks, one line each.
    """

    votes: tuple[Vote, ...]
    known: int
    empty: int
    missing: int
    judge: str
    notes: tuple[str, ...] = ()


def export_sheet(
    output: PathLike | None = None,
    kind: str | None = None,
    *,
    judge: str | None = None,
    benchmark: str | None = None,
    ledger: str | None = None,
    replace: bool = False,
) -> Sheet:
    """Write the pairs of the pool that a judge has not judged, as CSV or JSON lines.

    The format is that of the ending by default. A file that exists, and may have grades, is
    replaced only with `replace`; without `output` nothing is written.
    """
    path = None if output is None else Path(output)
    if path is not None and path.is_file() and not replace:
        raise ConfigurationError(
            f"{path}: exists already and may have grades; give another --output, or --force"
        )
    desk = open_desk(benchmark, ledger, judge)
    rows = _build_rows(desk, desk.session.left)
    is_lines = path is not None and path.suffix in {".jsonl", ".ndjson"}
    used = kind or ("jsonl" if is_lines else "csv")
    text = format_sheet(rows.values(), used)
    sheet = Sheet(text, len(rows), desk.session.judge, used, desk.notes)
    if path is not None:
        write_text_file(path, sheet.text.removesuffix("\n"))
    return sheet


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
    """Check a sheet and add its grades as votes, except those equal to the judge's last votes."""
    require_choice("--kind", kind, get_args(JudgeKind))
    desk = open_desk(benchmark, ledger, judge)
    session = desk.session
    pairs = {pair.id: pair for pair in session.pool.pairs}
    try:
        found = read_sheet(path, _build_rows(desk, pairs.values()), session.scale, encoding)
    except DataError as error:
        raise DataError(f"{error}; nothing was imported") from None
    facts = {"kind": kind, "adjudicates": adjudicates}
    votes = [_build_vote(desk, pairs[mark.pair], mark, facts) for mark in found.marks]
    current = {_identify(one) for one in session.ledger.current() if one.judge == session.judge}
    new = [one for one in votes if _identify(one) not in current]
    listed = {*(mark.pair for mark in found.marks), *found.empty}
    missing = sum(pair.id not in listed for pair in session.left)
    added = tuple(session.ledger.append(new)) if new else ()
    known = len(votes) - len(new)
    notes = (*desk.notes, *_tell_unkept(found.unkept))
    return ImportedSheet(added, known, len(found.empty), missing, session.judge, notes)


def _tell_unkept(lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    verb = "was" if len(lines) == 1 else "were"
    listed = ", ".join(lines[:_LISTED]) + (", ..." if len(lines) > _LISTED else "")
    note = f"{pluralize(len(lines), 'note')} without a grade ({listed}) {verb} not kept"
    return [f"{note}: give the row a grade, or ?"]


def _build_vote(desk: JudgeDesk, pair: Pair, mark: Mark, facts: dict[str, Any]) -> Vote:
    seen = content_hash(pair.text) if pair.text else ""
    asked = hash_query(desk.query_text(pair))
    return Vote(
        pair.query_id, pair.target, mark.grade, desk.session.judge, note=mark.note, content=seen,
        asked=asked, **facts,
    )  # fmt: skip


def _identify(vote: Vote) -> tuple[object, ...]:
    """Return what a judge says with a vote."""
    return (vote.key, vote.grade, vote.note, vote.kind, vote.adjudicates, vote.content, vote.asked)
