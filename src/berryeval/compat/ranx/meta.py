"""`evaluate`, `compare` and `plot` of ranx."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval import data
from berryeval._internal.optional import import_optional
from berryeval._internal.validate import require_choice
from berryeval.compat.ranx.comparison_report import TEST_LABELS, FrozensetDict, Report
from berryeval.compat.ranx.data_structures import Qrels, Run, table_of, to_arrays
from berryeval.compat.ranx.metrics import (
    interpolated_precision_at_recall,
    score_columns,
    score_lists,
)
from berryeval.compat.ranx.ranx_files import RejectedInputError
from berryeval.errors import ConfigurationError, DataError
from berryeval.stats import paired_test

if TYPE_CHECKING:
    import pandas as pd

    from berryeval.compat.ranx.metrics import Floats, Judged
    from berryeval.scoring import Scores

_OTHER_QUERIES: Final = (
    "the queries of the judgments and of the run differ ({}); pass make_comparable=True to count "
    "missing queries as empty rankings and to leave the others out"
)


def evaluate(
    qrels: Qrels | Mapping[str, Mapping[str, float]] | Judged,
    run: Run | Mapping[str, Mapping[str, float]] | Judged,
    metrics: str | Sequence[str],
    return_mean: bool = True,
    return_std: bool = False,
    threads: int = 0,
    save_results_in_run: bool = True,
    make_comparable: bool = False,
) -> Any:
    """Score a run.

    Args:
        qrels: Judgments: `Qrels`, a dict, or arrays as in `ranx.metrics`.
        run: A run: `Run`, a dict, or arrays.
        metrics: A name or several, as in ranx or in BerryEval.
        return_mean: Whether to return means, or the values of all queries.
        return_std: Whether to return standard deviations beside the means.
        threads: Accepted and ignored.
        save_results_in_run: Whether to keep the values in `run.scores` and `run.mean_scores`.
        make_comparable: Whether to allow different queries; the `Run` is changed to those of the
            judgments.

    Returns:
        For one metric its mean, `{"mean": ..., "std": ...}`, or an array with a value per query,
        sorted by id (in the given order for a dict); for several a dict of these by name.
    """
    names = _list_names(metrics)
    queries, values = _score(qrels, run, names, make_comparable=make_comparable)
    if not queries:
        raise DataError("the judgments have no queries, so there is nothing to score")
    if isinstance(run, Run) and save_results_in_run:
        for name, column in values.items():
            run.mean_scores[name] = np.mean(column)
            if return_mean and return_std:
                run.std_scores[name] = np.std(column)
            run.scores[name].update(zip(queries, column, strict=True))
    found: dict[str, Any] = dict(values)
    if return_mean:
        for name, column in values.items():
            mean = np.mean(column)
            found[name] = {"mean": mean, "std": np.std(column)} if return_std else mean
    return found[names[0]] if len(names) == 1 else found


def _list_names(metrics: str | Sequence[str]) -> list[str]:
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not names:
        raise ConfigurationError("no metric is named; name at least one, as in ndcg@10")
    return names


def _score(
    qrels: Any, run: Any, names: Sequence[str], *, make_comparable: bool
) -> tuple[Sequence[str], dict[str, Floats]]:
    """Return the queries and their values by name of the metric."""
    if not isinstance(qrels, Qrels | Mapping) or not isinstance(run, Run | Mapping):
        scores, values = score_lists(_as_arrays(qrels), _as_arrays(run), names)
        return scores.queries, values
    if make_comparable and isinstance(qrels, Qrels) and isinstance(run, Run):
        run.make_comparable(qrels)
    for table in (qrels, run):
        if isinstance(table, Qrels | Run) and not table.sorted:
            table.sort()
    judged = qrels.columns if isinstance(qrels, Qrels) else data.Qrels(table_of(qrels, "qrels"))
    ranked = run.columns if isinstance(run, Run) else data.Run(table_of(run, "run"))
    scores, values = score_columns(judged, ranked, names)
    if not make_comparable:
        _require_same_queries(scores)
    if isinstance(qrels, Qrels):
        return scores.queries, values
    place_of = {query: place for place, query in enumerate(scores.queries)}
    order = np.array([place_of[query] for query in qrels], dtype=np.intp)
    return list(qrels), {name: column[order] for name, column in values.items()}


def _as_arrays(source: Any) -> Any:
    """Return arrays in the order of the queries, to pair them with other arrays."""
    if isinstance(source, Mapping):
        return to_arrays(source.values())
    return source.to_typed_list() if isinstance(source, Qrels | Run) else source


def _require_same_queries(scores: Scores) -> None:
    missing = [
        query
        for query, outcome in zip(scores.queries, scores.outcomes, strict=True)
        if outcome == "missing"
    ]
    if missing or scores.extra_queries:
        found = [f"{missing[0]!r:.60} is missing from the run"] if missing else []
        if scores.extra_queries:
            found.append(f"{scores.extra_queries[0]!r:.60} is not judged")
        raise RejectedInputError(_OTHER_QUERIES.format(", ".join(found)))


def compare(
    qrels: Qrels,
    runs: Sequence[Run],
    metrics: str | Sequence[str],
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
) -> Report:
    """Score several runs, and test which of them differ.

    Args:
        qrels: Judgments.
        runs: Runs with different names; a run without a name is called run_1, run_2 and so on.
        metrics: A name or several.
        stat_test: "student", "fisher" or "tukey".
        n_permutations: Number of random samples of "fisher".
        max_p: Highest p-value of a significant difference.
        random_seed: Random seed of "fisher".
        threads: Accepted and ignored.
        rounding_digits: Number of decimals in tables.
        show_percentages: Whether tables show percentages.
        make_comparable: See `evaluate`.
    """
    require_choice("stat_test", stat_test, TEST_LABELS)
    names = _list_names(metrics)
    models = _name_models(runs)
    values: dict[str, dict[str, Floats]] = {}
    for model, run in zip(models, runs, strict=True):
        found = evaluate(qrels, run, names, return_mean=False, make_comparable=make_comparable)
        values[model] = {names[0]: found} if len(names) == 1 else found
    wins: dict[tuple[str, str], dict[str, dict[str, int]]] = defaultdict(dict)
    for one, other in permutations(models, 2):
        for name in names:
            a, b = values[one][name], values[other][name]
            counts = {"W": a > b, "T": a == b, "L": a < b}
            wins[one, other][name] = {key: int(won.sum()) for key, won in counts.items()}
    return Report(
        model_names=models,
        results={
            model: {name: float(np.mean(column)) for name, column in values[model].items()}
            for model in models
        },
        comparisons=_compare_pairs(values, stat_test, max_p, random_seed, n_permutations),
        metrics=names,
        max_p=max_p,
        win_tie_loss=dict(wins),
        rounding_digits=rounding_digits,
        show_percentages=show_percentages,
        stat_test=stat_test,
    )


def _name_models(runs: Sequence[Run]) -> list[str]:
    names = [
        f"run_{place}" if run.name is None else run.name for place, run in enumerate(runs, start=1)
    ]
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise DataError(f"two runs are named {repeated!r}; set run.name to tell them apart")
    return names


def _compare_pairs(
    values: Mapping[str, Mapping[str, Floats]],
    stat_test: str,
    max_p: float,
    seed: int,
    samples: int,
) -> FrozensetDict:
    """Return p_value and significant by metric, for each pair of runs."""
    found = FrozensetDict({pair: {} for pair in combinations(values, 2)})
    for name in next(iter(values.values()), {}):
        columns = {model: rows[name] for model, rows in values.items()}
        all_pairs = _tukey(list(columns.values())) if stat_test == "tukey" else None
        for (place, one), (other_place, other) in combinations(enumerate(columns), 2):
            p = (
                paired_p(stat_test, columns[one], columns[other], seed, samples)
                if all_pairs is None
                else float(all_pairs[place, other_place])
            )
            found[one, other][name] = {"p_value": p, "significant": p <= max_p}
    return found


def paired_p(stat_test: str, a: Floats, b: Floats, seed: int, samples: int) -> float:
    """Return the p-value of a paired test: 1 if no query differs, NaN if the test is undefined."""
    result = paired_test(stat_test, a, b, seed=seed, samples=samples)
    if result.p is not None:
        return result.p
    return 1.0 if np.array_equal(a, b) else float("nan")


def _tukey(columns: Sequence[Floats]) -> Floats:
    """Return the p-values of SciPy's test, which ignores that the queries are the same."""
    stats = import_optional("scipy.stats", "stat_test='tukey'", extra="stats")
    found: Floats = stats.tukey_hsd(*columns).pvalue
    return found


def plot(
    qrels: Qrels,
    runs: Run | Sequence[Run],
    graph: str = "iprec_at_recall",
    return_graph: bool = True,
    figsize: tuple[float, float] | None = None,
    seaborn_kwargs: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Return interpolated precision at 11 recalls as a pandas frame, with `return_graph=False`.

    Figures are not drawn here.
    """
    if return_graph:
        raise ConfigurationError(
            "plot draws no figures; pass return_graph=False to get its data, or write a report "
            "with charts: berryeval.write_report"
        )
    require_choice("graph", graph, ("iprec_at_recall",))
    pandas = import_optional("pandas", "plot")
    several = [runs] if isinstance(runs, Run) else list(runs)
    names = ["run" if run.name is None else run.name for run in several]
    if not isinstance(runs, Run):
        names = _name_models(several)
    judged = qrels.to_typed_list()
    parts = [
        interpolated_precision_at_recall(judged, run.to_typed_list()).mean(axis=0)
        for run in several
    ]
    columns = {
        "Model": [name for name in names for _ in range(11)],
        "recall": np.tile(np.arange(0, 1.1, 0.1), len(parts)),
        "precision": np.concatenate(parts),
    }
    return pandas.DataFrame(columns)
