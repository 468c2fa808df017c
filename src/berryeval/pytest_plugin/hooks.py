"""What pytest calls. A suite without quality tests pays for nothing but the import of this file.

Therefore it imports pytest alone: the rest comes when a quality test asks for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
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
    named = re.search(rf"\b{MARKER}\b", config.getoption("markexpr", "") or "")
    config.stash[_ASKED] = bool(config.getoption("--eval") or named)
    config.stash[_RUNS] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip quality tests that nobody asked for."""
    if config.stash[_ASKED]:
        return
    skipped = pytest.mark.skip(reason=REASON)
    for item in items:
        if item.get_closest_marker(MARKER) is not None:
            item.add_marker(skipped)


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
    from berryeval.pytest_plugin.summary import print_summary

    print_summary(terminalreporter)
