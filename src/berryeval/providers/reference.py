"""The page docs/providers.md, written from the classes; run as a module it prints the page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from berryeval.providers.facts import provider_facts
from berryeval.providers.table import PROVIDERS

if TYPE_CHECKING:
    from berryeval.providers.facts import ProviderFacts

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
