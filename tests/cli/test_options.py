"""Options: one meaning per short flag, and several ways to give a list."""

from __future__ import annotations

import pytest

from berryeval.cli.app import build_app
from tests.cli.commands import COMMANDS

MEANINGS = {
    "-m": "--metrics",
    "-k": "--k",
    "-o": "--output",
    "-f": "--format",
    "-q": "--quiet",
    "-v": "--verbose",
}


def names_of(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the names of each option of a command."""
    app = build_app()
    for word in words:
        app = app[word]
    return [tuple(argument.names) for argument in app.assemble_argument_collection()]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_short_flag_means_the_same_in_every_command(words: tuple[str, ...]) -> None:
    for names in names_of(words):
        long = [name for name in names if name.startswith("--")]
        for short in set(names) - set(long):
            if short.startswith("-"):
                assert long == [MEANINGS[short]]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_long_option_with_a_short_flag_always_has_it(words: tuple[str, ...]) -> None:
    shorts = {long: short for short, long in MEANINGS.items()}
    for names in names_of(words):
        for long, short in shorts.items():
            assert long not in names or short in names
