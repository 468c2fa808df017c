"""Hooks of pytest.

This module imports nothing but pytest, so that other test suites pay nothing for the plugin.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from berryeval.pytest_plugin.quality import Evaluation


MARKER: Final = "eval"
REASON: Final = "quality test: run with --eval"
_ASKED: Final = pytest.StashKey[bool]()
_RUNS: Final = pytest.StashKey[dict[Any, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--eval` and `--eval-strict`."""
    group = parser.getgroup("berryeval", "retrieval quality")
    group.addoption("--eval", action="store_true", help="run quality tests too (marker eval)")
    group.addoption(
        "--eval-strict", action="store_true", help="fail quality tests if a rule is inconclusive"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and note whether quality tests are selected."""
    config.addinivalue_line("markers", f"{MARKER}: a quality test; it runs only with --eval")
    named = _selects_marker(config.getoption("markexpr", "") or "")
    config.stash[_ASKED] = bool(config.getoption("--eval") or named)
    config.stash[_RUNS] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip quality tests unless they are selected."""
    if config.stash[_ASKED]:
        return
    # Check modules and classes once rather than for each of their tests: suites can be large.
    parents = {item.parent for item in items}
    marked = {one for one in parents if one is not None and one.get_closest_marker(MARKER)}
    skipped = pytest.mark.skip(reason=REASON)
    for item in items:
        if item.parent in marked or any(mark.name == MARKER for mark in item.own_markers):
            item.add_marker(skipped)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """End the traceback of a quality test at the line of the test, not inside berryeval."""
    if "evaluation" not in getattr(item, "fixturenames", ()):
        return (yield)
    from berryeval.errors import BerryEvalError

    try:
        return (yield)
    except BerryEvalError as error:
        _cut_traceback(error)
        raise


@pytest.fixture
def evaluation(request: pytest.FixtureRequest) -> Evaluation:
    """Run benchmarks, each once per process, and check the results by rules."""
    config = request.config
    if not config.stash[_ASKED]:  # a test without the marker
        pytest.skip(REASON)

    from berryeval.pytest_plugin.quality import Evaluation

    strict = bool(config.getoption("--eval-strict"))
    return Evaluation(config.stash[_RUNS], request.node.user_properties, strict=strict)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the verdicts of quality tests, including those of xdist workers."""
    if not config.stash[_ASKED]:
        return
    from berryeval.pytest_plugin.quality import print_summary

    print_summary(terminalreporter)


def _selects_marker(expression: str) -> bool:
    """Whether the expression of `-m` names the marker outside of a `not`."""
    wanted, negated = [True], False  # one entry per open parenthesis
    for word in re.findall(r"[()]|[^\s()]+", expression):
        if word == "not":
            negated = not negated
        elif word == "(":
            wanted.append(wanted[-1] != negated)
            negated = False
        elif word == ")":
            wanted = wanted[:-1] or [True]
        else:
            if word == MARKER and wanted[-1] != negated:
                return True
            negated = False
    return False


def _cut_traceback(error: Exception) -> None:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        name = str(place.tb_next.tb_frame.f_globals.get("__name__", ""))
        if name.startswith("berryeval.") and name != __name__:
            place.tb_next = None
        place = place.tb_next
