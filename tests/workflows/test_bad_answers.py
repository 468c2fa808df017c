"""Whatever a provider returns or raises is the outcome of its query, and of no other."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

import tests.workflows.scripted  # noqa: F401 - registers the provider
from berryeval.data.records import Hit, Query
from berryeval.errors import ConfigurationError
from berryeval.providers.base import Provider
from berryeval.providers.catalogue import PROVIDERS
from berryeval.reports import EXPORTERS
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy
from berryeval.workflows.evaluation import evaluate
from berryeval.workflows.run_folder import RunFolder
from tests.workflows.bad_answers import BAD_ANSWERS, MuteError
from tests.workflows.test_faults import rankings
from tests.workflows.worlds import benchmark, plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from berryeval.runner.outcome import Ranking
    from berryeval.workflows.run_result import ProviderResult

EXPECTED = {name: error for name, (_, error) in BAD_ANSWERS.items()}
FAILING = {name for name, error in EXPECTED.items() if error}
COUNT = len(BAD_ANSWERS) + 2
FAULTS = {f"q{number}": name for number, name in enumerate(BAD_ANSWERS)}
# In a batch with an error nobody waits for the coroutine of a coroutine.
DIRECT = {query: name for query, name in FAULTS.items() if "coroutine" not in name}


def test_a_bad_answer_is_the_outcome_of_its_query(tmp_path: Path) -> None:
    bad = {"type": "scripted", "name": "bad", "options": {"faults": FAULTS}}
    good = {"type": "scripted", "name": "good"}
    source = benchmark(tmp_path, COUNT)
    plan = plan_of(source, bad, good, run={"attempts": 2}, metrics=["RR"])
    formats = [name for name in EXPORTERS if EXPORTERS.get(name).track is None]
    done = evaluate(plan, RunFolder(tmp_path / "run"), export=formats)
    assert done.failures == []
    assert {one.format: one.problem for one in done.exported if one.problem} == {}
    first, second = done.results[0].providers
    assert second.outcomes == {"ok": COUNT}
    assert first.outcomes == {"ok": COUNT - len(FAILING), "error": len(FAILING)}
    found = rankings(tmp_path / "run" / "fruit" / "bad")
    assert {name: found[query].error[: len(EXPECTED[name])] for query, name in FAULTS.items()} == (
        EXPECTED
    )
    values = first.scores.per_query("RR")
    assert {query for query, value in values.items() if not value} == {
        query for query, name in FAULTS.items() if name in FAILING
    }
    before = (tmp_path / "run" / "fruit" / "bad" / "results.jsonl").read_bytes()
    again = evaluate(plan, RunFolder(tmp_path / "run"), export=formats)
    assert again.results[0].providers[0].scores.per_query("RR") == values
    assert (tmp_path / "run" / "fruit" / "bad" / "results.jsonl").read_bytes() == before
    retried = evaluate(plan, RunFolder(tmp_path / "run"), retry_errors=True)
    assert retried.results[0].providers[0].outcomes == first.outcomes


def test_bad_metadata_is_replaced_by_text(tmp_path: Path) -> None:
    faults = {query: name for query, name in FAULTS.items() if "metadata" in name}
    plan = plan_of(benchmark(tmp_path, COUNT), {"type": "scripted", "options": {"faults": faults}})
    evaluate(plan, RunFolder(tmp_path / "run"))
    found = rankings(tmp_path / "run")
    kept = {name: found[query].hits[0].metadata for query, name in faults.items()}
    big = "<int that cannot be shown>"
    assert kept["big metadata"] == {"n": big, "list": [big, big]}
    assert kept["mute metadata"]["a"] == "<Mute that cannot be shown>"
    assert kept["mute metadata"]["b"] == ["<Brittle that cannot be shown>"]
    assert kept["lying metadata"] == {}
    assert kept["brittle metadata"] == {"t": "text", "n": 0.5}
    assert kept["half metadata"] == {"?": "?", "l": ["??"]}
    assert kept["circular metadata"] == {"a": "...", "b": ["..."], "c": {"d": "..."}}
    assert "core" not in str(kept["deep metadata"])


class _Direct(Provider):
    """A provider that is asked in the event loop of the run, one query at a time or several."""

    async def search(self, query: Query, k: int) -> Any:  # type: ignore[override]  # noqa: ARG002
        await asyncio.sleep(0)
        return self._answer(query)

    def _answer(self, query: Query) -> Any:
        name = DIRECT.get(query.id)
        hits = [Hit("d0", 2.0)]
        return BAD_ANSWERS[name][0](hits) if name else hits


class _Batched(_Direct):
    async def search_many(self, queries: Sequence[Query], k: int) -> Any:  # noqa: ARG002
        """Answer each."""
        return [self._answer(query) for query in queries]


@pytest.mark.parametrize("provider", [_Direct(), _Batched()])
def test_bad_answers_of_coroutines_and_of_batches(provider: Provider) -> None:
    queries = [Query(f"q{number}", "text") for number in range(COUNT)]
    found: dict[str, Ranking] = {}
    policy = Policy(batch=5, attempts=2, first_wait=0, longest_wait=0.01, error_budget=1.0)
    ask_all(provider, queries, 3, lambda one: found.update({one.query_id: one}), policy)
    assert len(found) == COUNT
    for query, name in DIRECT.items():
        wanted = EXPECTED[name]
        assert (found[query].outcome == "error") == bool(wanted), name
        assert found[query].error.startswith(wanted.partition(" (tried")[0]), name


def _raise_mute(*_: Any) -> Any:
    raise MuteError


def _exit(*_: Any) -> Any:
    raise SystemExit(2)


async def _exit_later(*_: Any) -> Any:
    raise SystemExit(2)


def _leave_folder(*_: Any) -> Any:
    os.chdir("/")
    return ["d0"]


def _run_beside_another(
    folder: Path, patch: pytest.MonkeyPatch, members: dict[str, Any]
) -> list[ProviderResult]:
    """Run a provider with these methods, and then a good one."""
    patch.chdir(folder)
    kind = type("Bad", (Provider,), {"search": lambda *_: ["d0"], **members})
    patch.setitem(PROVIDERS._homes, "bad-life", kind)
    plan = plan_of(
        benchmark(folder, 3),
        {"type": "bad-life", "name": "bad"},
        {"type": "scripted", "name": "good"},
    )
    return list(evaluate(plan, RunFolder("run")).results[0].providers)


@pytest.mark.parametrize(
    ("members", "failure"),
    [
        ({"index": _raise_mute}, "the index could not be built (MuteError: <MuteError that"),
        ({"index": _exit_later}, "the index could not be built (RuntimeError: SystemExit: 2)"),
        ({"index": property(_raise_mute)}, "the index could not be built (MuteError: <MuteError"),
        ({"__enter__": _exit}, "the provider could not be entered (RuntimeError: SystemExit: 2)"),
        ({"__enter__": 7}, "the provider could not be entered (TypeError: 'int' object is not"),
        ({"expect": _exit}, "the provider could not be prepared: SystemExit: 2"),
        ({"search": property(_raise_mute)}, "the provider cannot be searched (MuteError: <Mute"),
        ({"close": _raise_mute}, ""),
        ({"close": _exit_later}, ""),
        ({"close": property(_raise_mute)}, ""),
        ({"__exit__": 7}, ""),
        ({"on_progress": property(_raise_mute)}, ""),
        ({"search": _leave_folder}, ""),
        ({"index": _leave_folder}, ""),
    ],
)
def test_the_life_of_a_bad_provider_ends_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: dict[str, Any], failure: str
) -> None:
    bad, good = _run_beside_another(tmp_path, monkeypatch, members)
    assert bad.failure.startswith(failure)
    assert bad.outcomes == ({} if failure else {"ok": 3})
    assert bool(bad.failure) == bool(failure)
    assert good.outcomes == {"ok": 3}
    assert (tmp_path / "run" / "run.json").exists()


@pytest.mark.parametrize("method", ["__init__", "required", "needs_documents"])
@pytest.mark.parametrize(
    ("error", "words"), [(_raise_mute, "MuteError: <MuteError that"), (_exit, "SystemExit: 2")]
)
def test_a_provider_that_cannot_be_built_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, error: Any, words: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^provider 'bad' cannot be built: {words}"):
        _run_beside_another(tmp_path, monkeypatch, {method: error})
