"""What there is to say about a provider: read from its class, so that no list can lag behind."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from berryeval.providers.callable import parameters_of, searches
from berryeval.providers.catalogue import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_ATTRIBUTE: Final = re.compile(r"^    (\w+): (.+(?:\n     +.+)*)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class ProviderOption:
    """One option: its name, what it is for, and the default, None where one must be given."""

    name: str
    required: bool
    default: Any
    description: str


@dataclasses.dataclass(frozen=True)
class ProviderFacts:
    """A provider as a list shows it.

    Attributes:
        name: its name in configurations.
        aliases: its other names.
        summary: the first sentence about it.
        about: the text of its module: how it works, and where that comes from.
        options: what it can be made with.
        extra: the extra that brings what it needs; "" if nothing.
        missing: the modules it imports that are not installed.
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
        """Whether it can be used as it is."""
        return not self.missing


def provider_facts(name: str) -> ProviderFacts:
    """The facts of the provider of this name; one that cannot be imported says so."""
    aliases = tuple(PROVIDERS.aliases_of(name))
    try:
        kind = PROVIDERS.get(name)
    except ImportError as error:  # of another package: it must not hide the others
        reason = f"cannot be imported: {error}"
        return ProviderFacts(name, aliases, reason, "", (), "", (error.name or str(error),))
    text = inspect.cleandoc(kind.__doc__ or "")
    about = inspect.cleandoc(getattr(inspect.getmodule(kind), "__doc__", None) or "")
    return ProviderFacts(
        name=name,
        aliases=aliases,
        summary=text.partition("\n\n")[0].replace("\n", " "),
        about=about,
        options=tuple(_options(kind, text)),
        extra=getattr(kind, "extra", ""),
        missing=tuple(module for module in getattr(kind, "modules", ()) if _is_missing(module)),
    )


def _is_missing(module: str) -> bool:
    try:
        return find_spec(module) is None
    except ModuleNotFoundError:  # of the package it would be in
        return True


def _options(kind: Callable[..., Any], text: str) -> Iterator[ProviderOption]:
    if not isinstance(kind, type) and searches(kind):
        return
    attributes = text.partition("Attributes:\n")[2]
    description_of = {
        name: re.sub(r"\s+", " ", description)
        for name, description in _ATTRIBUTE.findall(attributes)
    }
    factory_of: dict[str, Callable[[], Any]] = {}
    if dataclasses.is_dataclass(kind):
        factory_of = {
            option.name: option.default_factory
            for option in dataclasses.fields(kind)
            if option.default_factory is not dataclasses.MISSING
        }
    for option in parameters_of(kind) or ():
        required = option.default is option.empty
        default = None if required else option.default
        if option.name in factory_of:
            default = factory_of[option.name]()
        yield ProviderOption(option.name, required, default, description_of.get(option.name, ""))


# The page docs/providers.md, written from the classes; run as a module it prints the page.

INTRODUCTION: Final = """\
# Providers

A provider is a thing that can be searched: it takes in chunks, and answers a query with hits. This
page is written from their classes by `make docs`; `berryeval list providers` shows the same on your
machine, with what is installed. Equal scores are ordered by one rule everywhere: the higher id
comes first. Scores of vector searches are cosines.

## Your own

Whatever has a method `search(query, k)` is a provider; `query` has `id`, `text` and `metadata`, and
the answer is what `callable` below takes: ids, pairs, `Hit`s, best first. All else is up to it:

| method | called |
| --- | --- |
| `__enter__` or `__aenter__` | once, before all |
| `index(chunks)` | once, before the first query; a chunk has `id`, `text`, `doc_id`, `section` |
| `search(query, k)` | for every query, by several threads at once unless `concurrency` is 1 |
| `search_many(queries, k)` | instead, where a run asks for batches; returns a list of answers |
| `__exit__` or `__aexit__`; else `close()` | once, at the end |

Each may be `async`. Given to `run_benchmark`, an object, a function `(text, k)` or a retriever of
LangChain or LlamaIndex needs no registration: `providers=[mine]`, or
`providers={"my-search": mine}` to say what tables call it (else its `name`, or its class).

What an answer cost is told by returning `Answer(hits, {"tokens": 812, "usd": 0.0004})` of
`berryeval.providers`, by names of your own. The tables, `eval --json` and the record of the run
then have the mean per answered query. A number that is not finite is an error of the query.

A name for it: in Python with `PROVIDERS.register`; for the command line and configuration files as
an entry point of your package, in the group `berryeval.providers`.

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

A class is made with the options of the configuration; a function `(text, k)` is searched as it is,
another one makes a provider of the options.
Without a package of your own, `callable` takes `function: module:object`.

## Bundled
"""


def markdown() -> str:
    """The whole page."""
    found = [provider_facts(name) for name in PROVIDERS]
    rows = "\n".join(map(_row, found))
    table = f"\n| provider | what | install |\n| --- | --- | --- |\n{rows}\n"
    return INTRODUCTION + table + "".join(map(_section, found))


def _row(facts: ProviderFacts) -> str:
    return f"| [`{facts.name}`](#{facts.name}) | {_cell(facts.summary)} | {_install(facts)} |"


def _section(facts: ProviderFacts) -> str:
    about = facts.about.partition("\n\n")[2]  # the first paragraph says what the summary says
    about = f"\n{about}\n" if about else ""
    names = ", ".join(f"`{alias}`" for alias in facts.aliases)
    also = f"\nAlso called {names}.\n" if names else ""
    rows = "\n".join(
        f"| `{option.name}` | {_default(option.default, required=option.required)} "
        f"| {_cell(option.description)} |"
        for option in facts.options
    )
    table = f"\n| option | default | |\n| --- | --- | --- |\n{rows}\n" if rows else ""
    return f"\n### {facts.name}\n\n{facts.summary}\n{about}{also}{table}"


def _install(facts: ProviderFacts) -> str:
    return f"`pip install 'berryeval[{facts.extra}]'`" if facts.extra else "nothing to add"


def _default(default: object, *, required: bool) -> str:
    return "required" if required else f"`{json.dumps(default, default=repr)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    import sys

    sys.stdout.write(markdown())
