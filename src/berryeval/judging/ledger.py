"""The ledger: every vote of every judge, appended and never rewritten.

A ledger is a folder beside the benchmark with a file per judge:

    fruit.judged/votes/ann.jsonl      a line per vote, each with a checksum
    fruit.judged/.gitattributes       makes git keep the lines of both sides of a merge

Lines are independent of their order and of how often they occur, so files of several people merge
without conflicts. A killed process leaves at most a torn line, which does not count.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.json import encode_json_line, parse_json
from berryeval._internal.serial import JsonRecord, Reader, choice_reader, open_field
from berryeval._internal.text import file_key, parse_timestamp
from berryeval._internal.validate import is_number
from berryeval.data import Anchor
from berryeval.errors import BerryEvalError, DataError, NotWrittenError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike

JudgeKind: TypeAlias = Literal["human", "llm", "function"]
Question: TypeAlias = Literal["relevance", "faithfulness", "answer"]
PairKey: TypeAlias = tuple[str, ...]  # of a query and a target, whatever the spelling of the target
ENDING: Final = ".judged"
_VOTES: Final = "votes"
_CHECKSUM: Final = b', "checksum": "%08x"}'
_ATTRIBUTES: Final = "votes/*.jsonl merge=union\n"
log = logging.getLogger("berryeval")


@dataclass(frozen=True)
class Vote(JsonRecord):
    """The grade that one judge gave to one pair.

    Attributes:
        query_id: Id of the query.
        target: What was judged.
        grade: Grade; None if the judge cannot tell, or takes the last vote on the pair back.
        judge: Name of the judge.
        kind: Kind of judge.
        time: Time of the vote, with its zone.
        note: Remark of the judge; the reason that a model gave.
        question: What was asked: relevance of a passage, or quality of an answer.
        adjudicates: Whether the vote ends a disagreement.
        withdrawn: Whether it takes the judge's last vote on the pair back.
        content: Hash of the text that the judge saw.
        model: Name of the model.
        prompt: Hash of the prompt.
        tokens: Tokens of question and answer.
        cost: Cost in US dollars.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Anchor": Anchor.from_json,
        "JudgeKind": choice_reader(*get_args(JudgeKind)),
        "Question": choice_reader(*get_args(Question)),
    }

    query_id: str
    target: Anchor
    grade: float | None
    judge: str
    kind: JudgeKind = "human"
    time: str = ""
    note: str = ""
    question: Question = "relevance"
    adjudicates: bool = False
    withdrawn: bool = False
    content: str = ""
    model: str = ""
    prompt: str = ""
    tokens: int | None = None
    cost: float | None = None
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        if not self.judge.strip():
            raise DataError("a vote needs the name of its judge")
        if self.grade is not None and not is_number(self.grade):
            raise DataError(f"expected a finite number as grade, found {self.grade!r}")
        if self.time:
            parse_timestamp(self.time, "vote")

    @property
    def key(self) -> PairKey:
        """What the vote is about: the pair and the question."""
        return (self.question, *key_of(self.query_id, self.target))


def key_of(query_id: str, target: Anchor) -> PairKey:
    """Return the identity of a pair: a span is the same with and without its quote."""
    place = (target.chunk, target.document, *target.section)
    if target.start is not None:
        return (query_id, *place, target.unit, str(target.start), str(target.end))
    return (query_id, *place, target.quote, "" if target.subsections else "alone")


def name_place(source: PathLike) -> Path:
    """Return the folder of the ledger of a benchmark: beside its file or folder.

    That of a bundled benchmark is in the current folder.

    >>> name_place("sets/fruit.csv").as_posix()
    'sets/fruit.judged'
    """
    path = Path(source)
    return path.with_name(
        f"{path.stem if path.suffix and not path.is_dir() else path.name}{ENDING}"
    )


class Ledger:
    """The votes in a folder, which need not exist yet.

    `votes` reads all files; every call sees what others have written since.
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        return f"Ledger({str(self.folder)!r})"

    def votes(self) -> list[Vote]:
        """Return every vote, oldest first; damaged lines are left out and named in the log."""
        found: dict[bytes, tuple[float, Vote]] = {}
        for path in sorted((self.folder / _VOTES).glob("*.jsonl")):
            for line, vote in _read_file(path):
                found.setdefault(line, (parse_timestamp(vote.time, str(path)), vote))
        return [vote for _, vote in sorted(found.values(), key=lambda one: one[0])]

    def current(self) -> list[Vote]:
        """Return the last vote of each judge on each pair, without those taken back."""
        return current_votes(self.votes())

    def append(self, votes: Iterable[Vote]) -> list[Vote]:
        """Add votes and return them as written; they are on the disk when this returns.

        Votes without a time get the present one.
        """
        now = datetime.now(timezone.utc).isoformat(timespec="microseconds")
        added = [vote if vote.time else replace(vote, time=now) for vote in votes]
        lines: dict[str, list[bytes]] = {}
        for vote in added:
            lines.setdefault(vote.judge, []).append(_encode(vote))
        try:
            for judge, own in lines.items():
                self._write(judge, own)
        except OSError as error:
            raise NotWrittenError(
                f"{self.folder}: cannot be written ({error.strerror or error})"
            ) from None
        return added

    def _write(self, judge: str, lines: list[bytes]) -> None:
        path = self.folder / _VOTES / f"{file_key(judge)}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        attributes = self.folder / ".gitattributes"
        if not attributes.exists():
            attributes.write_text(_ATTRIBUTES, encoding="utf-8")
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        file = os.open(path, flags, 0o666)
        try:
            size = os.fstat(file).st_size
            torn = size and os.pread(file, 1, size - 1) != b"\n"
            data = (b"\n" if torn else b"") + b"".join(lines)
            while data:
                data = data[os.write(file, data) :]
            os.fsync(file)
        finally:
            os.close(file)


def current_votes(votes: Iterable[Vote]) -> list[Vote]:
    """Return the last vote of each judge on each pair, without those taken back."""
    last: dict[tuple[str, bool, PairKey], Vote] = {}
    for vote in votes:
        name = (vote.judge, vote.adjudicates, vote.key)
        last.pop(name, None)
        last[name] = vote
    return [vote for vote in last.values() if not vote.withdrawn]


def _encode(vote: Vote) -> bytes:
    text = encode_json_line(vote.to_json())
    return text[:-1] + _CHECKSUM % zlib.crc32(text) + b"\n"


def _read_file(path: Path) -> Iterator[tuple[bytes, Vote]]:
    """Yield the intact lines of a file."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    for number, given in enumerate(lines, start=1):
        line = given.strip()
        if not line:
            continue
        try:
            yield line, _parse(line, str(path), number)
        except BerryEvalError as error:
            torn = number == len(lines)
            log.warning("%s; %s", error, "its writer was stopped" if torn else "it does not count")


def _parse(line: bytes, source: str, number: int) -> Vote:
    where = f"{source}:{number}"
    text = line[: -len(_CHECKSUM % 0)] + b"}"
    if line != text[:-1] + _CHECKSUM % zlib.crc32(text):
        raise DataError(f"{where}: no vote, or a changed one: its checksum is wrong")
    return Vote.from_json(parse_json(text.decode(errors="replace"), source, line=number), where)
