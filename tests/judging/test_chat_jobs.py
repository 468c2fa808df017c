"""Many questions: nothing lost, nothing asked twice, and never more spent than allowed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.errors import ConfigurationError, DataError, RunFailedError
from berryeval.judging.chat_jobs import Budget, ChatJob, ChatQuestion, LimitReachedError
from berryeval.judging.chat_log import ChatLog
from berryeval.providers.chat import ChatModel, Reply
from tests.judging.chat_server import SCHEMA, ask_about, chat_server, fail, say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PRICES = {"price_in": 2.5, "price_out": 10.0}
GIT = shutil.which("git") or "git"
OPENED: list[ChatModel] = []


@pytest.fixture(autouse=True)
def _close_models() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def build(url: str, **options: Any) -> ChatModel:
    model = ChatModel("tiny", url, **{"sleep": lambda _: None, "timeout": 20.0, **options})
    OPENED.append(model)
    return model


def questions(count: int) -> list[ChatQuestion]:
    return [ChatQuestion(f"q{i}", ask_about(f"passage {i}"), SCHEMA) for i in range(count)]


def test_answers_are_kept_and_not_asked_for_again(tmp_path: Path) -> None:
    with chat_server() as server:
        job = ChatJob(build(server.url), tmp_path, concurrency=4)
        got: list[str] = []
        first = job.run(questions(20), lambda question, _: got.append(question.id))
        second = job.run(questions(25))
    assert sorted(got) == sorted(f"q{i}" for i in range(20))
    assert (first.asked, first.known, first.spent) == (20, 0, None)
    assert (second.asked, second.known) == (5, 20)
    assert second.replies["q0"] == first.replies["q0"]
    assert set(server.times.values()) == {1}


def test_other_options_are_other_questions(tmp_path: Path) -> None:
    with chat_server() as server:
        for options in ({}, {"seed": 1}, {"temperature": 0.5}, {"max_tokens": 99}):
            ChatJob(build(server.url, **options), tmp_path).run(questions(1))
    assert len(server.asked) == 4


def test_same_content_is_asked_once(tmp_path: Path) -> None:
    """Messages with random marks are the same question if their content is."""
    asked = [
        ChatQuestion("a", ask_about("mark 1 text"), SCHEMA, "text"),
        ChatQuestion("b", ask_about("mark 2 text"), SCHEMA, "text"),
    ]
    with chat_server() as server:
        result = ChatJob(build(server.url), tmp_path).run(asked)
    assert len(server.asked) == 1
    assert result.replies["a"] == result.replies["b"]


def test_refusals_are_kept_and_failures_are_tried_again(tmp_path: Path) -> None:
    def script(text: str, _time: int) -> Any:
        return {
            "passage 0": say(None, refusal="no"), "passage 1": say("{", "length"),
            "passage 2": say("no JSON"), "passage 3": fail(500, "x"),
        }.get(text, say())  # fmt: skip

    with chat_server(script) as server:
        model = build(server.url, attempts=1)
        first = ChatJob(model, tmp_path).run(questions(5))
        ChatJob(model, tmp_path).run(questions(5))
        again = dict(server.times)
        ChatJob(model, tmp_path, again=True).run(questions(5))
    outcomes = [first.replies[f"q{i}"].outcome for i in range(5)]
    assert outcomes == ["refused", "cut off", "invalid", "error", "ok"]
    assert list(map(again.get, (f"passage {i}" for i in range(5)))) == [1, 1, 1, 2, 1]
    assert [server.times[f"passage {i}"] for i in range(5)] == [2, 2, 2, 3, 1]


def billing(seed: int, model: list[ChatModel], bills: list[Decimal]) -> Any:
    """Return a server that bills what it may, and tells it only sometimes."""
    drawn = random.Random(seed)

    def script(text: str, _time: int) -> Any:
        kind = drawn.choice(["ok", "ok", "no usage", "negative", "500", "429", "cut off", "lost"])
        tokens = drawn.randrange(20, 60 + len(text)), drawn.randrange(1, 401)
        full = model[0].most_cost(ask_about(text), SCHEMA)
        known = kind in {"ok", "cut off"}
        if kind != "429":
            bills.append(model[0].count_cost(*tokens) if known else full)
        time.sleep(drawn.random() * 0.003)
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
        return {
            "ok": say(usage=usage), "no usage": say(usage=None),
            "negative": say(usage={"prompt_tokens": -9, "completion_tokens": 10**18}),
            "500": fail(500, "x"), "429": fail(429, "x"),
            "cut off": say("{", "length", usage=usage), "lost": None,
        }[kind]  # fmt: skip

    return script


@pytest.mark.parametrize("seed", range(3))
def test_limit_of_the_cost_holds_with_many_threads(tmp_path: Path, seed: int) -> None:
    """Whatever the server bills, it is at most the limit, and nearly all of the limit is used."""
    models: list[ChatModel] = []
    bills: list[Decimal] = []
    with chat_server(billing(seed, models, bills)) as server:
        models.append(build(server.url, attempts=3, **PRICES))
        job = ChatJob(models[0], tmp_path, concurrency=16, max_cost="0.31")
        first = job.run(questions(200))
        most = models[0].most_cost(ask_about("passage 199"), SCHEMA)
        assert first.spent is not None
        assert sum(bills) <= first.spent <= Decimal("0.31")
        assert first.spent > Decimal("0.31") - most
        assert first.unasked
        asked = len(server.asked)
        again = job.run(questions(200))  # as after a kill: the limit is for both together
        assert len(server.asked) == asked
        assert again.spent == first.spent
        wider = ChatJob(models[0], tmp_path, concurrency=16, max_cost="0.62").run(questions(200))
    assert wider.spent is not None
    assert sum(bills) <= wider.spent <= Decimal("0.62")
    assert len(wider.replies) + len(wider.unasked) == 200
    kept = {name: one for name, one in first.replies.items() if one.outcome != "error"}
    assert kept.items() <= wider.replies.items()


def test_server_that_counts_too_much_is_not_asked_further(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """More tokens than a request can have are money all the same: they count, and end the job."""
    usage = {"prompt_tokens": 10**7, "completion_tokens": 1}
    with chat_server(lambda _text, _time: say(usage=usage)) as server:
        job = ChatJob(build(server.url, **PRICES), tmp_path, concurrency=2, max_cost=1)
        result = job.run(questions(50))
    assert len(server.asked) <= 2
    assert result.spent is not None
    assert result.spent > 1
    assert "a request cost $25.0" in caplog.text


def test_limit_smaller_than_any_request_sends_nothing(tmp_path: Path) -> None:
    with chat_server() as server:
        job = ChatJob(build(server.url, **PRICES), tmp_path, max_cost=0)
        result = job.run(questions(3))
    assert not server.asked
    assert result.unasked == ("q0", "q1", "q2")


def test_limit_needs_prices(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--price-in"):
        ChatJob(build("http://127.0.0.1:1/v1"), tmp_path, max_cost=1)
    for wrong in ("much", -1, float("nan")):
        with pytest.raises(ConfigurationError, match="limit of the cost"):
            ChatJob(build("http://127.0.0.1:1/v1", **PRICES), tmp_path, max_cost=wrong)
    with pytest.raises(ConfigurationError, match="concurrency"):
        ChatJob(build("http://127.0.0.1:1/v1"), tmp_path, concurrency=0)


def test_estimate_is_an_upper_bound_and_sends_nothing(tmp_path: Path) -> None:
    with chat_server() as server:
        job = ChatJob(build(server.url, **PRICES), tmp_path)
        before = job.estimate(questions(10))
        assert not server.asked
        assert not list(tmp_path.iterdir())
        result = job.run(questions(4))
        after = job.estimate(questions(10))
    assert (before.questions, before.known, before.tokens_out) == (10, 0, 4000)
    assert before.cost is not None
    assert after.cost is not None
    assert result.spent is not None
    assert after.cost + result.spent < before.cost
    assert (after.known, after.spent) == (4, result.spent)
    assert ChatJob(build(server.url), tmp_path).estimate(questions(2)).cost is None


def test_request_that_does_not_fit_waits_for_cheaper_ones() -> None:
    """What is under way may turn out cheaper, so a request is turned away only after it."""
    budget = Budget(Decimal(10))
    budget.reserve(Decimal(9))
    waiting = threading.Thread(target=budget.reserve, args=(Decimal(5),), daemon=True)
    waiting.start()
    assert waiting.is_alive()
    budget.settle(Decimal(9), Decimal(4))
    waiting.join(10)
    assert not waiting.is_alive()
    budget.settle(Decimal(5), Decimal(5))
    with pytest.raises(LimitReachedError):
        budget.reserve(Decimal("1.01"))
    budget.reserve(Decimal(1))


CHILD = """
import sys
from tests.judging.test_chat_jobs import *
model = build(sys.argv[1], **PRICES)
ChatJob(model, sys.argv[2], concurrency=4, max_cost="0.30").run(questions(40))
"""


def test_killed_job_goes_on_where_it_was(tmp_path: Path) -> None:
    """After kill -9 only what was under way is asked again, and it counts into the limit."""
    stuck, release = threading.Semaphore(0), threading.Event()
    bills: list[Decimal] = []

    def script(text: str, time_: int) -> Any:
        if int(text.split()[1]) >= 12 and time_ == 1 and not release.is_set():
            stuck.release()
            release.wait(30)
            bills.append(model.most_cost(ask_about(text), SCHEMA))
            return None
        bills.append(model.count_cost(50, 20))
        return say()

    with chat_server(script) as server:
        model = build(server.url, **PRICES)
        child = subprocess.Popen([sys.executable, "-c", CHILD, server.url, str(tmp_path)])
        for _ in range(4):
            assert stuck.acquire(timeout=30)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        release.set()
        done = ChatLog(tmp_path, model)
        assert len(done.replies) == 12
        result = ChatJob(model, tmp_path, concurrency=4, max_cost="0.30").run(questions(40))
    assert len(result.replies) == 40
    assert (result.known, result.asked) == (12, 28)
    assert sorted(server.times.values()) == [1] * 36 + [2] * 4
    assert result.spent is not None
    assert sum(bills) <= result.spent <= Decimal("0.30")


def test_torn_and_damaged_lines_do_not_count(tmp_path: Path) -> None:
    with chat_server() as server:
        model = build(server.url, **PRICES)
        ChatJob(model, tmp_path, concurrency=1).run(questions(3))
        path = ChatLog(tmp_path, model).path
        lines = path.read_bytes().splitlines(keepends=True)
        assert len(lines) == 6  # sent and answered
        lines[1] = lines[1].replace(b'"grade": 2', b'"grade": 3')
        path.write_bytes(b"".join(lines)[:-20])
        result = ChatJob(model, tmp_path).run(questions(3))
    assert (result.known, result.asked) == (1, 2)
    assert {one.data["grade"] for one in result.replies.values()} == {2}


def test_logs_of_two_people_merge(tmp_path: Path) -> None:
    """Git keeps the lines of both, and neither asks what the other has asked."""

    def git(*words: str) -> None:
        who = ("-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false")
        subprocess.run([GIT, *who, *words], cwd=tmp_path, check=True, capture_output=True)

    with chat_server() as server:
        job = ChatJob(build(server.url, **PRICES), tmp_path)
        git("init", "-q", "-b", "main")
        job.run(questions(2))
        git("add", ".")
        git("commit", "-qm", "both")
        git("checkout", "-qb", "other")
        job.run(questions(4))
        git("commit", "-qam", "other")
        git("checkout", "-q", "main")
        job.run([*questions(2), *questions(6)[4:]])
        git("commit", "-qam", "main")
        git("merge", "-q", "other")
        result = job.run(questions(6))
    assert (result.known, result.asked) == (6, 0)
    assert set(server.times.values()) == {1}


def test_one_process_asks_at_a_time(tmp_path: Path) -> None:
    with chat_server() as server:
        model = build(server.url)
        with (
            ChatLog(tmp_path, model),
            pytest.raises(DataError, match="another process is asking"),
        ):
            ChatJob(model, tmp_path).run(questions(1))
    assert not server.asked


def test_unknown_model_and_wrong_key_write_nothing(tmp_path: Path) -> None:
    with chat_server(models=("small",), key="sk-right-1234") as server:
        for key, words in (("sk-right-1234", "does not know the model"), ("sk-wrong", "401")):
            with pytest.raises(ConfigurationError, match=words):
                ChatJob(build(server.url, api_key=key), tmp_path / "new").run(questions(3))
    assert not (tmp_path / "new").exists()


def test_key_that_expires_ends_the_job_and_keeps_its_answers(tmp_path: Path) -> None:
    def script(text: str, _time: int) -> Any:
        return fail(401, "expired") if text == "passage 5" else say()

    with chat_server(script) as server:
        model = build(server.url)
        with pytest.raises(ConfigurationError, match="expired"):
            ChatJob(model, tmp_path, concurrency=2).run(questions(50))
        assert 5 <= len(ChatLog(tmp_path, model).replies) < 50
        assert len(ChatLog(tmp_path, model).replies) == len(server.asked) - 1


def test_server_that_is_down_ends_the_job(tmp_path: Path) -> None:
    """Twenty questions in a row without an answer are enough."""
    with chat_server(lambda _text, _time: fail(503, "down")) as server:
        model = build(server.url, attempts=1)
        with pytest.raises(RunFailedError, match="20 questions in a row"):
            ChatJob(model, tmp_path, concurrency=2).run(questions(100))
    assert 20 <= len(server.asked) <= 24


def test_reply_is_read_back_as_it_was(tmp_path: Path) -> None:
    reply = Reply("ok", {"grade": 1}, "é\ud800\n", 5, 6, Decimal("0.00001"), "m")
    model = build("http://127.0.0.1:1/v1")
    with ChatLog(tmp_path, model) as log:
        log.add("k", reply)
        log.add("f", Reply("error", text="x"))
    read = ChatLog(tmp_path, model)
    assert read.replies == {"k": reply, "f": Reply("error", text="x")}
    assert read.spent == Decimal("0.00001")
