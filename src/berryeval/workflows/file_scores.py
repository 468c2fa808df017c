"""Score a file of rankings against a file of judgments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval._internal.files import display_name, read_beginning
from berryeval._internal.json import parse_json, read_text
from berryeval._internal.text import format_command
from berryeval.data import is_text_file
from berryeval.errors import ConfigurationError, DataError
from berryeval.scoring import as_qrels, as_run, score_request

if TYPE_CHECKING:
    from berryeval.scoring import AuditReport, Coverage, Follower, Scores, Statistics

STDIN: Final = "-"
_JUDGED: Final = "Judged@10"
_QRELS_COLUMNS: Final = 4  # of TREC judgments
_RUN_COLUMNS: Final = 6  # of a TREC run
_BEGINNING: Final = 1 << 16  # bytes


@dataclass(frozen=True)
class FileScores:
    """The scores of a run file; `judged` is the mean fraction of the top 10 that has a judgment."""

    scores: Scores
    profile: str
    coverage: Coverage
    statistics: Sequence[Statistics]
    judged: float
    groups: Mapping[str, Scores] | None = None
    audit: AuditReport | None = None


def score_files(
    qrels: str,
    run: str,
    metrics: Sequence[str],
    *,
    profile: str = "berryeval",
    lenient: bool = False,
    audit: bool = False,
    by: str | None = None,
    follower: Follower | None = None,
    scorer: Callable[..., Scores] = score_request,
) -> FileScores:
    """Score a run file against a judgment file; - reads one of them from stdin.

    Args:
        qrels: Judgment file.
        run: Run file.
        metrics: Names of metrics; one text may hold several, separated by commas.
        profile: Name of the conventions to follow.
        lenient: Skip faulty lines and repeated documents, and count them.
        audit: Look for ties, unjudged documents and the like.
        by: JSON file that maps query ids to labels.
        follower: Notified of the progress of large files.
        scorer: Function that scores them, as `score_request` does.
    """
    from berryeval.metrics import distinct_names, find_profile, request_metrics, split_names

    _check_arguments(qrels, run, metrics, audit=audit)
    labels = None if by is None else _read_labels(by)
    if lenient:
        _reject_swapped(qrels, run)
    conventions = find_profile(profile)
    names = distinct_names(str(conventions.respell(name)) for name in split_names(metrics))
    request = request_metrics([*names, _JUDGED], profile)
    asked = _JUDGED in request_metrics(names, profile).names
    try:
        scores = scorer(qrels, run, request, lenient=lenient, follower=follower)
    except DataError as error:
        _reject_swapped(qrels, run)
        if audit and _is_readable(qrels, run):
            raise type(error)(
                f"{error}; with --lenient, --audit lists faulty lines and skips them"
            ) from None
        raise
    if scores.shares_no_query:
        raise DataError(f"{display_name(run)}: {scores.notes[0]}")
    if not scores.count:
        what = "no query of the run is judged" if scores.left_out else "there are no judgments"
        raise DataError(f"{qrels}: {what}, so there is nothing to score")
    wanted = scores if asked else scores.without(_JUDGED)
    coverage, statistics = scores.coverage(), scores.statistics()
    judged = statistics[scores.metrics.index(_JUDGED)]
    if not asked:
        statistics.remove(judged)
    return FileScores(
        wanted,
        profile,
        coverage,
        statistics,
        judged.mean,
        None if labels is None else wanted.by(labels),
        _audit(qrels, run, names, profile) if audit else None,
    )


def _audit(qrels: str, run: str, names: Sequence[str], profile: str) -> AuditReport:
    from berryeval.scoring import audit  # needs the ties, which no score needs

    return audit(qrels, run, names, profile=profile)


def _check_arguments(qrels: str, run: str, metrics: Sequence[str], *, audit: bool) -> None:
    problem = ""
    if not "".join(metrics).strip(" ,"):
        problem = "name at least one metric, as in -m nDCG@10 AP"
    elif qrels == run == STDIN:
        problem = "only one of QRELS and RUN can be read from stdin"
    elif audit and STDIN in {qrels, run}:
        problem = "--audit reads the files twice and cannot read stdin"
    if problem:
        raise ConfigurationError(problem)


def _is_readable(qrels: str, run: str) -> bool:
    try:
        as_run(run, lenient=True)
        as_qrels(qrels, lenient=True)
    except DataError:
        return False
    return True


def _reject_swapped(qrels: str, run: str) -> None:
    if STDIN in {qrels, run}:
        return
    if _count_columns(run) == _QRELS_COLUMNS and _count_columns(qrels) >= _RUN_COLUMNS:
        raise DataError(
            f"QRELS and RUN seem to be swapped: {qrels} looks like a run (6 columns) and {run} "
            f"like judgments (4); judgments come first: {format_command('score', run, qrels)}"
        )


def _count_columns(path: str) -> int:
    """Count the columns of the first line of a text that is neither blank nor a comment."""
    if not is_text_file(path):
        return 0
    try:
        beginning = read_beginning(path, _BEGINNING)
    except DataError:
        return 0
    for line in beginning.split(b"\n"):
        columns = line.split()
        if columns and not columns[0].startswith(b"#"):
            return len(columns)
    return 0


def _read_labels(path: str) -> dict[str, str]:
    labels = parse_json(read_text(path), display_name(path))
    if isinstance(labels, dict) and all(isinstance(label, str) for label in labels.values()):
        return labels
    raise DataError(f'{path}: must map query ids to labels, as in {{"q1": "factual"}}')
