"""A model as judge: it grades pairs or answers, and its grades become votes in the ledger."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval._internal.text import truncate
from berryeval._internal.validate import require
from berryeval.data import Anchor, content_hash
from berryeval.errors import ConfigurationError
from berryeval.judging.chat_jobs import ChatJob, ChatQuestion, JobEstimate
from berryeval.judging.ledger import Vote, check_judge, hash_query, key_of
from berryeval.judging.prompts import Prompt, find_scale
from berryeval.stats import bounded_interval

if TYPE_CHECKING:
    from decimal import Decimal

    from berryeval._internal.aggregates import Interval
    from berryeval.data import Query
    from berryeval.judging.ledger import Ledger, Question
    from berryeval.judging.pool import Pair
    from berryeval.providers import Reply

_LONGEST_NOTE: Final = 500  # characters of a reason
_SECONDS: Final = 1.0  # between votes that are written: each time takes some milliseconds


@dataclass(frozen=True)
class JudgeTask:
    """Something to grade.

    Attributes:
        query_id: Id of the query.
        target: What is graded.
        prompt: What the model is asked.
        content: Hash of the text that is graded.
        system: System that wrote the answer; "" for passages, whose judges must not know it.
    """

    query_id: str
    target: Anchor
    prompt: Prompt = field(repr=False)
    content: str = ""
    system: str = ""

    @property
    def id(self) -> str:
        """Name of the task, unique in a job."""
        return "\0".join((self.system, *key_of(self.query_id, self.target)))


class SystemGrades(NamedTuple):
    """The grades of the answers of a system: their number, mean and 95 % interval."""

    answers: int
    mean: float
    interval: Interval | None


class ModelVotes(NamedTuple):
    """The result of a job.

    Attributes:
        outcomes: Number of tasks by outcome.
        grades: Number of tasks by grade.
        added: Votes that are new in the ledger.
        asked: Tasks that were sent to the model; the others were answered earlier.
        unasked: Tasks that the limit of the cost did not allow.
        spent: US dollars, earlier jobs included; None without prices.
        model: The model, as the server names it.
        systems: By system, the grades of its answers.
        problems: The reasons of outcomes without a grade, the most frequent first.
    """

    outcomes: Mapping[str, int]
    grades: Mapping[float, int]
    added: int
    asked: int
    unasked: int
    spent: Decimal | None
    model: str
    systems: Mapping[str, SystemGrades]
    problems: Sequence[str]


def build_pair_tasks(
    pairs: Iterable[Pair],
    query_of: Mapping[str, Query],
    grades: Sequence[float],
    expected: Mapping[str, str],
) -> list[JudgeTask]:
    """Return a task for each pair that has a text; `expected` has answers by query."""
    scale = find_scale("relevance", grades)
    tasks = []
    for pair in pairs:
        if not pair.text.strip():
            continue
        query = query_of[pair.query_id]
        texts = {"query": query.text, "wanted": query.description}
        texts |= {"expected answer": expected.get(query.id, ""), "place": pair.name}
        given = {name: text for name, text in texts.items() if text}
        prompt = Prompt("relevance", {**given, "passage": pair.text}, scale)
        tasks.append(JudgeTask(query.id, pair.target, prompt, content_hash(pair.text)))
    return tasks


def build_answer_task(
    query: Query, answer: str, system: str, *, passages: Sequence[str] = (), expected: str = ""
) -> JudgeTask:
    """Return a task for the answer of a system: against an expected answer, or its passages."""
    question: Question = "answer" if expected else "faithfulness"
    against = {"expected answer": expected} if expected else {"passages": list(passages)}
    prompt = Prompt(
        question, {"query": query.text, **against, "answer": answer}, find_scale(question)
    )
    target = Anchor(quote=answer)
    return JudgeTask(query.id, target, prompt, content_hash(prompt.data), system)


class ModelJudge:
    """A model that judges, under a name of its own."""

    def __init__(self, job: ChatJob, ledger: Ledger, name: str = "") -> None:
        self._job = job
        self._ledger = ledger
        self.name = check_judge(name or job.model.model)
        require(bool(self.name.strip()), "the name of the judge", "a name", self.name)
        votes = [one for one in ledger.votes() if one.judge == self.name]
        if other := next((one.kind for one in votes if one.kind != "llm"), None):
            raise ConfigurationError(
                f"the judge {self.name!r} of {ledger.folder} is a {other}; give the model another "
                "name with --judge"
            )
        self._known = {_identify(one) for one in votes}
        self._waiting: list[Vote] = []
        self._written = time.monotonic()

    def estimate(self, tasks: Sequence[JudgeTask]) -> JobEstimate:
        """Return what the tasks can cost at most; nothing is sent or written."""
        return self._job.estimate(_to_question(one) for one in tasks)

    def judge(
        self, tasks: Sequence[JudgeTask], progress: Callable[[int], object] = lambda _: None
    ) -> ModelVotes:
        """Grade the tasks, and add the grades to the ledger about every second.

        A process that is killed in between finds them in the log of the job. `progress` gets the
        number of tasks that are done.
        """
        by_id = {task.id: task for task in tasks}
        before = len(self._known)
        done = 0

        def receive(question: ChatQuestion, reply: Reply) -> None:
            nonlocal done
            done += 1
            self._keep(by_id[question.id], reply)
            progress(done)

        try:
            result = self._job.run([_to_question(task) for task in by_id.values()], receive)
        finally:
            self._write()
        graded = {
            name: float(one.data["grade"])
            for name, one in result.replies.items()
            if one.outcome == "ok"
        }
        problems = Counter(one.text for one in result.replies.values() if one.outcome != "ok")
        return ModelVotes(
            dict(Counter(one.outcome for one in result.replies.values())),
            dict(sorted(Counter(graded.values()).items(), reverse=True)),
            len(self._known) - before,
            result.asked,
            len(result.unasked),
            result.spent,
            next((one.model for one in result.replies.values() if one.outcome == "ok"), ""),
            _summarize(by_id, graded),
            [text for text, _ in problems.most_common()],
        )

    def _keep(self, task: JudgeTask, reply: Reply) -> None:
        """Add the vote of an answer, unless the ledger has it from an earlier job."""
        if reply.outcome != "ok":
            return
        vote = self._build_vote(task, reply)
        identity = _identify(vote)
        if identity in self._known:
            return
        self._known.add(identity)
        self._waiting.append(vote)
        if time.monotonic() - self._written > _SECONDS:
            self._write()

    def _write(self) -> None:
        votes, self._waiting = self._waiting, []
        if votes:
            self._ledger.append(votes)
        self._written = time.monotonic()

    def _build_vote(self, task: JudgeTask, reply: Reply) -> Vote:
        model = self._job.model
        extra: dict[str, Any] = {"temperature": model.temperature, "seed": model.seed}
        if task.system:
            extra["system"] = task.system
        tokens = (
            None
            if reply.tokens_in is None or reply.tokens_out is None
            else reply.tokens_in + reply.tokens_out
        )
        return Vote(
            task.query_id,
            task.target,
            float(reply.data["grade"]),
            self.name,
            "llm",
            note=truncate(" ".join(reply.data["reason"].split()), _LONGEST_NOTE),
            question=task.prompt.question,
            content=task.content,
            asked=hash_query(str(task.prompt.texts.get("query", ""))),
            model=reply.model,
            prompt=task.prompt.hash,
            tokens=tokens,
            cost=None if reply.cost is None else float(reply.cost),
            extra=extra,
        )


def _identify(vote: Vote) -> tuple[object, ...]:
    fixed = (vote.content, vote.prompt, vote.model, vote.extra.get("system", ""))
    return (*vote.key, *fixed, vote.extra.get("temperature"), vote.extra.get("seed"))


def _to_question(task: JudgeTask) -> ChatQuestion:
    prompt = task.prompt
    return ChatQuestion(task.id, prompt.build_messages(), prompt.schema, prompt.content)


def _summarize(
    tasks: Mapping[str, JudgeTask], graded: Mapping[str, float]
) -> dict[str, SystemGrades]:
    """Return the mean grade of each system that wrote answers."""
    found: dict[str, list[float]] = {}
    for name, grade in graded.items():
        if system := tasks[name].system:
            found.setdefault(system, []).append(grade)
    ends = (0.0, 3.0)  # the scale of answers
    return {
        system: SystemGrades(
            len(grades), math.fsum(grades) / len(grades), bounded_interval(grades, ends)
        )
        for system, grades in sorted(found.items())
    }
