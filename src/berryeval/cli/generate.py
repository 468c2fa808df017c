"""`berryeval generate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval._internal.text import format_command, pluralize
from berryeval.cli.app import is_quiet
from berryeval.cli.flags import Flag, OutputFolder

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark, Report
    from berryeval.workflows import Generation, Reviewed


def generate(
    corpus: str,
    /,
    *,
    output: OutputFolder = None,
    count: int = 50,
    seed: int = 0,
    method: str = "tf-idf",
    noise: float = 0.1,
    length: float = 4.0,
    reviewed: str | None = None,
    json: Flag = False,
) -> None:
    """Make a benchmark of queries from your documents: known-item queries, without a model.

    A query is a few words of one passage, which is to be found again. The folder has a datasheet,
    the rejected queries, and questions.csv: write yes or no under keep, correct the questions, and
    apply it with --reviewed.

    Example: berryeval generate docs --count 100

    Args:
        corpus: Your documents (texts, JSON Lines, TREC), or a benchmark, whose documents are used;
            with --reviewed the generated folder.
        output: Folder of the benchmark; default: CORPUS-generated, or with --reviewed in place.
        count: Number of queries.
        seed: Random seed.
        method: How words are drawn: popular, uniform, discriminative, tf-idf.
        noise: Share of words from anywhere in the corpus.
        length: Mean number of words.
        reviewed: The filled questions.csv; its changes are applied and the mark is cleared.
        json: JSON output.
    """
    from berryeval.cli.output import print_json

    if reviewed is not None:
        from berryeval.workflows import apply_review

        review = apply_review(corpus, reviewed, output)
        if json:
            print_json("generate", _describe_review(review))
        else:
            _print_review(review)
        return

    from berryeval.judging import KnownItems
    from berryeval.workflows import GenerationRequest, generate_benchmark

    how = KnownItems(method=method, noise=noise, length=length, seed=seed)  # type: ignore[arg-type]
    done = generate_benchmark(GenerationRequest(corpus, output, count, how))
    if json:
        print_json("generate", _describe(done))
    else:
        _print(done)


def _describe(done: Generation) -> dict[str, Any]:
    return {
        "folder": done.folder.as_posix(),
        "queries": len(done.benchmark.queries),
        "passages": done.drafts.passages,
        "rejected": done.drafts.reasons,
        "shortage": done.shortage,
        "seconds": done.seconds,
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
    _print_findings(done.report, done.folder.as_posix())
    if not is_quiet():
        print_line(f"generated, not reviewed: read {done.folder.as_posix()}/datasheet.md")
        print_line(f"next: {format_command('eval', done.folder, '--providers', 'bm25', 'hybrid')}")


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

    queries = pluralize(len(benchmark.queries), "query", "queries")
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
