"""`optimize_fusion`: parameters and weights by cross-validation over queries."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from berryeval._internal import backend as _backend
from berryeval._internal.aggregates import aggregate
from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number, is_whole, require, require_whole
from berryeval.data import DEFAULT_RULE, Qrels, QueryTable, Run
from berryeval.errors import ConfigurationError, DataError
from berryeval.fusion import (
    FusionModel,
    check_scores,
    count_weights,
    find_method,
    find_queries,
    find_relevant,
    fuse_tables,
    list_weights,
    load_runs,
)
from berryeval.metrics import Metric, native_spec, request_metrics
from berryeval.scoring import Scores, evaluate, reject_spans, score_tables
from berryeval.stats import compare

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.fusion import RelevantRanks
    from berryeval.stats import PairedDifference

Values = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.bool_]

_BATCH: Final = 64  # models scored by one call, which reads the runs once
_MOST: Final = 5_000  # models of a grid
_EQUAL: Final = 1e-12  # relative to the best value
_HELD_OUT: Final = "held out"


@dataclass(frozen=True)
class Fold:
    """The model that was fitted without the queries of a fold.

    Attributes:
        model: The model.
        queries: Queries of the fold, which the model scores.
        training: Score on the other queries, on which the model was chosen.
        held_out: Score on the queries of the fold.
    """

    model: FusionModel
    queries: tuple[str, ...]
    training: float
    held_out: float


@dataclass(frozen=True)
class OptimizedFusion:
    """The result of `optimize_fusion`.

    Attributes:
        model: Model fitted on all queries; `berryeval.fuse(runs, model)` uses it.
        metric: Metric that was optimized.
        held_out: Scores of each query by the model that was fitted without its fold: an honest
            estimate for new queries.
        training: Scores of `model` on the queries on which it was chosen: optimistic.
        singles: Scores of each run by itself.
        best: Name of the run with the best score by itself.
        comparison: Difference between `held_out` and the best run, with interval and test. The best
            run is chosen on all queries, in its own favor.
        folds: Models of the folds.
        tried: Number of models that were tried on each fold.
    """

    model: FusionModel
    metric: str
    held_out: Scores
    training: Scores
    singles: Mapping[str, Scores]
    best: str
    comparison: PairedDifference
    folds: tuple[Fold, ...]
    tried: int

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data, with the value of each query."""
        return {
            "model": self.model.to_dict(),
            "metric": self.metric,
            "held_out": self.held_out.mean[self.metric],
            "training": self.training.mean[self.metric],
            "runs": {name: scores.mean[self.metric] for name, scores in self.singles.items()},
            "best_run": self.best,
            "comparison": self.comparison.to_dict(),
            "tried": self.tried,
            "folds": [
                {
                    "weights": list(fold.model.weights),
                    "parameters": dict(fold.model.parameters),
                    "queries": len(fold.queries),
                    "training": fold.training,
                    "held_out": fold.held_out,
                }
                for fold in self.folds
            ],
            "per_query": self.held_out.per_query(self.metric),
        }


class Fitted(NamedTuple):
    """The best model of some queries, its values on all, and its score on those queries."""

    model: FusionModel
    values: Values
    score: float


@dataclass(frozen=True)
class Search:
    """Everything that is the same for all models.

    Attributes:
        judgments: Judgments.
        runs: Runs to fuse.
        places: Place of each judged query in each run.
        metric: Metric to optimize.
        ranks: Relevant documents of each run, for a trained method.
    """

    judgments: Qrels
    runs: Sequence[Run]
    places: npt.NDArray[np.int64]
    metric: Metric
    ranks: Sequence[RelevantRanks]

    @property
    def tables(self) -> list[QueryTable]:
        """Tables of the runs."""
        return [run.table for run in self.runs]

    def train(self, models: Sequence[FusionModel], chosen: Chosen) -> list[FusionModel]:
        """Train the models on the chosen queries, if their method is trained."""
        if not self.ranks:
            return list(models)
        ranks = [found.select(chosen) for found in self.ranks]
        for run, found in zip(self.runs, ranks, strict=True):
            if not (found.lengths > 0).any():
                raise DataError(
                    f"the run {run.name!r} has no judged query in {len(chosen)} queries without "
                    f"one fold, so {models[0].method} cannot be trained; use fewer folds"
                )
        return [model.train(ranks) for model in models]

    def score(self, models: Sequence[FusionModel]) -> Values:
        """Score models on all judged queries: one row per model."""
        parts = [
            self._score_batch(models[start : start + _BATCH])
            for start in range(0, len(models), _BATCH)
        ]
        return np.concatenate(parts)

    def prepare(self, models: Sequence[FusionModel], how: str) -> Callable[[Chosen], Fitted]:
        """Return a function that fits the models on the chosen queries and returns the best.

        Models that are not trained are the same for all folds, and are scored once.
        """
        scored = None if self.ranks else self.score(models)

        def fit(chosen: Chosen) -> Fitted:
            candidates = self.train(models, chosen)
            values = self.score(candidates) if scored is None else scored
            best = choose_model(values[:, chosen], how, self.metric.definition.better)
            score = aggregate(how, values[best][chosen])
            return Fitted(candidates[best], values[best], score)

        return fit

    def find_best(self, singles: Mapping[str, Scores]) -> str:
        """Return the name of the run with the best score by itself."""
        choose = min if self.metric.definition.better == "lower" else max
        return choose(singles, key=lambda name: singles[name].mean[str(self.metric)])

    def _score_batch(self, models: Sequence[FusionModel]) -> Values:
        tables, qrels = self.tables, self.judgments.flat
        recipes = [model.build(tables) for model in models]
        if _backend.native is None or not self.metric.definition.native:
            rows = []
            for recipe in recipes:
                table = fuse_tables(tables, qrels.queries, self.places, recipe)
                found = score_tables(self.judgments, Run(table), [self.metric], DEFAULT_RULE)
                rows.append(found.values[0])
            return np.stack(rows)
        out = np.zeros((len(models), len(qrels.queries)), dtype=np.float64)
        repeated = _backend.native.score_fusions(
            qrels.arrays, [table.arrays for table in tables], self.places,
            [recipe.arrays for recipe in recipes], native_spec(self.metric), out,
            _backend.thread_count(),
        )  # fmt: skip
        if repeated is not None:
            run, row = repeated
            raise [*tables, qrels][run].repeated_error(row)
        return out


def optimize_fusion(
    qrels: Qrels | Mapping[str, Mapping[str, float]] | PathLike | Any,
    runs: Sequence[Run | Mapping[str, Mapping[str, float]] | PathLike | Any],
    metric: str | Metric,
    method: str = "wsum",
    norm: str | None = "min-max",
    *,
    folds: int = 5,
    seed: int = 0,
    step: float = 0.1,
    weights: Sequence[float] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    **parameters: float,
) -> OptimizedFusion:
    """Choose the parameters of a fusion, and estimate its score on new queries.

    The judged queries are split into folds. For each fold, the parameters (and the numbers of a
    trained method) are fitted on the other folds and score the queries of this one, so that no
    query is scored by parameters that saw it. The model that is returned is fitted on all queries.
    Of models with equal scores, the first of the grid wins; it begins with the defaults and with
    the most even weights.

    Args:
        qrels: Judgments, or an argument of `Qrels.load`. Every judged query counts.
        runs: Two or more runs, or arguments of `Run.load`.
        metric: Metric to optimize.
        method: Name in `berryeval.fusion.METHODS`.
        norm: Normalization of scores in each ranking.
        folds: Number of folds.
        seed: Random seed of the folds.
        step: Step between weights, which add up to 1.
        weights: Weight of each run, if they are not to be chosen.
        grid: Values to try by parameter, or for "weights", instead of the method's own.
        parameters: Parameters that are not to be chosen.
    """
    base = FusionModel(
        method,
        "none" if norm is None else norm,
        () if weights is None else weights,  # type: ignore[arg-type] # checked by the model
        parameters,
    )
    loaded = _name_apart(load_runs(runs))
    models = build_grid(base, len(loaded), set(parameters), grid or {}, step)
    requested = request_metrics([metric], "berryeval")
    reject_spans(requested.metrics)
    judgments = Qrels.load(qrels)
    search = _begin(base, judgments, loaded, requested.metrics[0])
    ids = judgments.flat.queries.to_bytes_list()
    folds_of = split_queries(ids, folds, seed)
    fit = search.prepare(models, requested.aggregates[0])
    held_out = np.zeros(len(ids))
    found = []
    for fold in range(folds):
        inside = folds_of == fold
        fitted = fit(~inside)
        held_out[inside] = fitted.values[inside]
        queries = tuple(ids[place].decode() for place in np.flatnonzero(inside))
        score = aggregate(requested.aggregates[0], fitted.values[inside])
        found.append(Fold(fitted.model, queries, fitted.score, score))
    model = fit(np.ones(len(ids), dtype=np.bool_)).model
    training = evaluate(judgments, model.fuse(loaded), [metric])
    place_of = {query: place for place, query in enumerate(ids)}
    order = [place_of[query.encode()] for query in training.queries]
    honest = replace(training, values=held_out[order][None, :], run_name=f"{method}, {_HELD_OUT}")
    singles = {run.name: evaluate(judgments, run, [metric]) for run in loaded}
    best = search.find_best(singles)
    systems = {best: singles[best], honest.run_name: honest}
    return OptimizedFusion(
        model=model,
        metric=str(search.metric),
        held_out=honest,
        training=training,
        singles=singles,
        best=best,
        comparison=compare(systems, baseline=best, seed=seed).rows[0],
        folds=tuple(found),
        tried=len(models),
    )


def _begin(base: FusionModel, judgments: Qrels, runs: Sequence[Run], metric: Metric) -> Search:
    tables = [run.table for run in runs]
    qrels = judgments.flat
    places = find_queries(qrels.queries.to_bytes_list(), tables)
    if not (places >= 0).any():
        raise DataError("no query of the runs is judged, so there is nothing to optimize")
    method = find_method(base.method)
    trained = base.train([]) if method.train is None else None
    ranks = []
    if trained is None:
        level = metric.params.get("rel", 1.0)
        rel = level if is_number(level) else 1.0
        ranks = [find_relevant(base, qrels, run, rel) for run in runs]
    else:
        check_scores(runs, tables, trained.build(tables))
    return Search(judgments, runs, places, metric, ranks)


def _name_apart(runs: Sequence[Run]) -> list[Run]:
    """Number the runs if two names are equal."""
    names = [run.name for run in runs]
    if len({*names}) == len(names):
        return list(runs)
    return [run.named(f"{run.name} {place}") for place, run in enumerate(runs, start=1)]


def build_grid(
    base: FusionModel,
    runs: int,
    fixed: set[str],
    given: Mapping[str, Sequence[Any]],
    step: float = 0.1,
) -> list[FusionModel]:
    """Build the models to try, the simplest first: defaults, and the most even weights."""
    method = find_method(base.method)
    known = [*method.parameters, *(["weights"] if method.weighting != "no" else [])]
    for name, values in given.items():
        require(name in known, "the grid", f"over {', '.join(known) or 'nothing'}", name)
        listed = isinstance(values, Sequence) and not isinstance(values, str) and len(values)
        require(listed, f"the grid of {name}", "a list of values to try", values)
    axes: dict[str, list[Any]] = {}
    for name, parameter in method.parameters.items():
        if name not in fixed or name in given:
            values = given.get(name, [parameter.default, *parameter.grid])
            axes[name] = list(dict.fromkeys(values))
    if "weights" in given:
        axes["weights"] = list(given["weights"])
    elif method.weighting != "no" and not base.weights and base.method != "rrf":
        _check_count(base.method, count_weights(runs, step))
        axes["weights"] = list_weights(runs, step, even_first=True)
    _check_count(base.method, math.prod(map(len, axes.values())))
    return [
        replace(
            base,
            weights=point.pop("weights", base.weights),
            parameters={**base.parameters, **point},
        )
        for values in itertools.product(*axes.values())
        for point in [dict(zip(axes, values, strict=True))]
    ]


def _check_count(method: str, count: int) -> None:
    """Reject a grid that is too large, before it is built."""
    if count > _MOST:
        raise ConfigurationError(
            f"{method} has {count} models to try, more than {_MOST}; choose fewer runs, "
            "a larger step between weights, or a grid of your own"
        )


def split_queries(ids: Sequence[bytes], folds: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the fold of each query: a random split that does not depend on their order."""
    require_whole("folds", folds, 2)
    require(is_whole(seed), "seed", "a whole number", seed)
    if len(ids) < folds:
        raise ConfigurationError(
            f"{pluralize(len(ids), 'judged query')} cannot be split into {folds} folds; "
            + ("use fewer folds, at least 2" if len(ids) > 1 else "judge more queries")
        )
    order = sorted(range(len(ids)), key=ids.__getitem__)
    random.Random(seed).shuffle(order)  # noqa: S311 - a sample, not a secret
    found = np.zeros(len(ids), dtype=np.int64)
    found[order] = np.arange(len(ids)) % folds
    return found


def choose_model(values: Values, how: str, better: str) -> int:
    """Return the first row whose aggregate is the best, up to rounding."""
    sign = -1.0 if better == "lower" else 1.0
    scores = np.array([sign * aggregate(how, row) for row in values])
    best = scores.max()
    return int(np.argmax(scores >= best - _EQUAL * abs(best)))
