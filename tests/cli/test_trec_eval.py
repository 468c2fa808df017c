"""`berryeval trec-eval`: line for line what trec_eval prints, and how it ends."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from berryeval import __version__
from berryeval.cli.app import build_app, run

DATA = Path(__file__).parent.parent / "data" / "trec_eval"

PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
    "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 "
    "-mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)

# What to print, and the command that prints it: the fifteen kinds of trec_eval's own tests first.
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
    ("rare", "-m dcg -m ideal_dcg -m yaap -m set_F.0.5 -m rbp.p=0.8 -m rbp_resid.p=.5 -q -l 2 "
             "-m G.1=2,3=5 -m ndcg_rel.2=1 -m Rndcg -m unj.3 qrels.graded.txt run.txt"),
    ("groups.l", "-m qrels_jg -q -c -l2 -J -M20 -R qrels_jg qrels.groups.txt run.short.txt"),
    ("prefs.c", "-m prefs -q -c -M 4 -R prefs prefs.txt run.short.txt"),
    ("official", "--measure=official --level_for_rel 1 -D 3 -o qrels.txt run.txt"),
    ("all.q.c.M", "qrels.txt run.short.txt --meas all_trec --query_eval_wanted "
                  "--complete_rel_info_wanted --Max_retrieved_per_topic=10 -T trec_results"),
    ("all.q.J", "--Judged_docs_only -q --Debug_level 1 --Rel_info_format qrels -mall_trec "
                "--Results_format trec_results qrels.graded.txt run.txt"),
    ("set.n", "--nosummary -q -m set --Number_docs_in_coll 1000 -m utility.0,0,0,1 "
              "qrels.txt run.short.txt"),
    ("all.q.z", "-q -m all_trec --Zscore zscores.txt qrels.txt run.txt"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)


def trec_eval(*arguments: str) -> int:
    """Run the command in this process."""
    return run(build_app(), ["trec-eval", *arguments])


@pytest.mark.parametrize(("name", "command"), GOLDEN)
def test_same_lines(name: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The output is trec_eval's, byte for byte."""
    assert trec_eval(*command.split()) == 0
    printed = capsys.readouterr()
    assert printed.out == (DATA / f"out.{name}.txt").read_text()
    assert printed.err == ""
