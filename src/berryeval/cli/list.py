"""`berryeval list`: metrics, providers, benchmarks, chunkers and formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval.cli.flags import Flag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from berryeval.metrics import Definition
    from berryeval.providers import ProviderFacts

    Facts = list[dict[str, Any]]


def _print(
    kind: str,
    facts: Facts,
    titles: Sequence[str] = (),
    rows: Iterable[Sequence[str]] | None = None,
    *,
    json: bool,
) -> None:
    """Print facts as JSON, or rows as a table; by default all facts, with their keys as titles."""
    from berryeval.cli.output import console, print_json

    if json:
        print_json(f"list {kind}", {kind: facts})
    elif rows is None:
        print_rows(console(), list(facts[0]), [list(map(str, one.values())) for one in facts])
    else:
        print_rows(console(), titles, list(rows))


def print_rows(screen: Console, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, or a paragraph per row if the screen is too narrow for the words of a cell."""
    from berryeval.cli.output import build_table, print_indented

    table = build_table(titles, rows)
    with screen.capture() as captured:
        screen.print(table)
    whole = set(captured.get().split())
    if all(word in whole for row in rows for cell in row for word in cell.split()):
        screen.print(table)
        return
    for name, *cells in rows:
        screen.print(name, style="bold")
        for title, cell in zip(titles[1:], cells, strict=True):
            if cell:
                print_indented(screen, f"{title}: {cell}", 2)


def _select(record: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


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
    _print("benchmarks", facts, json=json)


def formats(*, json: Flag = False) -> None:
    """List the benchmark formats and how each is recognized.

    Args:
        json: JSON output.
    """
    from berryeval.benchmarks import LOADERS, options_of

    loaders = {name: LOADERS.get(name) for name in LOADERS}
    facts: Facts = [
        {"format": name, "what": one.summary, "signs": one.signs,
         "options": ", ".join(options_of(one))}
        for name, one in loaders.items()
    ]  # fmt: skip
    _print("formats", facts, json=json)


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
            ", ".join("{name}={default}".format_map(option) for option in one["options"]),
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
        "options": [_select(one, "name", "default", "wanted", "text") for one in known.values()],
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
        (", ".join([name, *aliases]), writes, " ".join(endings), home)
        for name, aliases, writes, endings, home in map(dict.values, facts)
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
            ", ".join(
                parameter["name"]
                if parameter["required"]
                else "{name}={default}".format_map(parameter)
                for parameter in one["parameters"]
            ),
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
                **_select(one, "name", "kind", "required"),
                "default": None if one.required else one.default,
            }
            for one in definition.parameters
        ],
        "formula": definition.text,
        "summary": definition.summary,
        "aggregate": definition.aggregate,
        "peers": dict(definition.peers),
    }


def providers(*, json: Flag = False) -> None:
    """List the providers with their names, options, defaults and required packages.

    Args:
        json: JSON output.
    """
    from berryeval._internal.optional import install_command
    from berryeval.providers import PROVIDERS, describe_provider

    found = [describe_provider(name) for name in PROVIDERS]
    rows = []
    for one in found:
        options = ", ".join(
            option.name if option.required else f"{option.name}={option.default!r}"
            for option in one.options
        )
        missing = dict.fromkeys(one.missing, one.extra)
        installed = "yes" if one.installed else install_command(missing) if one.extra else "no"
        rows.append((one.name, ", ".join(one.aliases), installed, one.summary, options))
    titles = ("provider", "other names", "installed", "what", "options")
    _print("providers", list(map(_describe_provider, found)), titles, rows, json=json)


def _describe_provider(facts: ProviderFacts) -> dict[str, Any]:
    return {
        "name": facts.name,
        "aliases": list(facts.aliases),
        "summary": facts.summary,
        "options": [
            _select(one, "name", "required", "default", "description")
            | {"default": _to_json(one.default)}
            for one in facts.options
        ],
        **_select(facts, "extra", "installed"),
        "missing": list(facts.missing),
    }


def _to_json(value: Any) -> Any:
    """Return a default as JSON, or as Python writes it where JSON has no such type."""
    if isinstance(value, tuple | list):
        return [_to_json(item) for item in value]
    return value if isinstance(value, str | int | float | dict | None) else repr(value)
