"""Read `berryeval.yaml` and report every fault in it with its line."""

from __future__ import annotations

import dataclasses
import inspect
import os
import pathlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol

from berryeval._internal.files import PathLike, display_name, read_bytes
from berryeval._internal.json import locate_errors
from berryeval._internal.limits import check_yaml
from berryeval._internal.secrets import is_secret_name
from berryeval._internal.text import prefix_place
from berryeval._internal.validate import reject_unknown, suggest
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.runs import Secrets, mask_secrets

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    from berryeval.workflows.plan import Plan


CONFIG_NAME: Final = "berryeval.yaml"
NO_CONFIG: Final = "none"
KeyPath = tuple[str | int, ...]
_QUOTED: Final = re.compile(r"(['\"])(.*?)\1")
_TOKEN: Final = re.compile(r"<[a-z ]+>|\\?\W|\\[nt]")  # not of the file, or a lone sign
_KEY: Final = re.compile(r"(?<![^\s{,'\"])([A-Za-z_][\w.-]{0,40})['\"]?\s?:(?=\s)")
_SYNONYMS: Final = {"measures": "metrics", "measure": "metric", "top_k": "k"}  # of other tools
_OURS: Final = "berryeval."
_NULL: Final = "tag:yaml.org,2002:null"


def config_path(given: PathLike | None) -> pathlib.Path | None:
    """Return the configuration file: the given one, `BERRYEVAL_CONFIG`, or `./berryeval.yaml`.

    The name `none` stands for no file.
    """
    named = given or os.environ.get("BERRYEVAL_CONFIG")
    if named == NO_CONFIG:
        return None
    if named:
        return pathlib.Path(named)
    return pathlib.Path(CONFIG_NAME) if pathlib.Path(CONFIG_NAME).exists() else None


class Places(Protocol):
    """Anything that knows where the parts of a configuration come from."""

    def where(self, path: KeyPath) -> str:
        """Return the place of a part, or "" if it needs no mention."""


class ConfigFile:
    """The content of a configuration file, with the line of each part."""

    def __init__(self, path: PathLike) -> None:
        import yaml

        self.name = display_name(path)
        text = ""
        try:
            text = read_bytes(path).tobytes().decode()
            node = yaml.compose(text, Loader=yaml.SafeLoader)
            with locate_errors(self.name):
                check_yaml(node)
            _keep_tags(node)
            data = (
                None
                if node is None
                else yaml.constructor.SafeConstructor().construct_document(node)
            )
        except DataError as error:
            raise ConfigurationError(str(error)) from None
        except UnicodeDecodeError:
            raise ConfigurationError(f"{self.name}: not UTF-8 text") from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = f":{mark.line + 1}" if mark else ""
            lines = text.splitlines()
            before = lines[mark.line][: mark.column] if mark and mark.line < len(lines) else ""
            key = _find_key(before)
            problem = _hide_values(str(error.problem))
            if before.endswith("$"):
                problem += "; inside brackets, put ${NAME} into quotes"
            raise ConfigurationError(
                f"{self.name}{line}: {key}not valid YAML ({problem})"
            ) from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise ConfigurationError(
                f"{self.name}: not valid YAML ({_hide_values(str(error).splitlines()[0])})"
            ) from None
        except (KeyError, AttributeError):  # of the constructors of PyYAML
            raise ConfigurationError(
                f"{self.name}: not valid YAML (a value that its tag, such as !!bool, does not fit)"
            ) from None
        self.data: dict[str, Any] = {} if data is None else data
        if not isinstance(self.data, dict):
            raise ConfigurationError(
                f"{self.name}: expected names and values, found {type(self.data).__name__}"
            )
        self._lines: dict[KeyPath, int] = {}
        self._note_lines(node, (), set())

    def _note_lines(self, node: Any, path: KeyPath, above: set[int]) -> None:
        import yaml

        if node is None or id(node) in above:  # a YAML alias may be inside what it refers to
            return
        above = {*above, id(node)}
        self._lines[path] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            first: dict[str, int] = {}
            for key, value in node.value:
                name, line = str(key.value), key.start_mark.line + 1
                if name in first:
                    raise ConfigurationError(
                        f"{self.name}:{line}: the key {name!r} is given twice; "
                        f"first in line {first[name]}"
                    )
                first[name] = line
                here = (*path, name)
                self._note_lines(value, here, above)
                self._lines[here] = line
                if key.tag == _NULL:  # None in Python
                    self._lines.setdefault((*path, "None"), line)
        elif isinstance(node, yaml.SequenceNode):
            for place, value in enumerate(node.value):
                self._note_lines(value, (*path, place), above)

    def where(self, path: KeyPath) -> str:
        """Return the file and line of a part, or of its nearest parent in the file."""
        while path and path not in self._lines:
            path = path[:-1]
        return f"{self.name}:{self._lines.get(path, 1)}"


def _keep_tags(node: Any) -> None:
    """Keep names and values of tags as they are written: YAML reads 1.10 as the number 1.1."""
    import yaml

    def keep(one: Any) -> Any:
        empty = not isinstance(one, yaml.ScalarNode) or one.tag == _NULL
        marks = (one.start_mark, one.end_mark)
        return one if empty else yaml.ScalarNode("tag:yaml.org,2002:str", one.value, *marks)

    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.value == "tags" and isinstance(value, yaml.MappingNode):
            value.value = [tuple(map(keep, pair)) for pair in value.value]


def _find_key(before: str) -> str:
    """Return the last key before a place in a line, as the beginning of a message."""
    keys = _KEY.findall(before)
    return f"{keys[-1]}: " if keys else ""


def _hide_values(problem: str) -> str:
    """Remove what a message quotes from the file, which may be a secret without quotes."""
    hidden = _QUOTED.sub(
        lambda found: found[0] if _TOKEN.fullmatch(found[2]) else "...",
        problem.partition(": 'ascii' codec")[0],
    )
    if hidden == problem:
        return problem
    return f"{hidden}; put a text that begins with a sign such as * or ! into quotes"


# Validation errors of pydantic as one line.


class MisplacedError(ValueError):
    """A fault found by a whole model that knows which part causes it."""

    def __init__(self, message: str, path: KeyPath) -> None:
        super().__init__(message)
        self.path = path


def check_model(model: type[BaseModel], data: dict[str, Any], file: Places | None) -> Any:
    """Build a model, or raise an error with the line, the key and the expected value."""
    from pydantic import ValidationError

    try:
        return model.model_validate(data)
    except ValidationError as errors:
        raise ConfigurationError(_format_fault(model, errors, file)) from None


def _format_fault(model: type[BaseModel], errors: ValidationError, file: Places | None) -> str:
    faults = errors.errors(include_url=False)
    unknown = (fault for fault in faults if fault["type"] == "extra_forbidden")
    fault = next(unknown, faults[0])  # a misspelled key explains why another one is missing
    kinds = ("<", "dict[")  # names of types, not of keys
    path: KeyPath = tuple(part for part in fault["loc"] if not str(part).startswith(kinds))
    if fault["type"] == "extra_forbidden" and path[-1:] != fault["loc"][-1:]:
        path += fault["loc"][-1:]  # a key that looks like a type
    cause = fault.get("ctx", {}).get("error")
    path += cause.path if isinstance(cause, MisplacedError) else ()
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    shown = shown.lstrip(".")
    place = file.where((*path, *_find_entry(fault))) if file else ""
    where = prefix_place(place)
    if fault["type"] == "extra_forbidden":
        known = _fields_at(model, path[:-1])
        synonym = _SYNONYMS.get(str(path[-1]).lower())
        hint = f"did you mean {synonym!r}?" if synonym in known else suggest(str(path[-1]), known)
        return f"{where}unknown key {shown!r}; {hint}"
    if fault["type"] == "missing":
        return f"{where}{shown}: is missing"
    if path[-1:] == ("[key]",):  # pydantic's mark of a name in a mapping
        found = "null" if fault["input"] is None else _format_value(fault["input"], path)
        owner = shown.removesuffix(f".{path[-2]}.[key]")
        kind = "the name of a tag" if owner == "tags" else "a name"
        return f"{where}{owner}: {kind} must be text, found {found}; put it into quotes"
    where += f"{shown}: " if shown else ""
    if fault["type"] == "value_error":  # our own message, which shows what was found
        return where + str(fault["ctx"]["error"])
    text = fault["msg"][:1].lower() + fault["msg"][1:].replace("be '', ", "be ")
    if fault["type"] in {"dict_type", "model_type"}:
        text = "input should be a mapping"
        text += " or a text" * any(one["loc"] == (*path, "str") for one in faults)
    quote = fault["type"] == "string_type" and isinstance(fault["input"], float | int | date)
    cure = "; put it into quotes" if quote else ""
    return f"{where}{text}, found {_format_value(fault['input'], path)}{cure}"


def _find_entry(fault: Any) -> KeyPath:
    """Return the place of the list entry that our own message quotes, if it quotes one."""
    if fault["type"] != "value_error" or not isinstance(fault["input"], list):
        return ()
    text = str(fault["ctx"]["error"])
    names = (number for number, one in enumerate(fault["input"]) if repr(one) in text)
    return tuple(islice(names, 1))


def _format_value(value: Any, path: KeyPath) -> str:
    """Return a value for a message, or only its type if it may be a secret."""
    if any(str(part) == "options" or is_secret_name(str(part)) for part in path):
        return type(value).__name__
    if value is None:
        return "nothing"
    return f"{mask_secrets(value)!r:.80}"


def _fields_at(model: type[BaseModel], path: KeyPath) -> list[str]:
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


# Names and options of benchmarks and providers, checked before anything runs.


def check_parts(plan: Plan, places: Places) -> None:
    """Reject unknown names and options of benchmarks and providers, with their lines.

    Parts that come from no file are skipped: the run checks them again, without a line.
    """
    from berryeval.benchmarks import check_source
    from berryeval.chunkers import parse_chunker

    path: KeyPath
    for number, source in enumerate(plan.benchmarks):
        if not places.where(path := ("benchmarks", number)):
            continue
        if isinstance(source, str):
            with _locate_errors(places, path, None):
                check_source(source, None, {})
        else:
            with _locate_errors(places, path, source.model_dump(exclude={"source"})):
                check_source(source.source, source.format or None, source.options)
    for number, spec in enumerate(plan.providers):
        if places.where(path := ("providers", number)):
            part = _ProviderPart(spec.type, spec.options, path, {"options": spec.options})
            _check_provider(part, f"provider {spec.label!r}", places)
            if spec.chunker:
                with _locate_errors(places, (*path, "chunker"), None):
                    parse_chunker(spec.chunker)


@contextmanager
def _locate_errors(places: Places, path: KeyPath, inside: Any) -> Iterator[None]:
    """Prefix errors with the place of the part that the message names, else of the whole."""
    try:
        yield
    except (ConfigurationError, DataError) as error:
        fault = str(error).partition(";")[0]  # the rest lists alternatives
        named = next(_find_named(fault, inside, path), path)
        raise type(error)(f"{places.where(named)}: {error}") from None


def _find_named(message: str, value: Any, path: KeyPath) -> Iterator[KeyPath]:
    """Find the parts that a message names by key, by value, or by the variable in a value."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            here = (*path, str(key))
            yield from _find_named(message, inner, here)
            if re.search(rf"(?<![\w.]){re.escape(str(key))}(?![\w.])", message):
                yield here
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _find_named(message, inner, (*path, number))
    elif isinstance(value, str):
        names = re.findall(r"\$\{(\w+)", value)
        if repr(value) in message or any(re.search(rf"\b{name}\b", message) for name in names):
            yield path


@dataclass(frozen=True)
class _ProviderPart:
    """A provider at a path of the file, or one that it fuses, and the values to search."""

    type: str
    options: Mapping[str, Any]
    path: KeyPath
    inside: Any

    @property
    def is_ours(self) -> bool:
        """Whether the provider and all that it fuses can be built without side effects."""
        from berryeval.providers import PROVIDERS

        module = str(getattr(PROVIDERS.get(self.type), "__module__", ""))
        return module.startswith(_OURS) and all(one.is_ours for one in self.fused())

    def fused(self) -> Iterator[_ProviderPart]:
        """Yield the providers that it fuses, if they are given as names or mappings."""
        from berryeval.providers import PROVIDERS

        children = self.options.get("providers")
        if PROVIDERS.canonical(self.type) != "hybrid" or not isinstance(children, list | tuple):
            return
        own = self.options.get("options")
        for number, child in enumerate(children):
            path: KeyPath = (*self.path, "options", "providers", number)
            if isinstance(child, str):
                given = own.get(child) if isinstance(own, Mapping) else None
                if isinstance(given, Mapping):
                    place = (*self.path, "options", "options", child)
                    yield _ProviderPart(child, given, place, given)
                else:
                    yield _ProviderPart(child, {}, path, None)
            elif isinstance(child, Mapping) and isinstance(child.get("type"), str):
                given = child.get("options")
                given = given if isinstance(given, Mapping) else {}
                yield _ProviderPart(child["type"], given, path, {"options": given})

    def alone(self) -> _ProviderPart:
        """Return the part without what it fuses, which is checked already."""
        if not any(self.fused()) or not isinstance(self.inside, Mapping):
            return self
        options = {
            key: dict.fromkeys(value) if key == "options" and isinstance(value, Mapping) else value
            for key, value in self.options.items()
            if key != "providers"
        }
        return dataclasses.replace(self, inside={"options": {**options, "providers": None}})


def _check_provider(part: _ProviderPart, owner: str, places: Places) -> None:
    from berryeval.providers import PROVIDERS

    with _locate_errors(places, part.path, part.inside):
        PROVIDERS.get(part.type)
    for one in part.fused():
        _check_provider(one, f"provider {one.type!r}", places)
    secrets, alone = Secrets(), part.alone()
    with _locate_errors(places, alone.path, alone.inside), secrets.mask_errors():
        try:
            _check_options(part, secrets.fill_in(part.options))
        except (TypeError, ValueError) as error:
            if isinstance(error, BerryEvalError):
                raise
            raise ConfigurationError(f"{owner} cannot be built: {error}") from None


def _check_options(part: _ProviderPart, given: dict[str, Any]) -> None:
    """Build a provider of ours; check only the signature of others, which may open connections."""
    from berryeval.providers import PROVIDERS, build_provider, is_search_function

    kind = PROVIDERS.get(part.type)
    if part.is_ours or (not isinstance(kind, type) and is_search_function(kind, given)):
        build_provider(part.type, given)
        _check_embedder(kind, given)
        return
    try:
        signature = inspect.signature(kind)
    except ValueError:  # a built-in without a signature
        return
    takes = signature.parameters.values()
    if all(one.kind is not one.VAR_KEYWORD for one in takes):
        reject_unknown(f"provider {part.type!r}", given, [one.name for one in takes])
    signature.bind(**given)


def _check_embedder(kind: Any, given: Mapping[str, Any]) -> None:
    from berryeval.providers import EMBEDDERS

    fields = {one.name: one.default for one in dataclasses.fields(kind)} if _is_plain(kind) else {}
    if "embedder" not in fields or not {"embedder", "embedder_options"} & given.keys():
        return
    name = given.get("embedder", fields["embedder"])
    options = given.get("embedder_options")
    if not isinstance(name, str) or not name:
        return
    embedder: Any = EMBEDDERS.get(name)
    if _is_plain(embedder) and isinstance(options, Mapping):
        known = [one.name for one in dataclasses.fields(embedder) if one.init]
        reject_unknown(f"embedder {name!r}", options, known)


def _is_plain(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)
