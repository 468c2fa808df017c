"""The ledger: every vote of every judge, appended and never rewritten.

A ledger is a folder beside the benchmark with a file per judge:

    fruit.judged/votes/ann.jsonl      a line per vote, each with a checksum
    fruit.judged/.gitattributes       makes git keep the lines of both sides of a merge

Lines are independent of their order and of how often they occur, so files of several people merge
without conflicts. Writers of one file wait for each other. A killed process leaves at most a torn
line, which does not count; a full disk leaves nothing.
"""

from __future__ import annotations

import json
import logging
import os
import random
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.files import replace_file, try_lock
from berryeval._internal.json import encode_json_line, parse_json
from berryeval._internal.serial import JsonRecord, Reader, choice_reader, open_field
from berryeval._internal.text import file_key, parse_timestamp
from berryeval._internal.validate import is_number
from berryeval.benchmarks import NamedSource, find_named
from berryeval.data import Anchor, content_hash
from berryeval.errors import BerryEvalError, ConfigurationError, DataError, NotWrittenError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike

JudgeKind: TypeAlias = Literal["human", "llm", "function"]
Question: TypeAlias = Literal["relevance", "faithfulness", "answer"]
PairKey: TypeAlias = tuple[str, ...]  # of a query and a target, whatever the spelling of the target
ENDING: Final = ".judged"
HUMAN: Final = "human"  # in place of a judge: what the humans decided
OWN: Final = "benchmark"  # in place of a judge: the benchmark's own judgments
_VOTES: Final = "votes"
_CHECKSUM: Final = b', "checksum": "%08x"}'
_CHECKSUM_SIZE: Final = len(_CHECKSUM % 0)
_ATTRIBUTES: Final = b"votes/*.jsonl merge=union -text\n"
_LOCK_TIMEOUT: Final = 60.0  # seconds
_TAIL: Final = 1 << 16  # bytes at the end of a file, with the times of its last votes
_NAMED: Final = 3  # damaged lines of a file in the log
_DECODER: Final = json.JSONDecoder()
_SHAPES: Final[Mapping[str, tuple[type, ...]]] = {  # of values in JSON, by annotation
    "Anchor": (dict,),
    "Section": (list,),
    "bool": (bool,),
    "float | None": (int, float, type(None)),
    "int | None": (int, type(None)),
    "str": (str,),
}
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "kind": get_args(JudgeKind),
    "question": get_args(Question),
}
_LAST: Final = datetime(9000, 1, 1, tzinfo=timezone.utc).timestamp()
_STEP: Final = timedelta(microseconds=1)
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
        asked: Hash of the query's text, by `hash_query`; "" if unknown.
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
    asked: str = ""
    model: str = ""
    prompt: str = ""
    tokens: int | None = None
    cost: float | None = None
    extra: Mapping[str, Any] = open_field(repr=False)

    def __post_init__(self) -> None:
        if not self.judge.strip() or not self.judge.isprintable():
            raise DataError(f"a vote needs the name of its judge, found {self.judge!r:.80}")
        if self.grade is not None and not is_number(self.grade):
            raise DataError(f"expected a finite number as grade, found {self.grade!r}")
        self.moment  # noqa: B018 - rejects an invalid time

    @property
    def moment(self) -> float:
        """Time in seconds since 1970; without a zone it is local time, and 0 if unknown."""
        return parse_timestamp(self.time, "vote") if self.time else 0.0

    @property
    def key(self) -> PairKey:
        """What the vote is about: the pair and the question."""
        return (self.question, *key_of(self.query_id, self.target))


def hash_query(text: str) -> str:
    """Return the hash of a query's text, whatever its white space."""
    return content_hash(" ".join(text.split()))


def key_of(query_id: str, target: Anchor) -> PairKey:
    """Return the identity of a pair: a span is the same with and without its quote."""
    place = (target.chunk, target.document, *target.section)
    if target.start is not None:
        return (query_id, *place, target.unit, str(target.start), str(target.end))
    return (query_id, *place, target.quote, "" if target.subsections else "alone")


def name_place(source: PathLike) -> Path:
    """Return the folder of the ledger of a benchmark: beside its file or folder.

    That of a bundled benchmark or of a named dataset is in the current folder.

    >>> name_place("sets/fruit.csv").as_posix()
    'sets/fruit.judged'
    >>> name_place("hf:mteb/scifact").as_posix()
    'mteb-scifact.judged'
    """
    if find_named(source):
        return Path(f"{NamedSource(str(source)).stem}{ENDING}")
    path = Path(source)
    if path.name in {"", ".."}:  # the current folder, or one above it
        path = path.resolve()
    if not path.is_dir():
        path = path.with_suffix("") if path.suffix in {".gz", ".zst"} else path
        path = path.with_suffix("")
    return path.parent / f"{path.name}{ENDING}"


class Ledger:
    """The votes in a folder, which need not exist yet.

    `votes` reads all files; every call sees what others have written since. `folder` has the pool,
    too, and `shown` is the name of the place for messages.
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        self.shown = str(self.folder)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown!r})"

    @property
    def exists(self) -> bool:
        """Whether anyone has voted yet."""
        return (self.folder / _VOTES).is_dir()

    def votes(self) -> list[Vote]:
        """Return every vote, oldest first; damaged lines are left out and named in the log."""
        found: dict[bytes, Vote] = {}
        for path in sorted((self.folder / _VOTES).glob("*.jsonl")):
            found.update(_read_file(path))
        order = sorted((vote.moment, line) for line, vote in found.items())
        return [found[line] for _, line in order]

    def current(self) -> list[Vote]:
        """Return the last vote of each judge on each pair, without those taken back."""
        return current_votes(self.votes())

    def read_on(self, mark: Any = None) -> tuple[list[Vote], Any]:
        """Return the votes that came after a mark, and the next mark; None reads all.

        Votes may come again if a file was replaced. Writers that were there before have finished.
        """
        sizes = {path.name: path.stat().st_size for path in (self.folder / _VOTES).glob("*.jsonl")}
        return ([], mark) if mark == sizes else (self.votes(), sizes)

    def close(self) -> None:
        """Close what `hold` keeps open."""

    def hold(self) -> None:
        """Keep open what every call needs, until `close`; for many calls."""

    def append(self, votes: Iterable[Vote]) -> list[Vote]:
        """Add votes and return them as written; they are on the disk when this returns.

        Votes without a time get the present one, or one after the judge's last vote if the clock
        was set back.
        """
        judges = group_votes(votes)
        return [vote for judge, own in judges.items() for vote in self._add_votes(judge, own)]

    def _add_votes(self, judge: str, votes: Sequence[Vote]) -> Sequence[Vote]:
        try:
            return self._write(judge, votes)
        except OSError as error:
            raise NotWrittenError(
                f"{self.folder}: cannot be written ({error.strerror or error}); the votes of "
                f"{judge} were not kept"
            ) from None

    def _write(self, judge: str, votes: Sequence[Vote]) -> Sequence[Vote]:
        path = self.folder / _VOTES / f"{file_key(judge)}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        attributes = self.folder / ".gitattributes"
        if not attributes.exists():
            with replace_file(attributes) as stream:
                stream.write(_ATTRIBUTES)
        stamped: Sequence[Vote] = ()
        while True:
            with _open_locked(path) as file:
                tail = _read_tail(file)
                stamped = stamped or stamp(votes, find_latest(tail))
                torn = b"\n" if tail and not tail.endswith(b"\n") else b""
                _add(file, torn + b"".join(_encode(one) + b"\n" for one in stamped))
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(file), path.stat()):
                        break
            # Otherwise another program, such as git, has put a new file in its place.
        if not tail:
            _sync_folder(path.parent)
        return stamped


def check_judge(name: str) -> str:
    """Return the name of a judge of new votes; reject one that means something else."""
    if name in {HUMAN, OWN}:
        means = "what the humans decided" if name == HUMAN else "the benchmark's own judgments"
        raise ConfigurationError(
            f"no judge can be called {name!r}, which stands for {means}; give another name with "
            "--judge"
        )
    return name


def group_votes(votes: Iterable[Vote]) -> dict[str, list[Vote]]:
    """Return new votes by their judge, whose name is checked."""
    judges: dict[str, list[Vote]] = {}
    for vote in votes:
        judges.setdefault(check_judge(vote.judge), []).append(vote)
    return judges


def stamp(votes: Sequence[Vote], latest: float = 0.0) -> Sequence[Vote]:
    """Return the votes of a judge, each with a time after `latest` and the vote before it."""
    now = datetime.now(timezone.utc)
    if latest < _LAST:
        now = max(now, datetime.fromtimestamp(latest, timezone.utc) + _STEP)
    return [
        one
        if one.time
        else replace(one, time=(now + place * _STEP).isoformat(timespec="microseconds"))
        for place, one in enumerate(votes)
    ]


def find_latest(lines: bytes) -> float:
    """Return the latest time of the intact lines, or 0."""
    found = (_read_line(line) for line in lines.split(b"\n"))
    return max((vote.moment for vote in found if vote is not None), default=0.0)


@contextmanager
def _open_locked(path: Path) -> Iterator[int]:
    """Open a file for appending; other writers of votes wait until it is closed."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o666)
    try:
        end = time.monotonic() + _LOCK_TIMEOUT
        while not try_lock(file):
            if time.monotonic() > end:
                raise NotWrittenError(
                    f"{path}: another process has been writing to it for {_LOCK_TIMEOUT:g} "
                    "seconds: try again later; the votes were not kept"
                )
            time.sleep(random.uniform(0.001, 0.005))  # noqa: S311 - who comes next
        yield file
    finally:
        os.close(file)


def _read_tail(file: int) -> bytes:
    os.lseek(file, max(0, os.fstat(file).st_size - _TAIL), os.SEEK_SET)
    return os.read(file, _TAIL)


def _add(file: int, data: bytes) -> None:
    """Write all of the data to the end of a file, or nothing."""
    size = os.fstat(file).st_size
    try:
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(file, size)
        raise


def _sync_folder(folder: Path) -> None:
    """Keep a new file in its folder even if the power fails, where the system can."""
    with suppress(OSError):  # such as Windows, which opens no folders
        file = os.open(folder, os.O_RDONLY)
        try:
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


def find_disputed(votes: Iterable[Vote]) -> set[PairKey]:
    """Return the pairs with different grades and no adjudication.

    Where a human graded the pair, only humans count.
    """
    given: dict[PairKey, list[Vote]] = {}
    for vote in current_votes(votes):
        if vote.question == "relevance" and vote.grade is not None and vote.judge != OWN:
            given.setdefault(key_of(vote.query_id, vote.target), []).append(vote)
    found = set()
    for key, own in given.items():
        counted = [one for one in own if one.kind == HUMAN] or own
        if len({one.grade for one in counted}) > 1 and not any(one.adjudicates for one in own):
            found.add(key)
    return found


def _encode(vote: Vote) -> bytes:
    text = encode_json_line(vote.to_json())
    return text[:-1] + _CHECKSUM % zlib.crc32(text)


def read_votes(path: PathLike) -> list[Vote]:
    """Return the votes of a file, oldest first; damaged lines are logged."""
    return sorted(_read_file(Path(path)).values(), key=lambda vote: vote.moment)


def _read_file(path: Path) -> dict[bytes, Vote]:
    """Return the intact lines of a file, and log the others."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    found: dict[bytes, Vote] = {}
    damaged = []
    for number, given in enumerate(lines, start=1):
        line = given.strip()
        vote = _read_line(line)
        if vote is not None:
            found[line] = vote
        elif line:
            damaged.append(number)
    for number in damaged[:_NAMED]:
        torn = number == len(lines)
        why = "incomplete: its writer was stopped" if torn else "no vote, or a changed one"
        log.warning("%s:%d: %s; it does not count", path, number, why)
    if len(damaged) > _NAMED:
        log.warning("%s: %d more lines are damaged", path, len(damaged) - _NAMED)
    return found


def _read_line(line: bytes) -> Vote | None:
    """Return the vote of a line; None if its checksum is wrong, or if it is no vote."""
    text = line[:-_CHECKSUM_SIZE] + b"}"
    if line[-_CHECKSUM_SIZE:] != _CHECKSUM % zlib.crc32(text):
        return None
    return read_vote(text)


def read_vote(text: bytes) -> Vote | None:
    """Return the vote of a JSON text; None if it is no vote.

    What looks like our own writing is built without `Vote.from_json`, three times as fast.
    """
    try:
        data = _DECODER.decode(text.decode())
        extra = {name: data.pop(name) for name in data.keys() - _NAMES}
        if _fits(_VOTE, data) and _fits(_ANCHOR, data["target"]) and _are_texts(extra):
            return Vote(**{**data, "target": Anchor(**data["target"]), "extra": extra})
        return Vote.from_json(parse_json(text.decode(), "vote"), "vote")
    except (BerryEvalError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _fits(shapes: Mapping[str, tuple[type, ...]], data: Any) -> bool:
    """Whether all names and values of an object are such as we write them."""
    return type(data) is dict and all(
        type(value) in shapes.get(name, ()) or value in _WORDS.get(name, ())
        for name, value in data.items()
    )


def _are_texts(extra: Mapping[str, Any]) -> bool:
    return all(type(value) is str for value in extra.values())


def _shapes_of(kind: type[Any]) -> Mapping[str, tuple[type, ...]]:
    types: dict[str, str] = {one.name: str(one.type) for one in fields(kind)}
    return {name: _SHAPES[text] for name, text in types.items() if text in _SHAPES}


_NAMES: Final = {one.name for one in fields(Vote)} - {"extra"}
_VOTE: Final = _shapes_of(Vote)
_ANCHOR: Final = _shapes_of(Anchor)
