"""The pytest plugin, in pytest runs of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from berryeval.errors import ConfigurationError
from berryeval.pytest_plugin.quality import Evaluation
from tests.gates.worlds import run_of

ROOT = Path(__file__).parents[2]
SUITE = """
import pytest

RUN = {"benchmark": "rag-template", "providers": ["bm25"], "metrics": ["nDCG@5"]}

def test_plain():
    pass

@pytest.mark.eval
def test_good(evaluation):
    evaluation.check(evaluation.run(**RUN), {"nDCG@5": 0.01})

@pytest.mark.eval
def test_bad(evaluation):
    evaluation.check(evaluation.run(**RUN), {"nDCG@5": 1.0}, worst=2)

@pytest.mark.eval
def test_undecided(evaluation):
    mean = evaluation.run(**RUN)["bm25"].scores.mean["nDCG@5"]
    rule = {"metric": "nDCG@5", "at_least": mean, "confidence": 0.95}
    evaluation.check(evaluation.run(**RUN), [rule])

class TestMarked:
    pytestmark = pytest.mark.eval

    def test_inside(self):
        pass

def test_without_marker(evaluation):
    assert evaluation.run(**RUN) is evaluation.run(**RUN)
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Write a folder with a test file of plain and quality tests."""
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    return tmp_path


def run_pytest(
    folder: Path, *arguments: str, env: dict[str, str], plugins: tuple[str, ...] = ("berryeval",)
) -> tuple[int, str]:
    """Return the exit code and the output of a pytest run, without times.

    Plugins of other packages take seconds to load, so only the named ones are loaded; with an empty
    tuple pytest loads all that are installed.
    """
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers"]
    editable = ["-W", "ignore:Module already imported so cannot be rewritten; _editable"]
    named = [word for plugin in plugins for word in ("-p", plugin)]
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if plugins else {}
    done = subprocess.run(
        [*command, *editable, *named, *arguments],
        cwd=folder,
        env=env | alone,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, re.sub(r" in \d+\.\d+s", "", done.stdout + done.stderr)


def test_quality_tests_are_skipped_by_default(
    suite: Path, clean_environment: dict[str, str]
) -> None:
    """The reason names the option, and --strict-markers accepts the marker."""
    code, shown = run_pytest(suite, "-rs", env=clean_environment, plugins=())
    assert code == 0
    assert "1 passed, 5 skipped" in shown
    assert shown.count("quality test: run with --eval") == 5  # four marked, one by the fixture
    assert "retrieval quality" not in shown


@pytest.mark.parametrize("ci", ["", "true"])  # pytest itself prints more where CI is set
def test_a_failure_shows_sentences_and_the_worst_queries(
    suite: Path, clean_environment: dict[str, str], ci: str
) -> None:
    """No traceback; an inconclusive rule passes and is in the summary."""
    env = clean_environment | {"CI": ci}
    code, shown = run_pytest(suite, "--eval", "--show-capture=no", env=env)
    assert code == 1
    assert "1 failed, 5 passed" in shown
    assert "retrieval quality: 1 rule not satisfied" in shown
    assert re.search(r"FAIL bm25 on rag-template: nDCG@5 is 0\.\d+, .*requires at least 1", shown)
    assert "the worst queries of bm25 on rag-template:" in shown
    failure, summary = shown.split("= retrieval quality =")
    assert len(re.findall(r"^  nDCG@5 \d\.\d{3}  \S+: ", failure, re.MULTILINE)) == 2
    assert "def test_bad" not in shown
    assert "Error" not in shown
    assert re.findall(r"^(FAIL|INCONCLUSIVE|PASS) ", summary, re.MULTILINE) == [
        "FAIL",
        "INCONCLUSIVE",
        "PASS",
    ]
    assert "1 fail, 1 inconclusive, 1 pass" in summary


def test_the_marker_can_be_selected(suite: Path, clean_environment: dict[str, str]) -> None:
    code, shown = run_pytest(suite, "-q", "-m", "eval", "-k", "good", env=clean_environment)
    assert (code, "1 passed, 5 deselected" in shown) == (0, True)
    for expression in ("not eval", "not (usefixtures or eval)", "not not not eval"):
        code, shown = run_pytest(suite, "-q", "-m", expression, env=clean_environment)
        assert (code, "1 passed, 1 skipped, 4 deselected" in shown) == (0, True), shown
    code, shown = run_pytest(
        suite, "-q", "-m", "not (usefixtures or not eval)", env=clean_environment
    )
    assert "1 failed, 3 passed, 2 deselected" in shown


def test_strict_fails_inconclusive_rules(suite: Path, clean_environment: dict[str, str]) -> None:
    arguments = ("-q", "--eval", "--eval-strict", "-k", "undecided")
    code, shown = run_pytest(suite, *arguments, env=clean_environment)
    assert code == 1
    assert "INCONCLUSIVE bm25 on rag-template" in shown


def test_with_xdist_the_controller_shows_the_verdicts(
    suite: Path, clean_environment: dict[str, str]
) -> None:
    """The JUnit file of pytest has them, too."""
    arguments = ("--eval", "-n", "2", "--junitxml", "junit.xml")
    code, shown = run_pytest(
        suite, *arguments, env=clean_environment, plugins=("berryeval", "xdist")
    )
    assert code == 1
    assert "1 failed, 5 passed" in shown
    assert "1 fail, 1 inconclusive, 1 pass" in shown
    assert 'name="berryeval.fail"' in (suite / "junit.xml").read_text(encoding="utf-8")


def test_the_plugin_can_be_disabled(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    (tmp_path / "test_plain.py").write_text("def test_plain(): pass\n", encoding="utf-8")
    left_out = ("-p", "no:berryeval", "-p", "no:langsmith_plugin")
    code, _ = run_pytest(tmp_path, *left_out, env=clean_environment, plugins=())
    assert code == 0
    code, shown = run_pytest(tmp_path, *left_out, "--eval", env=clean_environment, plugins=())
    assert code == 4
    assert "unrecognized arguments: --eval" in shown


def test_a_suite_that_does_not_use_it_imports_nothing(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    """Only the hooks and the door of the package are imported."""
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\n\ndef test_plain():\n"
        "    assert {m for m in sys.modules if m.startswith('berryeval')} == "
        "{'berryeval', 'berryeval._internal', 'berryeval._internal.door', "
        "'berryeval.pytest_plugin', 'berryeval.pytest_plugin.hooks'}\n",
        encoding="utf-8",
    )
    plain = ("-p", "no:xdist", "-p", "no:langsmith_plugin")
    code, shown = run_pytest(tmp_path, *plain, env=clean_environment, plugins=())
    assert code == 0, shown
    assert "berryeval" not in shown.split("plugins:")[1].split("\n", 1)[1]


def test_wrong_rules_are_an_error_of_one_line(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    """Frames of berryeval are hidden."""
    (tmp_path / "test_wrong.py").write_text(
        "def test_wrong(evaluation):\n"
        "    result = evaluation.run('rag-template', ['bm25'], ['nDCG@5'])\n"
        "    evaluation.check(result, {'nDGC@5': 1})\n",
        encoding="utf-8",
    )
    code, shown = run_pytest(tmp_path, "--eval", env=clean_environment)
    assert code == 1
    assert "ConfigurationError: metric: unknown metric 'nDGC@5'" in shown
    assert "evaluation.check(result, {'nDGC@5': 1})" in shown
    assert ".py:3: ConfigurationError" in shown
    assert "config_file" not in shown
    assert "def check" not in shown


def test_the_example_passes(clean_environment: dict[str, str]) -> None:
    code, shown = run_pytest(ROOT, "examples/quality_tests", env=clean_environment)
    assert (code, "3 skipped" in shown) == (0, True), shown
    code, shown = run_pytest(ROOT, "examples/quality_tests", "--eval", env=clean_environment)
    assert (code, "3 passed" in shown) == (0, True), shown
    assert "5 pass" in shown


def test_a_missing_baseline_is_rejected(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    """Even if no rule is about drops, or there is none."""
    checks = ['{"nDCG@5": 0.1}', "{}", '[{"metric": "nDCG@5", "max_drop": 0}]']
    tests = [
        f"def test_{place}(evaluation):\n"
        "    result = evaluation.run('rag-template', ['bm25'], ['nDCG@5'])\n"
        f"    evaluation.check(result, {rules}, baseline='does-not-exist.json')\n"
        for place, rules in enumerate(checks)
    ]
    (tmp_path / "test_baseline.py").write_text("\n\n".join(tests), encoding="utf-8")
    code, shown = run_pytest(tmp_path, "--eval", env=clean_environment)
    assert (code, "3 failed" in shown) == (1, True), shown
    line = r"^E .*ConfigurationError: the baseline 'does-not-exist\.json' is no file"
    assert len(re.findall(line, shown, re.MULTILINE)) == len(checks), shown


ALONE = """
def test_alone(evaluation):
    whole = evaluation.run("rag-template", ["bm25"], ["nDCG@5"])
    assert evaluation.run("rag-template", "bm25", "nDCG@5") is whole

def test_drop(evaluation):
    result = evaluation.run("rag-template", "bm25", "nDCG@5")
    evaluation.check(result, [{"metric": "nDCG@5", "max_drop": 0}])
"""


def test_one_provider_needs_no_list(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    """A missing baseline names the arguments of the plugin."""
    (tmp_path / "test_alone.py").write_text(ALONE, encoding="utf-8")
    code, shown = run_pytest(tmp_path, "--eval", env=clean_environment)
    assert (code, "1 failed, 1 passed" in shown) == (1, True), shown
    assert "and name it with check(..., baseline=FILE), or as `baseline` of the gate" in shown
    assert "--baseline" not in shown


HOSTILE = """
import pytest

@pytest.mark.eval
def test_bad(evaluation):
    name = "\\n::add-mask::x ##[group]\\x1b[2J"
    done = evaluation.run("rag-template", {"type": "bm25", "name": name}, ["nDCG@5"], k=1)
    evaluation.check(done, {"nDCG@5": 1.0})
"""


def test_names_are_no_commands_of_a_log(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    (tmp_path / "test_hostile.py").write_text(HOSTILE, encoding="utf-8")
    code, text = run_pytest(tmp_path, "--eval", "--log-level=DEBUG", env=clean_environment)
    assert code == 1
    assert "retrieval quality: 1 rule not satisfied" in text
    assert "add-mask" in text
    for line in text.splitlines():
        if not line.lstrip().startswith("name = "):  # the source of the test
            assert not line.lstrip().startswith("::")
            assert "##[" not in line
            assert "\x1b" not in line


def test_a_check_without_rules_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match=r"no rules to check; .* or a baseline= that"):
        Evaluation({}, []).check(run_of({"RR": [0.5, 0.6]}), {})
