"""Results in notebooks: HTML tables that are safe and small, and frames of what is installed."""

from __future__ import annotations

import sys
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.notebook import (
    MOST_ROWS,
    Card,
    Cell,
    build_frame,
    choose_library,
    name_three,
)
from berryeval._internal.optional import install_command
from berryeval.errors import MissingDependencyError


class Reader(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert {name for name, _ in attrs} <= {"style", "class"}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(st.text(max_size=300))
def test_every_text_is_escaped(text: str) -> None:
    card = Card(text, text)
    card.add_table([text], [[text], [Cell(text, text, bold=True)]], caption=text)
    card.add_notes([text])
    page = card.render()
    known = {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "span", "ul", "li"}
    assert set(Reader(page).tags) <= known
    assert "\u202e" not in page


def test_markup_in_a_name_is_shown_as_text() -> None:
    page = Card("<script>alert(1)</script>").render()
    assert "<script" not in page
    assert "".join(Reader(page).texts) == "<script>alert(1)</script>"


def test_dollar_signs_do_not_become_formulas() -> None:
    """Jupyter leaves out elements with these classes when it looks for formulas."""
    assert 'class="berryeval tex2jax_ignore mathjax_ignore"' in Card("from $5 to $10").render()


def test_a_table_shows_few_rows_and_counts_the_rest() -> None:
    card = Card("many")
    card.add_table(["row", "value"], [[f"r{place}", place] for place in range(100_000)])
    page = card.render()
    assert Reader(page).tags.count("tr") == MOST_ROWS + 1
    assert "and 99,980 more rows" in page
    assert len(page) < 5_000
    assert "<table" not in Card("none").render()


def test_many_notes_are_counted() -> None:
    card = Card("notes")
    card.add_notes(f"note {place}" for place in range(1000))
    card.add_notes([])
    assert Reader(card.render()).texts[-2:] == ["note 4", "and 995 more notes"]


def test_numbers_are_on_the_right_and_missing_ones_are_dashes() -> None:
    card = Card("numbers")
    card.add_table(["name", "count", "value"], [["a", 1234, 0.5], ["b", None, None]])
    page = card.render()
    assert page.count("text-align:right") == 6
    assert Reader(page).texts[-6:] == ["a", "1,234", "0.500", "b", *["\N{EN DASH}"] * 2]


def test_a_list_of_many_names_is_cut() -> None:
    assert name_three(["a", "b"]) == "a, b"
    assert name_three([f"q{place}" for place in range(1000)]) == "q0, q1, q2 and 997 more"


def test_the_default_library_is_the_one_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_library(None) == "pandas"
    assert isinstance(build_frame({"a": [1, None]}, "polars"), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(build_frame({"a": [1]}, None), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingDependencyError) as caught:
        build_frame({"a": [1]}, None)
    needed = install_command({"pandas": ""})  # names the Python if its environment is not active
    assert str(caught.value) == f"a data frame needs pandas or polars: {needed}"
    monkeypatch.undo()
    assert isinstance(build_frame({"a": [1]}, None), pd.DataFrame)
    with pytest.raises(ValueError, match="library must be 'pandas' or 'polars', found 'numpy'"):
        choose_library("numpy")
