"""`berryeval results prune`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from berryeval.cli.results_options import Flag, read_filters
from berryeval.io.visible import visible

if TYPE_CHECKING:
    from berryeval.store import Store

SHOWN: Final = 10  # names


def prune(
    *,
    keep: int | None = None,
    older_than: str | None = None,
    benchmark: str | None = None,
    dry_run: Flag = False,
    yes: Flag = False,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Forget old runs. Folders of runs stay: `results import` brings them back.

    Example: berryeval results prune --keep 100 --older-than 90d

    Args:
        keep: Keep the newest so many.
        older_than: Forget those that are older: 90d, 12h, 2w. With --keep, only if both say so.
        benchmark: Look only at runs on this benchmark.
        dry_run: Show what would go.
        yes: Do not ask.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON; nobody is asked, so it wants --yes or --dry-run.
    """
    from berryeval.io.words import counted
    from berryeval.pipeline.remember import opened_store, store_place
    from berryeval.pipeline.transfer import to_prune
    from berryeval.store.times import read_age

    age = None if older_than is None else read_age(older_than, "--older-than")
    with opened_store(store_place(store)) as opened:
        names = to_prune(opened, read_filters(benchmark), keep=keep, older_than=age)
        if json:
            _as_json(opened, names, dry_run=dry_run, yes=yes)
            return
        if not names:
            print("no run is to go")
            return
        more = f"\n  ... and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        print(f"{counted(len(names), 'run')} of {opened.shown}:")
        print("\n".join(f"  {visible(name)}" for name in names[:SHOWN]) + more, flush=True)
        if dry_run:
            print("dry run: nothing was deleted")
        elif yes or _agreed():
            print(f"{counted(opened.delete(names), 'run')} deleted")
        else:
            print("nothing was deleted")


def _as_json(store: Store, names: list[str], *, dry_run: bool, yes: bool) -> None:
    """Delete them if that was said, and print which."""
    from berryeval.cli.output import print_json
    from berryeval.errors import ConfigurationError

    if names and not (dry_run or yes):
        msg = "nothing was deleted: --json asks nobody; say --yes or --dry-run"
        raise ConfigurationError(msg)
    deleted = 0 if dry_run or not names else store.delete(names)
    print_json("results prune", {"store": store.shown, "runs": names, "deleted": deleted})


def _agreed() -> bool:
    """Ask; where nobody can answer, say how to go on."""
    from berryeval.errors import ConfigurationError

    if sys.stdin is None or not sys.stdin.isatty():
        msg = "nothing was deleted: nobody is here to be asked; say --yes"
        raise ConfigurationError(msg)
    print("delete them? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
