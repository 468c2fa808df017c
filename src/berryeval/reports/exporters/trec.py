"""TREC runs: the rankings of every provider, for other tools."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval.data import DEFAULT_RULE, Run
from berryeval.errors import DataError
from berryeval.reports.exports import Exporter, OutputFile, unique_name

if TYPE_CHECKING:
    from berryeval.reports.sections import Report, System
    from berryeval.runs import AnswerRecord


def build_files(report: Report, label: str) -> list[OutputFile]:
    """Build a file per system with hits; queries without hits are left out."""
    found = [
        (f"{section.name}-{system.label}", system)
        for section in report.sections
        for system in section.systems
        if system.answers.most_hits
    ]
    if not found:
        raise DataError(
            f"{report.title}: no provider has a hit, so there is nothing to write as a TREC run"
        )
    taken: set[str] = set()
    files = []
    for own, system in found:
        name = own if not label else label if len(found) == 1 else f"{label}-{own}"
        part = unique_name(name, taken)
        files.append(OutputFile(f"{part}.trec", _render_run(system), part))
    return files


TREC: Final = Exporter("the rankings, a TREC run per provider", (".trec", ".run"), build_files)


def _render_run(system: System) -> str:
    rows = {answer.query_id: _scores(answer) for answer in system.record.answers if answer.hits}
    run = Run.from_dict(rows, name=system.label)
    with tempfile.TemporaryDirectory(prefix="berryeval-") as folder:
        path = Path(folder) / "run.trec"
        run.to_trec(path)
        return path.read_text(encoding="utf-8")


def _scores(answer: AnswerRecord) -> dict[str, float]:
    """Return the scores by document, or descending integers if scores contradict the order."""
    hits = {hit.id: float(hit.score) for hit in reversed(answer.hits)}
    ids = list(dict.fromkeys(hit.id for hit in answer.hits))
    scores = [hits[name] for name in ids]
    order = DEFAULT_RULE.order([name.encode(errors="surrogatepass") for name in ids], scores)
    if order != list(range(len(ids))):
        scores = [float(len(ids) - place) for place in range(len(ids))]
    return dict(zip(ids, scores, strict=True))
