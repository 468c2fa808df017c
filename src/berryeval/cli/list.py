"""`berryeval list`: metrics, providers, benchmarks, chunkers and formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval.cli.flags import Flag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.metrics import Definition
    from berryeval.providers import ProviderFacts

    Facts = list[dict[str, Any]]


def _print(
    kind: str, facts: Facts, titles: Sequence[str], rows: Iterable[Sequence[str]], *, json: bool
) -> None:
    """Print facts as JSON, or rows as a table."""
    from berryeval.cli.output import build_table, console, print_json

    if json:
        print_json(f"list {kind}", {kind: facts})
    else:
        console().print(build_table(titles, rows))


def _print_facts(kind: str, facts: Facts, *, json: bool) -> None:
    """Print facts whose keys are the titles of the table."""
    titles = list(facts[0]) if facts else []
    _print(kind, facts, titles, (list(map(str, one.values())) for one in facts), json=json)


def benchmarks(*, json: Flag = False) -> None:
    """List the benchmarks that come with the package.

    Args:
        json: JSON output.
    """
    from berryeval.benchmarks import bundled_benchmarks, load_benchmark

    loaded = {name: load_benchmark(name) for name in bundled_benchmarks()}
    facts: Facts = [
        {
            "benchmark": name,
            "version": one.version,
            "documents": len(one.documents),
            "queries": len(one.queries),
            "judgments": len(one.judgments),
            "pack": one.pack,
            "description": one.description,
        }
        for name, one in loaded.items()
    ]
    if not facts and not json:
        print("this installation has no bundled benchmarks")
        return
    _print_facts("benchmarks", facts, json=json)


def formats(*, json: Flag = False) -> None:
    """List the benchmark formats and how each is recognized.

    Args:
        json: JSON output.
    """
    from berryeval.benchmarks import LOADERS, options_of

    loaders = {name: LOADERS.get(name) for name in LOADERS}
    facts: Facts = [
        {
            "format": name,
            "what": loader.summary,
            "signs": loader.signs,
            "options": ", ".join(options_of(loader)),
        }
        for name, loader in loaders.items()
    ]
    _print_facts("formats", facts, json=json)


def chunkers(*, json: Flag = False) -> None:
    """List the chunkers with their chunks, options and notation.

    Args:
        json: JSON output.
    """
    from berryeval.chunkers import CHUNKERS

    facts = [_describe_chunker(name, CHUNKERS.get(name)) for name in CHUNKERS]
    rows = [
        (
            one["usual"],
            one["makes"],
            ", ".join(f"{x['name']}={x['default']}" for x in one["options"]),
        )
        for one in facts
    ]
    _print("chunkers", facts, ("chunker", "makes", "options"), rows, json=json)


def _describe_chunker(name: str, chunker: type) -> dict[str, Any]:
    """Describe a chunker; one from another package may declare nothing but its name."""
    from berryeval.chunkers import options_of

    known = options_of(chunker)
    return {
        "name": name,
        "usual": str(chunker()) if known else name,
        "makes": getattr(chunker, "summary", "") or (chunker.__doc__ or "").partition("\n")[0],
        "options": [
            {
                "name": option.name,
                "default": option.default,
                "wanted": option.wanted,
                "text": option.text,
            }
            for option in known.values()
        ],
    }


def exporters(*, json: Flag = False) -> None:
    """List the report formats with their files and file name endings.

    Args:
        json: JSON output.
    """
    from berryeval.reports import EXPORTERS

    facts: Facts = [
        {
            "name": name,
            "aliases": EXPORTERS.aliases_of(name),
            "writes": EXPORTERS.get(name).summary,
            "endings": list(EXPORTERS.get(name).endings),
            "home": EXPORTERS.get(name).home,
        }
        for name in EXPORTERS
    ]
    rows = [
        (
            ", ".join([one["name"], *one["aliases"]]),
            one["writes"],
            " ".join(one["endings"]),
            one["home"],
        )
        for one in facts
    ]
    _print("exporters", facts, ("exporter", "writes", "endings", "goes to"), rows, json=json)


def metrics(*, json: Flag = False) -> None:
    """List the metrics with their names, parameters, formulas, and other tools that have them.

    Args:
        json: JSON output.
    """
    from berryeval.metrics import definitions

    facts = [_describe_metric(definition) for definition in definitions().values()]
    rows = [
        (
            one["name"],
            ", ".join(one["aliases"]),
            ", ".join(map(_format_parameter, one["parameters"])),
            one["formula"],
            ", ".join(one["peers"]),
        )
        for one in facts
    ]
    titles = ("metric", "other names", "parameters", "formula", "also in")
    _print("metrics", facts, titles, rows, json=json)


def _describe_metric(definition: Definition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "aliases": list(definition.aliases),
        "parameters": [
            {
                "name": parameter.name,
                "kind": parameter.kind,
                "required": parameter.required,
                "default": None if parameter.required else parameter.default,
            }
            for parameter in definition.parameters
        ],
        "formula": definition.text,
        "summary": definition.summary,
        "aggregate": definition.aggregate,
        "peers": dict(definition.peers),
    }


def _format_parameter(parameter: Mapping[str, Any]) -> str:
    if parameter["required"]:
        return str(parameter["name"])
    return f"{parameter['name']}={parameter['default']}"


def providers(*, json: Flag = False) -> None:
    """List the providers with their names, options, defaults and required packages.

    Args:
        json: JSON output.
    """
    from berryeval.providers import PROVIDERS, describe_provider

    found = [describe_provider(name) for name in PROVIDERS]
    rows = [
        (
            one.name,
            ", ".join(one.aliases),
            _installed(one),
            one.summary,
            ", ".join(
                option.name if option.required else f"{option.name}={option.default!r}"
                for option in one.options
            ),
        )
        for one in found
    ]
    titles = ("provider", "other names", "installed", "what", "options")
    _print("providers", list(map(_describe_provider, found)), titles, rows, json=json)


def _installed(facts: ProviderFacts) -> str:
    if facts.installed:
        return "yes"
    return f"pip install 'berryeval[{facts.extra}]'" if facts.extra else "no"


def _describe_provider(facts: ProviderFacts) -> dict[str, Any]:
    return {
        "name": facts.name,
        "aliases": list(facts.aliases),
        "summary": facts.summary,
        "options": [
            {
                "name": option.name,
                "required": option.required,
                "default": _to_json(option.default),
                "description": option.description,
            }
            for option in facts.options
        ],
        "extra": facts.extra,
        "installed": facts.installed,
        "missing": list(facts.missing),
    }


def _to_json(value: Any) -> Any:
    """Return a default as JSON, or as Python writes it where JSON has no such type."""
    if isinstance(value, tuple | list):
        return [_to_json(item) for item in value]
    return value if isinstance(value, str | int | float | dict | None) else repr(value)
