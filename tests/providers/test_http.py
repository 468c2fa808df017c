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


def searched(answer: Any, asking: str = "tokens", **options: Any) -> tuple[Answer, Asked]:
    """What the provider makes of an answer, and what the server was asked for it."""
    with loopback(lambda _: answer) as server:
        path = options.pop("path", "/search")
        with Http(server.url + path, **options) as provider:
            provider.index(CHUNKS)
            return provider.search(Query("q7", asking), 3), server.asked[-1]


def refusal(answer: Any, **options: Any) -> ProviderError:
    """What the provider says to an answer that it cannot use."""
    with pytest.raises(ProviderError) as caught:
        searched(answer, **options)
    return caught.value


def test_without_options_query_and_k_are_posted_and_hits_are_read() -> None:
    """The default body and the default paths; a score is optional."""
    hits, asked = searched({"hits": [{"id": "a", "score": 2.5, "text": "t", "doc_id": "d"}]})
    assert (asked.method, asked.body) == ("POST", {"query": "tokens", "k": 3})
    assert [(hit.id, hit.score, hit.text, hit.doc_id) for hit in hits] == [("a", 2.5, "t", "d")]
    plain, _ = searched({"hits": [{"id": 17}, {"id": "b", "text": None}]})
    assert [(hit.id, hit.score) for hit in plain] == [("17", 0.0), ("b", 0.0)]


def test_a_put_sends_what_a_post_does() -> None:
    """The default body too."""
    _, asked = searched({"hits": []}, method="PUT")
    assert (asked.method, asked.body) == ("PUT", {"query": "tokens", "k": 3})
    _, asked = searched({"hits": []}, method="put", body={"q": "{query}"})
    assert (asked.method, asked.body) == ("PUT", {"q": "tokens"})


def test_a_get_sends_parameters() -> None:
    """Those of the address stay, ours are added and escaped."""
    _, asked = searched({"hits": []}, method="GET", path="/s?lang=en", asking="a&b=c d")
    assert (asked.method, asked.params) == (
        "GET", {"lang": ["en"], "query": ["a&b=c d"], "k": ["3"]},
    )  # fmt: skip
    _, asked = searched({"hits": []}, method="GET", params={"q": "{query}", "f": ["x", "y"]})
    assert asked.params == {"q": ["tokens"], "f": ["x", "y"]}


def test_templates_are_filled_everywhere() -> None:
    """Address, headers, parameters and body; a lone {k} is a number, other braces stay."""
    _, asked = searched(
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
def test_odd_texts_arrive_as_they_are(text: str, method: str) -> None:
    """But for the character 0 and halves of surrogates, which no server takes."""
    option = "params" if method == "GET" else "body"
    options = {option: {"query": "{query}"}, "headers": {"X": "{query}"}}
    _, asked = searched({"hits": []}, text, method=method, **options)
    arrived = asked.params["query"][0] if method == "GET" else asked.body["query"]
    assert arrived == text.replace("\x00", " ").replace("\ud800", "?")


@given(st.text(), st.text())
def test_no_text_breaks_out_of_its_value(text: str, name: str) -> None:
    """Whatever is asked, the structure of the body stays and nothing is fill in twice."""
    body = fill({"a": "{query}", "b": ["{query_id}!", {"c": True}]}, Query(name, text), 3)
    clean = [part.replace("\x00", " ") for part in (text, name)]
    assert body == {"a": clean[0], "b": [f"{clean[1]}!", {"c": True}]}


def test_paths_lead_to_the_hits_and_their_parts() -> None:
    """Names, places, every place, names with dots; also where hits are ids."""
    nested = {"r": [{"g": [{"i": [{"_id": "a", "f": {"a.b": "t"}, "d": 1}]}, {"i": []}]}]}
    hits, _ = searched(
        nested, hits="$.r[0].g[*].i[*]", id="_id", text='f["a.b"]', score="d", distance=True
    )
    assert [(hit.id, hit.text, hit.score) for hit in hits] == [("a", "t", -1.0)]
    ids, _ = searched(["tokens", "limits"], hits="", id="")
    assert [hit.id for hit in ids] == ["tokens", "limits"]


def test_a_known_chunk_completes_its_hit() -> None:
    """An id alone gets text, document and section; what the server says itself is kept."""
    hits, _ = searched({"hits": [{"id": "tokens"}, {"id": "pool", "text": "mine"}, {"id": "new"}]})
    assert (hits[0].text, hits[0].doc_id, hits[0].section) == (
        CHUNKS[0].text, "handbook", CHUNKS[0].section,
    )  # fmt: skip
    assert (hits[1].text, hits[1].doc_id) == ("mine", "handbook")
    assert (hits[2].text, hits[2].doc_id) == ("", "")


def test_spans_and_costs_are_read() -> None:
    """Where a hit stands in its document, and what the answer says it cost."""
    hits, _ = searched(
        {"hits": [{"id": "a", "start": 3, "end": 9}], "usage": {"tokens": 12}},
        cost={"tokens": "usage.tokens"},
    )
    assert (hits[0].start, hits[0].end, hits.cost) == (3, 9, {"tokens": 12})


@pytest.mark.parametrize(
    ("answer", "options", "message"),
    [
        (Reply(b"<html>busy</html>"), {}, "expected JSON, found '<html>busy</html>'"),
        (Reply(b"[" * 100_000), {}, r"expected JSON, found '\[\["),
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
def test_an_answer_that_cannot_be_used_is_described(
    answer: Any, options: dict[str, Any], message: str
) -> None:
    """Which path, what was expected and found; asking again would not help."""
    with pytest.raises(ProviderError, match=message) as caught:
        searched(answer, **options)
    assert not caught.value.passing


@pytest.mark.parametrize(
    ("status", "passing"),
    [(400, False), (401, False), (404, False), (408, True), (425, True), (429, True), (500, True),
     (502, True), (503, True)],
)  # fmt: skip
def test_the_status_says_whether_asking_again_may_help(status: int, passing: bool) -> None:
    """And the message says which it was, of what address, in the words of the server."""
    error = refusal(Reply({"error": "no such thing"}, status))
    assert error.passing == passing
    assert f"/search: status {status}" in str(error)
    assert "no such thing" in str(error)


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_heard(status: int) -> None:
    """As seconds or as a date; what is neither, or in the past, makes nobody wait."""
    later = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=90), usegmt=True)
    waits = [
        refusal(Reply("", status, {"Retry-After": text})).retry_after
        for text in ("7", later, "Sun, 06 Nov 1994 08:49:37 GMT", "1.5", "soon", "-3", "")
    ]
    assert waits[0] == 7
    assert waits[1] is not None
    assert 60 < waits[1] <= 90
    assert waits[2:] == [0, 1.5, None, None, None]


def test_a_redirect_is_not_followed_but_said() -> None:
    """Secrets would go to a place nobody wrote down."""
    error = refusal(
        Reply("", 302, {"Location": f"https://u:{CANARY}@other.example/s?key={CANARY}"})
    )
    assert "moved to https://other.example/s; use that address" in str(error)
    assert not error.passing
    assert CANARY not in str(error)


def test_a_server_that_hangs_up_or_is_not_there_may_come_back() -> None:
    """The address is named."""
    assert refusal(None).passing
    with pytest.raises(ProviderError, match=r"POST http://127\.0\.0\.1:1/s: ") as caught:
        Http("http://127.0.0.1:1/s").search(query("x"), 1)
    assert caught.value.passing


def test_a_server_that_says_nothing_is_given_up() -> None:
    """After the time of the transport, as an error that can pass."""
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
    """Not even where the server repeats them, in errors and in the answer."""
    coded = base64.b64encode(f"me:{CANARY}".encode()).decode()
    _, asked = searched({"hits": []}, **options)
    sent = f"{asked.headers} {asked.params} {asked.content!r}"
    assert CANARY in sent or coded in sent
    for answer in (
        Reply({"error": f"bad key {CANARY} {coded if 'user' in options else ''}"}, 401),
        Reply(f"no JSON {CANARY}".encode()),
        {"hits": [{"id": {CANARY: CANARY}}]},
    ):
        error = refusal(answer, **options)
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
    """And each gets its own answer."""
    with (
        loopback(lambda asked: {"hits": [{"id": asked.body["query"]}]}) as server,
        Http(server.url) as provider,
        ThreadPoolExecutor(8) as threads,
    ):
        texts = [f"text {number}" for number in range(100)]
        found = list(threads.map(lambda text: provider.search(query(text), 1)[0].id, texts))
    assert found == texts


def test_a_run_loses_nothing_to_a_faulty_server() -> None:
    """What passes is asked again, what does not is the outcome of its query, the rest is right."""
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


def test_a_closed_provider_opens_again() -> None:
    """Closing gives connections back, nothing more."""
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
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    """When the provider is made, without showing secrets."""
    given_options = {"url": "http://127.0.0.1:1/s", **options} if options else {}
    with pytest.raises(ConfigurationError, match=message) as caught:
        build_provider("http", given_options)
    assert CANARY not in str(caught.value)


@given(st.lists(st.one_of(st.text(min_size=1).filter(lambda t: '"' not in t), st.integers(0, 3))))
def test_a_quoted_path_finds_any_name(steps: list[str | int]) -> None:
    """Written with brackets, every name and place can be reached."""
    data: Any = "here"
    for step in reversed(steps):
        data = {step: data} if isinstance(step, str) else [None] * step + [data]
    text = "".join(f'["{step}"]' if isinstance(step, str) else f"[{step}]" for step in steps)
    assert JsonPath.parse(text, "path").get(data) == "here"


def test_a_hit_without_a_score_among_scored_ones_is_said() -> None:
    """It would count as 0, wherever it stood."""
    told = str(refusal({"hits": [{"id": "a", "score": 0.5}, {"id": "b"}]}))
    assert "http: hit 2 ('b') has no score but others have" in told
