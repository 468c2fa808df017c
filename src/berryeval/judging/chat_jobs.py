"""Many questions to a model: several at once, within a budget, and never twice.

What the log has answered is not asked again. The limit of the cost is for the log as a whole, so
that a restart cannot double it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from berryeval._internal.validate import require, require_whole
from berryeval.errors import BerryEvalError, ConfigurationError, RunFailedError
from berryeval.judging.chat_log import ChatLog
from berryeval.providers import ChatModel, Message, Reply, count_most_tokens

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike

T = TypeVar("T")
_ZERO: Final = Decimal(0)
_POLL_SECONDS: Final = 0.2
_FINAL: Final = ("ok", "refused", "cut off", "invalid")  # other outcomes are asked again
_GIVEN_UP: Final = 20  # questions in a row without an answer end a job


class LimitReachedError(BerryEvalError):
    """A request that might exceed the limit of the cost, and was not sent."""


class Budget:
    """Money that several threads spend, never more than the limit.

    What is reserved counts as spent until it is settled. A request that does not fit waits for
    those under way, which may turn out cheaper.
    """

    def __init__(self, limit: Decimal | None = None, spent: Decimal = _ZERO) -> None:
        self.limit = limit
        self.spent = spent
        self._reserved = _ZERO
        self._changed = threading.Condition()

    def reserve(self, most: Decimal) -> None:
        """Set money aside for a request, or raise if it can never fit."""
        with self._changed:
            while self.limit is not None and self.spent + self._reserved + most > self.limit:
                if self._reserved <= 0:
                    raise LimitReachedError(
                        f"a request may cost ${most}, which could exceed the limit of "
                        f"${self.limit} after ${self.spent}; raise --max-cost to continue"
                    )
                self._changed.wait()
            self._reserved += most

    def settle(self, most: Decimal, cost: Decimal) -> None:
        """Replace a reservation by the money spent."""
        with self._changed:
            self._reserved -= most
            self.spent += cost
            self._changed.notify_all()


@dataclass(frozen=True)
class ChatQuestion:
    """A question to a model.

    Attributes:
        id: Name that the caller gives it.
        messages: What is sent.
        schema: JSON Schema of the answer.
        content: What is asked, for messages that hold random marks; else the messages are.
    """

    id: str
    messages: Sequence[Message] = field(repr=False)
    schema: Mapping[str, Any] = field(repr=False)
    content: str = field(default="", repr=False)

    def make_key(self, model: ChatModel) -> str:
        """Return the hash of everything that decides the answer."""
        asked = self.content or [dict(one) for one in self.messages]
        text = json.dumps([model.options, asked, self.schema], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


class JobEstimate(NamedTuple):
    """Upper bounds of a job.

    Attributes:
        questions: Number of questions.
        known: How many of them the log answers already.
        tokens_in: Most tokens of the prompts that remain: one for each byte.
        tokens_out: Most tokens of their answers.
        cost: Most US dollars without retries; None without prices.
        spent: US dollars that the log counts already.
    """

    questions: int
    known: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    spent: Decimal

    def to_json(self) -> dict[str, Any]:
        """Return the estimate for JSON."""
        cost = None if self.cost is None else float(self.cost)
        return {**self._asdict(), "cost": cost, "spent": float(self.spent)}


class JobResult(NamedTuple):
    """The result of a job.

    Attributes:
        replies: By id of the question; those that were not asked are missing.
        asked: Number of questions that were sent.
        known: Number of questions that the log had answered.
        unasked: Ids that the limit of the cost did not allow.
        spent: US dollars of the log, earlier jobs included; None without prices.
    """

    replies: Mapping[str, Reply]
    asked: int
    known: int
    unasked: tuple[str, ...]
    spent: Decimal | None


class _Account:
    """The meter of one question: the budget of all, and a line in the log before each request."""

    def __init__(self, budget: Budget, log: ChatLog, key: str) -> None:
        self._budget = budget
        self._log = log
        self._key = key
        self._too_much = _ZERO  # what the log counts beyond the cost

    def reserve(self, most: Decimal) -> None:
        self._budget.reserve(most)
        try:
            if most:
                self._log.add_sent(self._key, most)
        except BaseException:
            self._budget.settle(most, _ZERO)
            raise

    def settle(self, most: Decimal, cost: Decimal) -> None:
        self._too_much += most - cost
        self._budget.settle(most, cost)

    def close(self) -> None:
        """Correct the log after a question without an outcome."""
        if self._too_much:
            self._log.add_sent(self._key, -self._too_much)


class ChatJob:
    """Questions to a model, answered from the log where it can.

    Attributes:
        model: The model.
        folder: Folder of the ledger; the log is in it.
        concurrency: Requests under way at once.
        max_cost: Most US dollars that the log may count in all; None for no limit.
        again: Whether to repeat requests that were refused, cut off or invalid.
    """

    def __init__(
        self,
        model: ChatModel,
        folder: PathLike,
        *,
        concurrency: int = 8,
        max_cost: float | str | None = None,
        again: bool = False,
    ) -> None:
        require_whole("concurrency", concurrency)
        self.model = model
        self.folder = Path(folder)
        self.concurrency = concurrency
        self.again = again
        self.max_cost = _read_limit(max_cost)
        if self.max_cost is not None and not model.has_prices:
            raise ConfigurationError(
                "a limit of the cost needs the prices of the model: give --price-in and "
                "--price-out, in US dollars for a million tokens"
            )

    def estimate(self, questions: Iterable[ChatQuestion]) -> JobEstimate:
        """Return what the questions can cost at most; nothing is sent or written."""
        log, model = ChatLog(self.folder, self.model), self.model
        asked = {question.make_key(model): question for question in questions}
        left = [one for key, one in asked.items() if not self._is_known(log, key)]
        tokens_in = sum(count_most_tokens(one.messages, one.schema) for one in left)
        tokens_out = model.max_tokens * len(left)
        cost = model.count_cost(tokens_in, tokens_out) if model.has_prices else None
        return JobEstimate(
            len(asked), len(asked) - len(left), tokens_in, tokens_out, cost, log.spent
        )

    def _is_known(self, log: ChatLog, key: str) -> bool:
        reply = log.replies.get(key)
        return reply is not None and reply.outcome in (("ok",) if self.again else _FINAL)

    def run(
        self,
        questions: Sequence[ChatQuestion],
        receive: Callable[[ChatQuestion, Reply], object] = lambda _question, _reply: None,
    ) -> JobResult:
        """Ask the questions; `receive` gets each answer in this thread as soon as it is there.

        A wrong key, an unknown model and very many failures in a row end the job; what was answered
        is kept.
        """
        by_key: dict[str, list[ChatQuestion]] = {}
        for question in questions:
            by_key.setdefault(question.make_key(self.model), []).append(question)
        found = _Found(by_key, receive)
        log = ChatLog(self.folder, self.model)
        budget = Budget(self.max_cost, log.spent)
        if not self._find_left(by_key, log):
            found.take_known(by_key, log)
            return found.close(budget, self.model)
        self.model.check(budget)
        check = budget.spent - log.spent
        with log:
            if check:
                log.add_sent("check", check)
            budget.spent = log.spent + check
            left = self._find_left(by_key, log)
            found.take_known((key for key in by_key if key not in left), log)
            self._ask_all(left, log, budget, found)
        return found.close(budget, self.model)

    def _find_left(
        self, by_key: Mapping[str, Sequence[ChatQuestion]], log: ChatLog
    ) -> dict[str, ChatQuestion]:
        return {key: own[0] for key, own in by_key.items() if not self._is_known(log, key)}

    def _ask_all(
        self, left: Mapping[str, ChatQuestion], log: ChatLog, budget: Budget, found: _Found
    ) -> None:
        waiting: SimpleQueue[str | None] = SimpleQueue()
        done: SimpleQueue[tuple[str, Reply | BaseException]] = SimpleQueue()

        def work() -> None:
            while (key := waiting.get()) is not None:
                account = _Account(budget, log, key)
                try:
                    reply = self.model.ask(left[key].messages, left[key].schema, account)
                    log.add(key, reply)
                except BaseException as error:  # noqa: BLE001 - raised again by the main thread
                    with suppress(BerryEvalError):
                        account.close()
                    done.put((key, error))
                else:
                    done.put((key, reply))

        count = min(self.concurrency, len(left))
        for key in (*left, *[None] * count):
            waiting.put(key)
        threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            for _ in left:
                found.take(*_wait_for(done))
        except BerryEvalError:
            _end_threads(threads, waiting, self.model.timeout)
            raise


class _Found:
    """The answers so far."""

    def __init__(
        self,
        by_key: Mapping[str, Sequence[ChatQuestion]],
        receive: Callable[[ChatQuestion, Reply], object],
    ) -> None:
        self._by_key = by_key
        self._receive = receive
        self._replies: dict[str, Reply] = {}
        self._unasked: list[str] = []
        self._known = self._asked = self._failed = 0

    def take_known(self, keys: Iterable[str], log: ChatLog) -> None:
        """Take answers from the log."""
        for key in keys:
            self._known += 1
            self._deliver(key, log.replies[key])

    def take(self, key: str, result: Reply | BaseException) -> None:
        """Take the result of a question; raise an error that ends the job."""
        if isinstance(result, LimitReachedError):
            self._unasked += [question.id for question in self._by_key[key]]
            return
        if isinstance(result, BaseException):
            raise result
        self._asked += 1
        self._deliver(key, result)
        self._failed = 0 if result.outcome in _FINAL else self._failed + 1
        if self._failed >= _GIVEN_UP:
            raise RunFailedError(
                f"{self._failed} questions in a row had no answer ({result.text}); the "
                "answers so far are kept: run the command again to continue"
            )

    def _deliver(self, key: str, reply: Reply) -> None:
        for question in self._by_key[key]:
            self._replies[question.id] = reply
            self._receive(question, reply)

    def close(self, budget: Budget, model: ChatModel) -> JobResult:
        """Return the result of the job."""
        spent = budget.spent if model.has_prices else None
        return JobResult(self._replies, self._asked, self._known, tuple(self._unasked), spent)


def _end_threads(
    threads: Sequence[threading.Thread], waiting: SimpleQueue[str | None], seconds: float
) -> None:
    """Ask nothing more, and wait for the requests in flight, which are paid for."""
    with suppress(Empty):
        while True:
            waiting.get_nowait()
    for _ in threads:
        waiting.put(None)
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))


def _wait_for(queue: SimpleQueue[T]) -> T:
    """Take the next item; a wait without a timeout cannot be interrupted on every platform."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=_POLL_SECONDS)


def _read_limit(given: float | str | None) -> Decimal | None:
    if given is None:
        return None
    try:
        limit = Decimal(str(given))
    except InvalidOperation:
        limit = Decimal("nan")
    fine = limit.is_finite() and limit >= 0
    require(fine, "the limit of the cost", "a number of dollars, 0 or more", given)
    return limit
