"""What to do after `berryeval eval` where it did not get an answer to everything."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from berryeval.io.command_lines import to_go_on
from berryeval.io.words import counted
from berryeval.pipeline.run import failed_queries, failed_runs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from berryeval.pipeline.folder import RunFolder
    from berryeval.pipeline.run_result import BenchmarkResult

__all__ = ["say_how_to_go_on"]

log = logging.getLogger("berryeval")


def say_how_to_go_on(
    folder: RunFolder,
    results: Sequence[BenchmarkResult],
    allowed: Collection[tuple[str, str]] = (),
) -> None:
    """Log the commands that ask what was not asked, and ask again what failed.

    Args:
        folder: of the run.
        results: of the run.
        allowed: the benchmark and provider whose failed queries were to be expected.
    """
    if failed_runs(results):
        # Errors before are part of the budget: without asking them again it may be used up.
        options = ["--retry-errors"] if failed_queries(results) else []
        log.warning("the run is not complete; to go on: %s", to_go_on(folder.path, *options))
    failed = failed_queries(results, allowed)
    if failed:
        log.warning(
            "%s failed and --resume alone keeps that as 0; to ask again: %s",
            counted(failed, "query", "queries"), to_go_on(folder.path, "--retry-errors"),
        )  # fmt: skip
