"""Limits of measures by name, as flags, `thresholds` and quality tests give them, made rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.gates.rules import Limit, Rule
from berryeval.measures.listing import split_names
from berryeval.pipeline.config_file import check_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Thresholds", "limit_rules", "read_limits"]


def limit_rules(limits: Mapping[str, float], kind: str = "at_least") -> list[Rule]:
    """A rule for each limit of this kind; two for one measure, by whatever names, are refused."""
    _check_distinct(limits)
    return [
        check_model(Rule, {"measure": name, kind: value}, None) for name, value in limits.items()
    ]


def read_limits(texts: Iterable[str] | None, owner: str, example: str) -> dict[str, float]:
    """Limits that were written as `recall@10=0.80`, one by one or with commas between.

    None is a flag that was not given; one without a value is refused: it would judge nothing.
    """
    if texts is None:
        return {}
    texts = list(texts)
    found: dict[str, float] = {}
    for text in split_names(texts) or texts or [""]:
        name, _, number = text.rpartition("=")
        name = name.strip()
        try:
            value = float(number)
        except ValueError:
            name, value = "", 0.0
        if not name:
            shown = repr(text) if text else "nothing"
            msg = f"{owner}: expected MEASURE=VALUE, as {example}, found {shown}"
            raise ConfigurationError(msg)
        if name in found:
            msg = f"{owner}: {name} has two limits, {found[name]:g} and {value:g}; give one"
            raise ConfigurationError(msg)
        found[name] = value
    _check_distinct(found, f"{owner}: ")
    return found


def _check_distinct(limits: Mapping[str, float], owner: str = "") -> None:
    """Refuse two limits for one measure under two of its names."""
    from berryeval.measures import parse_measure

    seen: dict[str, str] = {}
    for name, value in limits.items():
        try:
            measure = str(parse_measure(name))
        except BerryEvalError:  # whoever makes the rule says what is wrong
            continue
        first = seen.setdefault(measure, name)
        if first != name:
            two = f"{first}={limits[first]:g} and {name}={value:g}"
            msg = f"{owner}{measure} has two limits, {two}; give one"
            raise ConfigurationError(msg)


def _make_rules(limits: dict[str, float]) -> dict[str, float]:
    """The same, if rules can be made of it."""
    try:
        limit_rules(limits)
    except BerryEvalError as error:
        raise ValueError(str(error).removeprefix("measure: ")) from None
    return limits


Thresholds = Annotated[dict[str, Limit], AfterValidator(_make_rules)]
