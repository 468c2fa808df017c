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
    return f"\n## {facts.name}\n\n{facts.summary}\n{about}{also}{table}"


def _install(facts: ProviderFacts) -> str:
    return f"`pip install 'berryeval[{facts.extra}]'`" if facts.extra else "nothing to add"


def _default(default: object, *, required: bool) -> str:
    return "required" if required else f"`{json.dumps(default, default=repr)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    import sys

    sys.stdout.write(markdown())
