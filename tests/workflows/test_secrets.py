"""Secrets: used, and never shown or written, whatever fails."""

from __future__ import annotations

import base64
import dataclasses
import json
import logging
import traceback
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest

import tests.workflows.scripted
from berryeval._internal.secrets import is_secret_name
from berryeval.data.records import Hit
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.providers.base import build_hit
from berryeval.providers.catalogue import PROVIDERS
from berryeval.providers.web import JsonServer
from berryeval.runner.journal import read_journal
from berryeval.runs.redaction import Secrets, find_open_keys, mask_secrets
from berryeval.workflows.config import ConfigFile, check_model
from berryeval.workflows.plan import Plan
from berryeval.workflows.resumption import resume_plan
from berryeval.workflows.run_folder import RunFolder
from tests.workflows.worlds import benchmark, plan_of, results_of

if TYPE_CHECKING:
    from pathlib import Path

CANARY = 'c4nary/with+odd=chars&"é'
FORMS = {
    CANARY,
    quote(CANARY, safe=""),
    quote(CANARY),
    quote_plus(CANARY),
    json.dumps(CANARY)[1:-1],
}
SAFE = "c4naryWithoutOddChars"
PLACES: dict[str, Any] = {
    "environment": {"says": "${CANARY}"},
    "environment inside": {"says": "see https://me:${CANARY}@host/x"},
    "password": {"password": CANARY},
    "nested": {"password": {"headers": [{"X-Api-Key": CANARY}]}},
    "below a secret": {"password": {"value": [CANARY]}},
    "header": {"password": {"Authorization": f"Bearer {CANARY}"}},
    "unlisted header": {"faults": {"headers": {"X-Mine": CANARY}}},
    "unlisted parameter": {"faults": {"params": {"key": CANARY}}},
    "in what is sent": {"faults": {"params": {"mine": SAFE}, "body": {"key": CANARY}}},
    "dsn": {"password": f"postgresql://me:{quote(CANARY, safe='')}@host/db"},
}


def everything(folder: Path, log: pytest.LogCaptureFixture) -> str:
    """Return everything that a run has written or printed."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {"manifest.json", "results.jsonl"} <= {file.name for file in files}
    written = [file.read_text(encoding="utf-8") for file in files]
    return "\n".join([*written, log.text, *(str(record.args) for record in log.records)])


def unseen(text: str) -> None:
    """Fail if the canary appears in any form."""
    for form in FORMS | {SAFE}:
        assert form not in text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fault", ["index", "search"])
def test_a_secret_is_not_written_or_printed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
    place: str, fault: str,
) -> None:  # fmt: skip
    """Even if the error of the provider contains it."""
    monkeypatch.setenv("CANARY", CANARY)
    kind = f"telltale-{fault}"
    monkeypatch.setattr(PROVIDERS, "_homes", dict(PROVIDERS._homes))  # it goes again
    PROVIDERS.register(kind)(telltale(fault))
    spec = {"type": kind, "name": "t", "options": PLACES[place]}
    plan = plan_of(benchmark(tmp_path, 3), spec)
    with caplog.at_level(logging.DEBUG):
        result = results_of(plan, tmp_path / "run")["t"]
    seen = everything(tmp_path / "run", caplog)
    assert "***" in (result.failure if fault == "index" else seen)
    unseen(seen + repr(result) + repr(plan) + str(plan))
    assert bool(result.failure) == (fault == "index")


def telltale(fault: str) -> Any:
    """A provider whose errors contain its options in many forms."""

    class Telltale(tests.workflows.scripted.Scripted):
        def _tell(self) -> None:
            text = f"{self.says} {self.password} {CANARY} {CANARY!r} {json.dumps(CANARY)}"
            cause = ValueError(f"{text} {quote(CANARY, safe='')}")
            msg = f"{text} {quote_plus(CANARY)} {quote(CANARY)}"
            raise RuntimeError(msg) from cause

        def index(self, chunks: Any) -> None:
            super().index(chunks)
            if fault == "index":
                self._tell()

        def search(self, query: Any, k: int) -> Any:
            del query, k
            self._tell()

    return dataclasses.dataclass(Telltale)


def test_errors_of_a_run_hold_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does the traceback for debugging."""
    monkeypatch.setenv("CANARY", CANARY)

    @dataclasses.dataclass
    class Picky(tests.workflows.scripted.Scripted):
        def __post_init__(self) -> None:
            msg = f"password must be short, found {self.password!r}"
            raise ValueError(msg)

    monkeypatch.setattr(PROVIDERS, "_homes", dict(PROVIDERS._homes))  # it goes again
    PROVIDERS.register("picky")(Picky)
    spec = {"type": "picky", "options": {"password": "${CANARY}"}}
    with pytest.raises(
        ConfigurationError, match=r"password must be short, found '\*\*\*'"
    ) as caught:
        results_of(plan_of(benchmark(tmp_path, 2), spec), tmp_path / "run")
    unseen("".join(traceback.format_exception(caught.value)))


def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 2)
    spec = {"type": "scripted", "options": {"password": "${NO_SUCH_VARIABLE}"}}
    with pytest.raises(
        ConfigurationError, match="variable NO_SUCH_VARIABLE is not set; set it, or"
    ):
        results_of(plan_of(source, spec), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    filled = Secrets().fill_in({"a": "x${NO_SUCH_VARIABLE:-y}", "b": [1, "${NO_SUCH_VARIABLE:-}"]})
    assert filled == {"a": "xy", "b": [1, ""]}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"password": "abc"}, {"password": "***"}),
        ({"api_key": "${KEY}"}, {"api_key": "${KEY}"}),
        ({"X-Auth-Token": "abc", "n": 3}, {"X-Auth-Token": "***", "n": 3}),
        ({"tokenizer": "english", "max_tokens": 5}, {"tokenizer": "english", "max_tokens": 5}),
        ({"url": "http://me:pw1@host/x"}, {"url": "http://me:***@host/x"}),
        ({"url": "http://me:${PW}@host/x"}, {"url": "http://me:${PW}@host/x"}),
        ({"url": "http://host/x?api_key=abc&k=5"}, {"url": "http://host/x?api_key=***&k=5"}),
        ({"where": "host=h password='a b' user=u"}, {"where": "host=h password='***' user=u"}),
        ({"auth": {"user": "me", "value": ["x"]}}, {"auth": {"user": "***", "value": ["***"]}}),
        ({"headers": {"X-Tenant": "acme"}}, {"headers": {"X-Tenant": "***"}}),
        ({"headers": {"X-Tenant": "${TENANT}"}}, {"headers": {"X-Tenant": "${TENANT}"}}),
        ({"headers": {"X-Asked": "{query} {k}"}}, {"headers": {"X-Asked": "{query} {k}"}}),
        ({"headers": {"Accept": "text/x", "content-type": "a/b"}},
         {"headers": {"Accept": "text/x", "content-type": "a/b"}}),
        ({"params": {"key": "abc", "lang": "en"}}, {"params": {"key": "***", "lang": "en"}}),
        ({"params": {"v": SAFE, "q": "{query}"}}, {"params": {"v": "***", "q": "{query}"}}),
        ({"params": {"model": "text-embedding-3-small", "date": "2026-02-21T14:30:00"}},
         {"params": {"model": "text-embedding-3-small", "date": "2026-02-21T14:30:00"}}),
        ({"body": {"a": [{"id": "123e4567-e89b-12d3-a456-426614174000"}]}},
         {"body": {"a": [{"id": "***"}]}}),
        ({"embedder_options": {"headers": {"X-Mine": "abcd"}}},
         {"embedder_options": {"headers": {"X-Mine": "***"}}}),
        ({"url": "http://host/x?key=abc&k=5"}, {"url": "http://host/x?key=***&k=5"}),
    ],
)  # fmt: skip
def test_options_are_masked_by_name_and_by_form(options: Any, expected: Any) -> None:
    assert mask_secrets(options) == expected


def test_every_form_of_a_secret_is_known() -> None:
    secrets = Secrets()
    basic = base64.b64encode(b"me:inBasicAuth").decode()
    secrets.fill_in(
        {
            "headers": {"Authorization": f"Basic {basic}", "X-Token": SAFE},
            "where": "host=h password=inKeywords", "url": "http://a:in%40Url@h?sig=inQuery&k=1",
            "account_key": CANARY,
        }
    )  # fmt: skip
    tellers = [basic, "inBasicAuth", SAFE, "inKeywords", "in%40Url", "in@Url", "inQuery", *FORMS,
               base64.b64encode(CANARY.encode()).decode(), repr(CANARY)[1:-1]]  # fmt: skip
    for text in tellers:
        assert secrets.mask_text(f"<{text}>") == "<***>"
    assert secrets.mask_text("host h") == "host h"


def test_the_value_of_a_cookie_is_masked_alone() -> None:
    """Short values, such as `dark`, are not masked: they are also words."""
    headers = {"Cookie": 'session=inCookie11; theme=dark; id = "inCookie22"'}
    secrets = Secrets()
    secrets.fill_in({"headers": headers})
    server = JsonServer("it", "http://127.0.0.1:1", headers)
    for mask in (secrets.mask_text, server._masker.mask):
        assert mask("inCookie22, inCookie11 and dark") == "***, *** and dark"
        assert mask(headers["Cookie"]) == "***"


def read_plan(path: Path) -> None:
    """Read and check a configuration."""
    file = ConfigFile(path)
    check_model(Plan, file.data, file)


@pytest.mark.parametrize(
    "text",
    [
        f"providers: [{{type: bm25, options: {SAFE}}}]",
        f"providers: [{{type: bm25, chunker: {{password: {SAFE}}}}}]",
        f"providers: [{{type: bm25, password: {SAFE}}}]",
        f"providers:\n  - type: postgres\n    options:\n      password: *{SAFE}",
        f"providers:\n  - type: postgres\n    options:\n      password: !{SAFE}",
        f"providers:\n  - type: postgres\n    options:\n      password: &{SAFE} x: y",
        f"api_key: {SAFE}",
        f"k: 'http://me:{SAFE}@host'",
    ],
)
def test_faults_of_a_configuration_do_not_show_secrets(tmp_path: Path, text: str) -> None:
    path = tmp_path / "berryeval.yaml"
    path.write_text(f"benchmarks: [x]\nproviders: [bm25]\n{text}" if text[:9] != "providers" else
                    f"benchmarks: [x]\n{text}", encoding="utf-8")  # fmt: skip
    with pytest.raises(BerryEvalError) as caught:
        read_plan(path)
    unseen("".join(traceback.format_exception(caught.value)))
    assert "berryeval.yaml:" in str(caught.value)


def test_providers_do_not_show_their_secrets() -> None:
    shown = [
        f"{name}.{field.name}"
        for name in PROVIDERS
        if dataclasses.is_dataclass(kind := PROVIDERS.get(name))
        for field in dataclasses.fields(kind)
        if field.repr and (is_secret_name(field.name) or field.name in {"headers", "auth"})
    ]
    assert shown == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("${CANARY}", True),
        ("Bearer ${CANARY}", True),
        ("BEARER ${CANARY}", True),
        ("ApiKey ${CANARY}", True),
        ('Token token="${CANARY}"', True),
        ("Basic ${USER_X:-}:${CANARY}", True),
        ("v1 ${CANARY}", True),
        ("Bearer c4n${CANARY}", False),
        ("c4naryWithoutOddChars", False),
        ("Bearer c4naryWithoutOddChars", False),
        ("Bearer c4naryWithoutOddChars ${CANARY}", False),
        ("Bearer ${CANARY} c4naryWithoutOddChars", False),
        ("${CANARY}-!$%!$%", False),
        ("Bearer", False),
        ("${CANARY:-c4naryWithoutOddChars}", False),
        ("Bearer ${NOT_SET:-c4naryWithoutOddChars}", False),
    ],
)
def test_text_around_a_variable_is_kept_if_it_is_no_secret(
    text: str, *, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anything longer than a scheme and two letters is masked."""
    monkeypatch.setenv("CANARY", CANARY)
    options = {"headers": {"Authorization": text}, "api_key": text}
    shown = mask_secrets(options)
    expected = text if kept else "***"
    assert shown == {"headers": {"Authorization": expected}, "api_key": expected}
    secrets = Secrets()
    filled = secrets.fill_in(options)
    unseen(secrets.mask_text(f"{filled}"))


def test_a_run_with_a_token_in_a_header_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", SAFE)
    options = {"faults": {"headers": {"Authorization": "Bearer ${CANARY}"}}}
    plan = plan_of(benchmark(tmp_path, 3), {"type": "scripted", "options": options})
    results_of(plan, tmp_path / "run")
    for file in (tmp_path / "run").rglob("*"):
        assert file.is_dir() or SAFE not in file.read_text(encoding="utf-8")
    again, _ = resume_plan(tmp_path / "run")
    assert again.providers[0].options == options


def test_a_mask_matches_any_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", SAFE)
    options = {"faults": {"headers": {"Authorization": "Bearer ${CANARY}", "Accept": "a"}}}
    plan = plan_of(benchmark(tmp_path, 3), {"type": "scripted", "options": options})
    folder = RunFolder(tmp_path / "run")
    results_of(plan, folder.path)
    manifest = folder.manifest_file.read_text(encoding="utf-8")
    folder.manifest_file.write_text(manifest.replace("Bearer ${CANARY}", "***"), encoding="utf-8")
    folder.check_same_run(plan)
    options["faults"]["headers"]["Accept"] = "b"
    other = plan_of(benchmark(tmp_path, 3), {"type": "scripted", "options": options})
    with pytest.raises(ConfigurationError, match="providers differ"):
        folder.check_same_run(other)


@pytest.mark.parametrize("name", ["tokens", "max_tokens", "usage_tokens", "prompt-tokens"])
def test_counts_of_tokens_are_no_secrets(name: str) -> None:
    assert mask_secrets({"cost": {name: "usage.tokens"}}) == {"cost": {name: "usage.tokens"}}


@pytest.mark.parametrize(
    "name", ["token", "auth_tokens", "access-tokens", "apiTokens", "github_tokens", "hf_token"]
)
def test_access_tokens_are_secrets(name: str) -> None:
    assert mask_secrets({name: "usage.tokens"}) == {name: "***"}


@pytest.mark.parametrize(
    "value",
    ["*KEY", "!KEY", "&KEY x: y", "|KEY", "@KEY", "!!int KEY", "!!bool KEY", "!a!KEY", '"\\KEY"'],
)
def test_faults_of_yaml_do_not_show_values(tmp_path: Path, value: str) -> None:
    """Whatever the name of the key; its line and name are shown."""
    path = tmp_path / "berryeval.yaml"
    text = f"benchmarks: [x]\nproviders:\n  - {{type: http, x-thing: {value.replace('KEY', SAFE)}}}"
    path.write_text(text.replace("{", "").replace("}", ""), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not valid YAML") as caught:
        read_plan(path)
    unseen("".join(traceback.format_exception(caught.value)))


def test_a_fault_of_yaml_names_line_and_key(tmp_path: Path) -> None:
    path = tmp_path / "berryeval.yaml"
    path.write_text(f"benchmarks: [x]\nproviders:\n- {{type: a, mine: *{SAFE}}}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"yaml:3: mine: not valid YAML \(found undefined"):
        read_plan(path)


@dataclasses.dataclass
class Echoing(tests.workflows.scripted.Scripted):
    """A provider whose right hits are between two that echo its option `says`."""

    def search(self, query: Any, k: int) -> Any:
        """Return hits with the echo in all of their parts."""
        text, right = self.says, build_hit(self._chunks[int(query.id[1:])], 2.0, k)
        echoed = {"title": text, "deep": [{text: text}]}
        return [
            Hit(f"a/{text}", 4.0, text=f"{text} {text}", metadata=echoed, doc_id=text),
            Hit(f"a/{quote(text, safe='')}", 3.5, section=(text,), text=text),
            right,
            Hit(f"b/{text}", 1.0, text=right.text + text),
        ]


def run_echo(folder: Path, says: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[str]]:
    """Return the result of the echoing provider, and the ids of its first answer."""
    monkeypatch.setattr(PROVIDERS, "_homes", dict(PROVIDERS._homes))  # it goes again
    if "echoing" not in PROVIDERS:
        PROVIDERS.register("echoing")(Echoing)
    monkeypatch.setenv("CANARY", says)
    spec = {"type": "echoing", "name": "t", "options": {"says": "${CANARY}"}}
    folder.mkdir()
    result = results_of(plan_of(benchmark(folder, 3), spec), folder / "run")["t"]
    journal = next(read_journal(next((folder / "run").rglob("results.jsonl"))))
    return result, [hit.id for hit in journal.hits]


def test_echoes_in_hits_are_masked_without_an_effect_on_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Different ids stay different, and every judged id stays."""
    plain, _ = run_echo(tmp_path / "a", "b/9", monkeypatch)  # too short to be masked
    masked, ids = run_echo(tmp_path / "b", CANARY, monkeypatch)
    unseen(everything(tmp_path / "b" / "run", caplog))
    assert ids[:2] == ["a/***", "a/***-2"]
    assert ids[3] == "b/***"
    assert masked.scores.mean == plain.scores.mean
    assert masked.scores.mean["RR"] == pytest.approx(1 / 3)


def test_words_of_the_benchmark_are_not_masked_in_hits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value from the environment may be the name of a folder or an index."""
    _, ids = run_echo(tmp_path / "a", "apple", monkeypatch)
    assert ids[0] == "a/apple"


def test_a_key_in_a_path_is_masked_and_called_unsafe(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"http://127.0.0.1:1/v1/{SAFE}9x/search"
    spec = {"type": "http", "name": "t", "options": {"url": url}}
    result = results_of(plan_of(benchmark(tmp_path, 2), spec), tmp_path / "run")["t"]
    assert "t: the path of options.url seems to hold a key" in caplog.text
    assert "${VARIABLE}" in caplog.text
    assert "/v1/***/search" in everything(tmp_path / "run", caplog)
    unseen(everything(tmp_path / "run", caplog) + repr(result))


@pytest.mark.parametrize(
    "url",
    [
        "http://h/v1/${KEY}/search",
        "https://h/collections/documents-2026/points/search",
        "http://h/{query}/text-embedding-3-small",
        "/data/a8f5f167f44f4964e6c998dee827110c/file",
    ],
)
def test_ordinary_paths_hold_no_keys(url: str) -> None:
    assert list(find_open_keys({"a": [{"url": url}]})) == []
    assert mask_secrets({"url": url}) == {"url": url}


def test_notes_and_attributes_of_errors_are_masked() -> None:
    """An error that shows a secret in a way of its own is replaced."""

    class OddError(Exception):
        def __init__(self, detail: str) -> None:
            self.detail = [detail]
            super().__init__(detail.encode())

    class WorseError(Exception):
        def __str__(self) -> str:
            return f"found {CANARY}"

    secrets = Secrets()
    secrets.fill_in({"password": CANARY})
    odd = OddError(CANARY)
    odd.__notes__ = [f"see {CANARY}"]  # type: ignore[attr-defined,unused-ignore]
    odd.__context__ = OSError(2, CANARY, CANARY)
    for error in (odd, WorseError()):
        with pytest.raises(Exception, match=r"\*\*\*") as caught, secrets.mask_errors():
            raise error
        unseen("".join(traceback.format_exception(caught.value)))
