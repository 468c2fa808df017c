"""`berryeval list providers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from berryeval.providers.facts import ProviderFacts


def providers(*, json: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Show every provider: its names, its options with their defaults, and what it needs.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.providers import PROVIDERS
    from berryeval.providers.facts import provider_facts

    found = [provider_facts(name) for name in PROVIDERS]
    if json:
        print_json("list providers", {"providers": [_facts(facts) for facts in found]})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("provider", "other names", "installed", "what", "options"):
        table.add_column(title, overflow="fold")
    for facts in found:
        table.add_row(
            facts.name,
            ", ".join(facts.aliases),
            _installed(facts),
            facts.summary,
            ", ".join(
                option.name if option.required else f"{option.name}={option.default!r}"
                for option in facts.options
            ),
        )
    console().print(table)


def _installed(facts: ProviderFacts) -> str:
    if facts.installed:
        return "yes"
    return f"pip install 'berryeval[{facts.extra}]'" if facts.extra else "no"


def _facts(facts: ProviderFacts) -> dict[str, Any]:
    return {
        "name": facts.name,
        "aliases": list(facts.aliases),
        "summary": facts.summary,
        "options": [
            {
                "name": option.name,
                "required": option.required,
                "default": _json_value(option.default),
                "description": option.description,
            }
            for option in facts.options
        ],
        "extra": facts.extra,
        "installed": facts.installed,
        "missing": list(facts.missing),
    }


def _json_value(value: Any) -> Any:
    """A default as JSON has it; one that it has not, as Python writes it."""
    if isinstance(value, tuple | list):
        return [_json_value(item) for item in value]
    return value if isinstance(value, str | int | float | dict | None) else repr(value)
