"""`berryeval compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from berryeval.cli.to_stdout import STDOUT, Output, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.pipeline.comparing import Options
    from berryeval.reports import Report

Flag = Annotated[bool, Parameter(negative="")]


def compare(  # noqa: PLR0913 - the options of the command
    *runs: str,
    baseline: str | None = None,
    metrics: Annotated[
        list[str] | None,
        Parameter(name=["--metrics", "--measures", "-m"], consume_multiple=True, negative=""),
    ] = None,
    test: str = "randomization",
    correction: str = "holm",
    interval: Literal["t", "bca", "percentile"] = "t",
    level: float = 0.95,
    seed: int = 0,
    by: str | None = None,
    moved: int = 3,
    benchmark: str | None = None,
    anyway: Flag = False,
    qrels: str | None = None,
    output: Output = None,
    format: Annotated[str | None, Parameter(name=["--format", "-f"])] = None,  # noqa: A002 - its name
    title: str = "",
    json: Flag = False,
) -> None:
    """Compare runs, or the providers of one run: is the difference real, how large, and where?

    One run compares its providers. Several compare what they have in common, old against new;
    RUN#PROVIDER names one provider of a run.

    Examples: berryeval compare latest --baseline bm25, or berryeval compare OLD NEW -m nDCG@10 AP

    Args:
        runs: Folders, run.json files or names of runs, latest; RUN#PROVIDER for one provider. With
            --qrels: files of rankings, as `berryeval score` reads them.
        baseline: What all others are compared with: a run or system by its name; the first unless
            given. `all` compares every pair.
        metrics: What to compare: -m nDCG@10 AP; without, what all runs were asked for.
        test: randomization, t, wilcoxon, sign or bootstrap.
        correction: For several comparisons: holm, bonferroni, benjamini-hochberg, tukey, none.
        interval: Of the difference: t, bca or percentile.
        level: Of confidence.
        seed: Of the random samples.
        by: Compare groups of queries too: category, difficulty, or a name of their metadata.
        moved: How many of the queries that changed most are explained.
        benchmark: Only this one of several.
        anyway: Compare runs on different data of a benchmark, by the queries that they share.
        qrels: Judgments; the runs are then files of rankings.
        output: Write a report to this file or folder, too (.md .tex .json .csv .html); - prints
            the report instead.
        format: Of the report: a name of `berryeval list exporters`. Without --output, a format of
            one text (markdown, latex, ...) is printed.
        title: Of the report.
        json: Print JSON, in full precision.
    """
    from berryeval.measures.listing import split_names
    from berryeval.pipeline.comparing import Options

    _check(runs, output, format)
    options = Options(
        baseline=baseline,
        measures=split_names(metrics or []) or None,
        test=test,
        correction=correction,
        interval=interval,
        level=level,
        seed=seed,
        by=by,
        moved=moved,
        benchmark=benchmark,
        anyway=anyway,
    )
    made = _compared(runs, options, qrels, title)
    printed = _printed(made, output, format)
    files = _written(made, output, format) if printed is None else []
    if json:
        _print_json(made, files, printed)
        return
    from berryeval.cli.compare_output import print_comparisons
    from berryeval.cli.output import console, print_document

    if printed is not None:
        print_document(printed)
        return
    screen = console()
    print_comparisons(screen, made)
    for path in files:
        screen.print(f"written: {path}")


def _check(runs: Sequence[str], output: str | None, wanted: str | None) -> None:
    from berryeval.errors import ConfigurationError
    from berryeval.reports.table import EXPORTERS

    problem = ""
    if not runs:
        problem = "no run to compare; give two runs, or one with several providers, or latest"
    elif wanted and output is None and EXPORTERS.get(wanted).home != "stdout":
        problem = f"--format {wanted} needs --output FILE, which says where the report goes"
    if problem:
        raise ConfigurationError(problem)


def _compared(runs: Sequence[str], options: Options, qrels: str | None, title: str) -> Report:
    from berryeval.pipeline.comparing import compared
    from berryeval.pipeline.systems import Source

    if qrels is None:
        return compared([Source.named(run) for run in runs], options, title)
    from berryeval.pipeline.run_files import sources_of

    return compared(sources_of(runs, qrels, options.measures), options, title)


def _printed(made: Report, output: str | None, wanted: str | None) -> str | None:
    """The report as a text for stdout; None if it goes to files, or is not asked for."""
    if output == STDOUT or (output is None and wanted):
        return text_of(made, wanted or "markdown")
    return None


def _written(made: Report, output: str | None, wanted: str | None) -> list[str]:
    if output is None:
        return []
    from berryeval.reports.table import format_of
    from berryeval.reports.write import is_folder, write_in_format

    name = wanted or ("markdown" if is_folder(output) else format_of(output))
    return [str(path) for path in write_in_format(made, name, output)]


def _print_json(made: Report, files: Sequence[str], text: str | None) -> None:
    from berryeval.cli.output import print_json

    data: dict[str, Any] = {
        "title": made.title,
        "runs": [run.id for run in made.runs],
        "compared": [one.to_json() for one in made.compared],
        "files": list(files),
        **({} if text is None else {"text": text}),
    }
    print_json("compare", data)
