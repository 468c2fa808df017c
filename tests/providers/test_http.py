"""The provider `http`, against a real server on this machine."""

from __future__ import annotations

import base64
import threading
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data.records import Query
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.http import Http, JsonPath, fill
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy
from tests.providers.corpus import CHUNKS, query
from tests.providers.loopback import Asked, Reply, loopback

if TYPE_CHECKING:
    from berryeval.providers.answers import Answer
    from berryeval.runner.outcome import Ranking

CANARY = "canary-5f2a9c"
ODD = [
    "",
    'a "quoted" \\ text',
    "{k} {query_id}",
    "a\x00b",
    "ünï\ud800",
    "line\nline",
    "ä&b=c#d%20",
]


def search(answer: Any, asking: str = "tokens", **options: Any) -> tuple[Answer, Asked]:
    with loopback(lambda _: answer) as server:
        path = options.pop("path", "/search")
        with Http(server.url + path, **options) as provider:
            provider.index(CHUNKS)
            return provider.search(Query("q7", asking), 3), server.asked[-1]


def search_error(answer: Any, **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        search(answer, **options)
    return caught.value


def test_query_and_k_are_posted_by_default() -> None:
    hits, asked = search({"hits": [{"id": "a", "score": 2.5, "text": "t", "doc_id": "d"}]})
    assert (asked.method, asked.body) == ("POST", {"query": "tokens", "k": 3})
    assert [(hit.id, hit.score, hit.text, hit.doc_id) for hit in hits] == [("a", 2.5, "t", "d")]
    plain, _ = search({"hits": [{"id": 17}, {"id": "b", "text": None}]})
    assert [(hit.id, hit.score) for hit in plain] == [("17", 0.0), ("b", 0.0)]


def test_a_put_sends_the_default_body() -> None:
    _, asked = search({"hits": []}, method="PUT")
    assert (asked.method, asked.body) == ("PUT", {"query": "tokens", "k": 3})
    _, asked = search({"hits": []}, method="put", body={"q": "{query}"})
    assert (asked.method, asked.body) == ("PUT", {"q": "tokens"})


def test_a_get_sends_parameters() -> None:
    _, asked = search({"hits": []}, method="GET", path="/s?lang=en", asking="a&b=c d")
    assert (asked.method, asked.params) == (
        "GET", {"lang": ["en"], "query": ["a&b=c d"], "k": ["3"]},
    )  # fmt: skip
    _, asked = search({"hits": []}, method="GET", params={"q": "{query}", "f": ["x", "y"]})
    assert asked.params == {"q": ["tokens"], "f": ["x", "y"]}


def test_templates_are_filled_everywhere() -> None:
    """Address, headers, parameters and body; a lone {k} is a number, other braces stay."""
    _, asked = search(
        {"hits": []},
        asking="a/b?",
        path="/{query_id}/{query}",
        headers={"X-Query": "<{query_id}>"},
        params={"top": "{k}"},
        body={
            "q": "title:{query} {other}",
            "n": ["{k}", "k={k}", 5, None],
            "graphql": "{ a { b } }",
        },
    )
    assert asked.path == "/q7/a%2Fb%3F"
    assert asked.headers["x-query"] == "<q7>"
    assert asked.params == {"top": ["3"]}
    assert asked.body == {
        "q": "title:a/b? {other}", "n": [3, "k=3", 5, None], "graphql": "{ a { b } }",
    }  # fmt: skip


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unusual_texts_arrive_unchanged(text: str, method: str) -> None:
    option = "params" if method == "GET" else "body"
    options = {option: {"query": "{query}"}, "headers": {"X": "{query}"}}
    _, asked = search({"hits": []}, text, method=method, **options)
    arrived = asked.params["query"][0] if method == "GET" else asked.body["query"]
    assert arrived == text.replace("\x00", " ").replace("\ud800", "?")


@given(st.text(), st.text())
def test_no_query_changes_the_structure_of_the_body(text: str, name: str) -> None:
    body = fill({"a": "{query}", "b": ["{query_id}!", {"c": True}]}, Query(name, text), 3)
    clean = [part.replace("\x00", " ") for part in (text, name)]
    assert body == {"a": clean[0], "b": [f"{clean[1]}!", {"c": True}]}


def test_paths_select_hits_and_their_fields() -> None:
    nested = {"r": [{"g": [{"i": [{"_id": "a", "f": {"a.b": "t"}, "d": 1}]}, {"i": []}]}]}
    hits, _ = search(
        nested, hits="$.r[0].g[*].i[*]", id="_id", text='f["a.b"]', score="d", distance=True
    )
    assert [(hit.id, hit.text, hit.score) for hit in hits] == [("a", "t", -1.0)]
    ids, _ = search(["tokens", "limits"], hits="", id="")
    assert [hit.id for hit in ids] == ["tokens", "limits"]


def test_a_known_chunk_completes_its_hit() -> None:
    hits, _ = search({"hits": [{"id": "tokens"}, {"id": "pool", "text": "mine"}, {"id": "new"}]})
    assert (hits[0].text, hits[0].doc_id, hits[0].section) == (
        CHUNKS[0].text, "handbook", CHUNKS[0].section,
    )  # fmt: skip
    assert (hits[1].text, hits[1].doc_id) == ("mine", "handbook")
    assert (hits[2].text, hits[2].doc_id) == ("", "")


def test_spans_and_costs_are_read() -> None:
    hits, _ = search(
        {"hits": [{"id": "a", "start": 3, "end": 9}], "usage": {"tokens": 12}},
        cost={"tokens": "usage.tokens"},
    )
    assert (hits[0].start, hits[0].end, hits.cost) == (3, 9, {"tokens": 12})


@pytest.mark.parametrize(
    ("answer", "options", "message"),
    [
        (Reply(b"<html>busy</html>"), {}, "expected JSON, found '<html>busy</html>'"),
        (Reply(b"[" * 100_000), {}, "the answer: nested too deep to read"),
        ({"results": []}, {}, "'hits': at the top .* found an object with 'results'"),
        ([1], {}, "found an array of 1"),
        ({"hits": {"a": 1}}, {}, "path 'hits' expected an array of hits, found dict"),
        ({"a": 1}, {"hits": "a[*]"}, "at 'a' expected an array, found 1"),
        ({"a": [1]}, {"hits": "a[3]"}, "expected an array with position 3, found an array of 1"),
        ({"hits": [{"id": "a"}, {"_id": "b"}]}, {}, "hit 2: nothing at the path 'id'"),
        ({"hits": [{"id": None}]}, {}, "hit 1: at the path 'id' expected an id, found NoneType"),
        ({"hits": [{"id": True}]}, {}, "expected an id, found bool True"),
        ({"hits": [{"id": "a"}]}, {"score": "s"}, "hit 1: nothing at the path 's'"),
        ({"hits": [{"id": "a", "score": "high"}]}, {}, "a finite number, found str 'high'"),
        (Reply(b'{"hits": [{"id": "a", "score": NaN}]}'), {}, "a finite number, found float nan"),
        ({"hits": [{"id": "a", "text": []}]}, {}, "'text' expected text, found list"),
        ({"hits": [{"id": "a", "start": 1.5}]}, {}, "'start' expected a whole number"),
        ({"hits": [{"id": "a", "start": 5}]}, {}, "hit 1: a span needs start and end"),
        ({"hits": []}, {"cost": {"tokens": "usage"}}, "nothing at the path 'usage'"),
        (Reply(status=204, content=b""), {}, "expected an object with 'hits', found None"),
    ],
)  # fmt: skip
def test_an_invalid_answer_is_described(answer: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ProviderError, match=message) as caught:
        search(answer, **options)
    assert not caught.value.passing


@pytest.mark.parametrize(
    ("status", "passing"),
    [(400, False), (401, False), (404, False), (408, True), (425, True), (429, True), (500, True),
     (502, True), (503, True)],
)  # fmt: skip
def test_the_status_decides_whether_an_error_is_temporary(status: int, passing: bool) -> None:
    error = search_error(Reply({"error": "no such thing"}, status))
    assert error.passing == passing
    assert f"/search: status {status}" in str(error)
    assert "no such thing" in str(error)


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_read(status: int) -> None:
    later = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=90), usegmt=True)
    waits = [
        search_error(Reply("", status, {"Retry-After": text})).retry_after
        for text in ("7", later, "Sun, 06 Nov 1994 08:49:37 GMT", "1.5", "soon", "-3", "")
    ]
    assert waits[0] == 7
    assert waits[1] is not None
    assert 60 < waits[1] <= 90
    assert waits[2:] == [0, 1.5, None, None, None]


def test_a_redirect_is_reported_and_not_followed() -> None:
    """Following it could send secrets to an unknown server."""
    error = search_error(
        Reply("", 302, {"Location": f"https://u:{CANARY}@other.example/s?key={CANARY}"})
    )
    assert "moved to https://other.example/s; use that address" in str(error)
    assert not error.passing
    assert CANARY not in str(error)


def test_a_lost_or_missing_server_is_a_temporary_error() -> None:
    assert search_error(None).passing
    with pytest.raises(ProviderError, match=r"POST http://127\.0\.0\.1:1/s: ") as caught:
        Http("http://127.0.0.1:1/s").search(query("x"), 1)
    assert caught.value.passing


def test_a_silent_server_is_a_temporary_error() -> None:
    wait = threading.Event()

    def answer(_: Asked) -> None:
        wait.wait(20)

    with loopback(answer) as server, Http(server.url, timeout=0.05) as provider:
        with pytest.raises(ProviderError, match="no answer in time") as caught:
            provider.search(query("x"), 1)
        wait.set()
    assert caught.value.passing


@pytest.mark.parametrize(
    "options",
    [
        {"token": CANARY},
        {"user": "me", "password": CANARY},
        {"headers": {"X-Api-Key": CANARY}},
        {"headers": {"Authorization": f"Token {CANARY}"}},
        {"params": {"api_key": CANARY, "q": "{query}"}},
        {"body": {"q": "{query}", "auth": {"token": CANARY}}},
        {"path": f"/s?key={CANARY}"},
    ],
)
def test_secrets_are_sent_but_never_shown(options: dict[str, Any]) -> None:
    coded = base64.b64encode(f"me:{CANARY}".encode()).decode()
    _, asked = search({"hits": []}, **options)
    sent = f"{asked.headers} {asked.params} {asked.content!r}"
    assert CANARY in sent or coded in sent
    for answer in (
        Reply({"error": f"bad key {CANARY} {coded if 'user' in options else ''}"}, 401),
        Reply(f"no JSON {CANARY}".encode()),
        {"hits": [{"id": {CANARY: CANARY}}]},
    ):
        error = search_error(answer, **options)
        shown = "".join(traceback.format_exception(error))
        assert CANARY not in shown
        assert coded not in shown
    rest = {name: value for name, value in options.items() if name != "path"}
    provider = Http(f"http://u:{CANARY}@127.0.0.1:1{options.get('path', '/s')}", **rest)
    assert CANARY not in repr(provider)
    with pytest.raises(ProviderError) as caught:
        provider.search(query("x"), 1)
    assert CANARY not in str(caught.value)


def test_threads_share_one_client() -> None:
    with (
        loopback(lambda asked: {"hits": [{"id": asked.body["query"]}]}) as server,
        Http(server.url) as provider,
        ThreadPoolExecutor(8) as threads,
    ):
        texts = [f"text {number}" for number in range(100)]
        found = list(threads.map(lambda text: provider.search(query(text), 1)[0].id, texts))
    assert found == texts


def test_a_run_loses_no_query_to_a_faulty_server() -> None:
    asked_for: Counter[str] = Counter()

    def answer(asked: Asked) -> Any:
        name = asked.body["query"]
        asked_for[name] += 1
        faults: dict[str, Any] = {
            "busy": Reply({}, 429, {"Retry-After": "0"}) if asked_for[name] == 1 else None,
            "cut": b"" if asked_for[name] < 3 else None,
            "broken": Reply({"error": "no shards"}, 500),
            "gone": Reply({"error": "no index"}, 404),
            "html": Reply(b"<html>"),
        }
        fault = faults.get(name)
        return None if fault == b"" else fault or {"hits": [{"id": f"hit of {name}"}]}

    names = ["busy", "cut", "broken", "gone", "html", *(f"fine {n}" for n in range(20))]
    rankings: dict[str, Ranking] = {}
    with loopback(answer) as server, Http(server.url) as provider:
        policy = Policy(first_wait=0.01, warm_up=0)
        ask_all(
            provider,
            [Query(name, name) for name in names],
            3,
            lambda ranking: rankings.update({ranking.query_id: ranking}),
            policy,
        )
    assert rankings.keys() == set(names)
    failed = {name: rankings[name].attempts for name in names if rankings[name].outcome == "error"}
    assert failed == {"broken": 3, "gone": 1, "html": 1}
    assert "no shards" in rankings["broken"].error
    assert [rankings[name].attempts for name in ("busy", "cut", "fine 0")] == [2, 3, 1]
    for name in set(names) - set(failed):
        assert [hit.id for hit in rankings[name].hits] == [f"hit of {name}"]


def test_a_closed_provider_can_be_used_again() -> None:
    with loopback(lambda _: {"hits": []}) as server:
        provider = Http(server.url)
        for _ in range(2):
            assert provider.search(query("x"), 1) == []
            provider.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "url of http is missing"),
        ({"url": "localhost:80/s"}, "url of http must look like http://host:port/path"),
        ({"url": "http://a:b:c/"}, "url of http must look like"),
        ({"url": 7}, "url of http must look like .* found int"),
        ({"method": "PATCH"}, "method of http must be one of POST, GET, PUT, found 'PATCH'"),
        ({"method": "GET", "body": {}}, "a GET request has no body"),
        ({"body": {"q": "text"}}, r"send the same request for every query: put \{query\}"),
        ({"body": {"q": "{k}"}}, "would send the same request for every query"),
        ({"body": {"q": "{query}", "d": date(2024, 1, 1)}}, "cannot be sent as JSON .* in quotes"),
        (
            {"body": {"q": "{query}", "n": float("nan")}},
            "body.n must be a finite number, found nan",
        ),
        ({"token": 12345}, "token of http must be text, found int"),
        ({"user": "me", "password": 12345}, "password of http must be text, found int"),
        ({"params": ["q"]}, "params of http must map names to values, found list"),
        ({"params": {"q": {"a": "{query}"}}}, "'q' must be text, a number or a list"),
        ({"headers": "X: 1"}, "headers of http must map names to values, found str"),
        ({"headers": {"X": 1}}, "header 'X' of http must be text, found int"),
        ({"token": f"{CANARY}\n"}, "header 'Authorization' of http must be ASCII without control"),
        ({"hits": "a..b"}, r"hits of http: invalid from '\.\.b' on"),
        ({"hits": "a[x]"}, r"hits of http: invalid from '\[x\]' on"),
        ({"hits": 3}, "hits of http must be a path"),
        ({"id": "ids[*]"}, r"id of http: must lead to a single value, found \[\*\]"),
        ({"cost": "usage"}, "cost of http must map names to paths"),
        ({"timeout": 0}, "timeout of http must be more than 0 seconds, found 0"),
        ({"timeout": "soon"}, "provider 'http': timeout must be a number, found 'soon'"),
        ({"uri": "x"}, "provider 'http' has no option 'uri'; did you mean 'url'"),
    ],
)
def test_invalid_options_are_rejected_without_showing_secrets(
    options: dict[str, Any], message: str
) -> None:
    given_options = {"url": "http://127.0.0.1:1/s", **options} if options else {}
    with pytest.raises(ConfigurationError, match=message) as caught:
        build_provider("http", given_options)
    assert CANARY not in str(caught.value)


@given(st.lists(st.one_of(st.text(min_size=1).filter(lambda t: '"' not in t), st.integers(0, 3))))
def test_a_quoted_path_reaches_any_name(steps: list[str | int]) -> None:
    data: Any = "here"
    for step in reversed(steps):
        data = {step: data} if isinstance(step, str) else [None] * step + [data]
    text = "".join(f'["{step}"]' if isinstance(step, str) else f"[{step}]" for step in steps)
    assert JsonPath.parse(text, "path").get(data) == "here"


def test_a_hit_without_a_score_among_scored_hits_is_rejected() -> None:
    told = str(search_error({"hits": [{"id": "a", "score": 0.5}, {"id": "b"}]}))
    assert "http: hit 2 ('b') has no score but others have" in told
