"""What the tables of `berryeval eval` do not say by themselves: about times, and about the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.pipeline.plan import Plan, ProviderSpec
    from berryeval.pipeline.run_result import BenchmarkResult

__all__ = ["notes_about_times", "shown_remarks"]

_REMARKS: Final = 3  # of a loader


def notes_about_times(plan: Plan, result: BenchmarkResult) -> Iterator[str]:
    """How the times came about, where that is not a query alone."""
    timed = [
        (one.name, spec, one.latency.batch)
        for one, spec in zip(result.providers, plan.providers, strict=True)
        if one.latency is not None
    ]
    here = [name for name, spec, _ in timed if _is_in_process(spec)]
    at_once = min(plan.run.concurrency, len(result.queries))
    if here and at_once > 1:
        yield (
            f"times: {at_once} queries at once wait for each other in this process "
            f"({', '.join(here)}); try --concurrency 1"
        )
    batched = {name: batch for name, _, batch in timed if batch > 1}
    if batched:
        size, names = max(batched.values()), ", ".join(batched)
        yield f"times of {names}: of batches of up to {size} queries, divided by their size"
    single = [name for name, _, batch in timed if batch == 1]
    if single and plan.run.batch > 1:
        yield f"asked one by one, as no batches were taken: {', '.join(single)}"


def _is_in_process(spec: ProviderSpec) -> bool:
    from berryeval.providers import PROVIDERS

    elsewhere = spec.options.get("url") or spec.options.get("embedder") == "openai"
    return bool(getattr(PROVIDERS.get(spec.type), "in_process", False)) and not elsewhere


def shown_remarks(remarks: Sequence[str], most: int = _REMARKS) -> Iterator[str]:
    """What the loader of a benchmark noticed; of many, the first few."""
    yield from remarks[:most]
    if len(remarks) > most:
        yield f"… and {len(remarks) - most} more; berryeval validate shows all"
