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
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.providers.catalogue import PROVIDERS
from berryeval.runs.redaction import Secrets, mask_secrets
from berryeval.workflows.config import ConfigFile, check_model
from berryeval.workflows.plan import Plan
from berryeval.workflows.run_folder import RunFolder, resume_plan
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
