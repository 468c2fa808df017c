"""The folder of a run: what was asked, what came back, what it scored.

    <folder>/manifest.json                            the plan, hashes, versions
    <folder>/run.json                                 the record: all that reports are made of
    <folder>/<benchmark>/<provider>/results.jsonl     the journal, a line per query
    <folder>/<benchmark>/<provider>/scores.json       the scores, in full precision
    <folder>/<benchmark>/<provider>/run.trec          the rankings, for other tools

Everything but the journal is written whole or not at all, and can be made again from the journal.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import platform
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import berryeval
from berryeval.errors import ConfigurationError, DataError, NotWrittenError
from berryeval.harness.outcomes import failed_of
from berryeval.io.command_lines import to_go_on
from berryeval.io.file_names import safe_name
from berryeval.io.files import name_of, read_bytes, writing
from berryeval.io.locks import locked
from berryeval.json_record import unversioned
from berryeval.pipeline.redaction import masked, same_if_masked
from berryeval.results import RunRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from berryeval.io.files import PathLike
    from berryeval.pipeline.plan import Plan, ProviderSpec
    from berryeval.results import BenchmarkRecord

__all__ = ["RUNS", "RunFolder", "config_hash"]

RUNS: Final = Path(".berryeval") / "runs"  # where they go unless somebody says
SCHEMA_VERSION: Final = 1
JSON: Final = json.JSONEncoder(indent=2, ensure_ascii=False, allow_nan=False)
_AT_ONCE: Final = 1000  # pieces of a text


def plan_json(plan: Plan) -> dict[str, Any]:
    """The plan as JSON has it; secrets are masked."""
    return dict(json.loads(json.dumps(masked(plan.model_dump()))))


def config_hash(plan: Plan) -> str:
    """The hash of what was asked for; secrets are left out, and what is written besides."""
    text = json.dumps(masked(plan.model_dump(exclude={"export"})), sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class RunFolder:
    """The folder of one run.

    Args:
        path: where it is.
        new_at: when the run was started, if it is a new one: then the folder is made when it is
            first locked, with a number behind its name where another process was faster.
        kept: whether it is there when the run has ended; a temporary one is not.
    """

    def __init__(
        self, path: PathLike, *, new_at: datetime | None = None, kept: bool = True
    ) -> None:
        self.path = Path(path)
        self.kept = kept
        self._started = new_at
        self._new = new_at is not None

    def part(self, benchmark: str, spec: ProviderSpec) -> Path:
        """Where the results of one provider on one benchmark are."""
        return self.path / safe_name(benchmark) / safe_name(spec.label)

    @property
    def manifest_file(self) -> Path:
        """The manifest."""
        return self.path / "manifest.json"

    def locked(self) -> AbstractContextManager[None]:
        """Keep other processes out; a process that is killed keeps nobody out."""
        if self._new:
            self._claim()
        problem = (
            f"{self.path}: another process is working in this folder; wait for its end, stop it, "
            "or give another folder"
        )
        return locked(self.path / ".lock", problem)

    def _claim(self) -> None:
        """Make the folder, and be the only one who did: runs may start in the same second."""
        name, number = self.path.name, 1
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            while True:
                try:
                    self.path.mkdir()
                    break
                except FileExistsError:
                    number += 1
                    self.path = self.path.with_name(f"{name}-{number}")
        except OSError as error:
            msg = f"{self.path}: cannot be made a folder ({error.strerror or error})"
            raise DataError(msg) from None
        self._new = False

    def check_same_run(self, plan: Plan) -> None:
        """Refuse a plan that asks for something else than the one the folder was made for.

        How patient the run is, what it must reach, and what is exported, may change.
        """
        if not self.manifest_file.exists():
            return
        before = self.read_manifest().get("plan")
        before = before if isinstance(before, dict) else {}
        now = plan_json(plan)
        names = {*before, *now} - {"run", "thresholds", "gate", "export"}
        different = sorted(
            name for name in names if not same_if_masked(before.get(name), now.get(name))
        )
        if different:
            msg = (
                f"{self.path}: holds another run ({', '.join(different)} differ); give another "
                f"folder, or go on with it: {to_go_on(self.path)}"
            )
            raise ConfigurationError(msg)

    def check_same_chunkers(self, plan: Plan, chunkers: Mapping[str, str]) -> None:
        """Refuse benchmarks that suggest another chunker than before, where somebody follows it.

        The content hash of a benchmark does not know: how its texts are cut is no part of them.
        """
        if not self.manifest_file.exists() or all(spec.chunker for spec in plan.providers):
            return
        before = self.read_manifest().get("chunkers")
        for name, now in chunkers.items():
            then = before.get(name, now) if isinstance(before, dict) else now
            if then != now:
                msg = (
                    f"{self.path}: {name} was cut by {then} in this run, and now suggests {now}; "
                    "give another folder, or let it suggest what it did"
                )
                raise ConfigurationError(msg)

    @property
    def created(self) -> str:
        """When the run was started."""
        return str(self.read_manifest()["created"])

    def is_finished(self, *, retry_errors: bool = False) -> bool:
        """Whether every provider was asked every query, so that nothing is left to be asked."""
        if not self.record_file.exists():
            return False
        providers = [one for part in self.read_record().benchmarks for one in part.providers]
        if any(one.failure for one in providers):
            return False
        return not (retry_errors and any(failed_of(one.outcomes) for one in providers))

    def as_asked(self, plan: Plan) -> Plan:
        """The plan with the thresholds it was asked with first; it may be judged by others."""
        if not self.manifest_file.exists():
            return plan
        before = self.read_manifest().get("plan", {}).get("thresholds", {})
        return plan.model_copy(update={"thresholds": before})

    def write_manifest(self, plan: Plan, facts: dict[str, Any]) -> None:
        """Write what was asked, under which circumstances; secrets are masked."""
        before = self.read_manifest() if self.manifest_file.exists() else {}
        started = self._started or datetime.now().astimezone()
        now = started.isoformat(timespec="seconds")
        write_json_file(
            self.manifest_file,
            {
                "schema_version": SCHEMA_VERSION,
                "created": before.get("created", now),
                "plan": masked(plan.model_dump()),
                "config_hash": config_hash(plan),
                "versions": {
                    "berryeval": berryeval.__version__,
                    "python": platform.python_version(),
                },
                **facts,
            },
        )

    def record(
        self, plan: Plan, benchmarks: Sequence[BenchmarkRecord], versions: Mapping[str, str]
    ) -> RunRecord:
        """The record of the run."""
        return RunRecord(
            self.path.resolve().name,
            self.created,
            tuple(benchmarks),
            plan_json(plan),
            config_hash(plan),
            versions,
        )

    @property
    def record_file(self) -> Path:
        """The record."""
        return self.path / "run.json"

    def write_record(self, record: RunRecord) -> None:
        """Write the record."""
        write_text_file(self.record_file, record.pieces())

    def read_record(self) -> RunRecord:
        """The record of a run that was made before."""
        return RunRecord.from_json(read_json_object(self.record_file), str(self.record_file))

    def read_manifest(self) -> dict[str, Any]:
        """The manifest of a run that was made before."""
        data = read_json_object(self.manifest_file)
        return unversioned(data, str(self.manifest_file), "a manifest", SCHEMA_VERSION)


def write_json_file(path: Path, data: Any) -> None:
    """Write a JSON file, all or nothing; its folder is made."""
    write_text_file(path, JSON.iterencode(data))


def write_text_file(path: Path, text: str | Iterable[str]) -> None:
    """Write a text, or the pieces of one, and a last newline, all or nothing; makes the folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{path.parent}: cannot be made ({error.strerror or error})"
        raise NotWrittenError(msg) from None
    pieces = iter([text] if isinstance(text, str) else text)
    with writing(path) as stream:
        while part := "".join(itertools.islice(pieces, _AT_ONCE)):
            stream.write(part.encode(errors="backslashreplace"))
        stream.write(b"\n")


def read_json_object(path: PathLike) -> dict[str, Any]:
    """A JSON file that holds an object."""
    try:
        data = json.loads(read_bytes(path).tobytes())
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        msg = f"{name_of(path)}: not valid JSON ({error})"
        raise DataError(msg) from None
    if not isinstance(data, dict):
        msg = f"{name_of(path)}: expected an object, found {type(data).__name__}"
        raise DataError(msg)
    return data
