"""`berryeval judge llm`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from berryeval.cli.flags import Flag

if TYPE_CHECKING:
    from berryeval.judging import ModelVotes
    from berryeval.workflows import ModelJudging


def judge_llm(  # noqa: PLR0913 - the options of the command
    *runs: str,
    model: str,
    base_url: str | None = None,
    api_key_env: str = "",
    judge: str = "",
    what: Literal["relevance", "faithfulness", "answer"] = "relevance",
    benchmark: str | None = None,
    ledger: str | None = None,
    depth: int = 10,
    concurrency: int = 8,
    max_cost: str | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    temperature: float = 0.0,
    seed: int = 0,
    max_tokens: int = 400,
    timeout: float = 60.0,
    attempts: int = 5,
    again: Flag = False,
    dry_run: Flag = False,
    json: Flag = False,
) -> None:
    """Let a language model judge, on any server that speaks the chat protocol of OpenAI.

    Queries and passages are sent to the server. The key is read from OPENAI_API_KEY. Answered
    questions are never asked again, so an interrupted job resumes. Calibrate the model
    against human judgments before you trust its grades.

    Args:
        runs: Runs whose hits (or answers) are judged; default: the pairs of the pool.
        model: Name of the model on the server.
        base_url: Address of the server up to /v1, such as http://localhost:11434/v1.
        api_key_env: Environment variable with the key; default: OPENAI_API_KEY.
        judge: Name of this judge in the ledger; default: that of the model.
        what: relevance of passages; faithfulness of answers to their passages; or how far an answer
            agrees with the expected one.
        benchmark: Benchmark; default: that of the runs, or the only one with a pool here.
        ledger: Folder or store of the votes; default: NAME.judged beside the benchmark.
        depth: Number of hits of each ranking of the runs.
        concurrency: Requests at once.
        max_cost: Most US dollars that this model may cost on this ledger, earlier jobs included.
        price_in: US dollars for a million tokens of prompts.
        price_out: US dollars for a million tokens of answers.
        temperature: Temperature.
        seed: Random seed, for servers that have one.
        max_tokens: Longest answer, in tokens.
        timeout: Seconds that an attempt may take.
        attempts: Attempts after temporary errors.
        again: New requests for answers that were refused, cut off or invalid.
        dry_run: Maximum cost of the job; nothing is sent or written.
        json: JSON output.
    """
    from berryeval.cli.app import is_quiet
    from berryeval.workflows import ModelRequest, judge_by_model

    request = ModelRequest(
        model, runs, what, benchmark, ledger, judge, base_url, api_key_env, depth, concurrency,
        max_cost, price_in, price_out, temperature, seed, max_tokens, timeout, attempts, again,
    )  # fmt: skip
    shows = sys.stderr.isatty() and not is_quiet() and not dry_run
    done = judge_by_model(
        request, dry_run=dry_run, progress=_print_progress if shows else lambda _done, _all: None
    )
    if shows:
        print(file=sys.stderr)
    if json:
        _print_json(done)
    elif done.votes is None:
        _print_estimate(done)
    else:
        _print(done, done.votes)


def _print_progress(done: int, count: int) -> None:
    print(f"\r{done:,} of {count:,} judged", end="", file=sys.stderr, flush=True)


def _print_estimate(done: ModelJudging) -> None:
    from berryeval.cli.output import console

    found, screen = done.estimate, console()
    left = found.questions - found.known
    known = f", {found.known:,} of them answered already" if found.known else ""
    screen.print(f"{done.judge} would judge {found.questions:,} items{known}")
    screen.print(
        f"at most {found.tokens_in:,} tokens of prompts (one for each byte; English takes about a "
        f"quarter) and {found.tokens_out:,} of answers in {left:,} requests"
    )
    if found.cost is None:
        screen.print("cost: unknown without --price-in and --price-out")
    else:
        spent = f", after {_money(found.spent)} so far" if found.spent else ""
        screen.print(f"cost: at most {_money(found.cost)} without retries{spent}")
    _print_notes(done, [])


def _print(done: ModelJudging, votes: ModelVotes) -> None:
    from berryeval._internal import numbers
    from berryeval._internal.text import truncate
    from berryeval.cli.output import build_table, console

    screen = console()
    words = [f"{count:,} {name}" for name, count in votes.outcomes.items() if name != "ok"]
    graded = votes.outcomes.get("ok", 0)
    named = f" ({votes.model})" if votes.model not in {"", done.judge} else ""
    screen.print(
        f"{done.judge}{named}: {', '.join((f'{graded:,} graded', *words))}; "
        f"{votes.asked:,} asked now, {votes.added:,} votes added to {done.ledger}"
    )
    if votes.grades:
        shown = (f"{numbers.format_grade(one)}: {n:,}" for one, n in votes.grades.items())
        screen.print(f"grades: {', '.join(shown)}")
    if votes.systems:
        rows = [
            (
                name, f"{one.answers:,}", numbers.format_metric(one.mean),
                numbers.format_interval(*one.interval) if one.interval else numbers.NOTHING,
            )
            for name, one in votes.systems.items()
        ]  # fmt: skip
        titles = ("system", "answers", "mean grade", "95% interval")
        screen.print(build_table(titles, rows, right=titles[1:]))
    if votes.spent is not None:
        limit = f" of {_money(done.max_cost)}" if done.max_cost is not None else ""
        screen.print(f"cost: {_money(votes.spent)}{limit}, earlier jobs included")
    notes = []
    if votes.unasked:
        notes.append(
            f"{votes.unasked:,} items were not judged, because they could exceed the limit; raise "
            "--max-cost to continue"
        )
    if failed := sum(votes.outcomes.get(name, 0) for name in ("error", "timeout")):
        notes.append(f"{failed:,} items had no answer; run the command again to ask them again")
    notes += [
        f"without a grade: {truncate(' '.join(text.split()), 160)}" for text in votes.problems[:3]
    ]
    _print_notes(done, notes)
    if graded:
        screen.print("next: berryeval judge calibrate")


def _print_notes(done: ModelJudging, notes: list[str]) -> None:
    from berryeval.cli.output import console, print_indented

    for note in (*done.notes, *notes):
        print_indented(console(), f"note: {note}", 0, style="yellow")


def _money(amount: Any) -> str:
    """Format an amount so that it is never shown smaller than it is."""
    from decimal import ROUND_CEILING, Decimal

    exact = Decimal(str(amount))
    places = Decimal("0.01") if exact >= 1 or not exact else Decimal("0.0001")
    return f"${exact.quantize(places, rounding=ROUND_CEILING)}"


def _print_json(done: ModelJudging) -> None:
    from berryeval.cli.output import print_json

    print_json(
        "judge llm",
        {
            "judge": done.judge,
            "ledger": str(done.ledger),
            "estimate": done.estimate.to_json(),
            "votes": None if done.votes is None else _describe_votes(done.votes),
            "notes": list(done.notes),
        },
    )


def _describe_votes(votes: ModelVotes) -> dict[str, Any]:
    return {
        **votes._asdict(),
        "grades": {f"{grade:g}": count for grade, count in votes.grades.items()},
        "spent": None if votes.spent is None else float(votes.spent),
        "systems": {name: one._asdict() for name, one in votes.systems.items()},
        "problems": list(votes.problems),
    }
