"""`berryeval judge agree` and `berryeval judge calibrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from berryeval._internal import numbers
from berryeval._internal.text import pluralize, truncate
from berryeval.cli.flags import Flag, Metrics, Several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from berryeval.judging import Agreement, Bias, Coefficient
    from berryeval.workflows import Conclusions, JudgesCompared

_SHOWN: Final = 10  # pairs to adjudicate
_QUERY: Final = 60  # characters of a query


def agree(
    *runs: str,
    benchmark: str | None = None,
    ledger: str | None = None,
    judges: Several = None,
    metrics: Metrics = None,
    what: Literal["relevance", "faithfulness", "answer"] = "relevance",
    level: float = 0.95,
    seed: int = 0,
    json: Flag = False,
) -> None:
    """Measure how far judges agree, and what their disagreement does to conclusions.

    Args:
        runs: Runs whose systems are scored under each judge; default: those of the pool.
        benchmark: Benchmark; default: that of the only ledger in this folder.
        ledger: Folder or store with the judgments; default: NAME.judged beside the benchmark.
        judges: Only these judges: --judges ann bob; `benchmark` is the benchmark's own judgments.
        metrics: Metric by which systems are scored: -m nDCG@10.
        what: relevance of passages, or votes on answers: faithfulness or answer.
        level: Confidence level.
        seed: Random seed.
        json: JSON output, in full precision.
    """
    from berryeval.cli.output import console, print_indented, print_json
    from berryeval.workflows import measure_judges

    found = measure_judges(
        benchmark,
        ledger,
        judges=judges or (),
        runs=runs,
        metric=_only_metric(metrics),
        what=what,
        level=level,
        seed=seed,
    )
    if json:
        print_json("judge agree", _to_json(found))
        return
    screen = console()
    screen.print(f"{found.benchmark.name}: {', '.join(found.agreement.judges)}", style="bold")
    for one in (found.agreement, *found.agreement.pairs):
        screen.print()
        _print_agreement(screen, one)
    _print_disputes(screen, found)
    if found.conclusions is not None:
        _print_conclusions(screen, found.conclusions)
    for note in found.notes:
        print_indented(screen, f"note: {note}", 0, style="yellow")


def _only_metric(metrics: list[str] | None) -> str:
    from berryeval.errors import ConfigurationError
    from berryeval.metrics import split_names

    names = split_names(metrics or [])
    if len(names) > 1:
        raise ConfigurationError(f"expected one metric, found {', '.join(names)}")
    return names[0] if names else ""


def _print_agreement(screen: Console, one: Agreement) -> None:
    from berryeval.cli.output import build_table, print_indented
    from berryeval.judging import MEASURES

    title = f"{' and '.join(one.judges)}: {pluralize(one.items, 'pair')} in common"
    screen.print(title, style="bold")
    interval = f"{100 * one.level:g} % CI"
    rows = [(MEASURES[name], *_format_coefficient(found)) for name, found in one.measures.items()]
    screen.print(build_table(("", "value", interval, ""), rows, right=("value",)))
    for note in one.notes:
        print_indented(screen, f"note: {note}", 2, style="yellow")
    if one.confusion:
        screen.print()
        print_confusion(screen, one)


def _format_coefficient(found: Coefficient) -> tuple[str, str, str]:
    if found.value is None:
        return "-", "", found.cannot
    interval = found.interval
    shown = "" if interval is None else numbers.format_interval(*interval)
    return numbers.format_metric(found.value), shown, found.cannot


def print_confusion(screen: Console, one: Agreement) -> None:
    """Print the confusion table of two judges."""
    from berryeval.cli.output import build_table

    first, second = one.judges
    grades = [numbers.format_grade(grade) for grade in one.scale]
    titles = (f"{first} \\ {second}", *grades)
    rows = [(name, *map(str, row)) for name, row in zip(grades, one.confusion, strict=True)]
    screen.print(build_table(titles, rows, right=grades))


def _print_disputes(screen: Console, found: JudgesCompared) -> None:
    from berryeval.cli.output import build_table

    disputes = found.agreement.disputes
    screen.print()
    if not disputes:
        screen.print("no pair to adjudicate")
        return
    screen.print(f"{pluralize(len(disputes), 'pair')} to adjudicate", style="bold")
    rows = [
        (one["query_id"], truncate(one["query"], _QUERY), one["target"], one["shown"])
        for one in _list_disputes(found, _SHOWN)
    ]
    screen.print(build_table(("query", "", "passage", "grades"), rows))
    if len(disputes) > _SHOWN:
        screen.print(f"and {len(disputes) - _SHOWN:,} more; --json lists all")


def _list_disputes(found: JudgesCompared, most: int | None = None) -> list[dict[str, Any]]:
    rows = []
    for one in found.agreement.disputes[:most]:
        query_id, target = found.targets[one.item]
        query = found.benchmark.query_of.get(query_id)
        place = (target.document or target.chunk, *target.section)
        span = "" if target.start is None else f" [{target.start}:{target.end}]"
        shown = ", ".join(
            f"{judge} {numbers.format_grade(grade)}" for judge, grade in one.grades.items()
        )
        rows.append(
            {
                "query_id": query_id,
                "query": query.text if query else "",
                "target": " > ".join(place) + span,
                "grades": dict(one.grades),
                "shown": shown,
            }
        )
    return rows


def _print_conclusions(screen: Console, found: Conclusions) -> None:
    from berryeval.cli.output import build_table, print_indented

    screen.print()
    pairs = pluralize(found.pairs, "pair")
    screen.print(f"systems under each judge, by {found.metric}; {pairs} regraded", style="bold")
    judges = list(found.scores)
    systems = list(next(iter(found.scores.values()), {}))
    rows = [
        (name, *(numbers.format_metric(found.scores[judge][name]) for judge in judges))
        for name in systems
    ]
    if rows:
        screen.print(build_table(("", *judges), rows, right=judges))
    for (one, other), (tau, tau_ap) in found.correlations.items():
        text = f"{one} and {other}: Kendall's tau-b {_format(tau)}, tau_AP {_format(tau_ap)}"
        print_indented(screen, text, 2)
    for (baseline, system), own in found.changes.items():
        text = ", ".join(f"{result} under {name}" for name, result in own.items())
        print_indented(screen, f"{system} against {baseline}: {text}", 2, style="yellow")
    if found.findings and not found.changes:
        count = pluralize(len(found.findings), "comparison")
        print_indented(screen, f"no finding of {count} depends on the judge", 2)
    for note in found.notes:
        print_indented(screen, f"note: {note}", 2, style="yellow")


def _format(value: float | None) -> str:
    return "not defined" if value is None else numbers.format_metric(value)


def _to_json(found: JudgesCompared) -> dict[str, Any]:
    conclusions = found.conclusions
    return {
        "benchmark": found.benchmark.name,
        "agreement": found.agreement.to_json(),
        "adjudicate": [
            {name: value for name, value in one.items() if name != "shown"}
            for one in _list_disputes(found)
        ],
        "conclusions": None if conclusions is None else conclusions.to_json(),
        "notes": list(found.notes),
    }


def calibrate(
    *runs: str,
    judge: str | None = None,
    against: str = "human",
    what: Literal["relevance", "faithfulness", "answer"] = "relevance",
    benchmark: str | None = None,
    ledger: str | None = None,
    metrics: Metrics = None,
    seed: int = 0,
    json: Flag = False,
) -> None:
    """Compare a model's judgments with those of humans, and say whether to use it.

    Args:
        runs: Runs whose systems are scored under both; default: those of the pool.
        judge: Name of the model judge; default: the only one.
        against: human (what the humans decided), the name of a judge, or benchmark.
        what: relevance of passages, or votes on answers: faithfulness or answer.
        benchmark: Benchmark; default: that of the only ledger in this folder.
        ledger: Folder or store with the judgments; default: NAME.judged beside the benchmark.
        metrics: Metric by which systems are scored: -m nDCG@10.
        seed: Random seed.
        json: JSON output, in full precision.
    """
    from berryeval.cli.output import console, print_indented, print_json
    from berryeval.workflows import calibrate_judge

    done = calibrate_judge(
        judge,
        benchmark,
        ledger,
        against=against,
        what=what,
        runs=runs,
        metric=_only_metric(metrics),
        seed=seed,
    )
    found = done.calibration
    if json:
        data = {"benchmark": done.benchmark, **found.to_json(), "notes": list(done.notes)}
        print_json("judge calibrate", data)
        return
    screen = console()
    screen.print(f"{done.benchmark}: {found.model} against {found.against}", style="bold")
    print_indented(screen, found.sentence, 0)
    screen.print()
    _print_agreement(screen, found.agreement)
    _print_biases(screen, "bias in grades, model minus human", "", (found.overall,))
    _print_biases(screen, f"by grade of {found.against}", "grade", found.grades)
    _print_biases(screen, "by category", "category", found.categories)
    _print_biases(
        screen, f"{found.metric} under the model minus {found.against}", "", found.systems
    )
    _print_biases(screen, "does the model favour a system?", "", found.favours)
    for note in done.notes:
        print_indented(screen, f"note: {note}", 0, style="yellow")


def _print_biases(screen: Console, title: str, first: str, biases: Sequence[Bias]) -> None:
    from berryeval.cli.output import build_table

    if not biases:
        return
    screen.print()
    screen.print(title, style="bold")
    rows = [
        (
            one.name,
            str(one.count),
            numbers.format_delta(one.value),
            "" if one.interval is None else numbers.format_delta_interval(*one.interval),
            "" if one.p is None else numbers.format_p_value(one.p),
            "*" if one.significant else "",
        )
        for one in biases
    ]
    titles = (first, "n", "bias", "95 % CI", "p", "")
    screen.print(build_table(titles, rows, right=("n", "bias", "p")))
