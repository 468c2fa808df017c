"""Answers and errors whose methods raise, lie, nest without end or hold what JSON cannot.

Each is a function of the right hits, with how the error of its query begins; "" if its hits count.
"""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from berryeval.data.records import Hit
from berryeval.errors import ProviderError
from berryeval.providers.answers import Answer

_BIG: Any = 10**5000  # Python refuses to print it


def _fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("do not touch")


def _nest(depth: int) -> Any:
    inner: Any = "core"
    for level in range(depth):
        inner = {"in": inner} if level % 2 else [inner]
    return {"top": inner}


def _turn() -> Any:
    """A mapping that contains itself three times: unfolded, it has no end."""
    loop: dict[str, Any] = {}
    loop |= {"a": loop, "b": [loop], "c": {"d": loop}}
    return loop


def _double(depth: int) -> Any:
    """A small mapping that is huge when it is written out."""
    inner: Any = {}
    for _ in range(depth):
        inner = {"a": inner, "b": inner}
    return inner


class Mute:
    """An object without a text."""

    __repr__ = __str__ = __format__ = _fail


class Brittle:
    """An object that raises whatever is done with it."""

    __getattr__ = __iter__ = __len__ = __bool__ = __eq__ = __hash__ = __repr__ = _fail


class BrittleClass:
    """An object that does not tell its class."""

    __class__ = property(_fail)


class BrittleText(str):
    """A text that raises whatever is done with it."""

    __slots__ = ()
    __str__ = __repr__ = __eq__ = __hash__ = __len__ = encode = strip = split = _fail
    isascii = __format__ = __getitem__ = __contains__ = __iter__ = _fail


class BrittleNumber(float):
    """A number that cannot be compared or shown."""

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __repr__ = __str__ = _fail
    __hash__ = None  # type: ignore[assignment]


class BrittleHit(Hit):
    """A hit that loads its text when asked, and fails."""

    @property
    def text(self) -> Any:
        """Fail."""
        return _fail()

    @text.setter
    def text(self, value: Any) -> None:
        """Accept the default."""


class LyingMapping(UserDict[str, Any]):
    """A mapping with other keys than values."""

    def __len__(self) -> int:
        return 7

    def items(self) -> Any:
        """Fail."""
        return _fail()

    def __iter__(self) -> Iterator[str]:
        return iter(["not", "there"])


class MuteError(Exception):
    """An error without a text."""

    __str__ = __repr__ = _fail


class PassingError(ProviderError):
    """An error that does not tell whether it passes."""

    @property
    def passing(self) -> Any:
        """Fail."""
        return _fail()

    @passing.setter
    def passing(self, value: Any) -> None:
        """Accept the default."""


class WaitingError(ProviderError):
    """An error that does not tell how long it lasts."""

    @property
    def retry_after(self) -> Any:
        """Fail."""
        return _fail()

    @retry_after.setter
    def retry_after(self, value: Any) -> None:
        """Accept the default."""


class OwnBaseError(BaseException):
    """An error that is no Exception."""


def _break_off(hits: list[Hit]) -> Iterator[Hit]:
    yield hits[0]
    raise OSError("the cursor was closed")


async def _answer(hits: list[Hit]) -> Any:
    return hits


async def _answer_later(hits: list[Hit]) -> Any:
    return _answer(hits)


def _raising(make: Callable[[], BaseException]) -> Callable[[list[Hit]], Any]:
    def answer(_: list[Hit]) -> Any:
        raise make()

    return answer


def _busy(wait: Any) -> Callable[[list[Hit]], Any]:
    return _raising(lambda: ProviderError("busy", passing=True, retry_after=wait))


def _first(**fields: Any) -> Callable[[list[Hit]], Any]:
    """Answer with the right hit, and these fields."""
    return lambda hits: [Hit(**{"id": hits[0].id, "score": 1.0, **fields})]


_TOUCHED = "RuntimeError: do not touch"
_GROUPS: dict[str, Any] = {}
if sys.version_info >= (3, 11):
    from builtins import BaseExceptionGroup, ExceptionGroup

    _PARTS = [ValueError("a"), MuteError()]
    _GROUPS = {
        "group": (_raising(lambda: ExceptionGroup("two", _PARTS)), "ExceptionGroup: two (2 sub"),
        "base group": (
            _raising(lambda: BaseExceptionGroup("two", [*_PARTS, KeyboardInterrupt()])),
            "RuntimeError: BaseExceptionGroup: two (3 sub-exceptions)",
        ),
    }
BAD_ANSWERS: Mapping[str, tuple[Callable[[list[Hit]], Any], str]] = {
    # Fields of hits.
    "deep metadata": (_first(metadata=_nest(3000)), ""),
    "circular metadata": (_first(metadata=_turn()), ""),
    "doubled metadata": (_first(metadata=_double(40)), ""),
    "deep doubled metadata": (_first(metadata=_double(90)), ""),
    "big metadata": (_first(metadata={"n": _BIG, "list": [_BIG, -_BIG]}), ""),
    "mute metadata": (_first(metadata={"a": Mute(), "b": [Brittle()], "c": BrittleClass()}), ""),
    "mute keys": (_first(metadata={Mute(): 1, None: 3, (1, 2): 4}), ""),
    "lying metadata": (_first(metadata=LyingMapping(a=1)), ""),
    "brittle metadata": (
        _first(metadata={"t": BrittleText("text"), "n": BrittleNumber(0.5)}),
        "",
    ),
    "half metadata": (_first(metadata={"\udc00": "\ud800", "l": ["\udfff\ud800"]}), ""),
    "half text": (_first(text="half \ud800 pair", section=("\udc00",)), ""),
    "deep extra": (_first(extra={"more": _nest(3000), "n": _BIG, "mute": Mute()}), ""),
    "big rank": (_first(rank=_BIG), ""),
    "brittle rank": (_first(rank=Brittle()), ""),
    "big score": (lambda hits: [Hit(hits[0].id, _BIG)], "ProviderError: hit 1 ("),
    "big pair": (lambda hits: [(hits[0].id, _BIG)], "ProviderError: hit 1 is not valid: "),
    "brittle score": (_first(score=BrittleNumber(0.5)), ""),
    "mute score": (_first(score=Mute()), "ProviderError: hit 1 ("),
    "big start": (_first(start=0, end=_BIG), "ProviderError: hit 1 ("),
    "flag as start": (_first(start=False, end=True), "DataError: start: expected"),
    "brittle text": (_first(text=BrittleText("text")), _TOUCHED),
    "brittle id": (lambda hits: [BrittleText(hits[0].id)], _TOUCHED),
    "lazy text": (lambda hits: [BrittleHit(hits[0].id, 1.0)], "RuntimeError: do not touch"),
    "big id": (lambda _: [_BIG], "ProviderError: hit 1 is not valid: "),
    # Whole answers.
    "mute": (lambda _: Mute(), "ProviderError: expected a list of hits, found Mute <Mute"),
    "mute hits": (lambda _: [Mute()], "ProviderError: hit 1: expected a hit with an id, found"),
    "brittle": (lambda _: Brittle(), _TOUCHED),
    "brittle hits": (lambda _: [Brittle()], _TOUCHED),
    "no class": (lambda _: [BrittleClass()], _TOUCHED),
    "lying mapping": (lambda _: LyingMapping(a=1), "KeyError: 'not'"),
    "lying hit": (lambda _: [LyingMapping(id="a")], "KeyError: 'not'"),
    "broken off": (_break_off, "OSError: the cursor was closed"),
    "coroutine of a coroutine": (
        _answer_later,
        "ProviderError: expected a list of hits, found coroutine",
    ),
    "big cost": (lambda hits: Answer(hits, {"usd": _BIG}), "ProviderError: cost 'usd' must be"),
    "infinite cost": (
        lambda hits: Answer(hits, {"usd": float("inf")}),
        "ProviderError: cost 'usd' must be a finite number, found inf",
    ),
    "negative cost": (
        lambda hits: Answer(hits, {"usd": -1}),
        "ProviderError: cost 'usd' must not be negative, found -1",
    ),
    "deep cost": (lambda hits: Answer(hits, {"usd": 1, "by": _nest(3000), "m": Mute()}), ""),
    # Errors.
    "mute error": (_raising(MuteError), "MuteError: <MuteError that cannot be shown>"),
    "error with a mute": (_raising(lambda: ValueError(Mute())), "ValueError: <ValueError that"),
    "half error": (_raising(lambda: ValueError("\ud800")), "ValueError: ?"),
    "unknown passing": (_raising(lambda: PassingError("no")), "PassingError: no"),
    "unknown wait": (_raising(lambda: WaitingError("no", passing=True)), "WaitingError: no (tried"),
    "odd passing": (
        _raising(lambda: ProviderError("no", passing=Brittle())),  # type: ignore[arg-type]
        "ProviderError: no",
    ),
    **{
        f"wait {name}": (_busy(wait), "ProviderError: busy (tried 2 times)")
        for name, wait in {
            "nan": float("nan"), "infinite": float("inf"), "big": _BIG, "negative": -1,
            "flag": True, "text": "soon", "brittle": BrittleNumber(1), "mute": Mute(),
        }.items()
    },
    "generator exit": (_raising(GeneratorExit), "RuntimeError: GeneratorExit"),
    "interrupt": (_raising(KeyboardInterrupt), "RuntimeError: KeyboardInterrupt"),
    "own base error": (_raising(lambda: OwnBaseError("x")), "RuntimeError: OwnBaseError: x"),
    "no memory": (_raising(MemoryError), "MemoryError"),
    "no stack": (_raising(lambda: RecursionError("too deep")), "RecursionError: too deep"),
    **_GROUPS,
}  # fmt: skip
