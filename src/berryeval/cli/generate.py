"""`berryeval generate`."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import format_command, pluralize
from berryeval.cli.app import is_quiet
from berryeval.cli.flags import Flag, OutputFolder

if TYPE_CHECKING:
    from decimal import Decimal

    from berryeval.benchmarks import Benchmark, Report
    from berryeval.judging import JobEstimate
    from berryeval.workflows import Generation, Reviewed

_LONGEST_ANSWER: Final = 800  # tokens; a question with its quotes is longer than a grade


def generate(  # noqa: PLR0913 - the options of the command
    corpus: str,
    /,
    *,
    output: OutputFolder = None,
    count: int = 50,
    seed: int = 0,
    method: str = "popular",
    noise: float = 0.1,
    length: float = 4.0,
    model: str | None = None,
    base_url: str | None = None,
    api_key_env: str = "",
    price_in: float | None = None,
    price_out: float | None = None,
    max_cost: str | None = None,
    concurrency: int = 8,
    dry_run: Flag = False,
    reviewed: str | None = None,
    json: Flag = False,
) -> None:
    """Make a benchmark of queries from your documents, with or without a model.

    Without one, a query is a few words of one passage, which is to be found again (known items).
    With --model, a language model writes questions; passages are sent to its server, and questions
    that it can answer without them, or that copy them, are rejected.

    The folder has a datasheet, the rejected queries, and questions.csv: write yes or no under keep,
    correct the questions, and apply it with --reviewed.

    Args:
        corpus: Your documents (texts, JSON Lines, TREC), or a benchmark, whose documents are used;
            with --reviewed the generated folder.
        output: Folder of the benchmark; default: CORPUS-generated, or with --reviewed in place.
        count: Number of queries.
        seed: Random seed.
        method: How words are drawn: popular, uniform, discriminative, tf-idf.
        noise: Share of words from anywhere in the corpus.
        length: Mean number of words.
        model: Name of a model on a server that speaks the chat protocol of OpenAI.
        base_url: Address of the server up to /v1, such as http://localhost:11434/v1.
        api_key_env: Environment variable with the key; default: OPENAI_API_KEY.
        price_in: US dollars for a million tokens of prompts.
        price_out: US dollars for a million tokens of answers.
        max_cost: Most US dollars that the model may cost, earlier calls for this corpus included.
        concurrency: Requests at once.
        dry_run: Maximum cost of the model; nothing is sent or written.
        reviewed: The filled questions.csv; its changes are applied and the mark is cleared.
        json: JSON output.
    """
    from berryeval.cli.output import print_json
    from berryeval.judging import KnownItems
    from berryeval.workflows import (
        GenerationRequest,
        ModelRequest,
        apply_review,
        generate_benchmark,
        price_generation,
    )

    if reviewed is not None:
        review = apply_review(corpus, reviewed, output)
        print_json("generate", _describe_review(review)) if json else _print_review(review)
        return
    how = KnownItems(method=method, noise=noise, length=length, seed=seed)  # type: ignore[arg-type]
    asked = model and ModelRequest(
        model, base_url=base_url, key_name=api_key_env, concurrency=concurrency, seed=seed,
        max_cost=max_cost, price_in=price_in, price_out=price_out, max_tokens=_LONGEST_ANSWER,
    )  # fmt: skip
    request = GenerationRequest(corpus, output, count, how, asked or None)
    if dry_run:
        estimate = price_generation(request)
        print_json("generate", estimate.to_json()) if json else _print_estimate(estimate)
        return
    shows = asked and sys.stderr.isatty() and not is_quiet()
    done = generate_benchmark(request, partial(_print_progress, count) if shows else _print_nothing)
    if shows:
        print(file=sys.stderr)
    print_json("generate", _describe(done)) if json else _print(done)


def _print_progress(count: int, kept: int) -> None:
    print(f"\r{kept:,} of {count:,} questions", end="", file=sys.stderr, flush=True)


def _print_nothing(_kept: int) -> None:
    pass


def _print_estimate(found: JobEstimate) -> None:
    from berryeval.cli.output import print_line

    known = f", {found.known:,} of them answered already" if found.known else ""
    print_line(f"{found.questions:,} requests{known}: a question, and two checks of each")
    print_line(
        f"at most {found.tokens_in:,} tokens of prompts (one for each byte; English takes about a "
        f"quarter) and {found.tokens_out:,} of answers, if nothing is rejected"
    )
    cost = "unknown without --price-in and --price-out"
    print_line(f"cost: {cost if found.cost is None else f'at most {_money(found.cost)}'}")


def _money(amount: Decimal | float) -> str:
    return f"${amount:,.4f}"


def _describe(done: Generation) -> dict[str, Any]:
    return {
        "folder": done.folder.as_posix(),
        "queries": len(done.benchmark.queries),
        "passages": done.drafts.passages,
        "rejected": done.drafts.reasons,
        "shortage": done.shortage,
        "seconds": done.seconds,
        "cost": done.cost,
        "reviewed": False,
        "findings": [finding.to_json() for finding in done.report.findings],
    }


def _print(done: Generation) -> None:
    from berryeval.cli.output import print_line

    _print_written(done.folder.as_posix(), done.benchmark)
    if done.shortage:
        print_line(f"fewer than asked for: {done.shortage}")
    elif done.drafts.reasons:
        counts = ", ".join(f"{count:,} {reason}" for reason, count in done.drafts.reasons.items())
        print_line(f"rejected: {counts} (rejected.jsonl)")
    if done.cost is not None:
        print_line(f"cost: {_money(done.cost)}, earlier calls for this corpus included")
    _print_findings(done.report, done.folder.as_posix())
    if not is_quiet():
        print_line(f"generated, not reviewed: read {done.folder.as_posix()}/datasheet.md")
        compared = ("--providers", "bm25", "bm25:fixed-400")  # both come with the base install
        print_line(f"next: {format_command('eval', done.folder, *compared)}")


def _describe_review(review: Reviewed) -> dict[str, Any]:
    return {
        "folder": review.folder.as_posix(),
        "queries": len(review.benchmark.queries),
        "reviewed": {
            "kept": review.kept, "changed": review.changed, "dropped": review.dropped
        },
        "findings": [finding.to_json() for finding in review.report.findings],
    }  # fmt: skip


def _print_review(review: Reviewed) -> None:
    from berryeval.cli.output import print_line

    _print_written(review.folder.as_posix(), review.benchmark)
    print_line(
        f"reviewed: {review.kept:,} kept, {review.changed:,} of them changed, "
        f"{review.dropped:,} dropped"
    )
    _print_findings(review.report, review.folder.as_posix())


def _print_written(folder: str, benchmark: Benchmark) -> None:
    from berryeval.cli.output import print_line

    queries = pluralize(len(benchmark.queries), "query")
    print_line(f"written: {folder} ({queries}, {pluralize(len(benchmark.documents), 'document')})")


def _print_findings(report: Report, folder: str) -> None:
    """Print the findings of `validate` in one line each."""
    from berryeval.cli.output import print_line

    for (severity, check), findings in report.by_check().items():
        first = findings[0]
        more = f" (and {len(findings) - 1:,} more)" if len(findings) > 1 else ""
        print_line(f"{severity}: {check}: {first.message}{more}")
    if report.findings:
        print_line(f"all findings: {format_command('validate', folder, '--all')}")
