"""`fuse` and `optimize_fusion` of ranx, and its functions of fusion.

Equal scores are ranked by document id, highest first, where ranx leaves their order to chance.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal.validate import suggest
from berryeval.compat.ranx.comparison_report import OptimizationReport
from berryeval.compat.ranx.data_structures import Qrels, Run
from berryeval.compat.ranx.metrics import Floats, read_name, score_columns
from berryeval.compat.ranx.normalization import find_norm
from berryeval.compat.ranx.ranx_files import RejectedInputError
from berryeval.errors import ConfigurationError
from berryeval.fusion import FusionModel, find_relevant, list_weights

Params: TypeAlias = dict[str, Any]

# The function of each method, and the arguments that it needs; a value is a default.
_METHODS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "min": ("comb_min", {}),
    "max": ("comb_max", {}),
    "med": ("comb_med", {}),
    "sum": ("comb_sum", {}),
    "anz": ("comb_anz", {}),
    "mnz": ("comb_mnz", {}),
    "gmnz": ("comb_gmnz", {"gamma": None}),
    "isr": ("isr", {}),
    "log_isr": ("log_isr", {}),
    "logn_isr": ("logn_isr", {"sigma": 0.01}),
    "bordafuse": ("bordafuse", {}),
    "w_bordafuse": ("weighted_bordafuse", {"weights": None}),
    "condorcet": ("condorcet", {}),
    "w_condorcet": ("weighted_condorcet", {"weights": None}),
    "bayesfuse": ("bayesfuse", {"log_odds": None}),
    "mapfuse": ("mapfuse", {"map_scores": None}),
    "posfuse": ("posfuse", {"probs": None}),
    "probfuse": ("probfuse", {"probs": None}),
    "segfuse": ("segfuse", {"probs": None}),
    "slidefuse": ("slidefuse", {"probs": None, "w": None}),
    "rbc": ("rbc", {"phi": None}),
    "rrf": ("rrf", {"k": 60}),
    "mixed": ("mixed", {"weights": None}),
    "wmnz": ("wmnz", {"weights": None}),
    "wsum": ("wsum", {"weights": None}),
}
_TRAINED: Final = ("log_odds", "map_scores", "probs")
_NAMES: Final = {"wsum": "weighted_sum"}  # of a fused run, where it is not that of the function
# The numbers that `optimize_fusion` tries: from, to, step.
_GRIDS: Final[dict[str, tuple[str, float, float, float]]] = {
    "gmnz": ("gamma", 0.01, 1.0, 0.01),
    "logn_isr": ("sigma", 0.01, 1.0, 0.01),
    "rbc": ("phi", 0.01, 1.0, 0.01),
    "rrf": ("k", 10, 100, 10),
    "probfuse": ("n_segments", 1, 100, 1),
    "slidefuse": ("w", 1, 100, 1),
}


def _build_model(method: str, norm: str | None, params: Params) -> FusionModel:
    """Translate the arguments of a method."""
    numbers = dict(params)
    weights = tuple(numbers.pop("weights", ()))
    parts = next((numbers.pop(name) for name in _TRAINED if name in numbers), ())
    trained = tuple(tuple(np.atleast_1d(part).tolist()) for part in parts)
    if "w" in numbers:
        numbers["window"] = numbers.pop("w")
    if method == "probfuse" and trained:
        numbers["segments"] = len(trained[0])
    return FusionModel(method, norm or "none", weights, numbers, trained, profile="ranx")


def _bind(method: str, given: Sequence[Any], named: Mapping[str, Any]) -> Params:
    """Match arguments with the names that a method takes, as a function call does."""
    needed = _find_method(method)[1]
    names = [*needed, "name"]
    if len(given) > len(names):
        raise TypeError(f"{method} takes {', '.join(names)}; found {len(given)} arguments")
    params = {**needed, **dict(zip(names, given, strict=False)), **named}
    for name, value in params.items():
        if name not in names:
            raise TypeError(f"{method} has no argument {name!r}; {suggest(name, names)}")
        if value is None and name in needed:
            how = "; optimize_fusion finds a value" if method in {*_GRIDS, *_TRAINABLE} else ""
            raise TypeError(f"{method} needs the argument {name!r}{how}")
    return params


_TRAINABLE: Final = ("bayesfuse", "mapfuse", "posfuse", "segfuse")
_WEIGHTED: Final = tuple(name for name, (_, needed) in _METHODS.items() if "weights" in needed)


def _find_method(method: str) -> tuple[str, dict[str, Any]]:
    if method not in _METHODS:
        raise ConfigurationError(
            f"ranx has no fusion method {method!r:.80}; {suggest(str(method), _METHODS)}"
        )
    return _METHODS[method]


def _combine(method: str, norm: str | None, runs: Sequence[Run], params: Params) -> Run:
    called = _find_method(method)[0]
    name = params.get("name") or _NAMES.get(method, called)
    numbers = {key: value for key, value in params.items() if key != "name"}
    model = _build_model(method, norm, numbers)
    fused = model.fuse([run.columns for run in runs], name=name)
    return Run.from_table(fused.table, name)


def fuse(
    runs: Sequence[Run],
    norm: str | None = "min-max",
    method: str = "wsum",
    params: Mapping[str, Any] | None = None,
) -> Run:
    """Fuse runs of the same queries.

    Args:
        runs: Two runs or more.
        norm: Name of a normalization, or None.
        method: Name of a method.
        params: Arguments of the method, as `optimize_fusion` returns them.
    """
    _check_runs(runs)
    return _combine(method, find_norm(norm), runs, _bind(method, (), params or {}))


def _check_runs(runs: Sequence[Run]) -> None:
    if len(runs) < 2:  # noqa: PLR2004 - one run is not fused
        raise RejectedInputError(f"fusion needs two runs or more, found {len(runs)}")
    for place, run in enumerate(runs[1:], start=1):
        if differing := runs[0].keys() ^ run.keys():
            raise RejectedInputError(
                f"runs 0 and {place} have different queries, such as {min(differing)!r:.60}; "
                "make them comparable first, or use berryeval.fuse, which needs no equal queries"
            )


def _train(qrels: Qrels, runs: Sequence[Run], model: FusionModel) -> list[Floats]:
    judged = qrels.columns.table
    ranks = [find_relevant(model, judged, run.columns) for run in runs]
    return [np.array(numbers) for numbers in model.train(ranks).trained]


def optimize_fusion(
    qrels: Qrels,
    runs: Sequence[Run],
    norm: str | None = "min-max",
    method: str = "wsum",
    metric: str = "ndcg",
    return_optimization_report: bool = False,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    **kwargs: Any,
) -> Any:
    """Return the arguments of a method that score best on these judgments; the last best wins.

    The score is that of training: measure the fusion on other queries.

    Args:
        qrels: Judgments.
        runs: Two runs or more, with the same queries.
        norm: Name of a normalization, or None.
        method: Name of a method.
        metric: Name of the metric.
        return_optimization_report: Whether to return also an `OptimizationReport`.
        rounding_digits: Number of decimals in the report.
        show_percentages: Whether the report shows percentages.
        kwargs: `step`, and limits of the numbers to try, such as `min_k` and `max_k` of rrf.
    """
    _find_method(method)
    _check_runs([*runs])
    for place, run in enumerate(runs):
        if differing := qrels.keys() ^ run.keys():
            raise RejectedInputError(
                f"run {place} and the judgments have different queries, such as "
                f"{min(differing)!r:.60}; use run.make_comparable(qrels) first"
            )
    norm = find_norm(norm)
    if method in _TRAINABLE and not return_optimization_report:
        name = next(iter(_METHODS[method][1]))
        numbers = _train(qrels, runs, _build_model(method, norm, {}))
        return {name: [float(one[0]) for one in numbers] if name == "map_scores" else numbers}
    if method not in _GRIDS and method not in _WEIGHTED:
        what = "optimization report" if method in _TRAINABLE else "optimization"
        raise ConfigurationError(f"{method} has no numbers to try, so it supports no {what}")
    best: Params = {}
    highest, results = 0.0, {}
    for config, params in _list_trials(qrels, runs, norm, method, dict(kwargs)):
        score = _score_fusion(qrels, runs, norm, method, params, metric)
        results[config] = score
        if score >= highest:
            highest, best = score, params
    if not return_optimization_report:
        return best
    report = OptimizationReport(
        method, [*results], [*results.values()], metric, rounding_digits, show_percentages
    )
    return best, report


def _score_fusion(
    qrels: Qrels, runs: Sequence[Run], norm: str | None, method: str, params: Params, metric: str
) -> float:
    read_name(metric)
    fused = _combine(method, norm, runs, params)
    return float(np.mean(score_columns(qrels.columns, fused.columns, [metric])[1][metric]))


def _list_trials(
    qrels: Qrels, runs: Sequence[Run], norm: str | None, method: str, options: dict[str, Any]
) -> Iterator[tuple[str, Params]]:
    """Yield each configuration as text and as arguments of the method."""
    options.pop("show_progress", None)
    if method in _WEIGHTED:
        step = options.pop("step", 0.1)
        _reject_options(method, options, ["step"])
        for weights in list_weights(len(runs), step):
            yield str(weights), {"weights": weights}
        return
    name, low, high, step = _GRIDS[method]
    low, high = options.pop(f"min_{name}", low), options.pop(f"max_{name}", high)
    if method not in {"probfuse", "slidefuse"}:
        step = options.pop("step", step)
    _reject_options(method, options, [f"min_{name}", f"max_{name}", "step"])
    probs = None
    if method == "slidefuse":
        probs = _train(qrels, runs, _build_model(method, norm, {}))
    for number in list_numbers(low, high, step):
        if method == "probfuse":
            model = _build_model(method, norm, {"segments": number})
            yield str(number), {"probs": _train(qrels, runs, model)}
        else:
            trained = {} if probs is None else {"probs": probs}
            yield str(number), {**trained, name: number}


def _reject_options(method: str, options: Mapping[str, Any], known: Sequence[str]) -> None:
    for name in options:
        raise TypeError(f"optimization of {method} has no option {name!r}; {suggest(name, known)}")


def list_numbers(low: float, high: float, step: float) -> list[float]:
    """Return the numbers from low to high, without the errors of repeated addition.

    >>> list_numbers(0.1, 0.3, 0.1)
    [0.1, 0.2, 0.3]
    """
    if not step > 0:
        raise ConfigurationError(f"step must be above 0, found {step!r:.80}")
    count = math.floor((high - low) / step + 1e-9) + 1
    digits = max(len(str(number).partition(".")[2]) for number in (low, step))
    return [round(low + place * step, digits) for place in range(count)]


FusionFunction: TypeAlias = Callable[..., Any]


@cache
def fusion_switch(method: str) -> FusionFunction:
    """Return the function of a method by its name."""
    called, needed = _find_method(method)

    def combine(runs: Sequence[Run], *given: Any, **named: Any) -> Run:
        return _combine(method, None, runs, _bind(method, given, named))

    combine.__name__ = combine.__qualname__ = called
    combine.__doc__ = f"Fuse runs by the method `{method}`, without normalization."
    takes = {"runs": None, **needed, "name": _NAMES.get(method, called)}
    combine.__signature__ = inspect.Signature([  # type: ignore[attr-defined] # as `help` shows it
        inspect.Parameter(
            one, inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if default is None else default,
        )
        for one, default in takes.items()
    ])  # fmt: skip
    return combine


def _make_trainer(method: str) -> FusionFunction:
    def train(qrels: Qrels, runs: Sequence[Run]) -> Any:
        found = _train(qrels, runs, _build_model(method, None, {}))
        return [float(one[0]) for one in found] if method == "mapfuse" else found

    train.__name__ = train.__qualname__ = f"{method}_train"
    train.__doc__ = f"Return the numbers of each run that `{method}` needs, from judgments."
    return train


def probfuse_train(qrels: Qrels, runs: Sequence[Run], n_segments: int) -> list[Floats]:
    """Return the numbers of each run that `probfuse` needs, from judgments."""
    return _train(qrels, runs, _build_model("probfuse", None, {"segments": n_segments}))


comb_min: Final = fusion_switch("min")
comb_max: Final = fusion_switch("max")
comb_med: Final = fusion_switch("med")
comb_sum: Final = fusion_switch("sum")
comb_anz: Final = fusion_switch("anz")
comb_mnz: Final = fusion_switch("mnz")
comb_gmnz: Final = fusion_switch("gmnz")
isr: Final = fusion_switch("isr")
log_isr: Final = fusion_switch("log_isr")
logn_isr: Final = fusion_switch("logn_isr")
bordafuse: Final = fusion_switch("bordafuse")
weighted_bordafuse: Final = fusion_switch("w_bordafuse")
condorcet: Final = fusion_switch("condorcet")
weighted_condorcet: Final = fusion_switch("w_condorcet")
bayesfuse: Final = fusion_switch("bayesfuse")
mapfuse: Final = fusion_switch("mapfuse")
posfuse: Final = fusion_switch("posfuse")
probfuse: Final = fusion_switch("probfuse")
segfuse: Final = fusion_switch("segfuse")
slidefuse: Final = fusion_switch("slidefuse")
rbc: Final = fusion_switch("rbc")
rrf: Final = fusion_switch("rrf")
mixed: Final = fusion_switch("mixed")
wmnz: Final = fusion_switch("wmnz")
wsum: Final = fusion_switch("wsum")
bayesfuse_train: Final = _make_trainer("bayesfuse")
mapfuse_train: Final = _make_trainer("mapfuse")
posfuse_train: Final = _make_trainer("posfuse")
segfuse_train: Final = _make_trainer("segfuse")
slidefuse_train: Final = _make_trainer("slidefuse")


def get_candidates(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> list[npt.NDArray[Any]]:
    """Return the documents that any run has found, for each query."""
    return [np.array(sorted(set().union(*(run[query] for run in runs)))) for query in runs[0]]


def get_results(runs: Sequence[Mapping[str, Mapping[str, float]]]) -> list[list[list[str]]]:
    """Return the documents of each run, for each query."""
    return [[list(run[query]) for run in runs] for query in runs[0]]


def _estimate_log_odds(hit_lists: Sequence[Floats], cut_offs: Sequence[int]) -> Floats:
    """Return the log odds of relevance by rank, from the hit lists of `ranx.metrics`."""
    edges = np.array([*cut_offs])
    hits = np.concatenate([np.flatnonzero(one) for one in hit_lists])
    counts, _ = np.histogram(hits, bins=edges - 0.5)
    shares = counts / (np.diff(edges) * len(hit_lists))
    shares[shares == 0] = 0.001
    others = np.where(shares == 1, 0.001, 1 - shares)
    return np.repeat(np.log(shares / others), np.diff(edges))


# In ranx each function has a module of its own, as in `from ranx.fusion.rrf import rrf`.
sys.modules.update({f"{__name__}.{part}": sys.modules[__name__] for part, _ in _METHODS.values()})
