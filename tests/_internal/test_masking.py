"""Masking: a secret value is found in every encoding, and nothing else is touched."""

from __future__ import annotations

import base64
import gc
import html
import json
import logging
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from berryeval._internal.masking import Masker, cut, mask_known, mask_logs
from berryeval._internal.plain import show

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = 'sk-Prøj_A&b/c+d="x 9'
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda key: quote(key, safe=""),
    "lower percent": lambda key: quote(key, safe="").lower(),
    "every percent": lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    "partly percent": lambda key: f"{quote(key[:5], safe='')}{key[5:]}",
    "plus": quote_plus,
    "twice": lambda key: quote(quote(key, safe=""), safe=""),
    "HTML": html.escape,
    "decimal": lambda key: "".join(f"&#{ord(sign)};" for sign in key),
    "hexadecimal": lambda key: "".join(f"&#X{ord(sign):x};" for sign in key),
    "JSON": lambda key: json.dumps(key)[1:-1],
    "JSON in JSON": lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
    "HTML in JSON": lambda key: json.dumps(html.escape(key))[1:-1],
    "Unicode escapes": lambda key: "".join(f"\\u{ord(sign):04X}" for sign in key),
    "slashes": lambda key: key.replace("/", "\\/"),
    "backslashes": lambda key: "".join(f"\\{sign}" for sign in key),
    "bytes": lambda key: repr(key.encode())[2:-1],
    "upper": str.upper,
    "octal": lambda key: "".join(f"\\{byte:03o}" for byte in key.encode()),
    "partly octal": lambda key: f"{key[:-1]}\\{ord(key[-1]):03o}" if key[-1] < "\x80" else key,
    "hex": lambda key: key.encode().hex().upper(),
    "wrapped": lambda key: f"{key[:7]}\n    {key[7:]}",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_masked_in_every_form(form: str) -> None:
    text = FORMS[form](KEY)
    assert Masker([KEY]).mask(f"<{text}> a {text}.") == "<***> a ***."


@pytest.mark.parametrize("before", ["", "u:", "us:", "usr:", "Bearer ", '{"key": "'])
@pytest.mark.parametrize("after", ["", "}", "}}", "}}}"])
@pytest.mark.parametrize("url", [False, True])
def test_a_value_is_masked_inside_base64(before: str, after: str, url: bool) -> None:
    """Every bit of the value is masked, with and without padding, and in wrapped lines."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    whole = encode(f"{before}{KEY}{after}".encode()).decode()
    for text in (whole, whole.rstrip("="), quote(whole, safe=""), f"{whole[:20]}\n{whole[20:]}"):
        masked = Masker([KEY]).mask(f"<{text}>")
        head, _, tail = unquote(masked[1:-1]).partition("***")
        assert "***" in masked
        assert len(head) * 6 <= len(before.encode()) * 8
        assert len(tail.rstrip("=")) <= -(-len(after.encode()) * 8 // 6)


@pytest.mark.parametrize("before", ["", "u", "u:", "us:", "usr:", "Bearer "])
@pytest.mark.parametrize("after", ["", "}", "}}", "}}}", "}}}}"])
@pytest.mark.parametrize("lower", [False, True])
def test_a_value_is_masked_inside_base32(before: str, after: str, lower: bool) -> None:
    whole = base64.b32encode(f"{before}{KEY}{after}".encode()).decode()
    whole = whole.lower() if lower else whole
    for text in (whole, whole.rstrip("="), quote(whole, safe=""), f"{whole[:20]}\n{whole[20:]}"):
        masked = Masker([KEY]).mask(f"<{text}>")
        head, _, tail = unquote(masked[1:-1]).partition("***")
        assert "***" in masked
        assert len(head) * 5 <= len(before.encode()) * 8
        assert len(tail.rstrip("=")) <= -(-len(after.encode()) * 8 // 5)


@given(st.text(min_size=4, max_size=20), st.sampled_from(sorted(FORMS.keys() - {"wrapped"})))
@example("0\n\b\x80", "bytes")
def test_any_value_is_masked(key: str, form: str) -> None:
    if form == "Unicode escapes":
        key = "".join(sign for sign in key if ord(sign) <= 0xFFFF)
    if len(key.rstrip("\\")) >= 4:
        masked = Masker([key]).mask(f"<{FORMS[form](key)}>")
        assert "***" in masked


@given(st.text(alphabet="ab%&;#x0123\\u \n+=/", max_size=200))
def test_other_text_is_unchanged(text: str) -> None:
    assert Masker(["Q7vN-key"]).mask(text) == text


def test_long_adversarial_texts_are_masked() -> None:
    """Values that almost repeat themselves, and texts of nothing but escapes."""
    masker = Masker(["a" * 40 + "b", KEY])
    for text in ("a" * 100_000, "%" * 100_000, "&#" * 50_000, "\\" * 100_000, "%2525" * 20_000):
        assert masker.mask(text) == text
        assert masker.mask(text + quote(KEY)).endswith("***")


def test_each_line_of_a_long_key_is_masked() -> None:
    lines = ["-----BEGIN KEY-----", "MIIEpAIBAAKCAQEA", "x7"]
    masked = Masker(["\n".join(lines)]).mask(f"found {lines[1]} and {json.dumps(lines)}")
    assert "MIIE" not in masked


def test_a_text_is_masked_before_it_is_cut() -> None:
    masker = Masker([KEY])
    text = f"{'x' * 190}{KEY}"
    assert cut(text) == f"{'x' * 190}***"
    assert show(text, 196) == f"'{'x' * 190}***'"
    assert len(cut("y" * 500)) == 200
    del masker
    gc.collect()
    assert KEY in mask_known(KEY)  # a masker that is gone masks nothing


def test_texts_inside_values_are_masked() -> None:
    masker = Masker([KEY])
    value = {KEY: [{"a": (KEY, 1)}, None], "b": {KEY}}
    assert masker.mask_all(value) == {"***": [{"a": ("***", 1)}, None], "b": ["***"]}
    deep: list[object] = [KEY]
    for _ in range(5000):
        deep = [deep]
    assert KEY not in repr(masker.mask_all(deep))


def test_values_that_occur_in_other_texts_can_be_left_out() -> None:
    masker = Masker([KEY, "docs"]).without(["the Docs", "more"])
    assert masker.mask(f"docs {KEY}") == "docs ***"


def test_log_lines_are_masked(caplog: pytest.LogCaptureFixture) -> None:
    """Also objects among their arguments, and tracebacks."""
    masker = Masker([KEY])
    log = logging.getLogger("tests.masking")
    mask_logs(log.name)
    error = ValueError(KEY)
    log.error("a %s %r", quote(KEY), error, exc_info=error)
    assert masker.mask(KEY) == "***"
    assert "Pr" not in caplog.text
    assert "ValueError('***')" in caplog.text
    assert caplog.text.count("***") == 3
