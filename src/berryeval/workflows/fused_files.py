"""Fuse files of rankings, with settings from the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import STDIN, display_name, plain_suffix
from berryeval._internal.validate import is_number, reject_unknown, require, require_whole
from berryeval.data import Run, format_trec
from berryeval.errors import ConfigurationError, DataError
from berryeval.fusion import find_method, fuse, load_runs
from berryeval.metrics import split_names
from berryeval.scoring import as_qrels, evaluate
from berryeval.workflows.fusion_search import OptimizedFusion, optimize_fusion

if TYPE_CHECKING:
    from berryeval.data import Qrels
    from berryeval.fusion import FusionModel
    from berryeval.scoring import Scores

_METRIC: Final = "nDCG@10"  # unless others are named
_OPTIMIZED: Final = "wsum"  # the default method where there is a metric to optimize
_DEFAULT: Final = "rrf"


@dataclass(frozen=True)
class FusedFiles:
    """A fused run, and how its parameters were chosen if they were.

    `scores` are those of the fused run and then of each run, where there are judgments.
    """

    run: Run
    sources: tuple[str, ...]
    settings: Mapping[str, Any]
    optimized: OptimizedFusion | None = None
    scores: tuple[Scores, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the run in the format of TREC, query by query."""
        return format_trec(self.run.table, "run", self.run.name)


def fuse_files(  # noqa: PLR0913 - the options of the command
    runs: Sequence[str],
    *,
    method: str | None = None,
    norm: str = "min-max",
    weights: Sequence[str] = (),
    parameters: Mapping[str, str] | None = None,
    qrels: str | None = None,
    metrics: Sequence[str] = (),
    optimize: str | None = None,
    folds: int = 5,
    seed: int = 0,
    depth: int | None = None,
    output: str | None = None,
) -> FusedFiles:
    """Fuse run files, and write the result if there is an output file.

    Args:
        runs: Run files.
        method: Method; by default rrf, or wsum with a metric to optimize.
        norm: Normalization of scores.
        weights: Weight of each run; one text may hold several, separated by commas.
        parameters: Parameters of the method.
        qrels: Judgment file, to score by, to optimize by and for trained methods.
        metrics: Metrics of the scores; by default nDCG@10.
        optimize: Metric to optimize.
        folds: Number of folds.
        seed: Random seed of the folds.
        depth: Number of documents to keep per query.
        output: File to write; its suffix chooses the format.
    """
    if [*runs, qrels].count(STDIN) > 1:
        raise ConfigurationError("only one file can be read from stdin")
    if depth is not None:
        require_whole("k", depth)
    if output is not None:
        _reject_input(output, [*runs, qrels])
    numbers = [_read_number("weights", part) for text in weights for part in text.split(",")]
    given: dict[str, Any] = {
        name: _read_number(name, text) for name, text in (parameters or {}).items()
    }
    loaded = [
        run.named(display_name(path)) for run, path in zip(load_runs(runs), runs, strict=True)
    ]
    chosen = method or (_OPTIMIZED if optimize else _DEFAULT)
    found = find_method(chosen)
    reject_unknown(chosen, given, found.parameters, kind="parameter")
    trained = found.train is not None
    _check_metrics(chosen, metrics, qrels, optimize, trained=trained)
    optimized = None
    scores: tuple[Scores, ...] = ()
    if optimize is None:
        judgments = as_qrels(qrels, lenient=False) if qrels is not None else None
        run = fuse(loaded, chosen, norm, numbers or None, qrels=judgments, depth=depth, **given)
        if judgments is not None and not trained:
            scores = _score(judgments, [run, *loaded], metrics or [_METRIC], qrels)
        settings: dict[str, Any] = {"method": chosen, "norm": norm, "weights": numbers, **given}
    else:
        if qrels is None:
            raise ConfigurationError("--optimize needs judgments: --qrels FILE")
        optimized = optimize_fusion(
            qrels, loaded, optimize, chosen, norm,
            folds=folds, seed=seed, weights=numbers or None, **given,
        )  # fmt: skip
        run = optimized.model.fuse(loaded, depth=depth)
        settings = describe_model(optimized.model)
    if output is not None:
        _write(run, output)
    return FusedFiles(run, tuple(runs), settings, optimized, scores)


def _reject_input(output: str, inputs: Sequence[str | None]) -> None:
    """Reject an output that is one of the files to read."""
    for one in inputs:
        if one is not None and one != STDIN and Path(one).resolve() == Path(output).resolve():
            raise ConfigurationError(
                f"--output {output}: is a file to read; name another file to write"
            )


def _check_metrics(
    method: str, metrics: Sequence[str], qrels: str | None, optimize: str | None, *, trained: bool
) -> None:
    """Reject metrics that nothing would be scored by."""
    problem = ""
    if metrics and qrels is None:
        problem = "--metrics needs judgments: --qrels FILE"
    elif metrics and optimize is not None:
        problem = "--metrics: with --optimize the metric is that of --optimize; leave one out"
    elif metrics and trained:
        problem = (
            f"--metrics: {method} is trained on the same judgments, so its scores would be too "
            "good; --optimize METRIC scores queries that were held out"
        )
    if problem:
        raise ConfigurationError(problem)


def _score(
    judgments: Qrels, runs: Sequence[Run], metrics: Sequence[str], source: str | None
) -> tuple[Scores, ...]:
    """Score runs, the fused one first; judgments of other queries are an error."""
    scores = tuple(evaluate(judgments, run, split_names(metrics)) for run in runs)
    if scores[0].shares_no_query or not scores[0].count:
        raise DataError(f"{source}: judges no query of the runs, so there is nothing to score")
    return scores


def describe_model(model: FusionModel) -> dict[str, Any]:
    """Return the settings of a model that a user can choose."""
    return {
        "method": model.method,
        "norm": model.norm,
        "weights": list(model.weights),
        **model.parameters,
    }


def _read_number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    require(is_number(number), name, "a number", text)
    return int(number) if number.is_integer() else number


def _write(run: Run, path: str) -> None:
    writers = {".json": run.to_json, ".parquet": run.to_parquet, ".pq": run.to_parquet}
    writers.get(plain_suffix(path), run.to_trec)(path)
