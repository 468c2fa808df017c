"""`berryeval judge export`, `import` and `apply`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from berryeval._internal.text import format_command, pluralize
from berryeval.cli.flags import STDOUT, Flag, Format, Output, Several
from berryeval.cli.output import print_document, print_json, print_line

if TYPE_CHECKING:
    from berryeval.workflows import ImportedSheet


def export(
    *,
    output: Output = None,
    format: Format = None,  # noqa: A002 - the name of the option
    judge: str | None = None,
    benchmark: str | None = None,
    ledger: str | None = None,
    force: Flag = False,
    json: Flag = False,
) -> None:
    """Write the pairs that a judge has not judged to a sheet: CSV, or JSON lines.

    Fill in the column `grade` (? if you cannot tell) and, if you like, `note`; then:
    berryeval judge import FILE --judge NAME.

    Args:
        output: File to write; default: stdout (-).
        format: csv or jsonl; default: the ending of --output, else csv.
        judge: Name of the judge; default: BERRYEVAL_JUDGE, or the name you are logged in with.
        benchmark: Benchmark that was pooled; default: the only one with a pool here.
        ledger: Folder or store with the votes; default: beside the benchmark.
        force: Replace a file that exists.
        json: JSON output.
    """
    from berryeval.workflows import export_sheet

    path = None if output == STDOUT else output
    found = export_sheet(
        path, format, judge=judge, benchmark=benchmark, ledger=ledger, replace=force
    )
    if json:
        facts = {"judge": found.judge, "pairs": found.pairs, "format": found.kind, "path": path}
        facts["notes"] = list(found.notes)
        print_json("judge export", {**facts, **({} if path else {"text": found.text})})
        return
    for note in found.notes:
        print_line(note, sys.stderr)
    if path is None:
        print_document(found.text)
    else:
        back = format_command("judge", "import", path, "--judge", found.judge)
        print_line(f"{pluralize(found.pairs, 'pair')} for {found.judge} written to {path}")
        print_line(f"fill in the grades, then: {back}")


def import_(
    file: str,
    /,
    *,
    judge: str,
    kind: str = "human",
    adjudicate: Flag = False,
    encoding: str = "utf-8",
    benchmark: str | None = None,
    ledger: str | None = None,
    json: Flag = False,
) -> None:
    """Check a sheet that comes back, and add its grades to the ledger.

    A changed text, an unknown pair, a grade outside the scale: the faults are listed with their
    lines, and nothing is written. Rows without a grade are left for later.

    Args:
        file: Sheet written by `berryeval judge export`.
        judge: Name of the judge who filled it in.
        kind: Kind of judge: human, llm or function.
        adjudicate: Let the grades end disagreements of other judges.
        encoding: Text encoding of a CSV file, such as cp1252.
        benchmark: Benchmark that was pooled; default: the only one with a pool here.
        ledger: Folder or store with the votes; default: beside the benchmark.
        json: JSON output.
    """
    from berryeval.workflows import import_sheet

    done = import_sheet(
        file, judge, kind=kind, adjudicates=adjudicate, encoding=encoding, benchmark=benchmark,
        ledger=ledger,
    )  # fmt: skip
    if json:
        print_json("judge import", _describe(done))
        return
    for note in done.notes:
        print_line(note, sys.stderr)
    print_line(_tell(done))


def _describe(done: ImportedSheet) -> dict[str, object]:
    return {
        "judge": done.judge,
        "added": len(done.votes),
        "known": done.known,
        "empty": done.empty,
        "missing": done.missing,
        "notes": list(done.notes),
    }


def _tell(done: ImportedSheet) -> str:
    parts = [f"{pluralize(len(done.votes), 'vote')} of {done.judge} added"]
    parts += [f"{done.known:,} there already"] if done.known else []
    parts += [f"{pluralize(done.empty, 'row')} without a grade"] if done.empty else []
    if done.missing:
        parts.append(f"{pluralize(done.missing, 'unjudged pair')} of the pool not in the sheet")
    return "; ".join(parts)


def apply(
    benchmark: str | None = None,
    /,
    *,
    output: Annotated[str, Parameter(name=["--output", "-o"])],
    format: Format = None,  # noqa: A002 - the name of the option
    options: Several = None,
    judge: str = "",
    judges: Several = None,
    kinds: Several = None,
    ledger: str | None = None,
    json: Flag = False,
) -> None:
    """Write a benchmark with the grades that its judges decided on.

    The last adjudication decides, else the majority, else the vote of --judge; votes of models
    count only for pairs that no human judged. Undecided pairs keep the grade that they had.

    Args:
        benchmark: Benchmark; default: the only one with a ledger here.
        output: Folder to write, or a file that ends in .jsonl.
        format: Benchmark format, if it cannot be detected.
        options: Options of the format: --options corpus=docs; default: those in berryeval.yaml.
        judge: Judge whose vote decides if the votes are tied.
        judges: Only these judges count: --judges ann ben.
        kinds: Only these kinds of judges count: --kinds human.
        ledger: Folder or store with the votes; default: beside the benchmark.
        json: JSON output.
    """
    from berryeval.cli.inspect import read_options
    from berryeval.workflows import apply_votes

    loading = {"format": format, "options": read_options(options)}
    done = apply_votes(
        benchmark, output, loading, ledger=ledger, judge=judge, judges=judges or (),
        kinds=kinds or (),
    )  # fmt: skip
    if json:
        print_json("judge apply", {"path": output, "notes": list(done.notes), **done.facts})
        return
    for note in done.notes:
        print_line(note)
    print_line(f"{done.benchmark!r} written to {output}")
