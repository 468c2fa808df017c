"""Charts show themselves in a notebook and are saved as files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from berryeval._internal.charts import Chart, Charts
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

SVG = '<svg width="20" height="10" role="img"><circle cx="5" cy="5" r="4" fill="#1f66ad" /></svg>'
TWO = Charts((Chart("one", SVG, "<b> & more"), Chart("two", SVG, "second")), ".x { fill: red }")


def test_charts_are_chosen_by_name() -> None:
    assert repr(TWO) == "Charts(one, two)"
    assert TWO["two"].names == ("two",)
    assert TWO.select(["two", "one"]).names == ("two", "one")
    assert TWO.select([]).names == ("one", "two")
    with pytest.raises(ConfigurationError, match="there is no chart 'tow'; did you mean 'two'"):
        TWO["tow"]
    assert repr(Charts(())) == "Charts(nothing to draw)"
    assert Charts(())._repr_html_() == "<div>nothing to draw</div>"
    with pytest.raises(ConfigurationError, match="there is nothing to draw"):
        Charts(())["one"]


def test_a_caption_is_escaped_and_dark_notebooks_have_their_colors() -> None:
    page = TWO._repr_html_()
    assert "&lt;b&gt; &amp; more" in page
    assert page.count("<svg ") == 2
    assert 'body[data-jp-theme-light="false"]' in page
    assert ".x { fill: red }" in page
    assert "<script" not in page


def test_one_chart_is_saved_as_a_picture(tmp_path: Path) -> None:
    TWO["one"].save(tmp_path / "one.svg")
    root = ET.parse(tmp_path / "one.svg").getroot()  # noqa: S314 - our own file
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert [child.tag.partition("}")[2] for child in root] == ["rect", "circle"]
    TWO["one"].save(str(tmp_path / "one.png"))
    data = (tmp_path / "one.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") == 40  # twice as many pixels


def test_any_number_of_charts_is_saved_as_a_page(tmp_path: Path) -> None:
    TWO.save(tmp_path / "all.html")
    assert (tmp_path / "all.html").read_text(encoding="utf-8").count("<figure") == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("all.svg", r"a .svg file holds one chart, and there are one, two; choose one"),
        ("all.png", r"a .png file holds one chart"),
        ("all.pdf", r"charts are saved as .svg, .png or .html; found '.pdf'"),
        ("all", r"charts are saved as .svg, .png or .html; found 'no ending'"),
    ],
)
def test_a_file_that_cannot_hold_the_charts_is_an_error(
    tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        TWO.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
