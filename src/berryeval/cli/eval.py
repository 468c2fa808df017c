"""`berryeval eval`."""

from __future__ import annotations

from typing import Annotated, Final

from cyclopts import Parameter

WORST: Final = 3  # queries, where nobody says how many

Flag = Annotated[bool, Parameter(negative="")]
Several = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Measures = Annotated[
    list[str] | None,
    Parameter(name=["--metrics", "--measures", "-m"], consume_multiple=True, negative=""),
]


def evaluate(  # noqa: PLR0913 - the options of the command
    *,
    benchmarks: Several = None,
    providers: Several = None,
    metrics: Measures = None,
    k: int | None = None,
    limit: int | None = None,
    filter: Several = None,  # noqa: A002 - its name
    seed: int | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
    batch: int | None = None,
    config: str | None = None,
    output: str | None = None,
    resume: str | None = None,
    store: str | None = None,
    retry_errors: Flag = False,
    by: str | None = None,
    where_it_fails: Annotated[
        list[int] | None, Parameter(consume_multiple=(0, 1), negative="")
    ] = None,
    fail_below: Several = None,
    baseline: str | None = None,
    max_drop: Several = None,
    strict: Flag = False,
    export: Several = None,
    baseline_doc: str | None = None,
    json: Flag = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative="")] = False,
) -> int:
    """Run providers on benchmarks, score what they return, and print the table.

    Settings come from flags, then BERRYEVAL_* variables, then berryeval.yaml.

    Example: berryeval eval --benchmarks technical-docs --providers bm25 hybrid bm25:fixed-400

    Args:
        benchmarks: Bundled benchmarks, or files or folders in any format that can be loaded.
        providers: What is compared: a name, or a name and a chunker, as bm25:fixed-400. These too
            may have commas between them.
        metrics: What to compute: --metrics nDCG@10 AP, --metrics nDCG@10,AP, or repeated.
        k: How many hits every provider is asked for; 20, or the largest cutoff of the measures.
        limit: Ask only the first so many queries.
        filter: Ask only some queries: --filter category=factual difficulty=hard.
        seed: Of everything that is drawn by chance.
        concurrency: How many queries are asked at once (4).
        timeout: Seconds an attempt may take (30).
        batch: Ask so many queries in one call, where a provider takes several (1).
        config: The configuration file; ./berryeval.yaml if there is one.
        output: The folder of the run; a new one below .berryeval/runs unless given.
        resume: Go on with the run of this folder; the plan is taken from there.
        store: Where the run is remembered: a path, the URL of a PostgreSQL, or none.
        retry_errors: With --resume: ask queries again that failed.
        by: Show groups of queries too: category, difficulty, or a name of their metadata.
        where_it_fails: Show the worst queries of every provider (3, or as many as you say).
        fail_below: Exit with 1 if a provider is below: --fail-below recall@10=0.80.
        baseline: What drops are measured against: a file of `berryeval baseline set`, or a run.
            Without a rule about drops, any significant fall of a measure fails.
        max_drop: Exit with 1 if a measure fell for real: --max-drop nDCG@10=0.01.
        strict: Exit with 1 where a rule cannot be decided.
        export: What to write besides (csv html): --export csv markdown junit, --export none.
        baseline_doc: Write the measured baseline to this Markdown file.
        json: Print JSON, in full precision.
        quiet: Print nothing but the tables and errors: no warnings, notes or progress.
        verbose: Show the log, a line per query.
    """
    from berryeval.cli.eval_command import Asked, Shown, run_eval

    asked = Asked(
        settings={
            "benchmarks": benchmarks, "providers": providers, "measures": metrics, "k": k,
            "limit": limit, "filter": filter, "seed": seed, "thresholds": fail_below,
            "concurrency": concurrency, "timeout": timeout, "batch": batch,
            "export": export,
        },
        config=config,
        output=output,
        resume=resume,
        store=store,
        retry_errors=retry_errors,
        baseline=baseline,
        max_drop=max_drop,
    )  # fmt: skip
    worst = None if where_it_fails is None else (where_it_fails or [WORST])[0]
    shown = Shown(by, worst, baseline_doc, strict=strict, json=json, quiet=quiet, verbose=verbose)
    return run_eval(asked, shown)
