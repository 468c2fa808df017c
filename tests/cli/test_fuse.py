"""`berryeval fuse`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import berryeval as be
from berryeval.cli.app import build_app, run

ONE = "q1 Q0 a 1 3 one\nq1 Q0 b 2 2 one\nq2 Q0 x 1 1 one\n"
TWO = "q1 Q0 b 1 9 two\nq1 Q0 c 2 4 two\nq2 Q0 y 1 5 two\nq2 Q0 x 2 4 two\n"
QRELS = "q1 0 b 1\nq2 0 x 1\n"
FUSED = """\
q1 Q0 b 1 0.03252247488101534 rrf
q1 Q0 a 2 0.01639344262295082 rrf
q1 Q0 c 3 0.016129032258064516 rrf
q2 Q0 x 1 0.03252247488101534 rrf
q2 Q0 y 2 0.01639344262295082 rrf
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with two runs and judgments, which is the current one."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("one", ONE), ("two", TWO), ("qrels", QRELS), ("other", "z 0 b 1\n")):
        Path(name).write_text(text)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return stdout; the command must succeed with an empty stderr."""
    assert run(build_app(), ["fuse", *arguments]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def test_the_fused_run_is_printed_as_trec(capsys: pytest.CaptureFixture[str]) -> None:
    """Without options: reciprocal ranks, on stdout, ready for score."""
    assert printed(capsys, "one", "two") == FUSED
    assert printed(capsys, "one", "two", "-o", "-") == FUSED
    assert printed(capsys, "one", "two", "-k", "1").count("\n") == 2


@pytest.mark.parametrize("name", ["out.run", "out.json", "out.parquet", "out.run.gz"])
def test_the_suffix_chooses_the_format(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that score reads again, with the same scores."""
    assert printed(capsys, "one", "two", "-o", name) == f"wrote {name}: 2 queries, 5 documents\n"
    assert be.Run.load(name).to_dict() == be.fuse(["one", "two"]).to_dict()


def test_weights_norm_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    """Weights with spaces or commas, a norm, and parameters as NAME=VALUE."""
    wanted = "".join(be.fuse(["one", "two"], "wsum", "none", [0.7, 0.3]).to_dict()["q1"])
    options = ["one", "two", "--method", "wsum", "--norm", "none"]
    for weights in (["0.7", "0.3"], ["0.7,0.3"]):
        out = printed(capsys, *options, "--weights", *weights)
        assert "".join(line.split()[2] for line in out.splitlines() if line[:2] == "q1") == wanted
    out = printed(capsys, "one", "two", "--parameters", "k=0")
    assert out.startswith("q1 Q0 b 1 1.5 rrf\n")


def test_trained_methods_read_judgments(capsys: pytest.CaptureFixture[str]) -> None:
    """`--qrels` trains."""
    out = printed(capsys, "one", "two", "--method", "mapfuse", "--qrels", "qrels")
    assert out.startswith("q1 Q0 b 1 ")


def test_judgments_score_the_fused_run_beside_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The table is on stdout, or on stderr if the fused run itself is printed."""
    options = ["one", "two", "--qrels", "qrels", "-m", "RR", "P@1"]
    out = printed(capsys, *options, "-o", "out.run")
    wanted = [
        ["RR", "P@1", "n"],
        ["rrf,", "fused", "1.0000", "1.0000", "2"],
        ["one", "0.7500", "0.5000", "2"],
        ["two", "0.7500", "0.5000", "2"],
    ]
    assert [line.split() for line in out.splitlines()[:4]] == wanted
    assert out.splitlines()[4:] == ["wrote out.run: 2 queries, 5 documents"]
    assert run(build_app(), ["fuse", *options]) == 0
    output = capsys.readouterr()
    assert output.out == FUSED
    assert [line.split() for line in output.err.splitlines()] == wanted
    data = json.loads(printed(capsys, *options, "--json"))["data"]
    assert data["scores"] == {
        "fused": {"RR": 1, "P@1": 1},
        "runs": {"one": {"RR": 0.75, "P@1": 0.5}, "two": {"RR": 0.75, "P@1": 0.5}},
    }
    assert "nDCG@10" in printed(capsys, "one", "two", "--qrels", "qrels", "-o", "out.run")


def test_no_input_is_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    """An output that is a run or the judgments is refused, under any of its names."""
    Path("link").symlink_to("two")
    for name in ("one", "./two", "link", str(Path("qrels").resolve())):
        assert run(build_app(), ["fuse", "one", "two", "--qrels", "qrels", "-o", name]) == 2
        message = f"error: --output {name}: is a file to read; name another file to write\n"
        assert capsys.readouterr() == ("", message)
    assert [Path(name).read_text() for name in ("one", "two", "qrels")] == [ONE, TWO, QRELS]


def test_optimize_prints_held_out_beside_training(capsys: pytest.CaptureFixture[str]) -> None:
    """The table names the optimistic score; the sentence says whether the difference is real."""
    out = printed(capsys, "one", "two", "--qrels", "qrels", "--optimize", "RR", "--folds", "2")
    lines = out.splitlines()
    assert lines[0].split() == ["RR", "95%", "bootstrap", "n"]
    assert [line.split("  ")[0] for line in lines[1:4]] == [
        "wsum, held out", "wsum, training (optimistic)", "best single run: one"
    ]  # fmt: skip
    assert "wsum, held out" in lines[5]
    assert lines[-1].startswith("chosen on all queries from 11 models: weights ")


def test_json_has_settings_and_scores(capsys: pytest.CaptureFixture[str]) -> None:
    """One envelope, in full precision, without the run itself."""
    data = json.loads(printed(capsys, "one", "two", "--json"))["data"]
    assert data == {
        "runs": ["one", "two"],
        "settings": {"method": "rrf", "norm": "min-max", "weights": []},
        "queries": 2,
        "documents": 5,
        "output": None,
    }
    options = ["--qrels", "qrels", "--optimize", "RR", "--folds", "2", "--json", "-o", "out.run"]
    found = json.loads(printed(capsys, "one", "two", *options))["data"]
    assert found["optimized"]["metric"] == "RR"
    assert set(found["optimized"]["per_query"]) == {"q1", "q2"}
    assert Path("out.run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "fusion needs two runs or more, found 0"),
        (["one"], "fusion needs two runs or more, found 1"),
        (["one", "nowhere"], "nowhere: no such file"),
        (["one", "two", "--method", "rff"], "unknown method of fusion 'rff'; did you mean 'rrf'?"),
        (["one", "two", "--norm", "minmax"], "did you mean 'min-max'"),
        (["one", "two", "--weights", "1"], "rrf has 1 weight for 2 runs; one per run is needed"),
        (["one", "two", "--weights", "a", "b"], "weights must be a number, found 'a'"),
        (["one", "two", "--parameters", "k"], "--parameters: expected NAME=VALUE, found 'k'"),
        (["one", "two", "--parameters", "method=3"], "rrf has no parameter 'method'; it has k"),
        (["one", "two", "--parameters", "depth=3"], "rrf has no parameter 'depth'; it has k"),
        (["one", "two", "--method", "gmnz", "--parameters", "gamma=2000"], "from 0 to 100, found"),
        (["one", "two", "--method", "posfuse"], "posfuse is trained on judgments"),
        (["one", "two", "--optimize", "RR"], "--optimize needs judgments: --qrels FILE"),
        (["one", "two", "--qrels", "nowhere"], "nowhere: no such file"),
        (["one", "two", "--qrels", "other"], "other: judges no query of the runs"),
        (["one", "two", "-k", "0"], "k must be a whole number of at least 1, found 0"),
        (["one", "two", "-m", "RR"], "--metrics needs judgments: --qrels FILE"),
        (["one", "two", "--qrels", "qrels", "-m", "XYZ"], "XYZ"),
        (
            ["one", "two", "--method", "mapfuse", "--qrels", "qrels", "-m", "RR"],
            "mapfuse is trained on the same judgments",
        ),
        (
            ["one", "two", "--qrels", "qrels", "-m", "RR", "--optimize", "RR"],
            "with --optimize the metric is that of --optimize",
        ),
        (["-", "-"], "only one file can be read from stdin"),
        (["one", "two", "--methd", "rrf"], "Unknown option: --methd."),
        (["-p", "one", "two"], "Unknown option: -p."),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command exits with 2 and says what to do."""
    assert run(build_app(), ["fuse", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1
    assert message in output.err
