"""The default pipeline: the first provider that supports a measure computes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from berryeval.compat.ir_measures.providers.base import Evaluator, Provider
from berryeval.compat.ir_measures.providers.engine import (
    accuracy,
    compat,
    cwl_eval,
    gdeval,
    judged,
    msmarco,
    pyndeval,
    pytrec_eval,
    ranx,
)
from berryeval.compat.ir_measures.providers.runtime import RuntimeEvaluator, RuntimeMeasure, runtime
from berryeval.compat.ir_measures.util import QrelsConverter, RunConverter
from berryeval.errors import MetricError

if TYPE_CHECKING:
    from berryeval.compat.ir_measures.measures.base import Measure
    from berryeval.compat.ir_measures.util import Metric


class FallbackProvider(Provider):
    """Computes each measure with the first of the providers that supports it."""

    def __init__(self, providers: list[Provider]) -> None:
        self.providers = providers

    def _share(self, measures: Iterable[Measure]) -> list[tuple[Provider, list[Measure]]]:
        given = list(measures)
        for measure in given:  # before equal ones are one: P@"5" prints as P@5
            measure.validate_params()
        chosen = tuple(dict.fromkeys(given))
        if any(isinstance(measure, RuntimeMeasure) for measure in chosen):
            return _share_out(self.providers, chosen)  # two functions may have one name
        return _share_known(tuple(self.providers), chosen)

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        shares = self._share(measures)
        if len(shares) == 1:
            provider, own = shares[0]
            return provider.evaluator(own, qrels)
        copies = QrelsConverter(qrels, strict=False).tee(len(shares))
        evaluators = [
            provider.evaluator(own, copy.qrels)
            for (provider, own), copy in zip(shares, copies, strict=True)
        ]
        return FallbackEvaluator(list(dict.fromkeys(measures)), evaluators)

    def supports(self, measure: Measure) -> bool:
        """Whether any of the providers computes the measure."""
        return any(provider.supports(measure) for provider in self.providers)

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Return the columns of a run that the measures need."""
        found = [provider.run_inputs(own) for provider, own in self._share(measures)]
        return list(dict.fromkeys(name for names in found for name in names))

    def qrel_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Return the columns of judgments that the measures need."""
        found = [provider.qrel_inputs(own) for provider, own in self._share(measures)]
        return list(dict.fromkeys(name for names in found for name in names))


def _share_out(
    providers: Iterable[Provider], measures: Iterable[Measure]
) -> list[tuple[Provider, list[Measure]]]:
    """Return the providers that are needed, each with the measures that it computes."""
    left = list(measures)
    shares: list[tuple[Provider, list[Measure]]] = []
    for provider in providers:
        own = [measure for measure in left if provider.supports(measure)]
        if own:
            shares.append((provider, own))
            left = [measure for measure in left if measure not in own]
    if left:
        raise MetricError(
            f"Unsupported measures {set(left)}; berryeval.evaluate(qrels, run, metrics) "
            "computes every metric of docs/metrics.md with any parameters"
        )
    return shares


_share_known = lru_cache(maxsize=256)(_share_out)


class FallbackEvaluator(Evaluator):
    """Scores a run with the evaluators of several providers."""

    def __init__(self, measures: list[Measure], evaluators: list[Evaluator]) -> None:
        super().__init__(measures, evaluators[0].qrel_qids)
        self.evaluators = evaluators

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        framed = any(isinstance(one, RuntimeEvaluator) for one in self.evaluators)
        if framed and not hasattr(run, "itertuples"):
            run = RunConverter(run).as_pd_dataframe()
        rows = None
        for evaluator in self.evaluators:
            if isinstance(evaluator, RuntimeEvaluator):
                yield from evaluator.iter_calc(run)
                continue
            if rows is None:
                rows = RunConverter(run).as_dict_of_dict()
            yield from evaluator.iter_calc(rows)


DefaultPipeline = FallbackProvider(
    [
        runtime, pytrec_eval, cwl_eval, compat, pyndeval, judged, msmarco, gdeval, accuracy, ranx,
    ]
)  # fmt: skip
