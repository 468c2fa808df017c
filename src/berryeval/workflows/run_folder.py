"""The folder of a run: its plan, answers and scores.

    <folder>/manifest.json                            the plan, hashes, versions
    <folder>/run.json                                 the record: all that reports need
    <folder>/<benchmark>/<provider>/results.jsonl     the journal, a line per query
    <folder>/<benchmark>/<provider>/scores.json       the scores, in full precision
    <folder>/<benchmark>/<provider>/run.trec          the rankings, for other tools
    <folder>/<benchmark>/<provider>/qrels.trec        the judgments that go with them
    <folder>/<benchmark>/<provider>/*.documents.trec  the same two by document

Every file but the journal is written atomically and can be rebuilt from the journal.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import berryeval
from berryeval._internal.files import hold_lock, replace_file
from berryeval._internal.json import read_json_object
from berryeval._internal.serial import strip_schema_version
from berryeval._internal.text import (
    format_resume_command,
    make_file_name,
    parse_timestamp,
)
from berryeval._internal.validate import is_whole
from berryeval.errors import ConfigurationError, DataError, NotWrittenError
from berryeval.runs import RunRecord, mask_secrets, matches_masked
from berryeval.workflows.settings import WRITING

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.runs import BenchmarkRecord
    from berryeval.workflows.plan import Plan, ProviderSpec


LATEST: Final = "latest"  # means the newest run; latest~1 means the one before
NAMES_OF_LATEST: Final = re.compile(rf"{LATEST}(?:~([0-9]{{1,9}}))?")
_FILES: Final = (".json", ".html", ".csv", ".md", ".tex", ".xml", ".trec", ".txt", ".svg")
log = logging.getLogger("berryeval")
JOURNAL: Final = "results.jsonl"
SCORES: Final = "scores.json"
RUNS: Final = Path(".berryeval") / "runs"  # default parent of run folders
SCHEMA_VERSION: Final = 1
JSON: Final = json.JSONEncoder(indent=2, ensure_ascii=False, allow_nan=False)
_PIECES: Final = 1000  # pieces of a text written at once


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return the plan as JSON with masked secrets."""
    return dict(json.loads(json.dumps(mask_secrets(plan.model_dump()))))


def config_hash(plan: Plan) -> str:
    """Return the hash of the plan without secrets and exports."""
    text = json.dumps(mask_secrets(plan.model_dump(exclude={*WRITING})), sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class RunFolder:
    """The folder of one run; a temporary one is not `kept`.

    The folder of a run that starts at `new_at` is created when it is first locked, with a number
    appended to its name if another process has created one of the same name.
    """

    def __init__(
        self, path: PathLike, *, new_at: datetime | None = None, kept: bool = True
    ) -> None:
        self.path = Path(path)
        self.kept = kept
        self.same_data: frozenset[str] = frozenset()  # benchmarks that have not changed since
        self._rebuilt: dict[str, Any] | None = None  # in place of a damaged manifest
        self._started = new_at
        self._new = new_at is not None

    @property
    def manifest_file(self) -> Path:
        """Path of the manifest."""
        return self.path / "manifest.json"

    @property
    def record_file(self) -> Path:
        """Path of the record."""
        return self.path / "run.json"

    def part(self, benchmark: str, spec: ProviderSpec) -> Path:
        """Return the folder of one provider on one benchmark; no file of the run has its name."""
        return self._benchmark_folder(benchmark) / make_file_name(spec.label)

    def _benchmark_folder(self, benchmark: str) -> Path:
        name = make_file_name(benchmark)
        return self.path / (f"{name}_" if Path(name).suffix.lower() in _FILES else name)

    def _has_journal(self, benchmark: str) -> bool:
        return any(self._benchmark_folder(benchmark).glob(f"*/{JOURNAL}"))

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder against other processes; the lock ends with the process."""
        if self._new:
            self._create()
        problem = (
            f"{self.path}: another process is working in this folder; wait for it, stop it, "
            "or give another folder"
        )
        self._reject_links()
        return hold_lock(self.path / ".lock", problem)

    def _reject_links(self) -> None:
        """Reject links that lead out of the folder: files would be written elsewhere."""
        home = os.path.realpath(self.path)
        for place, folders, names in os.walk(self.path):
            for path in (Path(place, name) for name in (*folders, *names)):
                target = Path(os.path.realpath(path))
                if path.is_symlink() and not target.is_relative_to(home):
                    raise DataError(
                        f"{path}: is a link that leads out of the folder of the run, to {target}; "
                        "replace it with what it leads to, or remove it"
                    )

    def _create(self) -> None:
        """Create the folder under a unique name: two runs may start in the same second."""
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
            raise DataError(
                f"{self.path}: cannot create the folder ({error.strerror or error})"
            ) from None
        self._new = False

    def check_same_run(self, plan: Plan) -> None:
        """Reject a plan that differs from the one that the folder was created for.

        The settings of `run`, the thresholds, the gate, the votes and the exports may change.
        """
        before = self._first_plan
        if before is None:
            return
        now = plan_json(plan)
        names = {*before, *now} - {"run", "thresholds", "gate", "judged", *WRITING}
        different = sorted(
            name for name in names if not matches_masked(before.get(name), now.get(name))
        )
        if different:
            raise ConfigurationError(
                f"{self.path}: holds another run ({', '.join(different)} differ); give another "
                f"folder, or resume that run: {format_resume_command(self.path)}"
            )

    def check_same_chunkers(self, plan: Plan, chunkers: Mapping[str, str]) -> None:
        """Reject a benchmark that suggests another chunker than before, if a provider uses it.

        The content hash of a benchmark does not cover its chunker.
        """
        if all(spec.chunker for spec in plan.providers):
            return
        before = self.find_manifest().get("chunkers")
        for name, now in chunkers.items():
            then = before.get(name, now) if isinstance(before, dict) else now
            if then != now:
                raise ConfigurationError(
                    f"{self.path}: {name} was chunked by {then} in this run and now suggests "
                    f"{now}; give another folder, or restore the suggestion"
                )

    @property
    def created(self) -> str:
        """Start time of the run."""
        return str(self.read_manifest()["created"])

    def is_finished(self, *, retry_errors: bool = False) -> bool:
        """Whether every provider was asked every query."""
        from berryeval.runner import count_failed

        record = self.find_record()
        if record is None:
            return False
        providers = [one for part in record.benchmarks for one in part.providers]
        if any(one.failure for one in providers):
            return False
        return not (retry_errors and any(count_failed(one.outcomes) for one in providers))

    def with_first_thresholds(self, plan: Plan) -> Plan:
        """Return the plan with the thresholds that the run was started with."""
        before = self._first_plan
        if before is None:
            return plan
        return plan.model_copy(update={"thresholds": before.get("thresholds", {})})

    @property
    def _first_plan(self) -> dict[str, Any] | None:
        """The plan that the folder was created for, if it is known."""
        plan = self.find_manifest().get("plan")
        return plan if isinstance(plan, dict) else None

    def write_manifest(self, plan: Plan, facts: dict[str, Any]) -> None:
        """Write the plan with masked secrets, hashes, versions and further facts."""
        before = self.find_manifest()
        known, data = before.get("benchmarks"), facts.get("benchmarks", {})
        known = known if isinstance(known, dict) else {}
        self.same_data = frozenset(name for name in data if known.get(name) == data[name])
        answered = {name: known[name] for name in data if name in known and self._has_journal(name)}
        started = self._started or datetime.now().astimezone()
        now = started.isoformat(timespec="seconds")
        write_json_file(
            self.manifest_file,
            {
                "schema_version": SCHEMA_VERSION,
                "created": _read_created(before, now),
                "plan": mask_secrets(plan.model_dump()),
                "config_hash": config_hash(plan),
                "versions": {
                    "berryeval": berryeval.__version__,
                    "python": platform.python_version(),
                },
                **facts,
                "benchmarks": {**data, **answered},  # the data of the answers, not newer ones
            },
        )
        self._rebuilt = None

    def read_manifest(self) -> dict[str, Any]:
        """Read the manifest."""
        return self._strip(read_json_object(self.manifest_file))

    def _strip(self, manifest: dict[str, Any]) -> dict[str, Any]:
        where = str(self.manifest_file)
        return strip_schema_version(manifest, where, "a manifest", SCHEMA_VERSION)

    def find_manifest(self) -> dict[str, Any]:
        """Return the manifest; a damaged or missing one is rebuilt from the record, if possible."""
        if self._rebuilt is not None:
            return self._rebuilt
        problem = ""
        if self.manifest_file.exists():
            try:
                data = read_json_object(self.manifest_file)
            except DataError as error:
                problem = str(error)
            else:
                version = data.get("schema_version")
                newer = is_whole(version) and version > SCHEMA_VERSION
                if newer or (version == SCHEMA_VERSION and isinstance(data.get("plan"), dict)):
                    return self._strip(data)
                problem = f"{self.manifest_file}: has no plan"
        elif not self.record_file.exists():
            return {}
        self._rebuilt = self._rebuild_manifest(problem or f"{self.manifest_file}: is missing")
        return self._rebuilt

    def _rebuild_manifest(self, problem: str) -> dict[str, Any]:
        try:
            record = self.read_record()
        except DataError:
            log.warning("%s; it is written again from the configuration of this run", problem)
            return {}
        log.warning("%s; its content is taken from run.json", problem)
        hashes = {part.name: part.hash_without_votes for part in record.benchmarks}
        return {"created": record.created, "plan": dict(record.plan), "benchmarks": hashes}

    def build_record(
        self, plan: Plan, benchmarks: Sequence[BenchmarkRecord], versions: Mapping[str, str]
    ) -> RunRecord:
        """Build the record of the run."""
        return RunRecord(
            self.path.resolve().name,
            self.created,
            tuple(benchmarks),
            plan_json(plan),
            config_hash(plan),
            versions,
        )

    def write_record(self, record: RunRecord) -> None:
        """Write the record."""
        write_text_file(self.record_file, record.pieces())

    def read_record(self) -> RunRecord:
        """Read the record."""
        return RunRecord.from_json(read_json_object(self.record_file), str(self.record_file))

    def find_record(self) -> RunRecord | None:
        """Read the record; None without one and for a damaged one, which is written again."""
        with suppress(DataError):
            return self.read_record() if self.record_file.exists() else None
        return None


def _read_created(manifest: Mapping[str, Any], now: str) -> str:
    """Return the start time in a manifest; the current time if it has none."""
    created = str(manifest.get("created", now))
    try:
        parse_timestamp(created, "manifest")
    except DataError:
        return now
    return created


def write_json_file(path: Path, data: Any) -> None:
    """Write a JSON file atomically; create its folder."""
    write_text_file(path, JSON.iterencode(data))


def write_text_file(path: Path, text: str | Iterable[str], inside: PathLike | None = None) -> None:
    """Write a text, or its pieces, and a final newline atomically; create the folder.

    A link that leads out of the folder `inside` is replaced.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWrittenError(
            f"{path.parent}: cannot create the folder ({error.strerror or error})"
        ) from None
    pieces = iter([text] if isinstance(text, str) else text)
    with replace_file(path, inside) as stream:
        while part := "".join(itertools.islice(pieces, _PIECES)):
            stream.write(part.encode(errors="backslashreplace"))
        stream.write(b"\n")


# The folder of a run that starts or resumes.


def choose_folder(
    plan: Plan, output: PathLike | None, *, finished: bool = True, retry_errors: bool = False
) -> RunFolder:
    """Return the folder of a run: the given one, or a new one below `.berryeval/runs`.

    A folder that holds the same run resumes it; a folder with another run is rejected, and, unless
    `finished`, one with the finished run. With `retry_errors`, a run with errors is unfinished.
    """
    if output is None:
        return new_folder(plan, RUNS)
    folder = RunFolder(output)
    if NAMES_OF_LATEST.fullmatch(folder.path.name):
        raise ConfigurationError(
            f"{folder.path}: {folder.path.name!r} always means a run by its age (latest, "
            "latest~1); give the folder another name"
        )
    if folder.path.exists() and not folder.path.is_dir():
        raise ConfigurationError(f"{folder.path}: expected a folder, found a file")
    folder.check_same_run(plan)
    if not finished and folder.is_finished(retry_errors=retry_errors):
        raise ConfigurationError(
            f"{folder.path}: holds a finished run of {folder.find_manifest().get('created')}; give "
            "another folder, remove this one, or show its results: "
            f"{format_resume_command(folder.path)}"
        )
    return folder


def new_folder(plan: Plan, parent: Path, *, kept: bool = True) -> RunFolder:
    """Return the folder of a run that starts now, named by the time and the benchmark."""
    first, *more = (one if isinstance(one, str) else one.source for one in plan.benchmarks)
    label = Path(first).stem + (f"+{len(more)}" if more else "")
    now = datetime.now().astimezone()
    name = make_file_name(f"{now.strftime('%Y-%m-%dT%H-%M-%S')}-{label}")
    return RunFolder(parent / name, new_at=now, kept=kept)


def began_within_second(name: str) -> int:
    """Return a number that orders runs below `.berryeval/runs` that started in one second."""
    with suppress(OSError):
        return (RUNS / name / "manifest.json").stat().st_mtime_ns
    return 0
