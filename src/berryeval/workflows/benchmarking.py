"""`run_benchmark`: the whole job from Python."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from berryeval.benchmarks import Benchmark
from berryeval.providers import is_searchable
from berryeval.workflows.config import check_model
from berryeval.workflows.evaluation import run_plan
from berryeval.workflows.gate import check_gate, say_missed, verdicts_of
from berryeval.workflows.history import remember, store_place
from berryeval.workflows.plan import DEFAULT_METRICS, Patience, Plan, ProviderSpec
from berryeval.workflows.run_folder import folder_for, new_folder
from berryeval.workflows.selection import load_benchmarks
from berryeval.workflows.settings import overlay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval._internal.files import PathLike
    from berryeval.gates import Baseline, Gate
    from berryeval.runner import Ranking
    from berryeval.workflows.evaluation import Listener
    from berryeval.workflows.run_folder import RunFolder
    from berryeval.workflows.run_result import BenchmarkResult


log = logging.getLogger("berryeval")
# The last stands for all that has `search`: providers, retrievers, classes of one's own.
Provider: TypeAlias = "str | Mapping[str, Any] | Callable[..., Any] | object"


def run_benchmark(
    benchmark: str | Benchmark,
    providers: Provider | Sequence[Provider],
    metrics: str | Sequence[str] = DEFAULT_METRICS,
    *,
    folder: PathLike | None = None,
    store: PathLike | None = None,
    retry_errors: bool = False,
    listener: Listener | None = None,
    **options: Any,
) -> BenchmarkResult:
    """Ask providers every query of a benchmark, and score what they return.

        >>> import berryeval as be
        >>> result = be.run_benchmark("rag-template", ["bm25", "bm25:fixed-400"], ["nDCG@5"])
        >>> [one.name for one in result.providers], len(result.queries)
        (['bm25', 'bm25:fixed-400'], 10)
        >>> sorted(result["bm25"].outcomes.items())
        [('ok', 10)]

    Args:
        benchmark: a bundled name, a path, or a `Benchmark`.
        providers: names, as "bm25" or "bm25:fixed-400", or mappings with `type`, `chunker`, `name`
            and `options`, or functions that take a text and a number of hits, or objects with
            `index` and `search` (docs/providers.md); one alone needs no list, and a mapping from
            names to them says what each is called.
        metrics: what to compute.
        folder: where the journal, the scores and the rankings go; what is there already is not
            asked again, and where that is everything, the log warns of it. Without one they go to
            a temporary folder that is removed.
        store: where the run is remembered, a path or the URL of a PostgreSQL; nowhere unless given.
        retry_errors: ask queries again that failed before.
        listener: hears how it goes on.
        options: what else a plan has: `k`, `limit`, `filter`, `seed`; the settings of a run, as
            `concurrency`, `timeout`, `batch` and `error_budget`; and `thresholds` and `gate`, whose
            verdicts the result has. What misses a threshold is logged, and no error.
    """
    patience = {name: options.pop(name) for name in Patience.model_fields if name in options}
    data = {
        **options,
        "benchmarks": [benchmark.name if isinstance(benchmark, Benchmark) else str(benchmark)],
        "providers": _named(providers),
        "metrics": listed(metrics),
    }
    overlay(data, patience)
    plan: Plan = check_model(Plan, data, None)
    loaded = [benchmark] if isinstance(benchmark, Benchmark) else load_benchmarks(plan)
    place = store_place(store) if store is not None else None

    def run(where: RunFolder) -> BenchmarkResult:
        baseline = check_gate(plan.whole_gate, plan, loaded, where)
        heard = _Heard(listener)
        results = run_plan(plan, where, retry_errors=retry_errors, listener=heard, loaded=loaded)
        if heard.queries and not heard.left:
            log.warning(
                "%s holds the whole run of %s: nothing was asked, and these are the scores of its "
                "answers; to ask again, as after a change, give another folder or remove it",
                folder,
                where.created,
            )
        return _judged(results[0], plan.whole_gate, baseline)

    if folder is not None:
        return _remembered(run(folder_for(plan, folder)), place, folder)
    with tempfile.TemporaryDirectory(prefix="berryeval-") as temporary:
        # A name of its own: that of a temporary folder says nothing.
        result = run(new_folder(plan, Path(temporary), kept=False))
    return _remembered(result, place, None)


def _judged(result: BenchmarkResult, gate: Gate, baseline: Baseline | None) -> BenchmarkResult:
    """The result with the verdicts of the gate; a missed threshold is logged."""
    if result.run is None:
        return result
    verdicts = verdicts_of(gate, result.run, baseline)
    say_missed(verdicts)
    return replace(result, verdicts=tuple(verdicts))


class _Heard:
    """A listener that counts the queries, and those that are left to be asked, and tells on."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self.queries = self.left = 0

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        self.queries += total
        self.left += total - done
        if self._listener is not None:
            self._listener.start(benchmark, provider, total, done)

    def answered(self, ranking: Ranking) -> None:
        if self._listener is not None:
            self._listener.answered(ranking)

    def end(self) -> None:
        if self._listener is not None:
            self._listener.end()


def listed(given: Any) -> list[Any]:
    """The things, or the one thing, as a list; the letters of a name are none."""
    alone = isinstance(given, str | Mapping) or not isinstance(given, Iterable)
    return [given] if alone or is_searchable(given) else list(given)


def _named(providers: Any) -> list[Any]:
    """The providers of a list, or of a mapping from their names; one with a type is a provider."""
    if not isinstance(providers, Mapping) or isinstance(providers.get("type"), str):
        return listed(providers)
    return [
        check_model(ProviderSpec, one, None).model_copy(update={"name": str(name)})
        for name, one in providers.items()
    ]


def _remembered(
    result: BenchmarkResult, place: str | None, folder: PathLike | None
) -> BenchmarkResult:
    """The result, kept in the store if there is a place."""
    if result.run is not None:
        remember(result.run, place, folder)
    return result
