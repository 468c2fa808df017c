"""Masking of secret values in text, in every encoding in which a server may echo them.

>>> masker = Masker(["k3y&value"])
>>> masker.mask("no k3y%26value, K3Y&amp;VALUE or azN5JnZhbHVl here")
'no ***, *** or *** here'
"""

from __future__ import annotations

import json
import re
import sys
import threading
from array import array
from base64 import b32encode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

if TYPE_CHECKING:
    from logging import LogRecord


MASK: Final = "***"
SHORTEST: Final = 4  # shorter values also match inside other words
_LONG: Final = 12  # no such value comes about by chance from several words
_LINE: Final = 16  # least length of a line of a key in several lines, to be masked alone
_CORE: Final = 6  # least length of a value in Base64 or Base32
_PASSES: Final = 3  # a text may be encoded several times over
_DEEPEST: Final = 100
_AHEAD: Final = 1 << 16  # characters to look at beyond a cut
_ESCAPE: Final = re.compile(
    rb"%[0-9A-Fa-f]{2}"
    rb"|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"
    rb"|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
    rb"|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[0-3][0-7]{2}|\\.",
    re.DOTALL,
)
_SIGNS: Final = b"%&\\"  # one of them starts every escape
_SPACES: Final = b"\t\n\r "
_BLANKS: Final = bytes.maketrans(b"\t\n\r+", b"    ")
_TO_URL: Final = bytes.maketrans(b"+/", b"-_")
_DIGITS: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_alive: WeakSet[Masker] = WeakSet()
_lock: Final = threading.Lock()


class Masker:
    """Secret values to mask in texts; each mask takes time linear in the length of the text.

    A value is found in any letter case, percent-encoded, HTML- or JSON-escaped, in octal escapes,
    also partly or several times over, in hexadecimal, and in Base64 or Base32 alone or as part of
    more. While a masker lives, `mask_known` masks its values too.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.values: set[str] = set()
        self._folded: set[bytes] = set()
        self._joined: set[bytes] = set()  # without spaces: long keys may be wrapped into lines
        # Base64 is case-sensitive, Base32 is in one case; the flags tell whether the neighbours
        # of a core hold bits of the value.
        self._cores: dict[bytes, tuple[bool, bool]] = {}
        for value in values:
            self.add(value)
        with _lock:
            _alive.add(self)

    def add(self, value: str) -> None:
        """Mask a value from now on, also without blanks around it, and each long line alone."""
        lines = [line.strip() for line in value.split("\n") if len(line.strip()) >= _LINE]
        for form in {value, value.strip(), *lines}:
            if len(form) < SHORTEST or form in self.values:
                continue
            self.values.add(form)
            for view in _decode_often(form.encode(errors="surrogatepass")):
                self._cores |= _find_cores(view)
            as_bytes = repr(form.encode(errors="surrogatepass"))[2:-1]
            escaped = {json.dumps(form)[1:-1], repr(form)[1:-1], as_bytes}
            for spelled in {form, form.upper(), form.lower(), *escaped}:
                for view in _decode_often(spelled.encode(errors="surrogatepass")):
                    self._add_view(view)
                    self._add_view(view.rstrip(b"\\"))  # decoded with the sign that follows

    def _add_view(self, view: bytes) -> None:
        if len(view) >= SHORTEST:
            self._folded |= {_fold(view), view.hex().encode()}
        joined = view.translate(None, _SPACES)
        if len(joined) >= _LONG:
            self._joined.add(_fold(joined))

    @classmethod
    def known(cls) -> Masker:
        """Return a masker of the values of all living ones."""
        return cls(value for masker in known_maskers() for value in list(masker.values))

    def without(self, texts: Iterable[str]) -> Masker:
        """Return a masker of only those values that occur in none of the texts."""
        left = {value: _fold(value.encode(errors="surrogatepass")) for value in self.values}
        for text in texts:
            if not left:
                break
            folded = _fold(text.encode(errors="surrogatepass"))
            left = {value: form for value, form in left.items() if form not in folded}
        return Masker(left)

    def mask(self, text: str) -> str:
        """Mask every secret value in a text."""
        if not self._folded:
            return text
        data = text.encode(errors="surrogatepass")
        spans = sorted(set(self._find(data)))
        if not spans:
            return text
        parts: list[bytes] = []
        last = 0
        for start, end in spans:
            if start > last or not parts:
                parts += [data[last:start], MASK.encode()]
            last = max(last, end)
        return b"".join([*parts, data[last:]]).decode(errors="surrogatepass")

    def mask_all(self, value: Any, depth: int = 0) -> Any:
        """Mask the texts inside mappings and lists, also those that are keys."""
        if isinstance(value, str):
            return self.mask(value)
        if not isinstance(value, Mapping | list | tuple | set | frozenset):
            return value
        if depth == _DEEPEST:
            return MASK
        if isinstance(value, Mapping):
            return {
                self.mask_all(key, depth + 1): self.mask_all(item, depth + 1)
                for key, item in value.items()
            }
        items = [self.mask_all(item, depth + 1) for item in value]
        return tuple(items) if isinstance(value, tuple) else items

    def _find(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each value; places are mapped only if there is one."""
        if not any(map(self._occurs_in, _decode_often(data))):
            return
        for view, places in _decode_views(data):
            yield from self._find_in(view, places, self._folded, self._cores)
            for start, end in self._find_in(*_drop_spaces(view, places), self._joined, self._cores):
                yield start, start + len(data[start:end].rstrip(_SPACES))

    def _occurs_in(self, view: bytes) -> bool:
        plain, joined = _fold(view), view.translate(None, _SPACES)
        if any(map(plain.__contains__, self._folded)):
            return True
        plain = _fold(joined) if self._joined else b""
        return any(map(joined.__contains__, self._cores)) or any(
            map(plain.__contains__, self._joined)
        )

    @staticmethod
    def _find_in(
        view: bytes,
        places: Sequence[int],
        folded: Iterable[bytes],
        cores: Mapping[bytes, tuple[bool, bool]],
    ) -> Iterator[tuple[int, int]]:
        plain = _fold(view)
        for form in folded:
            for start in _find_all(plain, form):
                yield places[start], places[start + len(form)]
        for core, (before, after) in cores.items():
            for found in _find_all(view, core):
                start, end = found, found + len(core)
                start -= before and start > 0 and view[start - 1] in _DIGITS
                end += after and end < len(view) and view[end] in _DIGITS
                while end < len(view) and view[end] == ord("="):
                    end += 1
                yield places[start], places[end]


def known_maskers() -> list[Masker]:
    """Return every living masker."""
    with _lock:
        return list(_alive)


def mask_known(text: str) -> str:
    """Mask the values of every living masker, before a text is cut or logged."""
    for masker in known_maskers():
        text = masker.mask(text)
    return text


def cut(text: str, longest: int = 200) -> str:
    """Mask known secrets in a text, then cut it: half a secret would not be recognized."""
    return mask_known(text[: longest + _AHEAD])[:longest]


class _LogFilter:
    """A filter of a logger that masks known secrets in its records and their tracebacks."""

    def filter(self, record: LogRecord) -> bool:
        """Mask a record; keep it."""
        message = record.getMessage()
        masked = mask_known(message)
        if masked != message:
            record.msg, record.args = "%s", (masked,)
        if record.exc_info and record.exc_info[0]:
            from logging import Formatter

            record.exc_text = mask_known(Formatter().formatException(record.exc_info))
        return True


_FILTER: Final = _LogFilter()


def mask_logs(*names: str) -> None:
    """Mask known secrets in the lines of these loggers."""
    from logging import getLogger

    for name in names:
        getLogger(name).addFilter(_FILTER)


def _fold(data: bytes) -> bytes:
    """Return the data in lower case, with a blank for each other kind of space and for `+`."""
    return data.lower().translate(_BLANKS)


def _find_all(data: bytes, part: bytes) -> Iterator[int]:
    place = data.find(part)
    while place >= 0:
        yield place
        place = data.find(part, place + len(part))


def _decode_often(data: bytes) -> Iterator[bytes]:
    """Yield the data as it is, and decoded once, twice, ... until nothing is left to decode."""
    yield data
    for _ in range(_PASSES):
        if not any(sign in data for sign in _SIGNS):
            return
        decoded = _ESCAPE.sub(lambda found: _decode_escape(found[0]), data)
        if decoded == data:
            return
        data = decoded
        yield data


def _decode_views(data: bytes) -> Iterator[tuple[bytes, Sequence[int]]]:
    """Yield the same as `_decode_often`, each with the places of its bytes in the data."""
    places: Sequence[int] = range(len(data) + 1)
    yield data, places
    for _ in range(_PASSES):
        decoded, places = _decode(data, places)
        if decoded == data:
            return
        data = decoded
        yield data, places


def _decode(data: bytes, places: Sequence[int]) -> tuple[bytes, Sequence[int]]:
    parts: list[bytes] = []
    kept, last = array("Q"), 0
    for found in _ESCAPE.finditer(data):
        start, text = found.start(), _decode_escape(found[0])
        parts += [data[last:start], text]
        kept.extend(places[last:start])
        kept.extend([places[start]] * len(text))
        last = found.end()
    if not parts:
        return data, places
    kept.extend(places[last:])
    return b"".join([*parts, data[last:]]), kept


def _decode_escape(token: bytes) -> bytes:
    if token[:1] == b"%" or (token[:2] == b"\\x" and len(token) > 2):  # noqa: PLR2004 - as below
        return bytes.fromhex(token[-2:].decode())
    if token[:2] == b"&#":
        digits = token[2:-1].lower()
        number = int(digits[1:], 16) if digits[:1] == b"x" else int(digits)
        return chr(min(number, sys.maxunicode)).encode(errors="surrogatepass")
    if token[:1] == b"&":
        from html import unescape

        text = unescape(token.decode())
        return text.encode(errors="surrogatepass")
    if len(token) == 2:  # noqa: PLR2004 - a backslash and a character
        return token[1:]
    if token[1:].isdigit():
        return bytes([int(token[1:], 8)])
    units = bytes.fromhex(token.replace(b"\\u", b"").decode())
    return units.decode("utf-16-be", "surrogatepass").encode(errors="surrogatepass")


def _drop_spaces(data: bytes, places: Sequence[int]) -> tuple[bytes, Sequence[int]]:
    parts: list[bytes] = []
    kept = array("Q")
    for found in re.finditer(rb"[^\t\n\r ]+", data):
        parts.append(found[0])
        kept.extend(places[found.start() : found.end()])
    kept.append(kept[-1] + 1 if kept else places[-1])
    return b"".join(parts), kept


def _find_cores(data: bytes) -> dict[bytes, tuple[bool, bool]]:
    """Return the part of the Base64 and Base32 of any text with this data that depends on it alone.

    A letter of Base64 holds 6 bits and 3 bytes are a group; of Base32, these are 5 and 5.
    """
    found: dict[bytes, tuple[bool, bool]] = {}
    for encode, size, group in ((b64encode, 6, 3), (b32encode, 5, 5)):
        for lead in range(group):
            bits = 8 * (lead + len(data))
            first, last = -(-8 * lead // size), bits // size
            core = encode(b"\0" * lead + data + b"\0" * group)[first:last]
            other = core.translate(_TO_URL) if encode is b64encode else core.lower()
            if len(core) >= _CORE:
                found |= dict.fromkeys((core, other), (lead > 0, bits % size > 0))
    return found
