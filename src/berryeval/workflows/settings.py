"""What a run is asked to do: flags win over `BERRYEVAL_*` variables, these over the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator

from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.gates import Limit, Rule
from berryeval.metrics import split_names
from berryeval.workflows.config import CONFIG_NAME, ConfigFile, check_model, config_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval._internal.files import PathLike
    from berryeval.workflows.config import KeyPath as Place
    from berryeval.workflows.plan import Plan


PATIENCE: Final = ("concurrency", "timeout", "batch")  # what of it flags and variables give
_LISTS: Final = ("benchmarks", "providers", "metrics", "export")
_PAIRS: Final = ("filter",)
# Every setting that a variable can give; values of a list have spaces or commas between.
VARIABLES: Final = {
    f"BERRYEVAL_{name.upper()}": name
    for name in (*_LISTS, "k", "limit", *_PAIRS, "seed", "store", *PATIENCE)
}


def planned(flags: Mapping[str, Any], config: PathLike | None = None) -> Plan:
    """The plan of these flags, the environment, and the configuration file.

    Args:
        flags: settings by the names of the plan, those of `run` (`PATIENCE`) too; those that are
            None or empty were not given.
        config: the file; without, `BERRYEVAL_CONFIG` or `berryeval.yaml` here, if there is one.
    """
    from berryeval.workflows.config import check_parts
    from berryeval.workflows.plan import Plan
    from berryeval.workflows.provider_options import providers_beside

    path = config_path(config)
    file = ConfigFile(path) if path else None
    given = {name: value for name, value in flags.items() if value not in (None, [], {}, ())}
    variables = _from_environment()
    data = dict(file.data) if file else {}
    if path and data.get("benchmarks"):
        data["benchmarks"] = _beside(path.parent, data["benchmarks"])
    if path and data.get("providers"):
        data["providers"] = providers_beside(path.parent, data["providers"])
    if path and isinstance(data.get("gate"), dict):
        data["gate"] = gate_beside(path.parent, data["gate"])
    for source in (variables, given):
        overlay(data, source)
    for name in ("benchmarks", "providers"):
        if not data.get(name):
            msg = f"no {name}; give them with --{name}, or in {CONFIG_NAME} (berryeval init)"
            raise ConfigurationError(msg)
    origins = _Origins(file, set(variables), set(given))
    plan: Plan = check_model(Plan, data, origins)
    check_parts(plan, origins)
    return plan


class _Origins:
    """Where each setting comes from, for messages."""

    def __init__(self, file: ConfigFile | None, variables: set[str], flags: set[str]) -> None:
        self._file = file
        self._variables = variables
        self._flags = flags

    def where(self, path: Place) -> str:
        names = [str(part) for part in path[:2]]
        for name in names:
            if name in self._flags:
                return ""  # the name alone says it
            if name in self._variables:
                return f"BERRYEVAL_{name.upper()}"
        return self._file.where(path) if self._file else ""


def overlay(data: dict[str, Any], settings: Mapping[str, Any]) -> None:
    """Give the data these settings; those of patience belong to its `run`."""
    from berryeval.workflows.plan import Patience

    for name, value in settings.items():
        if name in Patience.model_fields:
            run = {} if data.get("run") is None else data["run"]
            # What is no mapping stays, to be refused where it is checked.
            data["run"] = {**run, name: value} if isinstance(run, dict) else run
        else:
            data[name] = value


def _from_environment() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable, name in VARIABLES.items():
        text = os.environ.get(variable, "").strip()
        if not text:
            continue
        if name in _LISTS:
            found[name] = read_list(name, text.split(), variable)
        elif name in _PAIRS:
            found[name] = read_pairs(text.split(), variable)
        else:
            found[name] = _number(text)
    return found


def _number(text: str) -> float | str:
    """The number, if it is one; what is none is refused where it is checked."""
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text


def read_list(name: str, texts: list[str], owner: str) -> list[str]:
    """What was listed one by one, or with commas between; a file may have one in its name."""
    if name == "metrics":
        found = split_names(texts)
    else:
        whole = [[text] if Path(text).exists() else text.split(",") for text in texts]
        found = [part.strip() for parts in whole for part in parts if part.strip()]
    if not found:
        msg = f"{owner}: expected names of {name}, found {' '.join(texts)!r}"
        raise ConfigurationError(msg)
    return found


def read_pairs(texts: list[str], owner: str) -> dict[str, str]:
    """Names and values that were written as `name=value`."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            msg = f"{owner}: expected NAME=VALUE, found {text!r}"
            raise ConfigurationError(msg)
        pairs[name.strip()] = value.strip()
    return pairs


def _beside(folder: Path, benchmarks: Any) -> Any:
    """The benchmarks of a file, whose paths begin where the file lies."""
    if not isinstance(benchmarks, list) or folder == Path():
        return benchmarks
    return [
        {
            **one,
            **{key: _moved(folder, one[key]) for key in ("source",) if key in one},
            **({"options": _moved_options(folder, one["options"])} if "options" in one else {}),
        }
        if isinstance(one, dict)
        else _moved(folder, one)
        for one in benchmarks
    ]


def gate_beside(folder: Path, gate: dict[str, Any]) -> dict[str, Any]:
    """The gate of a file, with the path of its baseline from where the file lies."""
    baseline = gate.get("baseline")
    if not isinstance(baseline, str) or not baseline:
        return gate
    if not baseline.endswith(".json") and not (folder / baseline).exists():
        return gate  # the name of a run
    return {**gate, "baseline": str(folder / baseline)}


def _moved_options(folder: Path, options: Any) -> Any:
    if not isinstance(options, dict) or "corpus" not in options:
        return options
    return {**options, "corpus": _moved(folder, options["corpus"])}


def _moved(folder: Path, path: Any) -> Any:
    from berryeval.benchmarks import bundled_benchmarks

    if not isinstance(path, str) or path in bundled_benchmarks() or Path(path).is_absolute():
        return path
    return str(folder / path)


# Limits of metrics by name, as flags, `thresholds` and quality tests give them, made rules.


def limit_rules(limits: Mapping[str, float], kind: str = "at_least") -> list[Rule]:
    """A rule for each limit of this kind; two for one metric, by whatever names, are refused."""
    _check_distinct(limits)
    return [
        check_model(Rule, {"metric": name, kind: value}, None) for name, value in limits.items()
    ]


def read_limits(texts: Iterable[str] | None, owner: str, example: str) -> dict[str, float]:
    """Limits that were written as `recall@10=0.80`, one by one or with commas between.

    None is a flag that was not given; one without a value is refused: it would judge nothing.
    """
    if texts is None:
        return {}
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
            msg = f"{owner}: expected METRIC=VALUE, as {example}, found {shown}"
            raise ConfigurationError(msg)
        if name in found:
            msg = f"{owner}: {name} has two limits, {found[name]:g} and {value:g}; give one"
            raise ConfigurationError(msg)
        found[name] = value
    _check_distinct(found, f"{owner}: ")
    return found


def _check_distinct(limits: Mapping[str, float], owner: str = "") -> None:
    """Refuse two limits for one metric under two of its names."""
    from berryeval.metrics import parse_metric

    seen: dict[str, str] = {}
    for name, value in limits.items():
        try:
            metric = str(parse_metric(name))
        except BerryEvalError:  # whoever makes the rule says what is wrong
            continue
        first = seen.setdefault(metric, name)
        if first != name:
            two = f"{first}={limits[first]:g} and {name}={value:g}"
            msg = f"{owner}{metric} has two limits, {two}; give one"
            raise ConfigurationError(msg)


def _make_rules(limits: dict[str, float]) -> dict[str, float]:
    """The same, if rules can be made of it."""
    try:
        limit_rules(limits)
    except BerryEvalError as error:
        raise ValueError(str(error).removeprefix("metric: ")) from None
    return limits


Thresholds = Annotated[dict[str, Limit], AfterValidator(_make_rules)]
