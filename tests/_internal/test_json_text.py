"""Strict reading of JSON files and JSON lines."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.json import (
    Node,
    encode_json_line,
    parse_json,
    read_json_lines,
    read_json_node,
)
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    """Other line separators of Unicode do not."""
    path = tmp_path / "x.jsonl"
    path.write_bytes('"a\u2028b\x0c"\r\n\n  \n"c"'.encode().replace(b"\x0c", b"\\f"))
    found = [(line, node.value, node.where) for line, node in read_json_lines(path)]
    assert found == [(1, "a\u2028b\x0c", f"{path}:1"), (4, "c", f"{path}:4")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: is empty, expected JSON"),
        (" \n", "x: is empty, expected JSON"),
        ("[1,\n 2", "x:2: not valid JSON (Expecting ',' delimiter, column 3)"),
        ('{"a": 1, "b": 2, "a": 3}', "x: 'a' appears twice in one object"),
        ('[0, {"b": {"c": [{"a": 1, "a": 3}]}}]', "x: [1].b.c[0]: 'a' appears twice in one object"),
        ("[NaN]", "x: NaN is not valid JSON; write null for a missing number"),
        ("[-Infinity]", "x: -Infinity is not valid JSON"),
        ("[" * 100_000, "x: not JSON, but nested too deep to read"),
        ('{"a": 1, "a": 2} {', "x:1: not valid JSON (Extra data, column 18)"),
        ('[{"a": 1, "a": 2}, ]', "x:1: not valid JSON (Expecting value, column 20)"),
        ("[" * 101 + "]" * 101, "x: not JSON, but nested too deep to read"),
        ('["\\\\", "]"' + ', ["]"' * 101, "x: not JSON, but nested too deep to read"),
        ("1" * 10_000, "x: not valid JSON (Exceeds the limit"),
    ],
)
def test_invalid_json_is_an_error_with_its_place(text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_json(text, "x")
    assert str(caught.value).startswith(message)


def test_brackets_in_strings_are_not_nested() -> None:
    for text in (
        "[" * 100 + "]" * 100,
        json.dumps(["[" * 300, '"\\[{' * 300]),
        "[" + "[],{}," * 300 + "1]",
    ):
        assert parse_json(text, "x", repeats=True) == json.loads(text)


def test_errors_of_json_lines_have_the_line_number() -> None:
    for text in ("[1", '{"a": 1, "a": 2}', ""):
        with pytest.raises(DataError, match=r"^x:7: "):
            parse_json(text, "x", line=7)


@given(st.recursive(st.text(st.characters()) | st.integers(), st.lists))
def test_any_value_fits_on_a_line(value: Any) -> None:
    line = encode_json_line(value)
    assert b"\n" not in line
    assert parse_json(line.decode(), "x") == value


def test_node_errors_have_the_path(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": [{"b": "1", "n": 1e400, "big": 1' + "0" * 400 + "}]}", encoding="utf-8")
    node = read_json_node(path)["a"].items()[0]
    assert node["b"].where == f"{path}: a[0].b"
    wrong: list[tuple[Callable[[], object], str]] = [
        (partial(node.__getitem__, "c"), "a[0]: has no 'c'; found 'b', 'n', 'big'"),
        (partial(node.one_of, "c", "d"), "a[0]: has no 'c'"),
        (node["b"].number, "a[0].b: expected a number, found string '1'"),
        (node["n"].number, "a[0].n: expected a finite number"),
        (node["big"].number, "a[0].big: expected a finite number"),
        (node["b"].whole, "a[0].b: expected a whole number"),
        (node["b"].flag, "a[0].b: expected true or false"),
        (node["b"].items, "a[0].b: expected an array"),
        (node["b"].object, "a[0].b: expected an object"),
        (node.text, "a[0]: expected a string, found object"),
        (node.id, "a[0]: expected an id (a string or a whole number)"),
    ]
    for take, message in wrong:
        with pytest.raises(DataError) as caught:
            take()
        assert message in str(caught.value)


def test_node_converts_ids_and_plain_values() -> None:
    assert Node(7, "x").id() == "7"
    assert [Node(value, "x").plain() for value in (True, 1.5, "a")] == ["true", "1.5", "a"]
    for wrong in (True, "", 1.5, None):
        with pytest.raises(DataError, match="expected an id"):
            Node(wrong, "x").id()
