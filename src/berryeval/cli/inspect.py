"""`berryeval inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.options import Flag, Format, Several

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from berryeval.benchmarks import Benchmark, Example, Spread, Summary


# `--options NAME=VALUE`: what the loader of a format takes, as `options` of berryeval.yaml.


def read_options(texts: list[str] | None) -> dict[str, Any]:
    """The options by name: a value in brackets is a list, every other is a text.

    >>> read_options(["corpus=docs", "categories=[1, 4]"])
    {'corpus': 'docs', 'categories': [1, 4]}
    """
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import read_pairs

    if texts is not None and not texts:
        msg = "--options has no value; give it as NAME=VALUE, or leave it out"
        raise ConfigurationError(msg)
    given = texts or []
    pairs = read_pairs(given, "--options")
    names = [text.partition("=")[0].strip() for text in given]
    twice = next((name for name in pairs if names.count(name) > 1), None)
    if twice is not None:
        msg = f"--options: {twice!r} is given twice; give it once"
        raise ConfigurationError(msg)
    return {name: _value(name, text) for name, text in pairs.items()}


def _value(name: str, text: str) -> Any:
    if not text.startswith("["):
        return text
    import yaml

    from berryeval.errors import ConfigurationError

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        msg = f"--options: {name} must be a list like [1, 4] or a text, found {text!r:.80}"
        raise ConfigurationError(msg) from None


SHOWN: Final = 8  # categories and the like on one line
TARGETS: Final = 5  # of the example
PASSAGE: Final = 300  # characters of each
RELEVANT: Final = "relevant a query"


def inspect(
    benchmark: str,
    /,
    *,
    query: str = "",
    format: Format = None,  # noqa: A002 - its name
    options: Several = None,
    json: Flag = False,
) -> None:
    """Show what is in a benchmark: a summary, and one query with what is relevant to it.

    Args:
        benchmark: A bundled benchmark, or a file or folder in any format that can be loaded.
        query: The id of the query to show; otherwise the first with a passage to find.
        format: The format, if it cannot be told from the files.
        options: What the format takes (`berryeval list formats`): --options corpus=docs split=dev.
        json: Print JSON instead of text.
    """
    from berryeval.benchmarks import Summary, example_of, load_benchmark
    from berryeval.cli.output import console, print_json

    loaded = load_benchmark(benchmark, format=format, **read_options(options))
    summary, example = Summary.of(loaded), example_of(loaded, query)
    if json:
        print_json("inspect", {**_facts(loaded), **summary.to_json(), "example": example.to_json()})
        return
    screen = console()
    _print_summary(screen, loaded, summary)
    screen.print()
    _print_example(screen, example)


def _facts(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "description": benchmark.description,
        "pack": benchmark.pack,
        "thresholds": dict(benchmark.thresholds),
        "remarks": list(benchmark.remarks),
    }


def _print_summary(screen: Console, benchmark: Benchmark, summary: Summary) -> None:
    from rich.table import Table

    from berryeval.cli.eval_view import shown_remarks
    from berryeval.cli.output import print_indented

    screen.print(f"{benchmark.name} {benchmark.version}".strip(), style="bold")
    if benchmark.description:
        print_indented(screen, benchmark.description, 0)
    screen.print()
    rows = {
        "documents": f"{summary.documents:,}{_spread(summary.document_words, 'words each')}",
        "queries": f"{summary.queries:,}{_spread(summary.query_words, 'words each')}",
        "judgments": f"{summary.judgments:,}{_spread(summary.judged_per_query, RELEVANT)}",
        "targets": _counted(summary.targets),
        "grades": _counted({f"{grade:g}": count for grade, count in summary.grades.items()}),
        "categories": _counted(summary.categories),
        "difficulties": _counted(summary.difficulties),
        "pack": benchmark.pack,
        "thresholds": ", ".join(
            f"{name} ≥ {least:g}" for name, least in benchmark.thresholds.items()
        ),
        "content hash": summary.content_hash,
    }
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in rows.items():
        if value:
            table.add_row(name, value)
    screen.print(table)
    for remark in shown_remarks(benchmark.remarks, SHOWN):
        print_indented(screen, f"note: {remark}", 0, style="yellow")


def _spread(spread: Spread, what: str) -> str:
    if not spread.greatest:
        return ""
    if spread.least == spread.greatest:
        return f"; {spread.least:g} {what}"
    middle = f"{spread.median:g} in the middle"
    return f"; {spread.least:g} to {spread.greatest:g} {what}, {middle}"


def _counted(counts: Mapping[str, int]) -> str:
    shown = [f"{name or '(none)'}: {count:,}" for name, count in list(counts.items())[:SHOWN]]
    more = [f"… {len(counts) - SHOWN} more"] if len(counts) > SHOWN else []
    return ", ".join([*shown, *more])


def _print_example(screen: Console, example: Example) -> None:
    from berryeval._internal.text import counted, cut
    from berryeval.cli.output import print_indented

    query = example.query
    about = ", ".join(word for word in (query.category, query.difficulty) if word)
    screen.print(f"query {query.id}{f' ({about})' if about else ''}", style="bold")
    print_indented(screen, query.text, 2)
    for name, value in example.labels.items():
        print_indented(screen, f"{name}: {value}", 2)
    if not example.targets:
        print_indented(screen, "no judgments", 2, style="dim")
    for target in example.targets[:TARGETS]:
        screen.print()
        places = f" (at {len(target.texts)} places)" if len(target.texts) > 1 else ""
        print_indented(screen, f"grade {target.grade:g}: {target.name}{places}", 2, style="cyan")
        text = cut(target.texts[0], PASSAGE) if target.texts else "(no place found)"
        print_indented(screen, text, 4)
    if len(example.targets) > TARGETS:
        screen.print()
        screen.print(f"  … and {counted(len(example.targets) - TARGETS, 'more target')}")
