"""`berryeval score`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from berryeval.auditing import AuditReport
    from berryeval.scores import Scores

File = Annotated[str, Parameter(allow_leading_hyphen=True)]
Names = Annotated[
    list[str] | None,
    Parameter(name=["--measures", "--metrics", "-m"], consume_multiple=True, negative=""),
]
Flag = Annotated[bool, Parameter(negative="")]
JUDGED = "Judged@10"


def score(  # noqa: PLR0913 - the options of the command
    run: File,
    qrels: File,
    /,
    *,
    measures: Names = None,
    per_query: Annotated[bool, Parameter(name=["--per-query", "-q"], negative="")] = False,
    json: Flag = False,
    csv: Flag = False,
    trec_format: Flag = False,
    profile: str = "berryeval",
    lenient: Flag = False,
    audit: Flag = False,
    by: str | None = None,
) -> None:
    """Score a run against judgments.

    Files may be of TREC, BEIR or MS MARCO, JSON, JSON lines or Parquet; .gz and .zst are unpacked.

    Example: berryeval score bm25.run qrels.txt -m nDCG@10 AP P@5

    Args:
        run: The run (TREC: query Q0 document rank score tag); - reads it from stdin.
        qrels: The judgments (TREC: query group document grade); - reads them from stdin.
        measures: What to compute: -m nDCG@10 AP, -m nDCG@10,AP, or -m twice.
        per_query: Show every query too.
        json: Print JSON, in full precision.
        csv: Print CSV, in full precision.
        trec_format: Print the lines of trec_eval.
        profile: Whose conventions to follow: berryeval, trec_eval, trec_eval-9, ir_measures, ...
        lenient: Leave out faulty lines and repeated documents, and count them.
        audit: Look for what makes the scores doubtful: ties, unjudged documents, ... Faulty lines,
            NaN and repeated documents stop the scoring; with --lenient they are listed instead.
        by: A JSON file {query: label}; shows each group of queries too.
    """
    from berryeval.cli import score_output
    from berryeval.measures.listing import distinct_names, split_names

    names = distinct_names(split_names(measures or []))
    _check(run, qrels, names, formats=json + csv + trec_format, audit=audit)
    groups = _groups(by)
    scores, judged = _scored(run, qrels, names, profile, lenient=lenient, audit=audit)
    report = _audited(run, qrels, names, profile) if audit else None
    if json:
        score_output.print_as_json(scores, profile, judged, report, groups, per_query=per_query)
    elif csv:
        score_output.print_as_csv(scores, groups, per_query=per_query)
    elif trec_format:
        score_output.print_as_trec(scores, per_query=per_query)
    else:
        score_output.print_as_text(scores, profile, judged, report, groups, per_query=per_query)


def _check(run: str, qrels: str, names: list[str], *, formats: int, audit: bool) -> None:
    from berryeval.errors import ConfigurationError

    problem = ""
    if not names:
        problem = "name at least one measure, as in -m nDCG@10 AP"
    elif formats > 1:
        problem = "choose one of --json, --csv and --trec-format"
    elif run == qrels == "-":
        problem = "only one of RUN and QRELS can be read from stdin"
    elif audit and "-" in {run, qrels}:
        problem = "--audit reads the files twice and cannot read stdin"
    if problem:
        raise ConfigurationError(problem)


def _scored(
    run: str, qrels: str, names: list[str], profile: str, *, lenient: bool, audit: bool
) -> tuple[Scores, float]:
    """The scores, and the mean share of the top 10 that is judged."""
    from berryeval.engine import evaluate
    from berryeval.errors import DataError
    from berryeval.measures import parse_measures

    if lenient:
        _refuse_swapped(run, qrels)
    try:
        scores = evaluate(qrels, run, [*names, JUDGED], profile=profile, lenient=lenient)
    except DataError as error:
        _refuse_swapped(run, qrels)
        if audit and _can_be_read(run, qrels):
            msg = f"{error}; with --lenient, --audit lists what is wrong and leaves it out"
            raise type(error)(msg) from None
        raise
    if not scores.count:
        what = "no query of the run is judged" if scores.left_out else "there are no judgments"
        msg = f"{qrels}: {what}, so there is nothing to score"
        raise DataError(msg)
    asked = JUDGED in map(str, parse_measures(names))
    return scores if asked else scores.without(JUDGED), scores.mean[JUDGED]


def _can_be_read(run: str, qrels: str) -> bool:
    """Whether a lenient reader finds something in both files."""
    from berryeval.engine import as_qrels, as_run
    from berryeval.errors import DataError

    try:
        as_run(run, lenient=True)
        as_qrels(qrels, lenient=True)
    except DataError:
        return False
    return True


def _refuse_swapped(run: str, qrels: str) -> None:
    """Say so if the run looks like judgments and the judgments like a run."""
    from berryeval.errors import DataError
    from berryeval.io.command_lines import command_line

    if "-" in {run, qrels}:
        return
    if _column_count(run) == 4 and _column_count(qrels) >= 6:  # noqa: PLR2004 - TREC formats
        msg = (
            f"RUN and QRELS seem to be swapped: {run} looks like judgments (4 columns) "
            f"and {qrels} like a run (6); try {command_line('score', qrels, run)}"
        )
        raise DataError(msg)


def _column_count(path: str) -> int:
    """How many columns the first line has that is neither blank nor a comment."""
    from berryeval.errors import DataError
    from berryeval.io.files import read_bytes

    try:
        beginning = read_bytes(path)[: 1 << 16].tobytes()
    except DataError:
        return 0
    for line in beginning.split(b"\n"):
        columns = line.split()
        if columns and not columns[0].startswith(b"#"):
            return len(columns)
    return 0


def _audited(run: str, qrels: str, names: list[str], profile: str) -> AuditReport:
    from berryeval.auditing import audit

    return audit(qrels, run, names, profile=profile)


def _groups(path: str | None) -> dict[str, str] | None:
    if path is None:
        return None
    import json

    from berryeval.errors import DataError
    from berryeval.io.files import read_bytes

    try:
        found: Any = json.loads(read_bytes(path).tobytes())
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        msg = f"{path}: is not JSON ({error})"
        raise DataError(msg) from None
    if isinstance(found, dict) and all(isinstance(label, str) for label in found.values()):
        return found
    msg = f'{path}: must map query ids to labels, as in {{"q1": "factual"}}'
    raise DataError(msg)
