"""A progress bar per provider, with the time that is left, on stderr and only on a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.progress import Progress, TaskID

    from berryeval.harness.ranking import Ranking
    from berryeval.pipeline.run import Listener

__all__ = ["progress_on"]

_MOST: Final = 8  # bars at once


@contextmanager
def progress_on(screen: Console, *, hidden: bool = False) -> Iterator[Listener | None]:
    """What shows how a run goes on; nothing does where nobody looks."""
    if hidden or not screen.is_terminal:
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(compact=True),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
    ) as progress:
        yield _Bars(progress)


class _Bars:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        for task in self._progress.task_ids[: 1 - _MOST]:
            self._progress.remove_task(task)
        self._task = self._progress.add_task(
            f"{provider} on {benchmark}", total=total, completed=done
        )

    def answered(self, ranking: Ranking) -> None:  # noqa: ARG002 - a bar only counts
        if self._task is not None:
            self._progress.advance(self._task)

    def end(self) -> None:
        if self._task is not None:
            self._progress.stop_task(self._task)
        self._task = None
