"""Let a language model judge what runs found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from berryeval._internal.text import find_field, pluralize
from berryeval._internal.validate import require_choice
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import (
    ChatJob,
    Ledger,
    ModelJudge,
    Question,
    build_answer_task,
    build_pair_tasks,
    grade_scale,
    open_ledger,
)
from berryeval.providers import OPENAI, ChatModel
from berryeval.relevance import ANSWER_FIELDS
from berryeval.workflows.judge_desk import open_desk
from berryeval.workflows.pooled_systems import read_systems
from berryeval.workflows.pooling import PoolRequest, collect_pool
from berryeval.workflows.selection import load_source

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Hit, Query
    from berryeval.judging import JobEstimate, JudgeTask, ModelVotes


@dataclass(frozen=True)
class ModelRequest:
    """What a model judges, and how; see `berryeval judge llm`.

    Attributes:
        model: Name of the model on the server.
        runs: Runs whose hits or answers it judges; none for the pairs of the pool.
        what: "relevance" of passages, "faithfulness" of answers to their passages, or agreement of
            an "answer" with the expected one.
        benchmark: Benchmark; by default that of the runs, or the only one with a pool here.
        ledger: Folder or store of the ledger; by default the folder beside the benchmark.
        judge: Name of the judge; by default that of the model.
        base_url: Address of the server; by default OpenAI's.
        key_name: Environment variable with the key; by default OPENAI_API_KEY.
        depth: Number of hits of each ranking of a run.
        concurrency: Requests at once.
        max_cost: Most US dollars that this model may cost on this ledger, earlier jobs included.
        price_in: US dollars for a million tokens of prompts.
        price_out: US dollars for a million tokens of answers.
        temperature: Temperature of the model.
        seed: Random seed of the model.
        max_tokens: Longest answer.
        timeout: Seconds that an attempt may take.
        attempts: Attempts after temporary errors.
        again: Whether to repeat requests that were refused, cut off or invalid.
    """

    model: str
    runs: Sequence[str] = ()
    what: Question = "relevance"
    benchmark: str | None = None
    ledger: str | None = None
    judge: str = ""
    base_url: str | None = None
    key_name: str = ""
    depth: int = 10
    concurrency: int = 8
    max_cost: float | str | None = None
    price_in: float | None = None
    price_out: float | None = None
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 400
    timeout: float = 60.0
    attempts: int = 5
    again: bool = False

    def build_model(self, *, needs_key: bool) -> ChatModel:
        """Build the model; its key is needed only if it is asked."""
        names = (
            "temperature",
            "seed",
            "max_tokens",
            "timeout",
            "attempts",
            "price_in",
            "price_out",
        )
        options = {name: getattr(self, name) for name in names}
        address = OPENAI if self.base_url is None else self.base_url
        if needs_key:
            return ChatModel.from_environment(self.model, address, self.key_name, **options)
        return ChatModel(self.model, address, **options)


class ModelJudging(NamedTuple):
    """What a model judged, or would judge.

    Attributes:
        judge: Name of the judge.
        estimate: What the job could cost at most when it began.
        votes: What came of it; None after a dry run.
        ledger: Folder of the votes.
        max_cost: The limit of the cost.
        notes: What to know about it.
    """

    judge: str
    estimate: JobEstimate
    votes: ModelVotes | None
    ledger: Path
    max_cost: float | str | None
    notes: Sequence[str]


class _Tasks(NamedTuple):
    tasks: Sequence[JudgeTask]
    ledger: Ledger
    notes: list[str]


def judge_by_model(
    request: ModelRequest,
    *,
    dry_run: bool = False,
    progress: Callable[[int, int], object] = lambda _done, _all: None,
) -> ModelJudging:
    """Let a model judge; its grades go to the ledger, and everything it said to a log beside.

    A dry run sends and writes nothing. `progress` gets the numbers of judged and of all tasks.
    """
    require_choice("--what", request.what, get_args(Question))
    model = request.build_model(needs_key=not dry_run)
    try:
        found = _find_tasks(request)
        if not found.tasks:
            raise DataError(f"{found.ledger.folder}: there is nothing to judge")
        job = ChatJob(
            model, found.ledger.folder, concurrency=request.concurrency,
            max_cost=request.max_cost, again=request.again,
        )  # fmt: skip
        judge = ModelJudge(job, found.ledger, request.judge)
        estimate = judge.estimate(found.tasks)
        count = len(found.tasks)
        votes = None if dry_run else judge.judge(found.tasks, lambda done: progress(done, count))
    finally:
        model.close()
    return ModelJudging(
        judge.name, estimate, votes, found.ledger.folder, request.max_cost, found.notes
    )


def _find_tasks(request: ModelRequest) -> _Tasks:
    if request.what != "relevance":
        return _find_answers(request)
    notes: list[str] = []
    if request.runs:
        pooled = collect_pool(_request_pool(request))
        pool, notes = pooled.pool, list(pooled.notes)
        benchmark = load_source(pool.benchmark)
        ledger = open_ledger(request.ledger or "", pool.benchmark)
    else:
        desk = open_desk(request.benchmark, request.ledger, request.judge or request.model)
        pool, ledger, benchmark = desk.session.pool, desk.session.ledger, desk.benchmark
    expected = {query.id: find_expected(query) for query in benchmark.queries}
    grades = grade_scale(benchmark)
    tasks = build_pair_tasks(pool.pairs, benchmark.query_of, grades, expected)
    if missing := len(pool.pairs) - len(tasks):
        notes.append(f"{pluralize(missing, 'pair')} without a text cannot be judged")
    return _Tasks(tasks, ledger, notes)


def _request_pool(request: ModelRequest) -> PoolRequest:
    return PoolRequest(
        request.runs, request.depth, benchmark=request.benchmark, ledger=request.ledger,
        everything=True,
    )  # fmt: skip


def _find_answers(request: ModelRequest) -> _Tasks:
    """Find the answers that the systems of runs wrote."""
    if not request.runs:
        raise ConfigurationError(
            f"--what {request.what} judges the answers of runs; name them, as in: "
            f"berryeval judge llm latest --what {request.what} --model NAME"
        )
    wanted = _request_pool(request)
    found = read_systems(wanted.runs, wanted.benchmark)
    notes = list(found.notes)
    tasks = []
    written = lacking = 0
    for system in found.systems:
        for query_id, answer in system.answers.items():
            if not answer.strip():
                continue
            written += 1
            query = found.benchmark.query_of[query_id]
            hits = system.hits.get(query_id, ())[: request.depth]
            passages = list(filter(str.strip, (_read_text(hit, found.benchmark) for hit in hits)))
            expected = find_expected(query)
            if request.what == "answer" and expected:
                tasks.append(build_answer_task(query, answer, system.label, expected=expected))
            elif request.what == "faithfulness" and passages:
                tasks.append(build_answer_task(query, answer, system.label, passages=passages))
            else:
                lacking += 1
    if not written:
        raise DataError(
            "no system of the runs wrote answers; a search returns them beside its hits: "
            '{"hits": [...], "answer": "..."}'
        )
    needs = "an expected answer" if request.what == "answer" else "a passage with a text"
    if not tasks:
        raise DataError(f"none of {pluralize(written, 'answer')} has {needs} to be judged by")
    if lacking:
        notes.append(f"{pluralize(lacking, 'answer')} without {needs} cannot be judged")
    return _Tasks(tasks, open_ledger(request.ledger or "", found.place), notes)


def _read_text(hit: Hit, benchmark: Benchmark) -> str:
    """Return the text of a hit; of one that is only an id, that of its document."""
    document = benchmark.document_of.get(hit.doc_id or hit.id)
    return hit.text or (document.text[hit.start : hit.end] if document else "")


def find_expected(query: Query) -> str:
    """Return the expected answer of a query, or all of several; "" if the benchmark has none."""
    name = find_field(query.metadata, *ANSWER_FIELDS)
    value = query.metadata[name] if name else ""
    values = value if isinstance(value, list | tuple) else [value]
    fitting = [str(one) for one in values if isinstance(one, str | int | float)]
    return " or ".join(filter(str.strip, fitting))
