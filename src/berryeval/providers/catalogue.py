"""The table of providers: build one from its name and options, and describe each in the docs.

Run as a module, it prints docs/providers.md, written from the docstrings of the provider classes.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from berryeval._internal.optional import is_missing
from berryeval._internal.plain import show, write_text
from berryeval._internal.registry import Registry
from berryeval._internal.validate import reject_unknown, require
from berryeval.errors import ConfigurationError
from berryeval.providers.base import Provider
from berryeval.providers.callable import find_wrapper, is_search_function, read_parameters

PROVIDERS: Final[Registry[Callable[..., Any]]] = Registry(
    "provider",
    {
        "bm25": "berryeval.providers.bm25:Bm25",
        "dense": "berryeval.providers.dense:Dense",
        "hybrid": "berryeval.providers.hybrid:Hybrid",
        "rerank": "berryeval.providers.rerank:Rerank",
        "postgres": "berryeval.providers.postgres:Postgres",
        "sqlite": "berryeval.providers.sqlite:Sqlite",
        "lancedb": "berryeval.providers.lancedb:LanceDb",
        "chroma": "berryeval.providers.chroma:Chroma",
        "qdrant": "berryeval.providers.qdrant:Qdrant",
        "elasticsearch": "berryeval.providers.elasticsearch:Elasticsearch",
        "http": "berryeval.providers.http:Http",
        "callable": "berryeval.providers.callable:Function",
        "langchain": "berryeval.providers.retrievers:LangChain",
        "llamaindex": "berryeval.providers.retrievers:LlamaIndex",
        "haystack": "berryeval.providers.haystack:Haystack",
        "dspy": "berryeval.providers.dspy:Dspy",
        "run-file": "berryeval.providers.run_file:RunFile",
    },
    {
        "pgvector": "postgres",
        "sqlite-vec": "sqlite",
        "lance": "lancedb",
        "chromadb": "chroma",
        "opensearch": "elasticsearch",
        "function": "callable",
        "llama-index": "llamaindex",
        "run": "run-file",
    },
)


def build_provider(source: Any, options: Mapping[str, Any] | None = None) -> Provider:
    """Build a provider from its name and options.

    Instead of a name, `source` may be a provider class, a search function, an object with a method
    `search`, a retriever of LangChain, LlamaIndex, Haystack or DSPy, a Haystack pipeline, or a
    provider, which is returned unchanged and takes no options.
    """
    given = dict(options or {})
    if isinstance(source, str):
        kind, owner = PROVIDERS.get(source), f"provider {source!r}"
        inner = given.get("function") if PROVIDERS.canonical(source) == "callable" else None
        if isinstance(inner, Provider):
            return build_provider(given.pop("function"), given)
    elif isinstance(source, Provider):
        reject_unknown("a provider that is already built", given, [])
        return source
    elif isinstance(source, type) and issubclass(source, Provider):
        kind, owner = source, f"provider {source.__name__!r}"
    else:
        name, option = find_wrapper(source)
        return build_provider(name, {option: source, **given})
    with suppress(RecursionError):  # nested too deep: reported where the option is used
        _require_finite(owner, given)
    if not isinstance(kind, type) and is_search_function(kind, given):
        return build_provider(kind, given)
    built = kind(**_read_options(owner, kind, given))
    return built if isinstance(built, Provider) else build_provider(built)


def _read_options(owner: str, kind: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Reject unknown options and convert the others to the types of the provider's fields."""
    if not dataclasses.is_dataclass(kind):
        parameters = read_parameters(kind)
        if parameters is not None and all(one.kind is not one.VAR_KEYWORD for one in parameters):
            reject_unknown(owner, given, [one.name for one in parameters])
        return given
    reject_unknown(owner, given, [field.name for field in dataclasses.fields(kind) if field.init])
    types = {field.name: str(field.type) for field in dataclasses.fields(kind)}
    return {name: _convert(owner, name, types[name], value) for name, value in given.items()}


def _require_finite(owner: str, value: Any, where: str = "") -> None:
    """Reject infinity and NaN at any depth, because the JSON files of a run cannot hold them."""
    if isinstance(value, float):
        require(math.isfinite(value), f"{owner}: {where}", "a finite number", value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _require_finite(owner, inner, f"{where}.{name}" if where else str(name))
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            _require_finite(owner, inner, f"{where}[{place}]")


def _convert(owner: str, name: str, type_: str, value: Any) -> Any:
    """Convert an option to a number or flag; values from environment variables are text."""
    if type_ not in _CONVERTERS:
        return value
    wanted, convert = _CONVERTERS[type_]
    try:
        return convert(value)
    except (KeyError, TypeError, ValueError):
        raise ConfigurationError(f"{owner}: {name} must be {wanted}, found {show(value)}") from None


def _to_int(value: Any) -> int:
    if isinstance(value, (bool, float)):
        raise TypeError
    return int(value)


def _to_float(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(number := float(value)):
        raise ValueError
    return number


def _to_bool(value: Any) -> bool:
    return value if isinstance(value, bool) else _FLAGS[value.strip().lower()]


_FLAGS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_CONVERTERS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "int": ("a whole number", _to_int),
    "float": ("a number", _to_float),
    "bool": ("true or false", _to_bool),
}


# An attribute in the docstring of a provider class: its name and description.
_ATTRIBUTE: Final = re.compile(r"^    (\w+): (.+(?:\n     +.+)*)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class ProviderOption:
    """An option of a provider; a required option has the default None."""

    name: str
    required: bool
    default: Any
    description: str


@dataclasses.dataclass(frozen=True)
class ProviderFacts:
    """A provider as lists and the docs describe it.

    Attributes:
        summary: First sentence of the class docstring.
        about: How the provider works, and its sources: docstring of the module, then of the class.
        extra: Extra that installs its dependencies; "" if none.
        missing: Modules it imports that are not installed.
    """

    name: str
    aliases: tuple[str, ...]
    summary: str
    about: str
    options: tuple[ProviderOption, ...]
    extra: str
    missing: tuple[str, ...]

    @property
    def installed(self) -> bool:
        """Whether all modules of the provider are installed."""
        return not self.missing


def describe_provider(name: str) -> ProviderFacts:
    """Describe the provider of this name; if it cannot be imported, the summary says why."""
    return describe_entry(PROVIDERS, name)


def describe_entry(table: Registry[Callable[..., Any]], name: str) -> ProviderFacts:
    """Describe an entry of a table of providers, or of their parts."""
    aliases = tuple(table.aliases_of(name))
    try:
        kind = table.get(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - of another package: the others count
        reason = f"cannot be imported: {write_text(error)}"
        missing = getattr(error, "name", None) or write_text(error)
        return ProviderFacts(name, aliases, reason, "", (), "", (str(missing),))
    summary, _, rest = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")
    module = inspect.cleandoc(getattr(inspect.getmodule(kind), "__doc__", None) or "")
    about = f"{module}\n\n{rest.partition('Attributes:')[0]}".strip()
    missing = tuple(filter(is_missing, getattr(kind, "modules", ())))
    options, extra = tuple(_list_options(kind)), getattr(kind, "extra", "")
    return ProviderFacts(name, aliases, summary.replace("\n", " "), about, options, extra, missing)


def _list_options(kind: Callable[..., Any]) -> Iterator[ProviderOption]:
    if not isinstance(kind, type) and is_search_function(kind):
        return
    parents = kind.__mro__[::-1] if isinstance(kind, type) else (kind,)
    descriptions = {
        name: re.sub(r"\s+", " ", description)
        for parent in parents
        for name, description in _ATTRIBUTE.findall(
            inspect.cleandoc(parent.__doc__ or "").partition("Attributes:\n")[2]
        )
    }
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    factories = {field.name: field.default_factory for field in fields}
    for option in read_parameters(kind) or ():
        required = option.default is option.empty
        factory = factories.get(option.name, dataclasses.MISSING)
        usual = option.default if factory is dataclasses.MISSING else factory()
        default = None if required else usual
        yield ProviderOption(option.name, required, default, descriptions.get(option.name, ""))


INTRODUCTION: Final = """\
# Providers

A provider is anything that can be searched: it indexes chunks and answers a query with hits. This
page is generated from the provider classes by `make docs`; `berryeval list providers` shows the
same list and what is installed on your machine. All providers break ties the same way: the higher
id comes first. Scores of vector searches are cosine similarities.

## Your own

Any object with a method `search(query, k)` is a provider. `query` has `id`, `text`, `metadata` and
`scope`; the answer may have any form that [`callable`](#callable) accepts: ids, pairs or `Hit`s,
best first. All other methods are optional:

| method | called |
| --- | --- |
| `__enter__` or `__aenter__` | once, before anything else |
| `index(chunks)` | once, before the first query; a chunk has `id`, `text`, `doc_id`, `section` |
| `search(query, k)` | for every query, from several threads at once unless `concurrency` is 1 |
| `search_many(queries, k)` | instead, if the run uses batches; returns a list of answers |
| `__exit__` or `__aexit__`; else `close()` | once, at the end |

Each may be `async`. An object, a function `(text, k)`, a retriever of LangChain, LlamaIndex,
Haystack or DSPy, or a Haystack pipeline can be passed to `run_benchmark` without registration:
`providers=[mine]`, or `providers={"my-search": mine}` to choose its name in tables (by default its
`name` or its class).

To report costs, return `Answer(hits, {"tokens": 812, "usd": 0.0004})` from `berryeval.providers`,
with names of your choice. The tables, `eval --json` and the record of the run then show the mean
per answered query. A number that is negative or not finite makes the query fail.

A subclass of `Provider` whose `index` is slow may call `self.report_progress(done, total)` for the
bar in the terminal.

To give it a name, register it in Python with `PROVIDERS.register`, or, for the command line and
configuration files, as an entry point of your package in the group `berryeval.providers`:

```python
from berryeval.providers import PROVIDERS


@PROVIDERS.register("mine")
class Mine:
    def __init__(self, host="localhost"):  # its options
        self.host = host
```

```toml
[project.entry-points."berryeval.providers"]
mine = "my_package.search:Mine"
```

A class is called with the options of the configuration. A function `(text, k)` is used as the
search itself; any other function is called with the options and returns a provider. Without a
package of your own, use `callable` with `function: module:object`.

## An index that exists

The providers with an engine build a temporary index from the documents of the benchmark. With
`existing`, they search the index of your application instead, without writing to it:
[existing.md](existing.md).

## Scopes

A query may have a scope ([formats.md](formats.md#scopes)), such as
`query.scope == {"conversation": "c-1"}` or `{"doc_id": ("s-4", "s-9")}`; otherwise it is empty. The
metadata of a chunk has the fields that scopes name, and `doc_id` is the chunk's own. All bundled
engines filter by the scope before they rank, so that a query finds as many hits as there are in its
scope, up to `k`. Statistics of words (as in BM25) are those of the whole corpus, as usual for
engines with a filter. Your own provider gets the scope with the query and applies it itself: to the
chunks in `index`, or as a filter of its database. A function of a text gets it if it has a
parameter `scope`, an endpoint by `{scope.FIELD}` in a template, a retriever by `scope_argument` or
by a function that builds one for each scope. `run-file` takes the rankings as they are, unless
`in_scope` is set.

A provider that ignores the scope is not corrected: its hits count as they are. A warning and the
field `out_of_scope` (in `run.json` and `eval --json`) give the share of its hits outside the scope
of their query.

## Bundled
"""


def render_page() -> str:
    """Return docs/providers.md."""
    found = [describe_provider(name) for name in PROVIDERS]
    rows = "\n".join(map(_render_row, found))
    table = f"\n| provider | summary | install |\n| --- | --- | --- |\n{rows}\n"
    sections = "".join(map(_render_section, found))
    return f"{INTRODUCTION}{table}{sections}{_RERANKERS}{''.join(_render_rerankers())}"


_RERANKERS: Final = """
## Rerankers

What the option `reranker` of [`rerank`](#rerank) takes: a name, or a mapping with `type` and
`options`. Your own is a function, an object with a method `rerank(query, hits)` that returns a
score for each hit, or an entry point of your package in the group `berryeval.rerankers`.
"""


def _render_rerankers() -> Iterator[str]:
    from berryeval.providers.rerankers.base import RERANKERS

    for name in RERANKERS:
        facts = describe_entry(RERANKERS, name)
        install = f"\nInstall: `pip install 'berryeval[{facts.extra}]'`.\n" if facts.extra else ""
        section = _render_section(dataclasses.replace(facts, name=f"reranker {name}"))
        head, mark, options = section.partition("\n| option |")
        yield f"{head}{install}{mark}{options}"


def _render_row(facts: ProviderFacts) -> str:
    link, summary = f"[`{facts.name}`](#{facts.name})", _escape_cell(facts.summary)
    install = f"`pip install 'berryeval[{facts.extra}]'`" if facts.extra else "included"
    return f"| {link} | {summary} | {install} |"


def _render_section(facts: ProviderFacts) -> str:
    about = facts.about.partition("\n\n")[2]  # its first paragraph repeats the summary
    about = f"\n{about}\n" if about else ""
    names = ", ".join(f"`{alias}`" for alias in facts.aliases)
    also = f"\nAlso called {names}.\n" if names else ""
    rows = "\n".join(map(_render_option, facts.options))
    table = f"\n| option | default | description |\n| --- | --- | --- |\n{rows}\n" if rows else ""
    return f"\n### {facts.name}\n\n{facts.summary}\n{about}{also}{table}"


def _render_option(option: ProviderOption) -> str:
    default = "required" if option.required else f"`{json.dumps(option.default, default=repr)}`"
    return f"| `{option.name}` | {default} | {_escape_cell(option.description)} |"


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    import sys

    sys.stdout.write(render_page())
