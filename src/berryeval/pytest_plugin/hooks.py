"""What pytest calls. A suite without quality tests pays for nothing but the import of this file.

Therefore it imports pytest alone: the rest comes when a quality test asks for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from berryeval.pytest_plugin.evaluation import Evaluation


MARKER: Final = "eval"
REASON: Final = "quality test: run with --eval"
_ASKED: Final = pytest.StashKey[bool]()
_RUNS: Final = pytest.StashKey[dict[Any, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer `--eval` and `--eval-strict`."""
    group = parser.getgroup("berryeval", "retrieval quality")
    group.addoption("--eval", action="store_true", help="run quality tests too (marker eval)")
    group.addoption(
        "--eval-strict",
        action="store_true",
        help="fail quality tests where a rule cannot be decided",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and note whether quality tests are asked for."""
    config.addinivalue_line("markers", f"{MARKER}: a quality test; it runs only with --eval")
    named = _asks_for_quality(config.getoption("markexpr", "") or "")
    config.stash[_ASKED] = bool(config.getoption("--eval") or named)
    config.stash[_RUNS] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip quality tests that nobody asked for."""
    if config.stash[_ASKED]:
        return
    # Modules and classes are looked at once, not for each of their tests: suites can be large.
    parents = {item.parent for item in items}
    marked = {one for one in parents if one is not None and one.get_closest_marker(MARKER)}
    skipped = pytest.mark.skip(reason=REASON)
    for item in items:
        if item.parent in marked or any(mark.name == MARKER for mark in item.own_markers):
            item.add_marker(skipped)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """An error in what a quality test asks for ends at the line that asks, not inside of us."""
    if "evaluation" not in getattr(item, "fixturenames", ()):
        return (yield)
    from berryeval.errors import BerryEvalError

    try:
        return (yield)
    except BerryEvalError as error:
        _leave_out_our_frames(error)
        raise


@pytest.fixture
def evaluation(request: pytest.FixtureRequest) -> Evaluation:
    """Run benchmarks, each once in this process, and check the results by rules."""
    config = request.config
    if not config.stash[_ASKED]:  # a test without the marker
        pytest.skip(REASON)

    from berryeval.pytest_plugin.evaluation import Evaluation

    strict = bool(config.getoption("--eval-strict"))
    return Evaluation(config.stash[_RUNS], request.node.user_properties, strict=strict)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the verdicts of quality tests, those of the workers of xdist too."""
    if not config.stash[_ASKED]:
        return
    from berryeval.pytest_plugin.evaluation import print_summary

    print_summary(terminalreporter)


def _asks_for_quality(expression: str) -> bool:
    """Whether what `-m` says has the marker in it, and not under a `not`."""
    wanted, negated = [True], False  # of each open parenthesis: whether what it holds is wanted
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


def _leave_out_our_frames(error: Exception) -> None:
    """Cut the traceback of an error that we raise on purpose before the first frame of ours."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        name = str(place.tb_next.tb_frame.f_globals.get("__name__", ""))
        if name.startswith("berryeval.") and name != __name__:
            place.tb_next = None
        place = place.tb_next
