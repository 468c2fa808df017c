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
from berryeval._internal.files import locked, name_of, read_bytes, writing
from berryeval._internal.records import unversioned
from berryeval._internal.text import safe_name, to_go_on
from berryeval.errors import ConfigurationError, DataError, NotWrittenError
from berryeval.runner import count_failed
from berryeval.runs import MASK, RunRecord, masked, same_if_masked
from berryeval.workflows.config import ConfigFile, check_model, config_path
from berryeval.workflows.plan import BenchmarkSpec, Plan, ProviderSpec
from berryeval.workflows.provider_options import providers_beside
from berryeval.workflows.settings import overlay

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from berryeval._internal.files import PathLike
    from berryeval.runs import BenchmarkRecord


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
        return not (retry_errors and any(count_failed(one.outcomes) for one in providers))

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


# Which folder a run goes to, and how one that was interrupted goes on.


def folder_for(
    plan: Plan, output: PathLike | None, *, finished: bool = True, retry_errors: bool = False
) -> RunFolder:
    """The folder of a run: the given one, or a new one below `.berryeval/runs`.

    One that holds the same run already goes on with it; one with another run is refused.

    Args:
        plan: what is asked.
        output: the folder, if one is given.
        finished: whether the same run may have been finished there. Then nothing is asked, and its
            old answers are what is judged.
        retry_errors: whether queries that failed are asked again: with such a run is not finished.
    """
    if output is None:
        return new_folder(plan, RUNS)
    folder = RunFolder(output)
    if folder.path.exists() and not folder.path.is_dir():
        msg = f"{folder.path}: expected a folder, found a file"
        raise ConfigurationError(msg)
    folder.check_same_run(plan)
    if not finished and folder.is_finished(retry_errors=retry_errors):
        msg = (
            f"{folder.path}: holds a finished run of {folder.read_manifest().get('created')}; give "
            "another folder, remove this one, or look at what it holds: "
            f"{to_go_on(folder.path)}"
        )
        raise ConfigurationError(msg)
    return folder


def new_folder(plan: Plan, parent: Path, *, kept: bool = True) -> RunFolder:
    """The folder of a run that is started now, named by the time and the benchmark."""
    first, *more = (
        one.source if isinstance(one, BenchmarkSpec) else one for one in plan.benchmarks
    )
    label = Path(first).stem + (f"+{len(more)}" if more else "")
    now = datetime.now().astimezone()
    name = safe_name(f"{now.strftime('%Y-%m-%dT%H-%M-%S')}-{label}")
    return RunFolder(parent / name, new_at=now, kept=kept)


def resumed(
    output: PathLike, changes: Mapping[str, Any] | None = None, config: PathLike | None = None
) -> tuple[Plan, RunFolder]:
    """The plan of a folder, to go on with it.

    Secrets that were written out in a configuration file are not in the folder: they are taken from
    the file again. `${NAME}` is filled in from the environment, as before.

    Args:
        output: the folder.
        changes: `concurrency`, `timeout`, `batch` and `export`, if they are to change.
        config: the configuration file.
    """
    folder = RunFolder(output)
    if not folder.manifest_file.exists():
        msg = f"{folder.path}: holds no run (there is no manifest.json in it)"
        raise DataError(msg)
    data = folder.read_manifest().get("plan")
    if not isinstance(data, dict):
        msg = f"{folder.manifest_file}: has no plan"
        raise DataError(msg)
    wanted = {name: value for name, value in (changes or {}).items() if value not in (None, [], {})}
    overlay(data, wanted)
    providers = data.get("providers")
    if isinstance(providers, list) and _has_mask(providers):
        data = {**data, "providers": _with_secrets(providers, config, folder)}
    plan: Plan = check_model(Plan, data, None)
    return plan, folder


def _has_mask(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_mask, value.values()))
    if isinstance(value, list):
        return any(map(_has_mask, value))
    return isinstance(value, str) and MASK in value


def _with_secrets(providers: list[Any], config: PathLike | None, folder: RunFolder) -> list[Any]:
    """The providers as the configuration file has them, where only secrets differ."""
    path = config_path(config)
    known = providers_beside(path.parent, ConfigFile(path).data.get("providers")) if path else None
    given = [
        check_model(ProviderSpec, one, None).model_dump(mode="json")
        for one in (known if isinstance(known, list) else ())
    ]
    found = []
    for provider in providers:
        wanted = given if _has_mask(provider) else ()
        same = [one for one in wanted if same_if_masked(provider, masked(one))]
        if _has_mask(provider) and not same:
            name = provider.get("name") or provider.get("type")
            msg = (
                f"{folder.path}: the secrets of provider {name!r} are not kept there; give the "
                "configuration of the run with --config, or write secrets as ${NAME}"
            )
            raise ConfigurationError(msg)
        found.append(same[0] if same else provider)
    return found
