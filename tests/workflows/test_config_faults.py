"""Configuration files: every fault is reported with its line, key and a suggestion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from berryeval.errors import ConfigurationError, DataError
from berryeval.providers.catalogue import PROVIDERS
from berryeval.workflows.config import ConfigFile, check_model
from berryeval.workflows.plan import DEFAULT_METRICS, Patience, Plan
from berryeval.workflows.settings import build_plan
from tests.bounded import run_bounded

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "benchmarks: [technical-docs]\nproviders: [bm25]\n"


def plan_in(folder: Path, text: str) -> Plan:
    """Build the plan of a file with this content."""
    path = folder / "berryeval.yaml"
    path.write_text(text, encoding="utf-8")
    file = ConfigFile(path)
    plan: Plan = check_model(Plan, file.data, file)
    return plan


def test_the_smallest_file_is_a_whole_plan(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, GOOD)
    assert plan.metrics == list(DEFAULT_METRICS)
    assert (plan.depth, plan.limit, plan.seed, plan.run) == (20, None, 0, Patience())
    assert [spec.label for spec in plan.providers] == ["bm25"]
    policy = plan.run.policy(3, in_process=False)
    assert (policy.concurrency, policy.timeout, policy.attempts, policy.seed) == (4, 30.0, 3, 3)
    assert plan.run.policy(3, in_process=True).concurrency == 1


def test_providers_are_names_or_mappings(tmp_path: Path) -> None:
    plan = plan_in(
        tmp_path,
        "benchmarks: [x]\nproviders:\n- bm25:fixed-400\n- {type: dense, chunker: section}\n"
        "- {type: bm25, name: mine, options: {k1: 1.2}}\nmetrics: [P@50]\n",
    )
    assert [spec.label for spec in plan.providers] == ["bm25:fixed-400", "dense:section", "mine"]
    assert [spec.chunker for spec in plan.providers] == ["fixed-400", "section", ""]
    assert plan.depth == 50


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "<ate: 3\n", ":3: unknown key '<ate'; did you mean 'gate'?"),
        (GOOD + "providrs: [x]\n", ":3: unknown key 'providrs'; did you mean 'providers'?"),
        (
            GOOD + "run:\n  timout: 3\n",
            ":4: unknown key 'run.timout'; did you mean 'timeout' or 'index_timeout'?",
        ),
        (
            "benchmarks: [x]\nproviders:\n- {type: bm25, id_map: 3}\n",
            ":3: providers[0].id_map: input should be a mapping or a text, found 3",
        ),
        (
            "benchmarks: [x]\nproviders:\n- {type: bm25, id_map: {a: 3}}\n",
            ":3: providers[0].id_map.a: input should be a valid string, found 3",
        ),
        (
            GOOD + "gate:\n  rules: [{latency: p90, at_most: 1}]\n",
            ":4: gate.rules[0].latency: input should be 'p50', 'p95', 'p99' or 'max', found 'p90'",
        ),
        (GOOD + "gate:\n", ":3: gate: input should be a mapping, found nothing"),
        (GOOD + "gate: [RR]\n", ":3: gate: input should be a mapping, found ['RR']"),
        (GOOD + "run:\n  timeout: soon\n", ":4: run.timeout: input should be a valid number"),
        (GOOD + "run:\n  attempts: 0\n", ":4: run.attempts: input should be greater than or equal"),
        (GOOD + "k: many\n", ":3: k: input should be a valid integer"),
        (GOOD + "k: true\n", ":3: k: input should be a valid integer, found True"),
        (GOOD + "k: '20'\n", ":3: k: input should be a valid integer, found '20'"),
        (GOOD + "limit: yes\n", ":3: limit: input should be a valid integer, found True"),
        (GOOD + "seed: on\n", ":3: seed: input should be a valid integer, found True"),
        (GOOD + "run:\n  timeout: yes\n", ":4: run.timeout: input should be a valid number, found"),
        (GOOD + "run:\n  timeout: .inf\n", ":4: run.timeout: input should be a finite number"),
        (GOOD + "run: {warm_up: off}\n", ":3: run.warm_up: input should be a valid integer, found"),
        (GOOD + "thresholds: {RR: true}\n", ":3: thresholds.RR: input should be a valid number"),
        (GOOD + "metrics: [nDGC@10]\n", ":3: metrics: unknown metric 'nDGC@10'; did you mean"),
        (GOOD + "metrics:\n- RR\n- nDGC@10\n", ":5: metrics: unknown metric 'nDGC@10'"),
        (GOOD + "measures: [RR]\n", ":3: unknown key 'measures'; did you mean 'metrics'?"),
        (
            GOOD + "gate: {rules: [{measure: RR, at_least: 0.1}]}\n",
            "unknown key 'gate.rules[0].measure'; did you mean 'metric'?",
        ),
        ("benchmarks: [x]\n", ":1: providers: is missing"),
        ("benchmarks: [x]\nproviders: [bm25, bm25]\n", ": two providers are called 'bm25'; give"),
        ("benchmarks: [x]\nproviders:\n  - {chunker: y}\n", ":3: providers[0].type: is missing"),
        (GOOD + "k: 1\nk: 2\n", ":4: the key 'k' is given twice; first in line 3"),
        (GOOD + "run: {k: 1, k: 2}\n", ":3: the key 'k' is given twice; first in line 3"),
        (GOOD + "\trun: x\n", ":3: not valid YAML (found character '\\t' that cannot start any"),
        (GOOD + "metrics: [a\n", ": not valid YAML ("),
        (GOOD + "export: [${A}]\n", "; inside brackets, put ${NAME} into quotes)"),
        (
            GOOD + "k: *nobody\n",
            ":3: k: not valid YAML (found undefined alias ...; put a text that begins",
        ),
        (GOOD + "k: !!python/object:os.system x\n", ":3: k: not valid YAML (could not determine"),
        ("- a\n- b\n", ": expected names and values, found list"),
        ("just text", ": expected names and values, found str"),
        ("", ": benchmarks: is missing"),
    ],
)
def test_a_fault_names_its_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        plan_in(tmp_path, text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "berryeval.yaml"))


@pytest.mark.parametrize("run", ["'fast'", "0", "''"])
def test_a_flag_hides_no_fault_of_the_file(tmp_path: Path, run: str) -> None:
    (tmp_path / "berryeval.yaml").write_text(f"{GOOD}run: {run}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=rf"berryeval\.yaml:3: run: .* found {run}"):
        build_plan({"timeout": 5}, tmp_path / "berryeval.yaml")


HYBRID = "benchmarks: [technical-docs]\nproviders:\n- type: hybrid\n  options:\n    providers:\n"
BM25 = "benchmarks: [technical-docs]\nproviders:\n- type: bm25\n"
HTTP = (
    "benchmarks: [technical-docs]\nproviders:\n- type: http\n  options:\n    url: http://x.test\n"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("benchmarks:\n- technical-dcos\nproviders: [bm25]\n",
         ":2: technical-dcos: no such file or folder, and no bundled benchmark"),
        ("benchmarks: [technical-docs]\nproviders:\n- bm25\n- bm52\n",
         ":4: unknown provider 'bm52'; did you mean"),
        ("benchmarks: [technical-docs]\nproviders:\n- type: bm52\n  name: x\n",
         ":3: unknown provider 'bm52'; did you mean"),
        ("benchmarks: [technical-docs]\nproviders:\n- bm25\n- bm25:fixde-400\n",
         ":4: unknown chunker 'fixde'"),
        (BM25 + "  chunker: fixde-400\n",
         ":4: unknown chunker 'fixde'"),
        (BM25 + "  options:\n    b: 0.5\n    k2: 1\n",
         ":6: provider 'bm25' has no option 'k2'; it has k1, b"),
        (BM25 + "  options:\n    k1: high\n",
         ":5: provider 'bm25': k1 must be a number, found 'high'"),
        (HTTP + "    headers:\n      Authorization: Bearer ${BERRYEVAL_NOT_SET}\n",
         ":7: the environment variable BERRYEVAL_NOT_SET is not set"),
        ("benchmarks:\n- source: technical-docs\n  options:\n    splt: dev\nproviders: [bm25]\n",
         ":4: the loader"),
        ("benchmarks:\n- source: technical-docs\n  format: biir\nproviders: [bm25]\n",
         ":3: unknown loader 'biir'; did you mean 'beir'?"),
        (HYBRID + "    - {type: bm25, options: {k1: 1}}\n    - {type: bm25, options: {k1: high}}\n",
         ":7: provider 'bm25': k1 must be a number, found 'high'"),
        (HYBRID + "    - bm25\n    - type: dense\n      options:\n        embedder: nosuch\n",
         ":9: unknown embedder 'nosuch'"),
        (HYBRID + "    - bm25\n    - dense\n    options:\n      dense:\n        embedder: nosuch\n",
         ":10: unknown embedder 'nosuch'"),
        (HYBRID + "    - {type: bm25, options: {k1: 1}}\n    - bm25\n    k1: 3\n",
         ":8: provider 'hybrid' has no option 'k1'"),
        (BM25.replace("bm25", "dense") + "  options:\n    embedder: nosuch\n",
         ":5: unknown embedder 'nosuch'"),
    ],
)  # fmt: skip
def test_an_unknown_name_is_reported_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    """Providers, chunkers, benchmarks, their options and variables, before anything runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "berryeval.yaml").write_text(text, encoding="utf-8")
    with pytest.raises((ConfigurationError, DataError)) as caught:
        build_plan({})
    assert str(caught.value).startswith(f"berryeval.yaml{message}")


@pytest.mark.parametrize("below", [False, True])
def test_a_third_party_class_is_checked_without_building_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: bool
) -> None:
    """Building it may connect to a server."""
    made = []

    class Connects:
        def __init__(self, url: str) -> None:
            made.append(url)

        def search(self, query: str, k: int) -> list[str]:
            return [query][:k]

    name = f"connects-{below}".lower()
    PROVIDERS.register(name)(Connects)
    for option in ("url", "uri"):
        one = f"type: {name}\n      options: {{{option}: x}}\n"
        head = HYBRID if below else "benchmarks: [technical-docs]\nproviders:\n"
        text = head + ("    - " + one if below else "- " + one.replace("      ", "  "))
        (tmp_path / "berryeval.yaml").write_text(text, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        if option == "url":
            build_plan({})
            continue
        with pytest.raises(ConfigurationError, match=f"has no option '{option}'") as caught:
            build_plan({})
        assert f":{7 if below else 4}: " in str(caught.value)
    assert made == []


def test_a_fault_of_a_flag_names_no_line(tmp_path: Path) -> None:
    path = tmp_path / "berryeval.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert build_plan({"providers": ["bm52"]}, path).labels == ["bm52"]


def test_whole_numbers_are_accepted_as_numbers(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, GOOD + "run: {timeout: 3, error_budget: 1}\nthresholds: {RR: 1}\n")
    assert (plan.run.timeout, plan.run.error_budget, plan.thresholds) == (3.0, 1.0, {"RR": 1.0})


def test_a_metric_under_two_names_is_kept_once(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, GOOD + "metrics: [ndcg_cut_10, nDCG@10, P@5, 'P.5,10', RR]\n")
    assert plan.metrics == ["ndcg_cut_10", "P@5", "P@10", "RR"]


def test_unreadable_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such file"):
        ConfigFile(tmp_path / "nothing.yaml")
    with pytest.raises(ConfigurationError, match="is a directory"):
        ConfigFile(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"k: \xe9\xff")
    with pytest.raises(ConfigurationError, match="not UTF-8 text"):
        ConfigFile(tmp_path / "latin.yaml")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"benchmarks": [], "providers": ["bm25"]}, "benchmarks: list should have at least 1"),
        ({"benchmarks": ["x"], "providers": [3]}, "providers[0]: expected a provider: a name, "),
    ],
)
def test_faults_without_a_file_name_the_key(data: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        check_model(Plan, data, None)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("line", "formats"),
    [
        ("export: none", []),
        ("export: [none]", []),
        ("export: []", []),
        ("export: junit", ["junit"]),
        ("export: [csv, junit]", ["csv", "junit"]),
    ],
)
def test_one_format_needs_no_list(tmp_path: Path, line: str, formats: list[str]) -> None:
    assert plan_in(tmp_path, f"{GOOD}{line}\n").export == formats


def test_the_second_of_two_equal_names_is_reported(tmp_path: Path) -> None:
    text = "benchmarks: [x]\nproviders:\n- bm25\n- dense\n- bm25\n"
    with pytest.raises(ConfigurationError, match=r":5: providers\[2\]: two providers are called"):
        plan_in(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "found"), [("[]", "list"), ("0", "int"), ("false", "bool"), ("''", "str")]
)
def test_only_an_empty_file_is_an_empty_configuration(
    tmp_path: Path, text: str, found: str
) -> None:
    """False, 0 and empty lists are rejected."""
    path = tmp_path / "berryeval.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=f"expected names and values, found {found}"):
        ConfigFile(path)
    path.write_text("# nothing yet\n", encoding="utf-8")
    assert ConfigFile(path).data == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("benchmarks: [x]\nprovider: [bm25]\n", ":2: unknown key 'provider'; did you mean"),
        ("benchmark: x\n", ":1: unknown key 'benchmark'; did you mean 'benchmarks'"),
        ("seed: 1\n", "no benchmarks; give them with --benchmarks"),
    ],
)
def test_an_unknown_key_is_named_before_a_missing_one(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "berryeval.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        build_plan({}, path)
    assert message in str(caught.value)


def test_thresholds_may_be_written_with_hyphens(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, GOOD + "thresholds: {recall-at-10: 0.7, mrr: 0.6}\n")
    assert [str(one.metric) for one in plan.whole_gate.rules] == ["R@10", "RR"]


TENS = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10))
TWICE = "\n".join(
    f"a{n}: &a{n} {{b: *a{n - 1}, c: *a{n - 1}, <<: *a{n - 1}}}" for n in range(1, 24)
)
MERGED = "\n".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 24))


@pytest.mark.parametrize(
    "text",
    [
        f"a0: &a0 [x, x]\n{TENS}\nproviders: *a9",
        f"a0: &a0 {{k: 1}}\n{TWICE}\nrun: *a23",
        f"a0: &a0 {{k: 1}}\n{MERGED}\nrun: *a23",
    ],
)
def test_aliases_that_multiply_are_rejected_before_they_are_replaced(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "berryeval.yaml"
    path.write_text(text)
    said = run_bounded(
        "from berryeval.workflows.config import ConfigFile\nConfigFile(sys.argv[1])", str(path)
    )
    assert said == (
        f"ConfigurationError: {path}: more than 100,000 values, aliases replaced; "
        "set BERRYEVAL_MAX_YAML_NODES to allow more"
    )


def test_an_alias_is_read_as_often_as_it_is_written(tmp_path: Path) -> None:
    text = "benchmarks: &names [a, b]\nproviders: [bm25]\nmetrics: [R@5]\ntags: {x: y}\n"
    path = tmp_path / "berryeval.yaml"
    path.write_text(f"{text}eval_dir: [*names, *names]")
    assert ConfigFile(path).data["eval_dir"] == [["a", "b"], ["a", "b"]]


@pytest.mark.parametrize(
    "value", ["&a [x, *a]", "&a {k: *a}", "&a [[*a, *a]]", "&a {k: [&b [*b, *a]]}"]
)
@pytest.mark.parametrize("key", ["tags", "eval_dir", "providers"])
def test_a_value_that_contains_itself_is_rejected(tmp_path: Path, key: str, value: str) -> None:
    path = tmp_path / "berryeval.yaml"
    path.write_text(f"benchmarks: [a]\n{key}: {value}\n")
    message = "line 2: a value contains itself; remove the alias inside it"
    with pytest.raises(ConfigurationError, match=message):
        ConfigFile(path)
