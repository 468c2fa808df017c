"""`berryeval list benchmarks` and `berryeval list formats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval.cli.options import Flag

if TYPE_CHECKING:
    from berryeval.metrics import Definition
    from berryeval.providers import ProviderFacts


def benchmarks(*, json: Flag = False) -> None:
    """Show the benchmarks that come with the package.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.benchmarks import bundled_benchmarks

    found = [_facts(name) for name in bundled_benchmarks()]
    if not found and not json:
        print("no benchmarks are bundled with this installation")
        return
    _show("benchmarks", found, json=json)


def formats(*, json: Flag = False) -> None:
    """Show the formats that benchmarks are read from, and how each is known.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.benchmarks import LOADERS, options_of

    found = []
    for name in LOADERS:
        loader = LOADERS.get(name)
        options = ", ".join(options_of(loader))
        found.append(
            {"format": name, "what": loader.summary, "signs": loader.signs, "options": options}
        )
    _show("formats", found, json=json)


def _facts(name: str) -> dict[str, Any]:
    from berryeval.benchmarks import load_benchmark

    benchmark = load_benchmark(name)
    return {
        "benchmark": name,
        "version": benchmark.version,
        "documents": len(benchmark.documents),
        "queries": len(benchmark.queries),
        "judgments": len(benchmark.judgments),
        "pack": benchmark.pack,
        "description": benchmark.description,
    }


def _show(what: str, rows: list[dict[str, Any]], *, json: bool) -> None:
    from berryeval.cli.output import console, print_json

    if json:
        print_json(f"list {what}", {what: rows})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in rows[0]:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*map(str, row.values()))
    console().print(table)


# `berryeval list chunkers`.


def chunkers(*, json: Flag = False) -> None:
    """Show every chunker: what it makes, its options, and how it is written.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.chunkers import CHUNKERS
    from berryeval.cli.output import console, print_json

    found = [_list_chunkers_facts(name, CHUNKERS.get(name)) for name in CHUNKERS]
    if json:
        print_json("list chunkers", {"chunkers": found})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("chunker", "makes", "options"):
        table.add_column(title, overflow="fold")
    for facts in found:
        options = ", ".join(f"{known['name']}={known['default']}" for known in facts["options"])
        table.add_row(facts["usual"], facts["makes"], options)
    console().print(table)


def _list_chunkers_facts(name: str, chunker: type) -> dict[str, Any]:
    """What is known of a chunker; of one that others made, perhaps its name alone."""
    from berryeval.chunkers import options_of

    known = options_of(chunker)
    options = [
        {
            "name": option.name,
            "default": option.default,
            "wanted": option.wanted,
            "text": option.text,
        }
        for option in known.values()
    ]
    makes = getattr(chunker, "summary", "") or (chunker.__doc__ or "").partition("\n")[0]
    return {
        "name": name,
        "usual": str(chunker()) if known else name,
        "makes": makes,
        "options": options,
    }


# `berryeval list exporters`.


def exporters(*, json: Flag = False) -> None:
    """Show every format of reports: what it writes, and which endings mean it.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.reports import EXPORTERS

    found = [_list_exporters_facts(name) for name in EXPORTERS]
    if json:
        print_json("list exporters", {"exporters": found})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("exporter", "writes", "endings", "goes to"):
        table.add_column(title, overflow="fold")
    for facts in found:
        names = ", ".join([facts["name"], *facts["aliases"]])
        table.add_row(names, facts["writes"], " ".join(facts["endings"]), facts["home"])
    console().print(table)


def _list_exporters_facts(name: str) -> dict[str, Any]:
    from berryeval.reports import EXPORTERS

    exporter = EXPORTERS.get(name)
    return {
        "name": name,
        "aliases": EXPORTERS.aliases_of(name),
        "writes": exporter.summary,
        "endings": list(exporter.endings),
        "home": exporter.home,
    }


# `berryeval list metrics`.


def metrics(*, json: Flag = False) -> None:
    """Show every metric: its names, parameters and formula, and who else computes it.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.metrics import definitions

    found = [_list_metrics_facts(definition) for definition in definitions().values()]
    if json:
        print_json("list metrics", {"metrics": found})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("metric", "other names", "parameters", "formula", "also in"):
        table.add_column(title, overflow="fold")
    for facts in found:
        table.add_row(
            facts["name"],
            ", ".join(facts["aliases"]),
            ", ".join(map(_shown, facts["parameters"])),
            facts["formula"],
            ", ".join(facts["peers"]),
        )
    console().print(table)


def _list_metrics_facts(definition: Definition) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter.name,
            "kind": parameter.kind,
            "required": parameter.required,
            "default": None if parameter.required else parameter.default,
        }
        for parameter in definition.parameters
    ]
    return {
        "name": definition.name,
        "aliases": list(definition.aliases),
        "parameters": parameters,
        "formula": definition.text,
        "summary": definition.summary,
        "aggregate": definition.aggregate,
        "peers": dict(definition.peers),
    }


def _shown(parameter: dict[str, Any]) -> str:
    if parameter["required"]:
        return f"{parameter['name']}"
    return f"{parameter['name']}={parameter['default']}"


# `berryeval list providers`.


def providers(*, json: Flag = False) -> None:
    """Show every provider: its names, its options with their defaults, and what it needs.

    Args:
        json: Print JSON instead of a table.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.providers import PROVIDERS, provider_facts

    found = [provider_facts(name) for name in PROVIDERS]
    if json:
        print_json(
            "list providers", {"providers": [_list_providers_facts(facts) for facts in found]}
        )
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


def _list_providers_facts(facts: ProviderFacts) -> dict[str, Any]:
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
