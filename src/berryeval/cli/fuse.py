"""`berryeval fuse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval._internal import numbers
from berryeval._internal.text import pluralize
from berryeval.cli.flags import STDOUT, Depth, File, Flag, Metrics, Output, Several

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.scoring import Scores
    from berryeval.workflows import FusedFiles, OptimizedFusion


def fuse(  # noqa: PLR0913 - the options of the command
    *runs: File,
    method: str | None = None,
    norm: str = "min-max",
    weights: Several = None,
    parameters: Several = None,
    qrels: str | None = None,
    metrics: Metrics = None,
    optimize: str | None = None,
    folds: int = 5,
    seed: int = 0,
    k: Depth = None,
    output: Output = None,
    json: Flag = False,
) -> None:
    """Fuse the rankings of two or more runs into one run.

    Files are those of score: TREC, BEIR, MS MARCO, JSON, CSV, Parquet, also compressed. Without
    --output, the fused run is printed in the format of TREC. With --optimize, weights and
    parameters are chosen by cross-validation over the queries, and a table shows the score on
    queries that were held out, beside the score on those that were seen and the best single run.

    Args:
        runs: Ranked documents of each system; - for stdin.
        method: Method: rrf (default), wsum (default with --optimize), mnz, condorcet, ...; see
            docs/fusion.md.
        norm: Normalization of scores: min-max, max, sum, zmuv, rank, borda, min-max-inverted, none.
        weights: Weight of each run: --weights 0.7 0.3.
        parameters: Parameters of the method: --parameters k=30.
        qrels: Judgments, to score the runs and the fused one by; trained methods (bayesfuse,
            mapfuse, posfuse, probfuse, segfuse, slidefuse) and --optimize learn from them.
        metrics: Metrics of the scores by --qrels (default: nDCG@10).
        optimize: Metric to optimize: --optimize nDCG@10.
        folds: Number of folds of the cross-validation.
        seed: Random seed of the folds.
        k: Number of documents to keep per query.
        output: File to write: TREC, or .json or .parquet.
        json: JSON output: settings and scores, not the run.
    """
    from berryeval.cli.logs import error_screen
    from berryeval.cli.output import console, print_document, print_json
    from berryeval.workflows import fuse_files, read_pairs

    path = None if output == STDOUT else output
    found = fuse_files(
        runs, method=method, norm=norm, weights=weights or (),
        parameters=read_pairs(parameters or [], "--parameters"), qrels=qrels,
        metrics=metrics or (), optimize=optimize, folds=folds, seed=seed, depth=k, output=path,
    )  # fmt: skip
    if json:
        print_json("fuse", _summarize(found, path))
    elif found.optimized is not None:
        _print_table(console(), found.optimized)
    elif found.scores:
        _print_scores(error_screen() if path is None else console(), found)
    if path is None and not json and (found.optimized is None or output == STDOUT):
        for lines in found.lines():
            print_document(lines)
    elif path is not None and not json:
        queries = pluralize(len(found.run), "query")
        documents = pluralize(len(found.run.table.values), "document")
        console().print(f"wrote {path}: {queries}, {documents}")


def _summarize(found: FusedFiles, path: str | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "runs": list(found.sources),
        "settings": dict(found.settings),
        "queries": len(found.run),
        "documents": len(found.run.table.values),
        "output": path,
    }
    if found.optimized is not None:
        data["optimized"] = found.optimized.to_dict()
    if found.scores:
        means = [dict(one.mean) for one in found.scores]
        data["scores"] = {
            "fused": means[0],
            "runs": dict(zip(found.sources, means[1:], strict=True)),
        }
    return data


def _print_scores(screen: Console, found: FusedFiles) -> None:
    """Print the scores of the fused run, then those of the runs."""
    from berryeval.cli.output import build_table

    metrics = found.scores[0].metrics
    head = ("", *metrics, "n")
    names = [f"{found.settings['method']}, fused", *found.sources]
    rows = [
        [
            name,
            *(numbers.format_exact_metric(one.mean[metric]) for metric in metrics),
            str(one.count),
        ]
        for name, one in zip(names, found.scores, strict=True)
    ]
    screen.print(build_table(head, rows, right=head[1:]))


def _print_table(screen: Console, found: OptimizedFusion) -> None:
    from berryeval.cli.output import build_table

    metric, model = found.metric, found.model
    head = ("", metric, "95% bootstrap", "n")
    rows = [
        _build_row(f"{model.method}, held out", found.held_out, metric),
        _build_row(f"{model.method}, training (optimistic)", found.training, metric),
        _build_row(f"best single run: {found.best}", found.singles[found.best], metric),
    ]
    screen.print(build_table(head, rows, right=head[1:]))
    screen.print()
    screen.print(found.comparison.sentence)
    chosen = [f"{name} {value:g}" for name, value in model.parameters.items()]
    if model.weights:
        chosen.append(f"weights {' '.join(f'{weight:g}' for weight in model.weights)}")
    screen.print(
        f"chosen on all queries from {pluralize(found.tried, 'model')}: "
        f"{', '.join(chosen) or 'nothing to choose'}"
    )


def _build_row(name: str, scores: Scores, metric: str) -> list[str]:
    return [
        name,
        numbers.format_exact_metric(scores.mean[metric]),
        numbers.format_exact_interval(*scores.ci(metric), scores.count),
        str(scores.count),
    ]
