"""`berryeval score`: exact output and rejected input."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from berryeval import evaluate
from berryeval.cli.app import build_app, run
from berryeval.metrics import catalogue
from berryeval.metrics.grammar import split_names

QRELS = "q1 0 a 2\nq1 0 b 1\nq1 0 c 0\nq2 0 x 1\nq3 0 z 0\nq4 0 m 1\n"
RUN = """\
q1 Q0 a 1 3.5 bm25
q1 Q0 d 2 2.5 bm25
q1 Q0 b 3 2.5 bm25
q2 Q0 y 1 1 bm25
q2 Q0 x 2 9 bm25
q3 Q0 z 1 1 bm25
q9 Q0 z 1 1 bm25
"""
REMARKS = """\

run bm25, profile berryeval: 4 queries, 2 ok, missing 1 (q4), empty 0, nothing relevant 1 (q3)
2 of 6 retrieved documents have no judgment (33.3%), Judged@10 0.5417
not scored, in the run but not judged: 1 (q9)
"""
SUMMARY = """\
metric     mean     std     95% bootstrap  n
nDCG@10  0.4876  0.5634  0.0000 to 0.9751  4
AP       0.4583  0.5336  0.0000 to 0.9167  4
"""
PER_QUERY = """\
query  outcome                nDCG@10      AP
q1     ok                      0.9502  0.8333
q2     ok                      1.0000  1.0000
q3     no relevant documents   0.0000  0.0000
q4     missing                 0.0000  0.0000

"""
GROUPS = """\
group        metric     mean     std     95% bootstrap  n
fact         nDCG@10  0.9751  0.0352  0.9502 to 1.0000  2
fact         AP       0.9167  0.1179  0.8333 to 1.0000  2
unspecified  nDCG@10  0.0000  0.0000                 -  2
unspecified  AP       0.0000  0.0000                 -  2

"""
TREC = """\
ndcg_cut_10           \tall\t0.4876
map                   \tall\t0.4583
"""
TREC_PER_QUERY = """\
ndcg_cut_10           \tq1\t0.9502
map                   \tq1\t0.8333
ndcg_cut_10           \tq2\t1.0000
map                   \tq2\t1.0000
ndcg_cut_10           \tq3\t0.0000
map                   \tq3\t0.0000
ndcg_cut_10           \tq4\t0.0000
map                   \tq4\t0.0000
"""
AUDIT = """
audit of run: 4 judged queries, top 10
  judged queries missing from the run: 1: q4
  queries of the run without judgments: 1: q9
  judged queries without relevant documents: 1: q3
  queries with unjudged documents in the top 10 (33.3% of the top): 2: q1 (1), q2 (1)
  queries whose rank column contradicts the scores: 1: \
q2 x1 (y at rank 1 scores 1, x at rank 2 scores 9)
  ties within the top 10: 1: q1 ranks 2-3 (score 2.5, 1 relevant)
  nDCG@10 0.4876: ties could make it 0.4876 to 0.5000, 0.4938 on average
  AP 0.4583: ties could make it 0.4583 to 0.5000, 0.4792 on average
"""
METRICS = ["-m", "nDCG@10", "AP"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a run, judgments and groups, which is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("run").write_text(RUN)
    Path("qrels").write_text(QRELS)
    Path("groups.json").write_text('{"q1": "fact", "q2": "fact"}')
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return stdout; the command must succeed with an empty stderr."""
    assert run(build_app(), ["score", *arguments]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the error line; stdout must be empty except for requested JSON."""
    assert run(build_app(), ["score", *arguments]) == 2
    output = capsys.readouterr()
    if "--json" in arguments:
        message = json.loads(output.out)["error"]["message"]
        assert output.err == f"error: {message}\n"
    else:
        assert output.out == ""
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1
    return output.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], SUMMARY + REMARKS),
        (["--per-query"], PER_QUERY + SUMMARY + REMARKS),
        (["--per-query", "--by", "groups.json"], PER_QUERY + GROUPS + SUMMARY + REMARKS),
        (["--audit"], SUMMARY + REMARKS + AUDIT),
        (["--trec-format"], TREC),
        (["--trec-format", "--per-query"], TREC_PER_QUERY + TREC),
    ],
)
def test_score_prints_the_expected_text(
    options: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "qrels", "run", *METRICS, *options) == expected


@pytest.mark.parametrize(
    "names",
    [
        ["-m", "nDCG@10", "AP"],
        ["-m", "nDCG@10,AP"],
        ["--metrics", "nDCG@10", "AP"],
        ["-m", "nDCG@10", "-m", "AP"],
        ["--metrics", "ndcg_cut.10", "-m", "map"],
    ],
)
def test_metrics_can_be_listed_separated_or_repeated(
    names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "qrels", "run", *names) == SUMMARY + REMARKS


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["a,b", "c"], ["a", "b", "c"]),
        (["P.5,10,AP"], ["P.5,10", "AP"]),
        (["11pt_avg,P@5"], ["11pt_avg", "P@5"]),
        (["nDCG(gains={1:1,2:3},dcg='log2')@5,P(rel=2)@5"],
         ["nDCG(gains={1:1,2:3},dcg='log2')@5", "P(rel=2)@5"]),
        (["a, b,"], ["a", "b"]),
    ],
)  # fmt: skip
def test_commas_between_metrics_separate_them(texts: list[str], names: list[str]) -> None:
    assert split_names(texts) == names


def test_score_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["qrels", "run", *METRICS, "--json"]
    envelope = json.loads(printed(capsys, *arguments))
    assert (envelope["schema_version"], envelope["command"]) == (1, "score")
    scores = evaluate("qrels", "run", ["nDCG@10", "AP"])
    judged = evaluate("qrels", "run", ["Judged@10"]).mean["Judged@10"]
    assert envelope["data"] == {
        "profile": "berryeval", **scores.summary(), "judged_at_10": judged,
    }  # fmt: skip
    more = json.loads(printed(capsys, *arguments, "--per-query", "--by", "groups.json", "--audit"))[
        "data"
    ]
    assert more["per_query"]["q1"] == {
        "outcome": "ok", "nDCG@10": scores.per_query("nDCG@10")["q1"],
        "AP": scores.per_query("AP")["q1"],
    }  # fmt: skip
    assert more["groups"]["unspecified"]["queries"] == 2
    assert more["audit"]["missing_queries"] == ["q4"]


def test_score_prints_csv(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["qrels", "run", *METRICS, "--csv"]
    scores = evaluate("qrels", "run", ["nDCG@10", "AP"])

    def rows(*options: str) -> list[list[str]]:
        return list(csv.reader(io.StringIO(printed(capsys, *arguments, *options))))

    low, high = scores.ci("AP")
    last = ["AP", *map(repr, (scores.mean["AP"], scores.std["AP"], low, high)), "4"]
    assert rows()[0] == ["metric", "value", "std", "ci_low", "ci_high", "n"]
    assert rows()[2] == last
    grouped = rows("--by", "groups.json")
    assert [row[0] for row in grouped] == [
        "group",
        *["fact"] * 2,
        *["unspecified"] * 2,
        *["all"] * 2,
    ]
    assert grouped[-1] == ["all", *last]
    assert rows("--per-query")[0] == ["query", "outcome", "nDCG@10", "AP"]
    assert rows("--per-query")[1] == [
        "q1",
        "ok",
        repr(scores.per_query("nDCG@10")["q1"]),
        repr((1 + 2 / 3) / 2),
    ]
    assert rows("--per-query", "--by", "groups.json")[4] == [
        "q4",
        "unspecified",
        "missing",
        "0.0",
        "0.0",
    ]


@pytest.mark.parametrize("name", ["Judged@10", "judged_10", "judged.10,5"])
def test_judged_at_10_is_printed_on_request(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "\nJudged@10,0.5416666666666666," in printed(capsys, "qrels", "run", "-m", name, "--csv")


def test_trec_lines_of_sums_and_geometric_means(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "_registered", {})
    catalogue.register("Seen", aggregate="sum")(lambda judged: len(judged.hits))
    catalogue.register("Geo", aggregate="geometric mean")(lambda judged: judged.retrieved + 1)
    output = printed(capsys, "qrels", "run", "-m", "Seen", "Geo", "--trec-format", "--per-query")
    assert output == (
        "Seen                  \tq1\t2\n"
        "Seen                  \tq2\t1\n"
        "Seen                  \tq3\t1\n"
        "Seen                  \tq4\t0\n"
        "Seen                  \tall\t4\n"
        "Geo                   \tall\t2.2134\n"
    )
    assert "Seen (sum)" in printed(capsys, "qrels", "run", "-m", "Seen", "Geo")


def test_a_profile_changes_the_queries_that_count(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, "qrels", "run", "-m", "AP", "--profile", "trec_eval")
    assert output == (
        "metric    mean     std     95% bootstrap  n\n"
        "AP      0.6111  0.5358  0.0000 to 1.0000  3\n"
        "\n"
        "run bm25, profile trec_eval: 3 queries, 2 ok, missing 0, empty 0, "
        "nothing relevant 1 (q3)\n"
        "2 of 6 retrieved documents have no judgment (33.3%), Judged@10 0.7222\n"
        "left out, judged but not in the run: 1 (q4)\n"
        "not scored, in the run but not judged: 1 (q9)\n"
    )


def test_several_runs_stand_in_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other").write_text(RUN.replace("bm25", "other"))
    lines = printed(capsys, "qrels", "run", "other", *METRICS).splitlines()
    assert [line.split()[:3] for line in lines[1:5]] == [
        ["run", "nDCG@10", "0.4876"],
        ["run", "AP", "0.4583"],
        ["other", "nDCG@10", "0.4876"],
        ["other", "AP", "0.4583"],
    ]
    assert [line.split(",")[0] for line in lines if "profile" in line] == ["run bm25", "run other"]
    rows = list(
        csv.DictReader(io.StringIO(printed(capsys, "qrels", "run", "other", *METRICS, "--csv")))
    )
    assert [(row["run"], row["metric"]) for row in rows] == [
        (run_name, metric) for run_name in ("run", "other") for metric in ("nDCG@10", "AP")
    ]
    both = json.loads(printed(capsys, "qrels", "run", "other", *METRICS, "--json"))["data"]["runs"]
    alone = json.loads(printed(capsys, "qrels", "run", *METRICS, "--json"))["data"]
    assert both["run"] == alone
    assert list(both) == ["run", "other"]


@pytest.mark.parametrize("arguments", [["qrels", "-"], ["-", "run"]])
def test_either_file_can_come_from_stdin(arguments: list[str]) -> None:
    given = QRELS if arguments[0] == "-" else RUN
    done = subprocess.run(
        [sys.executable, "-m", "berryeval", "score", *arguments, *METRICS],
        input=given, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, SUMMARY + REMARKS, "")


def test_lenient_keeps_groups(capsys: pytest.CaptureFixture[str]) -> None:
    Path("qrels").write_text("q1 x a 0\nq1 y a 1\nq1 y a 0\n")
    output = printed(capsys, "qrels", "run", "-m", "P@1", "--lenient")
    assert "P@1     1.0000" in output
    assert "left out of the files: 1 faulty or repeated rows" in output


def test_lenient_skips_and_counts_faulty_rows(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run").write_text(RUN + "q9 Q0 broken\nq1 Q0 a 9 0.1 bm25\n")
    assert "run:8: expected 6 columns" in refused(capsys, "qrels", "run", *METRICS)
    Path("qrels").write_text(QRELS + "q1 0 b 0\n")
    output = printed(capsys, "qrels", "run", *METRICS, "--lenient")
    assert output == SUMMARY + REMARKS + "left out of the files: 3 faulty or repeated rows\n"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 Q0 e 9 nan bm25\n", "run:8: the score must not be NaN"),
        ("q1 Q0 a 9 0.1 bm25\n", "run:8: document 'a' appears twice in query 'q1'"),
        ("q1 a\n", "run:8: expected 6 columns"),
    ],
)
def test_an_audit_of_faulty_files_asks_for_lenient(
    line: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run").write_text(RUN + line)
    said = refused(capsys, "qrels", "run", *METRICS, "--audit")
    assert problem in said
    assert said.endswith("; with --lenient, --audit lists faulty lines and skips them\n")
    assert "run line 8: " in printed(capsys, "qrels", "run", *METRICS, "--audit", "--lenient")
    assert "--lenient" not in refused(capsys, "qrels", "run", *METRICS)
    assert "--lenient" not in refused(capsys, "nowhere", "run", *METRICS, "--audit")


def test_help_says_what_an_audit_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["score", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "stop the scoring; with --lenient they are listed instead." in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["qrels", "run"], "name at least one metric, as in -m nDCG@10 AP"),
        (["qrels", "run", "-m"], "name at least one metric"),
        (["qrels", "run", "-m", "ndgc@10"], "unknown metric 'ndgc@10'; did you mean nDCG"),
        (["qrels", "run", "-m", "P"], "P needs a cutoff, as in P@10"),
        (
            ["qrels", "run", "-m", "AP", "--profile", "trec"],
            "unknown profile 'trec'; did you mean 'trec_eval'",
        ),
        (["qrels", "run", "-m", "AP", "--csv", "--json"], "choose one of --json, --csv and"),
        (["qrels", "run", "-m", "AP", "--by", "nowhere"], "nowhere: no such file"),
        (["qrels", "run", "-m", "AP", "--by", "run"], "run:1: not valid JSON ("),
        (["qrels", "run", "-m", "AP", "--by", "list.json"], "list.json: must map query ids to"),
        (["qrels", "nowhere", "-m", "AP"], "nowhere: no such file"),
        (["nowhere", "run", "-m", "AP"], "nowhere: no such file"),
        ([".", "run", "-m", "AP"], "is a directory, expected a file"),
        (["-", "-", "-m", "AP"], "only one of QRELS and RUN can be read from stdin"),
        (["qrels", "-", "-m", "AP", "--audit"], "--audit reads the files twice"),
        (["run", "qrels", "-m", "AP"], "QRELS and RUN seem to be swapped: run looks like a run"),
        (
            ["run", "qrels", "-m", "AP", "--lenient"],
            "come first: berryeval score qrels run",
        ),
        (["qrels", "qrels", "-m", "AP"], "qrels:1: expected 6 columns (query Q0 document rank"),
        (["run", "run", "-m", "AP"], "run:1: expected 4 columns (query group document grade)"),
        (["empty", "run", "-m", "AP"], "error: empty: "),
        (["qrels", "extra", "-m", "AP", "--profile", "trec_eval"], "no query of the run is judged"),
        (["qrels", "extra", "-m", "AP"], "extra: no query of the run is judged: 'q9' in the run;"),
        (["qrels", "nan", "-m", "AP"], "nan:1: the score must not be NaN"),
        (["qrels", "bytes", "-m", "AP"], "UTF-8"),
        (["qrels"], "RUN"),
        (["qrels", "run", "more", "-m", "AP"], "more: no such file"),
        (["qrels", "run", "run", "-m", "AP"], "the run run is given twice"),
        (["-", "run", "extra", "-m", "AP"], "cannot be scored with a file from stdin"),
        (["qrels", "run", "extra", "-m", "AP", "--audit"], "take one run"),
        (["qrels", "run", "-m", "AP", "--jsn"], "Did you mean --json?"),
    ],
)
def test_bad_input_is_rejected(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("list.json").write_text("[1]")
    Path("empty").write_text("")
    Path("extra").write_text("q9 Q0 a 1 1 t\n")
    Path("nan").write_text("q1 Q0 a 1 nan t\n")
    Path("bytes").write_bytes(b"\xffq Q0 a 1 1 t\n")
    assert said in refused(capsys, *arguments)


def test_markup_in_ids_is_printed_literally(capsys: pytest.CaptureFixture[str]) -> None:
    Path("qrels").write_text("[bold] 0 a 1\n:smile: 0 a 1\n")
    Path("run").write_text("[bold] Q0 a 1 1 t\n:smile: Q0 a 1 1 t\n")
    output = printed(capsys, "qrels", "run", "-m", "P@1", "--per-query")
    assert "[bold]   ok       1.0000\n" in output
    assert ":smile:  ok       1.0000\n" in output


def test_a_level_above_every_grade_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text(QRELS, encoding="utf-8")
    (tmp_path / "run").write_text(RUN, encoding="utf-8")
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert run(build_app(), ["score", *files, "-m", "P(rel=9)@5"]) == 0
    assert "warning: bm25: P(rel=9)@5 counts nothing as relevant" in capsys.readouterr().err


def test_csv_is_safe_in_a_spreadsheet_and_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["=1+1", "a\n::add-mask::x", "::error::x", "\x1b[2J"]
    Path("qrels.json").write_text(json.dumps({name: {"a": 1} for name in names}))
    Path("run.json").write_text(json.dumps({name: {"a": 1.0} for name in names}))
    Path("by.json").write_text(json.dumps(dict.fromkeys(names, "@SUM(A1)")))
    found = printed(
        capsys, "qrels.json", "run.json", "-m", "AP", "--csv", "--per-query", "--by", "by.json"
    )
    cells = [row[:2] for row in csv.reader(io.StringIO(found))][1:]
    shown = {"'=1+1", "a␤::add-mask::x", "'::error::x", "␛[2J"}
    assert {row[0] for row in cells} == shown
    assert {row[1] for row in cells} == {"'@SUM(A1)"}
    grouped = printed(capsys, "qrels.json", "run.json", "-m", "AP", "--csv", "--by", "by.json")
    assert "\n'@SUM(A1),AP," in grouped
    Path("=run.json").write_text(Path("run.json").read_text())
    several = printed(capsys, "qrels.json", "run.json", "=run.json", "-m", "AP", "--csv")
    assert "\n'=run.json,AP," in several
