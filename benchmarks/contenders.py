"""Run one tool on two files: read, compute the same metrics, print one mean.

Run as a process of its own: `python contenders.py TOOL RUN QRELS [all]`. Prints the mean of AP.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

FIVE = ("map", "P_10", "recall_100", "ndcg_cut_10", "recip_rank")


def berryeval(run: str, qrels: str, *, everything: bool = False) -> float:
    """BerryEval, straight from the files."""
    from berryeval.scoring.engine import evaluate

    if everything:
        from berryeval.metrics.catalogue import definitions
        from berryeval.trec_eval.names import build_columns, parse_choices

        metrics = [
            definitions()[column.row.canonical](**column.parameters)
            for column in build_columns(parse_choices(["all_trec"]))
            if column.row.canonical
        ]
        return evaluate(qrels, run, metrics).mean["AP"]
    return evaluate(qrels, run, FIVE).mean["AP"]


def pytrec_eval(run: str, qrels: str) -> float:
    """pytrec_eval: its own parsers, then its evaluator."""
    import pytrec_eval as tool

    with Path(qrels).open() as file:
        judgments = tool.parse_qrel(file)
    with Path(run).open() as file:
        results = tool.parse_run(file)
    wanted = {"map", "P.10", "recall.100", "ndcg_cut.10", "recip_rank"}
    values = tool.RelevanceEvaluator(judgments, wanted).evaluate(results)
    return float(sum(query["map"] for query in values.values()) / len(values))


def ir_measures(run: str, qrels: str) -> float:
    """ir_measures: its own readers, aggregated."""
    import ir_measures

    tool: Any = ir_measures  # its functions have no types
    wanted = [tool.AP, tool.P @ 10, tool.R @ 100, tool.nDCG @ 10, tool.RR]
    found = tool.calc_aggregate(wanted, tool.read_trec_qrels(qrels), tool.read_trec_run(run))
    return float(found[tool.AP])


def ranx(run: str, qrels: str) -> float:
    """ranx: its own readers, compiled code from its cache."""
    import ranx as tool

    judgments = tool.Qrels.from_file(qrels, kind="trec")
    results = tool.Run.from_file(run, kind="trec")
    wanted = ["map", "precision@10", "recall@100", "ndcg@10", "mrr"]
    return float(tool.evaluate(judgments, results, wanted, make_comparable=True)["map"])


TOOLS = {tool.__name__: tool for tool in (berryeval, pytrec_eval, ir_measures, ranx)}

if __name__ == "__main__":
    name, run_path, qrels_path, *rest = sys.argv[1:]
    if rest:
        print(berryeval(run_path, qrels_path, everything=True))
    else:
        print(TOOLS[name](run_path, qrels_path))
