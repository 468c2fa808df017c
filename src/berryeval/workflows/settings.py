"""Settings of a run: flags win over `BERRYEVAL_*` variables, variables over the file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.validate import is_number
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.workflows.config import (
    CONFIG_NAME,
    ConfigFile,
    check_model,
    check_parts,
    config_path,
)

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.gates import Rule
    from berryeval.workflows.config import KeyPath
    from berryeval.workflows.plan import Plan
    from berryeval.workflows.run_folder import RunFolder


PATIENCE: Final = ("concurrency", "timeout", "batch")  # the settings of `run` with flags
_LISTS: Final = ("benchmarks", "providers", "metrics", "export")
_PAIRS: Final = ("filter", "tags")
_NAMES: Final = ("label", "eval_dir", "trace")
_JUDGED: Final = "judged"
WRITING: Final = ("export", *_NAMES)  # settings that do not change the run
_RUN_FILE: Final = "run-file"
# Every setting that a variable can give; spaces or commas separate the values of a list.
VARIABLES: Final = {
    f"BERRYEVAL_{name.upper()}": name
    for name in (*_LISTS, "k", "limit", *_PAIRS, "seed", _JUDGED, "store", *PATIENCE, *_NAMES)
}


def build_plan(flags: Mapping[str, Any], config: PathLike | None = None) -> Plan:
    """Build the plan from flags, the environment and the configuration file.

    Empty flags count as not given.
    """
    from berryeval.workflows.plan import Plan

    path = config_path(config)
    file = ConfigFile(path) if path else None
    given = {name: value for name, value in flags.items() if value not in (None, [], {}, ())}
    variables = _read_environment()
    data = dict(file.data) if file else {}
    if path and data.get("benchmarks"):
        data["benchmarks"] = move_benchmarks(path.parent, data["benchmarks"])
    if path and data.get("providers"):
        data["providers"] = move_providers(path.parent, data["providers"])
    if path and isinstance(data.get("eval_dir"), str) and data["eval_dir"]:
        data["eval_dir"] = str(path.parent / Path(data["eval_dir"]).expanduser())
    if path and isinstance(data.get(_JUDGED), str):
        data[_JUDGED] = _move_ledger(path.parent, data[_JUDGED])
    if path and isinstance(data.get("gate"), dict):
        data["gate"] = move_gate(path.parent, data["gate"])
    for source in (variables, given):
        overlay(data, source)
    # Tags of a flag or variable are texts: only those of the file can be wrong.
    origins = _Origins(file, set(variables) - {"tags"}, set(given) - {"tags"})
    for name in ("benchmarks", "providers"):
        if not data.get(name):
            if data.keys() - Plan.model_fields.keys():
                check_model(Plan, data, origins)  # an unknown key explains what is missing
            raise ConfigurationError(
                f"no {name}; give them with --{name}, or in {CONFIG_NAME} (berryeval init)"
            )
    plan: Plan = check_model(Plan, data, origins)
    check_parts(plan, origins)
    return plan


class _Origins(NamedTuple):
    file: ConfigFile | None
    variables: set[str]
    flags: set[str]

    def where(self, path: KeyPath) -> str:
        """Return the variable, or the line of the file; "" for a flag."""
        for name in map(str, path[:2]):
            if name in self.flags:
                return ""
            if name in self.variables:
                return f"BERRYEVAL_{name.upper()}"
        return self.file.where(path) if self.file else ""


def overlay(data: dict[str, Any], settings: Mapping[str, Any]) -> None:
    """Put settings over the data of a plan; those about patience belong to its `run`.

    Tags are added to those that are there.
    """
    from berryeval.workflows.plan import Patience

    for name, value in settings.items():
        if name in Patience.model_fields:
            run = {} if data.get("run") is None else data["run"]
            # Anything but a mapping stays as it is, to be rejected by the model.
            data["run"] = {**run, name: value} if isinstance(run, dict) else run
        elif name == "tags":
            tags = {} if data.get("tags") is None else data["tags"]
            data["tags"] = {**tags, **value} if isinstance(tags, dict) else tags
        else:
            data[name] = value


def _read_environment() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable, name in VARIABLES.items():
        text = os.environ.get(variable, "").strip()
        if not text:
            continue
        if name in _LISTS:
            found[name] = read_list(name, text.split(), variable)
        elif name in _PAIRS:
            found[name] = read_pairs(text.split(), variable)
        elif name in (*_NAMES, _JUDGED):
            found[name] = text
        else:
            found[name] = _read_number(text)
    return found


def _read_number(text: str) -> float | str:
    """Return a number, or the text for the model to reject."""
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text


def read_list(name: str, texts: list[str], owner: str) -> list[str]:
    """Split values that are separated by commas; a file may have a comma in its name."""
    if name == "metrics":
        from berryeval.metrics import split_names

        found = split_names(texts)
    else:
        whole = [[text] if Path(text).exists() else text.split(",") for text in texts]
        found = [part.strip() for parts in whole for part in parts if part.strip()]
    if not found:
        raise ConfigurationError(f"{owner}: expected names of {name}, found {' '.join(texts)!r}")
    return found


def read_pairs(texts: list[str], owner: str) -> dict[str, str]:
    """Read `name=value` pairs."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise ConfigurationError(f"{owner}: expected NAME=VALUE, found {text!r}")
        name, value = name.strip(), value.strip()
        if name in pairs:
            two = f"{pairs[name]!r} and {value!r}"
            raise ConfigurationError(f"{owner}: {name} has two values, {two}; give one")
        pairs[name] = value
    return pairs


# The plan, folder and store of a run that starts or resumes.

_CHANGEABLE: Final = ("thresholds", _JUDGED, *WRITING)  # settings that may change on --resume
_FLAGS: Final = {"thresholds": "fail-below"}


@dataclass(frozen=True)
class RunRequest:
    """The options of `berryeval eval` that decide what runs and where."""

    settings: Mapping[str, Any]
    config: str | None = None
    output: str | None = None
    resume: str | None = None
    retry_errors: bool = False
    trust: bool = False
    baseline: str | None = None
    max_drop: Sequence[str] | None = None
    strict: bool = False
    strict_data: bool = False
    store: str | None = None


def plan_run(request: RunRequest) -> tuple[Plan, RunFolder, str | None]:
    """Build the plan, with its gate, and choose the folder and the store of the run."""
    from berryeval.workflows.history import choose_store
    from berryeval.workflows.resumption import require_trust, resume_plan
    from berryeval.workflows.run_folder import choose_folder
    from berryeval.workflows.verdicts import add_limits, replace_baseline, require_same_data

    settings = _read_settings(request.settings)
    if request.resume is None:
        if request.retry_errors and request.output is None:
            raise ConfigurationError(
                "--retry-errors needs --resume FOLDER, the run with the errors"
            )
        if request.trust:
            raise ConfigurationError("--trust needs --resume FOLDER, whose code you trust")
        plan = build_plan(settings, request.config)
        retry = request.retry_errors
        folder = choose_folder(plan, request.output, finished=False, retry_errors=retry)
    else:
        fixed = [name for name, value in settings.items() if value and name not in PATIENCE]
        given = [name for name in fixed if name not in _CHANGEABLE]
        given += ["output"] * bool(request.output)
        if given:
            flag = _FLAGS.get(given[0], given[0])
            raise ConfigurationError(f"--resume takes the plan from its folder; leave out --{flag}")
        changes = {name: settings[name] for name in (*PATIENCE, _JUDGED, *WRITING)}
        plan, folder = resume_plan(request.resume, changes, request.config)
        if not request.trust:
            require_trust(plan, folder.path, request.config)
        plan = _replace_thresholds(plan, settings["thresholds"])
    drops = read_limits(request.max_drop, "--max-drop", "nDCG@10=0.01")
    gate = replace_baseline(add_limits(plan.gate, {}, drops), request.baseline)
    gate = require_same_data(gate, wanted=request.strict_data)
    if request.strict:
        gate = gate.model_copy(update={"on_inconclusive": "fail"})
    place = choose_store(request.store, request.config)
    return plan.model_copy(update={"gate": gate}), folder, place


def _read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    settings = dict(given)
    for name in ("benchmarks", "providers", "metrics", "export"):
        if settings.get(name):
            settings[name] = read_list(name, settings[name], f"--{name}")
    loading = {name: settings.pop(name, None) for name in ("format", "options")}
    loading = {name: value for name, value in loading.items() if value}
    if loading:
        if not settings.get("benchmarks"):
            raise ConfigurationError(
                "--format and --options describe benchmarks on the command line; name them there, "
                "or set format and options in the file"
            )
        settings["benchmarks"] = [{"source": one, **loading} for one in settings["benchmarks"]]
    settings["filter"] = read_pairs(settings.get("filter") or [], "--filter")
    settings["tags"] = read_pairs(settings.get("tags") or [], "--tag")
    limits = settings.get("thresholds")
    settings["thresholds"] = read_limits(limits, "--fail-below", "recall@10=0.80")
    return settings


def _replace_thresholds(plan: Plan, thresholds: dict[str, float]) -> Plan:
    """Return the plan of a resumed run with other thresholds, if some are given."""
    if not thresholds:
        return plan
    data = {**plan.model_dump(), "trace": plan.trace, "thresholds": thresholds}
    changed: Plan = check_model(type(plan), data, None)
    if changed.depth != plan.depth:
        raise ConfigurationError(
            f"--fail-below needs {changed.depth} hits per query, the run asked for {plan.depth}; "
            "start a new run with it"
        )
    return changed


# Limits of metrics, from flags and from `thresholds`.


def read_limits(texts: Iterable[str] | None, owner: str, example: str) -> dict[str, float]:
    """Read limits such as `recall@10=0.80`, separated by spaces or commas.

    None means that the flag was not given. A flag without a value is rejected, because the gate
    would judge nothing.
    """
    if texts is None:
        return {}
    from berryeval.metrics import split_names

    texts = list(texts)
    found: dict[str, float] = {}
    for text in split_names(texts) or texts or [""]:
        name, _, number = text.rpartition("=")
        name = name.strip()
        try:
            value = float(number)
        except ValueError:
            name, value = "", 0.0
        if not name:
            shown = repr(text) if text else "nothing"
            raise ConfigurationError(f"{owner}: expected METRIC=VALUE, as {example}, found {shown}")
        if name in found:
            raise ConfigurationError(
                f"{owner}: {name} has two limits, {found[name]:g} and {value:g}; give one"
            )
        found[name] = value
    _check_distinct(found, f"{owner}: ")
    return found


def limit_rules(limits: Mapping[str, float], kind: str = "at_least") -> list[Rule]:
    """Return a gate rule for each limit; reject two limits for one metric."""
    from berryeval.gates import Rule

    _check_distinct(limits)
    return [
        check_model(Rule, {"metric": name, kind: value}, None) for name, value in limits.items()
    ]


def _check_distinct(limits: Mapping[str, float], owner: str = "") -> None:
    if not limits:
        return
    from berryeval.metrics import parse_metric

    seen: dict[str, str] = {}
    for name, value in limits.items():
        try:
            metric = str(parse_metric(name))
        except BerryEvalError:  # reported when the rule is built
            continue
        if not is_number(value):  # also reported then
            continue
        first = seen.setdefault(metric, name)
        if first != name:
            two = f"{first}={limits[first]:g} and {name}={value:g}"
            raise ConfigurationError(f"{owner}{metric} has two limits, {two}; give one")


# Relative paths in a configuration file start at the folder of the file.


def move_benchmarks(folder: Path, benchmarks: Any) -> Any:
    """Make the paths of benchmarks relative to the folder of the file."""
    if not isinstance(benchmarks, list) or folder == Path():
        return benchmarks
    return [
        {
            **one,
            **{key: _move_source(folder, one[key]) for key in ("source",) if key in one},
            **({"options": _move_corpus(folder, one["options"])} if "options" in one else {}),
        }
        if isinstance(one, dict)
        else _move_source(folder, one)
        for one in benchmarks
    ]


def _move_corpus(folder: Path, options: Any) -> Any:
    if not isinstance(options, dict) or "corpus" not in options:
        return options
    return {**options, "corpus": _move_source(folder, options["corpus"])}


def _move_source(folder: Path, path: Any) -> Any:
    from berryeval.benchmarks import bundled_benchmarks, find_named

    named = path in bundled_benchmarks() or find_named(path)
    if not isinstance(path, str) or named or Path(path).is_absolute():
        return path
    return str(folder / path)


def _move_ledger(folder: Path, place: str) -> str:
    from berryeval.workflows.plan import AUTO, NO_VOTES

    free = place in {AUTO, NO_VOTES, ""} or "://" in place or "${" in place
    return place if free else str(folder / place)


def move_gate(folder: Path, gate: dict[str, Any]) -> dict[str, Any]:
    """Make the path of a gate's baseline relative to the folder of the file."""
    baseline = gate.get("baseline")
    if not isinstance(baseline, str) or not baseline:
        return gate
    if not baseline.endswith(".json") and not (folder / baseline).exists():
        return gate  # the name of a run
    return {**gate, "baseline": str(folder / baseline)}


def move_providers(folder: Path, providers: Any) -> Any:
    """Make the paths of run files and maps of ids relative to the folder of the file.

    Anything that is not a provider stays as it is, to be rejected by the model.
    """
    if not isinstance(providers, list):
        return providers
    return [_move_provider(folder, one) for one in providers]


def _move_provider(folder: Path, spec: Any) -> Any:
    if isinstance(spec, dict) and isinstance(spec.get("id_map"), str):
        spec = {**spec, "id_map": str(folder / spec["id_map"])}
    if not isinstance(spec, dict) or not isinstance(options := spec.get("options"), dict):
        return spec
    kind = _canonical_provider(spec.get("type"))
    if kind == _RUN_FILE:
        return {**spec, "options": _move_run_file(folder, options)}
    if kind != "hybrid":
        return spec
    moved = {**options}
    if "providers" in options:
        moved["providers"] = move_providers(folder, options["providers"])
    if isinstance(by_name := options.get("options"), dict):
        moved["options"] = {
            name: _move_run_file(folder, given)
            if _canonical_provider(str(name)) == _RUN_FILE and isinstance(given, dict)
            else given
            for name, given in by_name.items()
        }
    return {**spec, "options": moved}


def _canonical_provider(name: Any) -> str:
    from berryeval.providers import PROVIDERS

    return PROVIDERS.canonical(name) if isinstance(name, str) else ""


def _move_run_file(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    path = options.get("path")
    if not isinstance(path, str) or not path or path.startswith("${"):
        return options  # `${NAME}` is filled in later and may be an absolute path
    return {**options, "path": str(folder / path)}
