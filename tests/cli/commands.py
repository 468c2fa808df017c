"""Every command of the program, for tests that go through all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.cli.app import build_app

if TYPE_CHECKING:
    from cyclopts import App

GROUPS = ("baseline", "completion", "judge", "list", "runs")


def find_commands(app: App, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the words that call each command; a group is not a command."""
    found: list[tuple[str, ...]] = []
    for name in app:
        if name.startswith("-"):
            continue
        words = (*before, name)
        found += find_commands(app[name], words) if name in GROUPS else [words]
    return found


COMMANDS = [words for words in find_commands(build_app()) if words != ("trec-eval",)]
