"""Names of metrics: parse the spellings of all tools into one canonical spelling.

    canonical, ir_measures   nDCG@10   P(rel=2)@5   nDCG(dcg='exp-log2')@10   IPrec@0.1
    trec_eval                ndcg_cut_10   ndcg_cut.10   P_5   P.5,10   iprec_at_recall_0.10   map
                             ndcg.1=3,2=9   set_F_0.5   utility_1,-1,0,0   rbp_p=0.8
    ranx                     ndcg@10   precision@5-l2   hit_rate@5   rbp.95   precision   f1
    configuration            ndcg_at_10   precision_at_5   recall@10   recall-at-10

Printing a metric and parsing it back is the identity.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from berryeval._internal.validate import nearest
from berryeval.errors import MetricError, NotScoredError
from berryeval.metrics.base import AT_PARAMETERS, Definition, Metric
from berryeval.metrics.catalogue import definitions, names

_CANONICAL = re.compile(
    r"(?P<name>[^@()\s]+?)\s*(?:\((?P<params>.*)\)\s*)?(?:@(?P<at>[^@]*?))?(?:-l(?P<level>[0-9.]+))?"
)
_SEPARATOR = re.compile(r"_at_|-at-|_|\.")
_TAIL = re.compile(r"(?:_at_|-at-|_|\.)(?:[-+.]?[0-9]|[A-Za-z]\w*=).*")
_SIGNS = ("@", "_at_", "-at-")
# Names that ranx, and only ranx, also uses without a cutoff, for the whole ranking.
_WHOLE = {"precision": "SetP", "f1": "SetF", "hit_rate": "Success"}
# Names that trec_eval uses without a cutoff, and our metrics of the whole ranking.
_NINE_CUTOFFS = {"p": "SetP", "recall": "SetR", "ndcg_cut": "nDCG", "map_cut": "AP"}


def parse_metric(text: str | Metric) -> Metric:
    """Return the one metric that `text` names."""
    found = parse_metrics([text])
    if len(found) != 1:
        raise MetricError(
            f"{text!r} names {len(found)} metrics ({', '.join(map(str, found))}), expected one"
        )
    return found[0]


def parse_metrics(texts: Iterable[str | Metric]) -> list[Metric]:
    """Return the metrics that `texts` name; one text may name several, as trec_eval's `P.5,10`."""
    metrics: list[Metric] = []
    for text in texts:
        if isinstance(text, Metric):
            metrics.append(text)
        elif isinstance(text, str):
            metrics.extend(_parse(text))
        else:
            raise MetricError(
                f"a metric must be named by a str, found {type(text).__name__} {text!r:.80}"
            )
    return metrics


def _parse(text: str) -> list[Metric]:
    match = _CANONICAL.fullmatch(text.strip())
    if match is None:
        raise MetricError(f"{text!r} is not a metric; metrics look like nDCG@10 or P(rel=2)@5")
    _require_number(text)
    name, tail = _split_known_name(text, match["name"])
    definition, implied = names()[name]
    given: list[Mapping[str, Any]] = [_parameters(text, match["params"])]
    if match["at"] is None and not tail and "cutoff" not in given[0]:
        if name in _WHOLE:
            definition, implied = names()[_WHOLE[name].lower()]
        _reject_bare(text, name, definition)
    if match["level"] is not None:
        given.append({"rel": _number(text, match["level"], "float")})
    choices: Sequence[Mapping[str, Any]] = [{}]
    if match["at"] is not None:
        choices = [_at(text, definition, number) for number in match["at"].split(",")]
        given.extend(_parse_tail(text, definition, tail) if tail else [])
    elif tail:
        choices = _parse_tail(text, definition, tail)
    return [definition(**{**implied, **_merged(text, [*given, choice])}) for choice in choices]


def _require_number(text: str) -> None:
    given = text.rstrip()
    sign = next(filter(given.endswith, _SIGNS), "")
    name = given.removesuffix(sign).rstrip()
    if sign and name:
        example = "0.1" if name.lower() in {"iprec", "iprec_at_recall"} else "10"
        raise MetricError(
            f"{text!r} has no number after the {sign}; write one, as in {name}{sign}{example}"
        )


def _reject_bare(text: str, name: str, definition: Definition) -> None:
    if whole := _NINE_CUTOFFS.get(name):
        named = definition.name if whole.startswith("Set") else repr(text)
        raise MetricError(
            f"{named} needs a cutoff, as in {definition.name}@10; {whole} covers the whole "
            f"ranking, and the profile trec_eval reads {text!r} as its nine cutoffs"
        )


def _split_known_name(text: str, name: str) -> tuple[str, str]:
    """Split off the known name at the start: `ndcg_cut_10` is `ndcg_cut` and `_10`."""
    known = names()
    cuts = [(name, "")]
    longest = max(map(len, known))
    for separator in reversed(list(_SEPARATOR.finditer(name[: longest + len("_at_")]))):
        start, tail = name[: separator.start()], name[separator.start() :]
        if _TAIL.fullmatch(tail):
            cuts.append((start, tail))
    for start, tail in cuts:
        for spelling in (start.lower(), start.lower().replace("-", "_")):
            if spelling in known:
                return spelling, tail
    spellings = (one for each in definitions().values() for one in (*each.aliases, each.name))
    near = [_complete(one) for one in nearest(name, spellings)]
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise MetricError(
        f"unknown metric {text!r}; {hint}run `berryeval list metrics` to list all metrics"
    )


def _complete(name: str) -> str:
    """Add a number to a name that needs one."""
    return next((one for one in (name, f"{name}@10", f"{name}@0.1") if find_metric(one)), name)


def _parse_tail(text: str, definition: Definition, tail: str) -> Sequence[Mapping[str, Any]]:
    """Parse the text behind a name into the parameters of each metric it names."""
    if tail.startswith(("_at_", "-at-")) or (definition.suffix is None and "=" not in tail):
        numbers = _SEPARATOR.sub("", tail, count=1).split(",")
        return [_at(text, definition, number) for number in numbers]
    try:
        return (definition.suffix or _gains)(tail)
    except ValueError:
        raise MetricError(f"{definition.name} does not understand {tail!r} in {text!r}") from None


def _gains(tail: str) -> list[dict[str, Any]]:
    """Parse trec_eval's `ndcg_1=3,2=9`."""
    pairs = [pair.split("=") for pair in tail[1:].split(",")]
    return [{"gains": {float(level): float(gain) for level, gain in pairs}}]


def _merged(text: str, parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            if name in chosen:
                raise MetricError(f"{text!r} gives {name} twice")
            chosen[name] = value
    return chosen


def _at(text: str, definition: Definition, number: str) -> dict[str, Any]:
    """Parse a number behind the name: a cutoff or a recall level."""
    for parameter in definition.parameters:
        if parameter.name in AT_PARAMETERS:
            return {parameter.name: _number(text, number, parameter.base_kind)}
    raise MetricError(f"{definition.name} takes no cutoff, found {text!r}")


def _number(text: str, number: str, kind: str) -> float:
    try:
        return int(number) if kind == "int" else float(number)
    except ValueError:
        wanted = "an integer" if kind == "int" else "a number"
        raise MetricError(f"{number!r} in {text!r} must be {wanted}") from None


def _parameters(text: str, params: str | None) -> dict[str, Any]:
    chosen: list[dict[str, Any]] = []
    # Commas inside of braces and brackets belong to a value.
    for part in filter(str.strip, _split_at_commas(params or "", "{}", "[]")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name.isidentifier():
            raise MetricError(
                f"{part.strip()!r} in {text!r} must be a parameter and its value, as in rel=2"
            )
        chosen.append({name: _value(value)})
    return _merged(text, chosen)


def _split_at_commas(text: str, *pairs: str) -> list[str]:
    """Split at commas, but not at one between a pair of signs."""
    opened = dict.fromkeys(pairs, True)  # seen from the end: no closing sign yet
    parts, end = [], len(text)
    for place in range(len(text) - 1, -1, -1):
        sign = text[place]
        for pair in pairs:
            if sign in pair:
                opened[pair] = sign == pair[0]
        if sign == "," and all(opened.values()):
            parts.append(text[place + 1 : end])
            end = place
    return [text[:end], *reversed(parts)]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two: deeply nested
        return {"true": True, "false": False}.get(text.lower(), text)


def split_names(texts: Iterable[str]) -> list[str]:
    """Split texts at commas into names of metrics.

    A comma inside parentheses or before a bare number belongs to the name, as in
    nDCG(gains={1:1,2:3}) and P.5,10.
    """
    names: list[list[str]] = []
    for text in texts:
        for part in _split_at_commas(text, "()"):
            if names and re.fullmatch(r"[0-9.]+", part):
                names[-1].append(part)
            elif part.strip():
                names.append([part.strip()])
    return [",".join(parts) for parts in names]


def distinct_names(names: Iterable[str]) -> list[str]:
    """Drop names of metrics that an earlier name already means: nDCG@10 is ndcg_cut_10."""
    seen: set[Metric] = set()
    kept: list[str] = []
    for name in names:
        named = parse_metrics([name])
        new = [metric for metric in named if metric not in seen]
        kept += [name] if len(new) == len(named) else map(str, new)
        seen.update(new)
    return kept


def scored_name(wanted: str | Metric, metrics: Sequence[str], spellings: Mapping[str, str]) -> str:
    """Find a scored metric by any spelling; raise `NotScoredError` if it was not scored.

    A spelling that requests the same as an earlier one means the same metric, even where a profile
    changed its parameters. Otherwise it means the metric with its canonical name.

    Args:
        wanted: Spelling that is neither in `metrics` nor in `spellings`.
        metrics: Canonical names of the scored metrics.
        spellings: Canonical name of each text that requested a metric.
    """
    metric = find_metric(wanted)
    if metric is not None:
        for text, name in spellings.items():
            asked = find_metric(text)
            if asked is not None and (asked, asked.given) == (metric, metric.given):
                return name
        if str(metric) in metrics:
            return str(metric)
    spelled = str(wanted if metric is None else metric)
    near = nearest(spelled, (*spellings, *metrics), 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise NotScoredError(f"{wanted!r} was not computed; computed are {', '.join(metrics)}{hint}")


def find_metric(text: str | Metric) -> Metric | None:
    """Return the one metric that `text` names, or None."""
    try:
        return parse_metric(text)
    except MetricError:
        return None


_NAME = re.compile(r"[A-Za-z0-9_]+")


def trec_name(metric: Metric) -> str:
    """Return trec_eval's name, such as ndcg_cut_10, or the canonical name if trec_eval has none.

    A metric with an optional cutoff has two names there ("map, map_cut"), of which the second takes
    the cutoff, or one without a cutoff; only `success` always has one.
    """
    names = [name.strip() for name in metric.definition.peers.get("trec_eval", "").split(",")]
    at: int | float | None = None
    optional = False
    for parameter in metric.definition.parameters:
        value = metric.params[parameter.name]
        if parameter.name in AT_PARAMETERS:
            at, optional = value, not parameter.required
        elif value != parameter.default:
            return str(metric)
    if optional and len(names) == 1 and (at is None) == (names == ["success"]):
        return str(metric)
    name = names[0] if at is None else names[-1]
    if not _NAME.fullmatch(name):
        return str(metric)
    if at is None:
        return name
    return f"{name}_{at:.2f}" if isinstance(at, float) else f"{name}_{at}"
