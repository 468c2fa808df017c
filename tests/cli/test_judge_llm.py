"""`berryeval judge llm` against a server that speaks the protocol."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.judging import Ledger, Vote, open_ledger
from berryeval.judging.pool import Pool
from tests.cli.eval_world import berryeval, write_drinks
from tests.judging.chat_server import chat_server, fail, say

if TYPE_CHECKING:
    from berryeval.data import Anchor

KEY = "sk-canary-0123456789"
PRICES = ("--price-in", "2.5", "--price-out", "10")
PLACE = Path("drinks.judged")


@pytest.fixture(scope="module")
def pooled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a run and its pool, once."""
    folder = tmp_path_factory.mktemp("pooled")
    here = Path.cwd()
    os.chdir(folder)
    try:
        write_drinks(folder)
        assert berryeval("eval", "drinks", "--providers", "bm25", "-q") == 0
        assert berryeval("judge", "pool", "latest", "--all") == 0
    finally:
        os.chdir(here)
    return folder


@pytest.fixture(autouse=True)
def _inside(pooled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(pooled, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def grade(text: str, _time: int = 1) -> Any:
    """Grade by a word of the passage, as a scripted model."""
    data = json.loads(text.split("\n", 1)[1].rsplit("\nEND DATA", 1)[0])
    value = 2 if "degrees" in data["passage"] else 0
    return say(json.dumps({"reason": f"About {data['place']}.\n", "grade": value}))


def judge(url: str, *options: str) -> int:
    return berryeval("judge", "llm", "--model", "tiny", "--base-url", url, *options)


def read_pool() -> Pool:
    return Pool.read(PLACE / "pool.json")


def files() -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in Path().rglob("*") if one.is_file()}


def test_grades_become_votes(capsys: pytest.CaptureFixture[str]) -> None:
    """Every pair of the pool gets a vote that says where it comes from."""
    with chat_server(grade) as server:
        assert judge(server.url, *PRICES, "--seed", "7") == 0
    pool, votes = read_pool(), Ledger(PLACE).current()
    assert len(votes) == len(pool.pairs) == len(server.asked) > 4
    vote = votes[0]
    assert (vote.judge, vote.kind, vote.model) == ("tiny", "llm", "tiny-2026-01")
    assert (vote.tokens, vote.cost, vote.question) == (70, 0.000325, "relevance")
    assert vote.extra == {"temperature": 0.0, "seed": 7}
    assert vote.note.startswith("About ")
    assert vote.prompt
    assert vote.content.startswith("sha256:")
    out = capsys.readouterr().out
    assert f"tiny (tiny-2026-01): {len(votes)} graded" in out
    assert "grades: 2: " in out
    assert "next: berryeval judge calibrate" in out


def test_judge_is_blind_to_systems_and_ranks() -> None:
    """What is sent has query, place and passage, and nothing about who found it."""
    with chat_server(grade) as server:
        assert judge(server.url) == 0
    for body in server.asked:
        text = body["messages"][1]["content"]
        data = json.loads(text.split("\n", 1)[1].rsplit("\nEND DATA", 1)[0])
        assert set(data) <= {"query", "wanted", "expected answer", "place", "passage"}
        assert "bm25" not in json.dumps(body)


def test_nothing_is_asked_or_added_twice(capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(grade) as server:
        assert judge(server.url) == 0
        count = len(server.asked)
        before = files()
        assert judge(server.url) == 0
        assert len(server.asked) == count
        assert files() == before
        (PLACE / "votes" / "tiny.jsonl").unlink()  # as if killed before votes were written
        assert judge(server.url, "--json") == 0
        assert len(server.asked) == count
    out = capsys.readouterr().out
    data = json.loads(out[out.index("{") :])["data"]
    assert data["votes"]["added"] == count == len(Ledger(PLACE).votes())


def test_dry_run_prices_the_job_without_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is sent or written, and no key is needed."""
    before = files()
    assert berryeval("judge", "llm", "--model", "gpt", "--dry-run") == 0
    assert "unknown without --price-in" in capsys.readouterr().out
    assert berryeval("judge", "llm", "--model", "gpt", "--dry-run", *PRICES, "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    found = data["estimate"]
    assert data["votes"] is None
    assert found["questions"] == len(read_pool().pairs)
    assert found["tokens_out"] == 400 * found["questions"]
    exact = (found["tokens_in"] * 2.5 + found["tokens_out"] * 10) / 1e6
    assert found["cost"] == pytest.approx(exact)
    assert files() == before


def test_outcomes_without_a_grade_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Refusals, cut-off and invalid answers are no votes, and are asked again on demand."""
    answers = [say(None, refusal="No."), say("{", "length"), say("3"), fail(400, "bad"), say()]
    order: dict[str, Any] = {}

    def script(text: str, _time: int) -> Any:
        return order.setdefault(
            text.split("\n", 1)[1].rpartition("END DATA")[0], answers[len(order) % 5]
        )

    with chat_server(script) as server:
        assert judge(server.url, "--concurrency", "1", "--json") == 0
        votes = json.loads(capsys.readouterr().out)["data"]["votes"]
        assert set(votes["outcomes"]) == {"refused", "cut off", "invalid", "error", "ok"}
        assert votes["outcomes"]["ok"] == votes["added"] == len(Ledger(PLACE).votes())
        answers[:] = [say()] * 5
        order.clear()
        assert judge(server.url, "--again") == 0
    assert len(Ledger(PLACE).votes()) == len(read_pool().pairs)
    assert "note: " not in capsys.readouterr().out


def test_the_cost_limit_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    usage = {"prompt_tokens": 800, "completion_tokens": 300}  # half a cent
    with chat_server(lambda _text, _time: say(usage=usage)) as server:
        assert judge(server.url, *PRICES, "--max-cost", "0.02", "--concurrency", "16") == 0
        asked = len(server.asked)
        assert 0 < asked < len(read_pool().pairs)
        assert asked * 0.005 <= 0.02
    out = capsys.readouterr().out
    assert f"{len(read_pool().pairs) - asked} items were not judged" in out
    assert "of $0.0200" in out


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown model": (("--model", "tyni"), "does not know the model 'tyni'; it has small, tiny"),
    "no prices": (("--max-cost", "2"), "--price-in"),
    "one price": (("--price-in", "2"), "both prices"),
    "bad limit": (("--max-cost", "much", *PRICES), "limit of the cost"),
    "no concurrency": (("--concurrency", "0"), "concurrency"),
    "human judge": (("--judge", "ann"), "'ann' of drinks.judged is a human"),
    "taken name": (("--judge", "human"), "no judge can be called 'human'"),
    "no key": (("--api-key-env", "NO_SUCH_KEY"), "NO_SUCH_KEY is not set"),
    "bad address": (("--base-url", "localhost"), "http://host:port"),
    "address of an unset variable": (("--base-url", ""), "must look like http://host:port/path"),
    "no benchmark": (("--benchmark", "nowhere"), "nowhere"),
    "no ledger": (("--ledger", "nowhere"), "nowhere: has no pool"),
    "unknown run": (("no-such-run",), "no-such-run"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names what is wrong, and nothing is written, nor sent to a server not named."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-project")
    pair = read_pool().pairs[0]
    target: Anchor = pair.target
    Ledger(PLACE).append([Vote(pair.query_id, target, 1, "ann")])
    before = files()
    options, words = BAD[name]
    with chat_server(grade) as server:
        line = ["judge", "llm", *options]
        for flag, value in (("--model", "tiny"), ("--base-url", server.url)):
            line += [] if flag in options else [flag, value]
        assert berryeval(*line) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert files() == before


@pytest.mark.parametrize("given", ["", "sk-wrong-9876543210"])
def test_wrong_key_writes_nothing(
    given: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", given)
    before = files()
    with chat_server(grade, key=KEY) as server:
        assert judge(server.url, *PRICES, "--max-cost", "1") == 2
    err = capsys.readouterr().err
    assert "OPENAI_API_KEY" in err
    assert "sk-" not in err
    assert files() == before


def test_missing_key_and_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files()
    assert berryeval("judge", "llm", "--model", "gpt") == 2
    assert "OPENAI_API_KEY is not set" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "httpx", None)
    assert judge("http://127.0.0.1:1/v1") == 2
    assert 'pip install "httpx>=0.27"' in capsys.readouterr().err
    assert files() == before


def test_key_is_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that repeats the key does not get it into the ledger or the log."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    answer = say(json.dumps({"reason": f"the key is {KEY}", "grade": 1}))
    with chat_server(lambda _text, _time: answer, key=KEY) as server:
        assert judge(server.url) == 0
    assert Ledger(PLACE).votes()
    assert not [name for name, data in files().items() if KEY.encode() in data]


def test_hits_of_runs_without_a_pool() -> None:
    """All pairs of a run are judged without a pool, which is not written either."""
    count = len(read_pool().pairs)
    (PLACE / "pool.json").unlink()
    with chat_server(grade) as server:
        assert judge(server.url, "latest") == 0
    assert len(server.asked) == len(Ledger(PLACE).current()) == count
    assert not (PLACE / "pool.json").exists()


ANSWERING = """
TEXTS = {"How hot is green tea?": "Steep it at 80 degrees.", "When does water boil?": ""}

def careful(text, k):
    answer = "Nine bar." if "espresso" in text else TEXTS.get(text)
    return {"hits": ["tea", "water"][:k], "answer": answer}

def hasty(text, k):
    return {"hits": ["coffee"][:k], "answer": "No idea: 42 bar."}
"""


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run two systems that write answers, on queries with expected answers."""
    Path("answering_systems.py").write_text(ANSWERING, encoding="utf-8")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    path = Path("drinks/queries.jsonl")
    queries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for query, expected in zip(queries, ["80 degrees", ["9 bar", 9]], strict=False):
        query["metadata"] = {"expected_answer": expected}
    path.write_text("".join(json.dumps(one) + "\n" for one in queries), encoding="utf-8")
    systems = [
        {"name": name, "type": "callable", "options": {"function": f"answering_systems:{name}"}}
        for name in ("careful", "hasty")
    ]
    config = {"benchmarks": ["drinks"], "providers": systems, "metrics": ["RR"]}
    Path("answering.json").write_text(json.dumps(config), encoding="utf-8")
    assert berryeval("eval", "--config", "answering.json", "-q") == 0


def grade_answer(text: str, _time: int) -> Any:
    """Grade answers by what they say and what they are judged by."""
    data = json.loads(text.split("\n", 1)[1].rsplit("\nEND DATA", 1)[0])
    against = json.dumps(data.get("passages", data.get("expected answer")))
    good = any(word in against for word in data["answer"].split() if word[0].isdigit())
    return say(json.dumps({"reason": "r", "grade": 3 if good else 0}))


@pytest.mark.usefixtures("answering")
def test_answers_are_judged_by_their_passages(capsys: pytest.CaptureFixture[str]) -> None:
    """Every answer gets a vote of its own, and every system a mean with an interval."""
    with chat_server(grade_answer) as server:
        assert judge(server.url, "latest", "--what", "faithfulness", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]["votes"]
    assert data["systems"]["careful"]["answers"] == 2
    assert data["systems"]["hasty"]["mean"] == 0
    low, high = data["systems"]["hasty"]["interval"]
    assert low == 0 < high < 3
    votes = Ledger(PLACE).current()
    assert {one.question for one in votes} == {"faithfulness"}
    (first,) = [one for one in votes if one.target.quote == "Steep it at 80 degrees."]
    assert (first.grade, first.query_id, first.extra["system"]) == (3, "q1", "careful")
    assert len(server.asked) == 2 + 4


@pytest.mark.usefixtures("answering")
def test_model_that_judges_answers_is_calibrated(capsys: pytest.CaptureFixture[str]) -> None:
    """Votes of people on the same answers calibrate it, per system, too."""
    with chat_server(grade_answer) as server:
        assert judge(server.url, "latest", "--what", "faithfulness") == 0
    with chat_server(grade) as server:
        assert judge(server.url) == 0  # votes on passages do not mix with those on answers
    ledger = Ledger(PLACE)
    for vote in ledger.current():
        if vote.question == "faithfulness":
            ledger.append([replace(vote, judge="ann", kind="human", grade=1, time="", extra={})])
    capsys.readouterr()
    assert berryeval("judge", "calibrate", "--what", "faithfulness", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["agreement"]["items"] == 6
    assert data["overall"]["value"] == pytest.approx((2 - 5 * 1) / 6)
    bias = {one["name"]: one["value"] for one in data["systems"]}
    assert bias == {"careful": pytest.approx(0.5), "hasty": pytest.approx(-1)}


@pytest.mark.usefixtures("answering")
def test_answers_are_judged_by_the_expected_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """Queries without an expected answer are left out and counted."""
    with chat_server(grade_answer) as server:
        assert judge(server.url, "latest", "--what", "answer") == 0
    out = capsys.readouterr().out
    assert "careful" in out
    assert "mean grade" in out
    assert "2 answers without an expected answer cannot be judged" in out
    texts = [body["messages"][1]["content"] for body in server.asked]
    assert len(texts) == 4
    assert any('"expected answer": "9 bar or 9"' in text for text in texts)
    assert {one.question for one in Ledger(PLACE).current()} == {"answer"}


def test_runs_without_answers_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    before = files()
    for options, words in ((("latest",), "no system of the runs wrote answers"), ((), "name them")):
        assert judge("http://127.0.0.1:1/v1", *options, "--what", "answer") == 2
        assert words in capsys.readouterr().err
    assert files() == before


def test_votes_may_be_in_a_store() -> None:
    """With a store as ledger the votes are there, and the log is beside the benchmark."""
    with chat_server(grade) as server:
        assert judge(server.url, "--ledger", "votes.db") == 0
    assert len(open_ledger("votes.db", "drinks").current()) == len(read_pool().pairs)
    assert not (PLACE / "votes").exists()
    assert list((PLACE / "chats").iterdir())


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT], ids=["kill", "Ctrl-C"])
def test_stopped_command_goes_on(sign: signal.Signals) -> None:
    """After kill -9 in the middle nothing is lost, and only what was under way is asked again."""
    stuck, release = threading.Semaphore(0), threading.Event()
    seen: list[str] = []

    def script(text: str, time: int) -> Any:
        seen.append(text)
        if len(seen) > 3 and not release.is_set():
            stuck.release()
            release.wait(30)
            return None
        return grade(text, time)

    with chat_server(script) as server:
        line = ["judge", "llm", "--model", "tiny", "--base-url", server.url, "--concurrency", "2"]
        start = "signal.signal(signal.SIGINT, signal.default_int_handler)"  # a shell may ignore it
        run = f"import signal, sys; {start}; from berryeval.cli.app import main; main()"
        child = subprocess.Popen(
            [sys.executable, "-c", run, *line], stderr=subprocess.PIPE, text=True
        )
        for _ in range(2):
            assert stuck.acquire(timeout=30)
        child.send_signal(sign)
        _, err = child.communicate(timeout=30)
        release.set()
        if sign == signal.SIGINT:
            assert (child.returncode, err) == (130, "interrupted\n")
        assert judge(server.url) == 0
    pairs = len(read_pool().pairs)
    assert len(server.asked) == pairs + 2
    assert len(Ledger(PLACE).votes()) == len(Ledger(PLACE).current()) == pairs
