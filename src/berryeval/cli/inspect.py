"""`berryeval inspect`, and the loader options that it shares with `validate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from berryeval.cli.flags import Flag, Format, Several

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.benchmarks import Benchmark, Example, Spread, Summary


_LISTED: Final = 8  # categories and the like on one line
_TARGETS: Final = 5  # of the example
_PASSAGE: Final = 300  # characters of each target


def read_options(texts: list[str] | None) -> dict[str, Any]:
    """Read `--options NAME=VALUE`: a value in brackets is a list, any other a text.

    >>> read_options(["corpus=docs", "categories=[1, 4]"])
    {'corpus': 'docs', 'categories': [1, 4]}
    """
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import read_pairs

    if texts is not None and not texts:
        raise ConfigurationError("--options has no value; write it as NAME=VALUE, or omit it")
    pairs = read_pairs(texts or [], "--options")
    return {name: _read_value(name, text) for name, text in pairs.items()}


def _read_value(name: str, text: str) -> Any:
    if not text.startswith("["):
        return text
    import yaml

    from berryeval._internal.limits import check_yaml
    from berryeval.errors import ConfigurationError

    try:
        check_yaml(yaml.compose(text, Loader=yaml.SafeLoader))
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ConfigurationError(
            f"--options: {name} must be a list like [1, 4] or a text, found {text!r:.80}"
        ) from None


def inspect(
    benchmark: str,
    /,
    *,
    query: str = "",
    format: Format = None,  # noqa: A002 - its name
    options: Several = None,
    json: Flag = False,
) -> None:
    """Show the contents of a benchmark: a summary, and one query with its relevant passages.

    Args:
        benchmark: A bundled benchmark, or a file or folder in a known format.
        query: Id of the query to show; default: the first one with a passage to find.
        format: Benchmark format, if it cannot be detected.
        options: Options of the format (`berryeval list formats`): --options corpus=docs split=dev.
        json: JSON output.
    """
    from berryeval.benchmarks import Summary, build_example, load_benchmark
    from berryeval.cli.output import console, print_json

    loaded = load_benchmark(benchmark, format=format, **read_options(options))
    summary, example = Summary.of(loaded), build_example(loaded, query)
    if json:
        about = {
            **{name: getattr(loaded, name) for name in ("name", "version", "description", "pack")},
            "thresholds": dict(loaded.thresholds),
            "remarks": list(loaded.remarks),
        }
        print_json("inspect", {**about, **summary.to_json(), "example": example.to_json()})
        return
    screen = console()
    _print_summary(screen, loaded, summary)
    screen.print()
    _print_example(screen, example)


def _print_summary(screen: Console, benchmark: Benchmark, summary: Summary) -> None:
    from berryeval.cli.eval_view import limit_remarks
    from berryeval.cli.output import build_table, print_indented

    screen.print(f"{benchmark.name} {benchmark.version}".strip(), style="bold")
    if benchmark.description:
        print_indented(screen, benchmark.description, 0)
    screen.print()
    rows = {
        "documents": _format_size(summary.documents, summary.document_words, "words per document"),
        "queries": _format_size(summary.queries, summary.query_words, "words per query"),
        "judgments": _format_size(
            summary.judgments, summary.judged_per_query, "relevant per query"
        ),
        "targets": _format_counts(summary.targets),
        "grades": _format_counts({f"{grade:g}": count for grade, count in summary.grades.items()}),
        "categories": _format_counts(summary.categories),
        "difficulties": _format_counts(summary.difficulties),
        "pack": benchmark.pack,
        "thresholds": ", ".join(
            f"{name} ≥ {least:g}" for name, least in benchmark.thresholds.items()
        ),
        "content hash": summary.content_hash,
    }
    screen.print(build_table(("", ""), (row for row in rows.items() if row[1])))
    for remark in limit_remarks(benchmark.remarks, _LISTED):
        print_indented(screen, f"note: {remark}", 0, style="yellow")


def _format_size(count: int, spread: Spread, what: str) -> str:
    if not spread.greatest:
        return f"{count:,}"
    if spread.least == spread.greatest:
        return f"{count:,}; {spread.least:,g} {what}"
    return f"{count:,}; {spread.least:,g} to {spread.greatest:,g} {what}, median {spread.median:,g}"


def _format_counts(counts: Mapping[str, int]) -> str:
    shown = [f"{name or '(none)'}: {count:,}" for name, count in list(counts.items())[:_LISTED]]
    more = [f"… {len(counts) - _LISTED} more"] if len(counts) > _LISTED else []
    return ", ".join([*shown, *more])


def _print_example(screen: Console, example: Example) -> None:
    from berryeval._internal.text import pluralize, truncate
    from berryeval.cli.output import print_indented

    query = example.query
    about = ", ".join(word for word in (query.category, query.difficulty) if word)
    screen.print(f"query {query.id}{f' ({about})' if about else ''}", style="bold")
    print_indented(screen, query.text, 2)
    for name, value in example.labels.items():
        print_indented(screen, f"{name}: {value}", 2)
    if not example.targets:
        print_indented(screen, "no judgments", 2, style="dim")
    for target in example.targets[:_TARGETS]:
        screen.print()
        places = f" (at {len(target.texts)} places)" if len(target.texts) > 1 else ""
        print_indented(screen, f"grade {target.grade:g}: {target.name}{places}", 2, style="cyan")
        text = (
            truncate(target.texts[0], _PASSAGE) if target.texts else "(not found in the document)"
        )
        print_indented(screen, text, 4)
    if len(example.targets) > _TARGETS:
        screen.print()
        screen.print(f"  … and {pluralize(len(example.targets) - _TARGETS, 'more target')}")
