"""`berryeval.yaml`: read, and every fault in it said with its line."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol

from berryeval._internal.files import PathLike, name_of, read_bytes
from berryeval._internal.secrets import is_secret_name
from berryeval._internal.validate import nearest
from berryeval.benchmarks import check_source
from berryeval.chunkers import parse_chunker
from berryeval.errors import ConfigurationError, DataError
from berryeval.runs import masked
from berryeval.workflows.provider_options import Part, check_provider

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel, ValidationError

    from berryeval.workflows.plan import BenchmarkSpec, Plan, ProviderSpec


CONFIG_NAME: Final = "berryeval.yaml"
KeyPath = tuple[str | int, ...]
_QUOTED: Final = re.compile(r"(['\"]).*\1")
_MEANT: Final = {  # what others call it
    "metrics": "metrics",
    "metric": "metric",
    "top_k": "k",
}
_KEY: Final = re.compile(r"[\s{,-]*['\"]?([\w.-]+)['\"]?\s*:")


def config_path(given: PathLike | None) -> pathlib.Path | None:
    """The configuration file: the given one, `BERRYEVAL_CONFIG`, or the one that lies here."""
    named = given or os.environ.get("BERRYEVAL_CONFIG")
    if named:
        return pathlib.Path(named)
    return pathlib.Path(CONFIG_NAME) if pathlib.Path(CONFIG_NAME).exists() else None


class ConfigFile:
    """The content of a configuration file, and where each part of it stands."""

    def __init__(self, path: PathLike) -> None:
        import yaml

        self.name = name_of(path)
        text = ""
        try:
            text = read_bytes(path).tobytes().decode()
            node = yaml.compose(text, Loader=yaml.SafeLoader)
            data = yaml.safe_load(text)
            self.data: dict[str, Any] = {} if data is None else data  # a list is never a file
        except DataError as error:
            raise ConfigurationError(str(error)) from None
        except UnicodeDecodeError:
            msg = f"{self.name}: not UTF-8 text"
            raise ConfigurationError(msg) from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = f":{mark.line + 1}" if mark else ""
            problem = str(error.problem)
            if mark and _names_a_secret(text.splitlines(), mark.line):
                problem = f"{_QUOTED.sub('...', problem)}; put a secret into quotes, or ${{NAME}}"
            msg = f"{self.name}{line}: not valid YAML ({problem})"
            raise ConfigurationError(msg) from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            msg = f"{self.name}: not valid YAML ({str(error).splitlines()[0]})"
            raise ConfigurationError(msg) from None
        if not isinstance(self.data, dict):
            msg = f"{self.name}: expected names and values, found {type(self.data).__name__}"
            raise ConfigurationError(msg)
        self._lines: dict[KeyPath, int] = {}
        self._note_lines(node, (), set())

    def _note_lines(self, node: Any, path: KeyPath, above: set[int]) -> None:
        import yaml

        if node is None or id(node) in above:  # an alias may stand inside what it names
            return
        above = {*above, id(node)}
        self._lines[path] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            first: dict[str, int] = {}
            for key, value in node.value:
                name, line = str(key.value), key.start_mark.line + 1
                if name in first:
                    msg = (
                        f"{self.name}:{line}: the key {name!r} stands twice; "
                        f"first in line {first[name]}"
                    )
                    raise ConfigurationError(msg)
                first[name] = line
                here = (*path, name)
                self._note_lines(value, here, above)
                self._lines[here] = line
        elif isinstance(node, yaml.SequenceNode):
            for place, value in enumerate(node.value):
                self._note_lines(value, (*path, place), above)

    def where(self, path: KeyPath) -> str:
        """The file and line of a part, or of the nearest part around it that is there."""
        while path and path not in self._lines:
            path = path[:-1]
        return f"{self.name}:{self._lines.get(path, 1)}"


class MisplacedError(ValueError):
    """A fault that a model finds as a whole, and knows which of its parts has it."""

    def __init__(self, message: str, path: KeyPath) -> None:
        super().__init__(message)
        self.path = path


class Places(Protocol):
    """Knows where the parts of a configuration come from."""

    def where(self, path: KeyPath) -> str:
        """The place of a part, or "" if there is nothing to say about it."""


def check_model(model: type[BaseModel], data: dict[str, Any], file: Places | None) -> Any:
    """The model of these data, or an error with the line, the key and what was expected."""
    from pydantic import ValidationError

    try:
        return model.model_validate(data)
    except ValidationError as errors:
        raise ConfigurationError(_message(model, errors, file)) from None


def _message(model: type[BaseModel], errors: ValidationError, file: Places | None) -> str:
    faults = errors.errors(include_url=False)
    unknown = (fault for fault in faults if fault["type"] == "extra_forbidden")
    fault = next(unknown, faults[0])  # a wrong key explains why another one is missing
    path: KeyPath = tuple(part for part in fault["loc"] if not str(part).startswith("<"))
    cause = fault.get("ctx", {}).get("error")
    path += cause.path if isinstance(cause, MisplacedError) else ()
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    shown = shown.lstrip(".")
    place = file.where((*path, *_entry(fault))) if file else ""
    where = f"{place}: " if place else ""
    if fault["type"] == "extra_forbidden":
        known = _fields_at(model, path[:-1])
        meant = [_MEANT[name] for name in [str(path[-1]).lower()] if name in _MEANT]
        near = [name for name in meant if name in known] or nearest(str(path[-1]), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        return f"{where}unknown key {shown!r}; {hint}"
    if fault["type"] == "missing":
        return f"{where}{shown}: is missing"
    where += f"{shown}: " if shown else ""
    if fault["type"] == "value_error":  # our own words say what was found
        return where + str(fault["ctx"]["error"])
    text = fault["msg"][:1].lower() + fault["msg"][1:]
    return f"{where}{text}, found {_shown(fault['input'], path)}"


def _entry(fault: Any) -> KeyPath:
    """Which entry of a list our own words about it name; nothing if they name none."""
    if fault["type"] != "value_error" or not isinstance(fault["input"], list):
        return ()
    text = str(fault["ctx"]["error"])
    names = (number for number, one in enumerate(fault["input"]) if repr(one) in text)
    return tuple(islice(names, 1))


def _shown(value: Any, path: KeyPath) -> str:
    """A value in a message; only its kind where it may be a secret."""
    if any(str(part) == "options" or is_secret_name(str(part)) for part in path):
        return type(value).__name__
    return f"{masked(value)!r:.80}"


def _names_a_secret(lines: list[str], line: int) -> bool:
    """Whether a line, or the one before it, gives a value to a secret name."""
    keys = (_KEY.match(text) for text in lines[max(line - 1, 0) : line + 1])
    return any(key and is_secret_name(key[1]) for key in keys)


def _fields_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    """The names that may stand at this place of the configuration."""
    from typing import get_args

    from pydantic import BaseModel

    kinds: list[Any] = [model]
    for part in path:
        if isinstance(part, int):
            continue
        inner = [kind.model_fields[part].annotation for kind in kinds if part in kind.model_fields]
        found: list[Any] = []
        while inner:
            kind = inner.pop()
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found.append(kind)
            inner.extend(get_args(kind))
        kinds = found or kinds
    return [name for kind in kinds for name in kind.model_fields]


# The names and options of a configuration file: what nobody knows is said with its line.


def check_parts(plan: Plan, places: Places) -> None:
    """Refuse what nobody knows, with the line where it stands; what stands in no file is skipped.

    Later the run looks at all of it again; here only the place is known.
    """
    for number, source in enumerate(plan.benchmarks):
        if places.where(("benchmarks", number)):
            _check_benchmark(source, ("benchmarks", number), places)
    for number, spec in enumerate(plan.providers):
        if places.where(("providers", number)):
            _check_provider(spec, ("providers", number), places)


def _check_benchmark(source: str | BenchmarkSpec, path: KeyPath, places: Places) -> None:
    if isinstance(source, str):
        with _told(places, path, None):
            check_source(source, None, {})
        return
    with _told(places, path, {"format": source.format, "options": source.options}):
        check_source(source.source, source.format or None, source.options)


def _check_provider(spec: ProviderSpec, path: KeyPath, places: Places) -> None:
    check_provider(
        Part(spec.type, spec.options, path, {"options": spec.options}),
        f"provider {spec.label!r}",
        lambda part: _told(places, part.path, part.inside),
    )
    if spec.chunker:
        with _told(places, (*path, "chunker"), None):
            parse_chunker(spec.chunker)


@contextmanager
def _told(places: Places, path: KeyPath, inside: Any) -> Iterator[None]:
    """Put the place in front of what is wrong: of the part that the message names, if one is."""
    try:
        yield
    except (ConfigurationError, DataError) as error:
        fault = str(error).partition(";")[0]  # what follows is what else there is
        named = next(_named_in(fault, inside, path), path)
        msg = f"{places.where(named)}: {error}"
        raise type(error)(msg) from None


def _named_in(message: str, value: Any, path: KeyPath) -> Iterator[KeyPath]:
    """The parts that a message names: by key, by value, or by the variable that they hold."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            here = (*path, str(key))
            yield from _named_in(message, inner, here)
            if re.search(rf"(?<![\w.]){re.escape(str(key))}(?![\w.])", message):
                yield here
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _named_in(message, inner, (*path, number))
    elif isinstance(value, str):
        names = re.findall(r"\$\{(\w+)", value)
        if repr(value) in message or any(re.search(rf"\b{name}\b", message) for name in names):
            yield path
