"""Names of measures: every spelling in the field in, one canonical spelling out.

    canonical, ir_measures   nDCG@10   P(rel=2)@5   nDCG(dcg='exp-log2')@10   IPrec@0.1
    trec_eval                ndcg_cut_10   ndcg_cut.10   P_5   P.5,10   iprec_at_recall_0.10   map
    ranx                     ndcg@10   precision@5-l2   hit_rate@5   rbp.95
    configuration            ndcg_at_10   precision_at_5   recall@10

Printing a measure and parsing it back is the identity.
"""

from __future__ import annotations

import ast
import difflib
import re
from typing import TYPE_CHECKING, Any

from berryeval.errors import MeasureError
from berryeval.measures.base import AT_PARAMETERS, Definition, Measure
from berryeval.measures.catalogue import names

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["parse_measure", "parse_measures"]

_CANONICAL = re.compile(
    r"\s*(?P<name>[^@()\s]+?)\s*(?:\((?P<params>.*)\))?\s*(?:@(?P<at>[^@]*?))?(?:-l(?P<level>[0-9.]+))?\s*"
)
_NUMBERS = r"(?P<numbers>[0-9.]+(?:,[0-9.]+)*)"
_SUFFIX = re.compile(rf"(?P<name>.+?)(?:_at_|_|\.){_NUMBERS}")


def parse_measure(text: str | Measure) -> Measure:
    """The one measure that `text` names."""
    found = parse_measures([text])
    if len(found) != 1:
        msg = f"{text!r} names {len(found)} measures, expected one: {', '.join(map(str, found))}"
        raise MeasureError(msg)
    return found[0]


def parse_measures(texts: Iterable[str | Measure]) -> list[Measure]:
    """The measures that `texts` name; trec_eval's `P.5,10` names several."""
    measures: list[Measure] = []
    for text in texts:
        if isinstance(text, Measure):
            measures.append(text)
        elif isinstance(text, str):
            measures.extend(_parse(text))
        else:
            msg = f"a measure must be named by a str, found {type(text).__name__} {text!r:.80}"
            raise MeasureError(msg)
    return measures


def _parse(text: str) -> list[Measure]:
    match = _CANONICAL.fullmatch(text)
    if match is None:
        msg = f"{text!r} is not a measure; measures look like nDCG@10 or P(rel=2)@5"
        raise MeasureError(msg)
    known = names()
    name, numbers = match["name"], None
    if name.lower() not in known:
        suffix = _SUFFIX.fullmatch(name)
        if suffix is None or suffix["name"].lower() not in known or match["at"] is not None:
            raise MeasureError(_unknown(text, name, list(known)))
        name, numbers = suffix["name"], suffix["numbers"].split(",")
    definition, implied = known[name.lower()]
    chosen = {**implied, **_parameters(text, match["params"])}
    if match["level"] is not None:
        chosen["rel"] = float(match["level"])
    if match["at"] is not None:
        numbers = [match["at"]]
    if numbers is None:
        return [definition(**chosen)]
    return [definition(**chosen, **_at(text, definition, number)) for number in numbers]


def _at(text: str, definition: Definition, number: str) -> dict[str, Any]:
    """What a number behind the name means: a cutoff, or a level of recall."""
    for parameter in definition.parameters:
        if parameter.name in AT_PARAMETERS:
            try:
                value = int(number) if parameter.kind.startswith("int") else float(number)
            except ValueError:
                msg = f"{number!r} in {text!r} must be a number"
                raise MeasureError(msg) from None
            return {parameter.name: value}
    msg = f"{definition.name} takes no cutoff, found {text!r}"
    raise MeasureError(msg)


def _parameters(text: str, params: str | None) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for part in _split(params or ""):
        name, equals, value = part.partition("=")
        if not equals or not name.strip().isidentifier():
            msg = f"{part.strip()!r} in {text!r} must be a parameter and its value, as in rel=2"
            raise MeasureError(msg)
        chosen[name.strip()] = _value(value.strip())
    return chosen


def _split(params: str) -> list[str]:
    """At commas, but not at those inside braces."""
    return [part for part in re.split(r",(?![^{]*\})", params) if part.strip()]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text.lower(), text)


def _unknown(text: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name.lower(), known, n=3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"unknown measure {text!r}; {hint}`berryeval list measures` shows them all"
