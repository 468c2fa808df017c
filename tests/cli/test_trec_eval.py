"""`berryeval trec-eval`: the output and exit codes of trec_eval."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from berryeval import __version__
from berryeval.cli.app import build_app, run

DATA = Path(__file__).parent.parent / "golden" / "trec_eval"

PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
    "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
    "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)

RARE = (
    "-m dcg -m ideal_dcg -m yaap -m set_F.0.5 -m rbp.p=0.8 -m rbp_resid.p=.5 -q -l 2 "
    "-m G.1=2,3=5 -m ndcg_rel.2=1 -m Rndcg -m unj.3"
)
LONG_MAXIMUM = "--query_eval_wanted --complete_rel_info_wanted --Max_retrieved_per_topic=10"
LONG_JUDGED = "--Judged_docs_only -q --Debug_level 1 --Rel_info_format qrels -T trec_results"
LONG_NUMBER = "--nosummary -q --Number_docs_in_coll 1000 --Results_format trec_results"

# Name of the expected output and command; trec_eval's own fifteen test cases come first.
GOLDEN = [
    ("official", "qrels.txt run.txt"),
    ("official", "qrels.comments.txt run.txt"),
    ("ids", "ids.qrels.txt ids.run.txt"),
    ("all", "-m all_trec qrels.txt run.txt"),
    ("all.q", "-m all_trec -q qrels.txt run.txt"),
    ("all.q.c", "-m all_trec -q -c qrels.txt run.short.txt"),
    ("all.q.c.M", "-m all_trec -q -c -M10 qrels.txt run.short.txt"),
    ("all.q.l", "-m all_trec -mrelstring.20 -q -l2 qrels.graded.txt run.txt"),
    ("prefs", "-m all_prefs -q -R prefs prefs.txt prefs.run.txt"),
    ("prefs", "-m all_prefs -q -R prefs prefs.comments.txt prefs.run.txt"),
    ("qrels_prefs", "-m all_prefs -q -R qrels_prefs qrels.txt run.txt"),
    ("groups", "-m qrels_jg -q -R qrels_jg qrels.groups.txt run.txt"),
    ("groups", "-m qrels_jg -q -R qrels_jg qrels.groups.comments.txt run.txt"),
    ("parameters", f"{PARAMETERS} qrels.txt run.txt"),
    ("all.q.z", "-q -m all_trec -Z zscores.txt qrels.txt run.txt"),
    ("all.q.J", "-m all_trec -q -J qrels.graded.txt run.txt"),
    ("set.n", "-nqm set -N 1000 -m utility.0,0,0,1 qrels.txt run.short.txt"),
    ("rare", f"{RARE} qrels.graded.txt run.txt"),
    ("groups.l", "-m qrels_jg -q -c -l2 -J -M20 -R qrels_jg qrels.groups.txt run.short.txt"),
    ("prefs.c", "-m prefs -q -c -M 4 -R prefs prefs.txt run.short.txt"),
    ("official", "--measure=official --level_for_rel 1 -D 3 -o qrels.txt run.txt"),
    ("all.q.c.M", f"qrels.txt run.short.txt --meas all_trec {LONG_MAXIMUM}"),
    ("all.q.J", f"-mall_trec {LONG_JUDGED} qrels.graded.txt run.txt"),
    ("set.n", f"-m set -m utility.0,0,0,1 {LONG_NUMBER} -- qrels.txt run.short.txt"),
    ("all.q.z", "-q -m all_trec --Zscore zscores.txt qrels.txt run.txt"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)


def trec_eval(*arguments: str) -> int:
    """Run the command in this process."""
    return run(build_app(), ["trec-eval", *arguments])


@pytest.mark.parametrize(("name", "command"), GOLDEN)
def test_output_equals_that_of_trec_eval(
    name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trec_eval(*command.split()) == 0
    printed = capsys.readouterr()
    assert printed.out == (DATA / f"out.{name}.txt").read_text()
    assert printed.err == ""


def test_run_is_read_from_stdin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (DATA / "run.txt").read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    assert trec_eval("qrels.txt", "-") == 0
    assert capsys.readouterr().out == (DATA / "out.official.txt").read_text()


def test_topic_missing_from_the_run_is_left_out_without_c(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert trec_eval("-q", "-m", "P.5", "-mnum_q", "qrels.txt", "run.short.txt") == 0
    topics = [line.split("\t")[1] for line in capsys.readouterr().out.splitlines()]
    assert topics == ["t1", "t3", "all", "all"]


def test_only_the_first_parameters_count(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("-m", "P.7", "-m", "P.5,10", "-m", "official", "qrels.txt", "run.txt")
    assert trec_eval(*arguments) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert [name for name in names if name.startswith("P_")] == ["P_7"]


def test_num_rel_with_c_ignores_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    """As in trec_eval, with -c the sum of num_rel counts every grade above 0."""
    lines = (DATA / "qrels.graded.txt").read_text().splitlines()
    above_0 = sum(int(line.split()[3]) > 0 for line in lines)
    assert trec_eval("-c", "-l3", "-m", "num_rel", "qrels.graded.txt", "run.txt") == 0
    assert capsys.readouterr().out == f"num_rel               \tall\t{above_0}\n"


def test_grades_are_truncated_to_integers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    qrels, results = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q 0 a 1.9\nq 0 b 2\n")
    results.write_text("q Q0 a 1 2 tag\nq Q0 b 2 1 tag\n")
    assert trec_eval("-m", "success.1", "-l2", str(qrels), str(results)) == 0
    assert capsys.readouterr().out == "success_1             \tall\t0.0000\n"


def test_help_lists_every_flag_and_metric(capsys: pytest.CaptureFixture[str]) -> None:
    assert trec_eval("-q", "-h") == 0
    text = capsys.readouterr().out
    for name in ("-Z, --Zscore", "Rprec_mult_avgjg", "ideal_dcg", "all_prefs", "Exit codes"):
        assert name in text


def test_version_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert trec_eval("-v") == 0
    assert capsys.readouterr() == ("", f"berryeval {__version__}, as trec_eval 10.0\n")


FIRST = (DATA / "qrels.txt").read_text().splitlines()[0]
USAGE = "usage: berryeval trec-eval [-h] [-q] {-m metric} qrels_file results_file"

# Command, exit code, and the one line on stderr.
WRONG = [
    ("", 1, f"expected two files, found 0; {USAGE}"),
    ("qrels.txt", 1, f"expected two files, found 1; {USAGE}"),
    ("-x qrels.txt run.txt", 1, f"option -x not recognized; {USAGE}"),
    ("qrels.txt run.txt -m", 1, f"option -m requires argument; {USAGE}"),
    ("-m nope a b", 1, "unknown metric 'nope'; berryeval trec-eval -h lists all metrics"),
    ("-m P. a b", 1, "unknown metric 'P.'; berryeval trec-eval -h lists all metrics"),
    ("-l two a b", 1, "-l takes an integer, found 'two'"),
    ("-M 0 a b", 1, "-M takes an integer of at least 1, found '0'"),
    ("nowhere run.txt", 2, "nowhere: no such file"),
    ("qrels.txt nowhere", 2, "nowhere: no such file"),
    ("-R graded qrels.txt run.txt", 2,
     "-R takes qrels, qrels_jg, prefs, qrels_prefs, found 'graded'"),
    ("-T json qrels.txt run.txt", 2, "-T takes trec_results, found 'json'"),
    ("-m P.0 qrels.txt run.txt", 2,
     "a cutoff of P must be an integer of at least 1, found '0'"),
    ("-m P.5,5 qrels.txt run.txt", 2, "P has the same cutoff twice: 5, 5"),
    ("-m iprec_at_recall.half qrels.txt run.txt", 2,
     "a parameter of iprec_at_recall must be a number, found 'half'"),
    ("-m ndcg.3 qrels.txt run.txt", 2,
     "parameters of ndcg must be pairs like 1=3,2=9, found '3'"),
    ("-R prefs -m prefs qrels.txt run.txt", 2,
     f"qrels.txt:1: expected 5 columns (query group subgroup document level), found 4: {FIRST!r}"),
    ("-Z qrels.groups.txt qrels.txt run.txt", 2,
     "qrels.groups.txt:1: mean and deviation must be numbers, found 'doc-008' and '1'"),
    ("-Z prefs.txt qrels.txt run.txt", 2,
     "prefs.txt:1: expected 4 columns (query metric mean deviation), found 5"),
    ("-m map -R prefs prefs.txt run.txt", 4,
     "map needs judgments of the format qrels, found -R prefs"),
    ("-m prefs qrels.txt run.txt", 4,
     "prefs_num_prefs_poss needs judgments of the format prefs, found -R qrels"),
    ("-m utility.1,2 qrels.txt run.txt", 4,
     "utility takes four coefficients, such as utility.1,-1,0,0, found 2"),
    ("-m set_F.-1 qrels.txt run.txt", 4, "set_F takes a number of at least 0, found -1.0"),
    ("-m map qrels.txt ids.run.txt", 7,
     "ids.run.txt: no topic has judgments in qrels.txt"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "code", "message"), WRONG)
def test_error_is_one_line_with_the_exit_code_of_trec_eval(
    command: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trec_eval(*command.split()) == code
    assert capsys.readouterr() == ("", f"error: {message}\n")


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        ("run", "q Q0 a 1 2 tag\nq Q0 b 2 one tag\n", 2,
         "run:2: the score must be a number, found 'one'"),
        ("run", "q Q0 a 1 2 tag\nq Q0 a 2 1 tag\n", 4,
         "run:2: document 'a' appears twice in query 'q'"),
        ("run", "# nothing\n", 2, "run: holds no rows"),
        ("qrels", "q 0 a 1\nq 0 b\n", 2,
         "qrels:2: expected 4 columns (query group document grade), found 3: 'q 0 b'"),
        ("qrels", "q 0 a 1\nq 0 b 0\nq 0 a 1\n", 4,
         "qrels:3: document 'a' appears twice in query 'q'"),
        ("qrels", "", 2, "qrels: holds no rows"),
        ("qrels", "q\udcff 0 a 1\n", 2,
         r"qrels:1: not UTF-8 text; save it as UTF-8: 'q\\xff 0 a 1'"),
    ],
)  # fmt: skip
def test_invalid_file_is_an_error_with_its_line(
    name: str, text: str, code: int, message: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Errors that trec_eval finds while scoring exit with 4."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q 0 a 1\nq 0 b 0\n")
    Path("run").write_text("q Q0 a 1 2 tag\n")
    Path(name).write_bytes(text.encode(errors="surrogateescape"))
    assert trec_eval("-m", "map", "qrels", "run") == code
    assert capsys.readouterr() == ("", f"error: {message}\n")


@pytest.mark.parametrize(
    ("prefs", "results", "message"),
    [
        ("q g s a 1\n", "q Q0 a 1 2 tag\nq Q0 a 2 1 tag\n",
         "run:2: document 'a' appears twice in query 'q'"),
        ("q g s a 1\nq g s a 2\n", "q Q0 a 1 2 tag\n",
         "prefs: query 'q': document 'a' has two levels in group 'g'"),
        ("q g s a 1\nq g s b 0.5\nq g t b 1\nq g t a 0.5\n", "q Q0 a 1 2 tag\n",
         "prefs: query 'q': the preferences of group 'g' contradict each other"),
    ],
)  # fmt: skip
def test_contradictory_preferences_exit_with_4(
    prefs: str, results: str, message: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("prefs").write_text(prefs)
    Path("run").write_text(results)
    assert trec_eval("-m", "prefs", "-R", "prefs", "prefs", "run") == 4
    assert capsys.readouterr() == ("", f"error: {message}\n")


def test_rndcg_is_zero_without_documents_of_the_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert trec_eval("-l4", "-mRndcg", "-mndcg", "qrels.graded.txt", "run.txt") == 0
    ndcg, rndcg = (line.split()[2] for line in capsys.readouterr().out.splitlines())
    assert float(ndcg) > 0
    assert rndcg == "0.0000"
