"""Tests of Markdown sections."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.markdown import Section, parse_sections, slug

GUIDE = """\
Before everything.

# Guide

Hello.

## Set up {#setup}

```sh
# not a heading
## neither
```

### From source

Build it.

## Set up

Again.

Old style
=========

Text.
"""


def texts(sections: tuple[Section, ...]) -> dict[str, tuple[str, str]]:
    """Return the first line of each section and of the text after it."""
    return {
        section.id: (
            GUIDE[section.start :].split("\n", maxsplit=1)[0],
            GUIDE[section.end :].split("\n", maxsplit=1)[0],
        )
        for section in sections
    }


def test_sections_have_paths_and_ids() -> None:
    found = [(section.path, section.id, section.level) for section in parse_sections(GUIDE)]
    assert found == [
        ((), "", 0),
        (("Guide",), "guide", 1),
        (("Guide", "Set up"), "setup", 2),
        (("Guide", "Set up", "From source"), "from-source", 3),
        (("Guide", "Set up"), "set-up", 2),
        (("Old style",), "old-style", 1),
    ]


def test_section_ends_at_the_next_heading_of_its_level() -> None:
    sections = parse_sections(GUIDE)
    assert texts(sections) == {
        "": ("Before everything.", "# Guide"),
        "guide": ("# Guide", "Old style"),
        "setup": ("## Set up {#setup}", "## Set up"),
        "from-source": ("### From source", "## Set up"),
        "set-up": ("## Set up", "Old style"),
        "old-style": ("Old style", ""),
    }
    setup = sections[2]
    assert GUIDE[setup.own_end :].startswith("### From source")


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Set up", "set-up"), ("What's `new` in 3.2?", "whats-new-in-32"), ("A  b", "a--b"),
        ("See [the docs](http://x/y)", "see-the-docs"), ("Über uns", "über-uns"),
        ("a_b-c", "a_b-c"),
    ],
)  # fmt: skip
def test_slugs_are_link_names(heading: str, expected: str) -> None:
    assert slug(heading) == expected


def test_repeated_heading_gets_a_number() -> None:
    assert [s.id for s in parse_sections("# A\n# A\n# A\n")] == ["a", "a-1", "a-2"]
    assert [s.id for s in parse_sections("# A\n# A\n# A-1\n# A\n")] == ["a", "a-1", "a-1-1", "a-2"]


@pytest.mark.parametrize(
    "text",
    [
        "", "plain text\n", "#no space\n", "    # indented code\n", "```\n# never closed\n",
        "---\ntitle: x\n---\ntext\n", "- item\n---\n", "| a |\n---\n", "#######  seven\n",
        "---\r\ntitle: x\r\n# y\r\n---\r\ntext\r\n", "\ufeff---\n# y\n---\ntext\n",
        "a\nb\n---", "a\nb\nc\n---", "a\nb\nc\nd\n===", "1. item\n---", "---\n===", "* * *\n===",
        "- x\ntext\n---", "- x\n\n  text\n---", "> x\ntext\n---", "a\n    b\n---",
        "text\u2028# x", "text\x0c# x", "text\x85# x", "text\n\x0b# x",
        "<!-- a\n# x\n\nTitle\n===\n-->\n", "<!-- never closed\n# x",
    ],
)  # fmt: skip
def test_lines_that_are_not_headings(text: str) -> None:
    assert all(section.level == 0 for section in parse_sections(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a ## \n", [("a", 0)]), ("# a#\n", [("a#", 0)]), ("## ##\n", [("", 0)]),
        ("a\n\nTitle\n---\n", [("Title", 3)]), ("- x\n\nTitle\n---\n", [("Title", 5)]),
        ("a\rTitle\n\r# B", [("B", 9)]), ("text\n\x0c\n# x", [("x", 7)]),
        ("\ufeff# A\n", [("A", 0)]), ("\ufeffA\n===\n", [("A", 0)]),
        ("---\r\na: b\r\n---\r\n# A\r\n", [("A", 16)]),
        ("<!-- a --> \n# A\n<!--\n# B\n--> # C\n# D\n", [("A", 12), ("D", 33)]),
    ],
)  # fmt: skip
def test_lines_that_are_headings(text: str, expected: list[tuple[str, int]]) -> None:
    found = [(section.path[-1], section.start) for section in parse_sections(text) if section.path]
    assert found == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# a" + " " * 200_000 + "x", "a" + "-" * 200_000 + "x"),
        ("# a" + " " * 200_000 + "{", "a" + "-" * 200_000),
        ("# a" + " #" * 100_000 + "b", "a" + "-" * 100_000 + "b"),
        ("# " + "[" * 200_000, ""),
        ("# " + "[a](" * 50_000, "a" * 50_000),
        ("# " + "[a](b" + "(c)" * 60_000, "ab" + "c" * 60_000),
        ("# a{#" + "b" * 200_000, "a" + "b" * 200_000),
    ],
)  # fmt: skip
def test_long_headings_take_linear_time(line: str, expected: str) -> None:
    assert [section.id for section in parse_sections(f"{line}\n")] == [expected]


@given(st.text(alphabet="#=-` ab\n\r~{}<!>\u2028\x0c\ufeff", max_size=80))
def test_own_texts_partition_the_text(text: str) -> None:
    sections = parse_sections(text)
    for before, after in itertools.pairwise(sections):
        assert before.own_end == after.start
        assert before.start < before.own_end <= before.end
    if sections:
        assert sections[-1].own_end == len(text)
        assert not text[: sections[0].start].strip() or text.startswith("---")
