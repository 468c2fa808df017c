"""Measure BerryEval on Spark against RankingMetrics of PySpark and of MLlib, on the same rows.

`make bench-scale` runs it. Every line is a fresh process with its own Spark, pinned to as many
processors as it has cores; its start is not timed. The peers share a process: PySpark's own
RankingMetrics takes an RDD of Python rows, MLlib's runs inside the JVM. Both get rankings that
Spark builds from the same rows, and all must report the same means before a time counts. The cost
of 10^11 rows is extrapolated from the largest job.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from document import markdown_table, put_between_marks
from rich.console import Console
from rich.table import Table

DEPTH = 1_000  # documents per query
JUDGED = 10  # of these, half are in the ranking
METRICS = ("P@10", "R@100", "nDCG@10", "AP")
CHUNK = 1_000_000  # rows per file
FIRST_ID = 1_000_000_000  # ids have ten digits
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
PARTITIONS = "16"
FAR = 1e11  # rows of the extrapolation
LEAST_RATIO, LEAST_SPEEDUP = 10, 1.7


def write_rows(folder: Path, rows: int, kind: str = "grouped") -> tuple[Path, Path]:
    """Write a run of `rows` rows and its judgments as Parquet, unless they exist.

    `kind` is "grouped", "scattered" (rows of a file in random order), or "skewed" (a third of all
    rows belong to one query).
    """
    import pyarrow as pa
    import pyarrow.parquet

    run = folder / f"run-{rows}-{kind}"
    qrels = folder / f"qrels-{rows}-{kind}.parquet"
    if run.exists():
        return qrels, run
    partial = folder / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    chance = np.random.default_rng(2026)
    queries = rows // DEPTH
    judged: list[tuple[Any, Any]] = []
    for part, start in enumerate(range(0, queries, CHUNK // DEPTH)):
        some = np.arange(start, min(queries, start + CHUNK // DEPTH))
        documents = chance.integers(0, 900_000_000, (len(some), DEPTH))
        documents -= documents % DEPTH - np.arange(DEPTH)  # each once in a query
        scores = np.sort(chance.random((len(some), DEPTH)), axis=1)[:, ::-1]
        inside = chance.integers(0, DEPTH // (JUDGED // 2), (len(some), JUDGED // 2))
        inside += np.arange(JUDGED // 2) * (DEPTH // (JUDGED // 2))
        found = np.take_along_axis(documents, inside, axis=1)
        outside = 950_000_000 + np.arange(JUDGED - JUDGED // 2) + np.zeros_like(some)[:, None]
        judged.append((np.repeat(some, JUDGED), np.hstack([found, outside]).ravel()))
        columns = [np.repeat(some, DEPTH), documents.ravel(), scores.ravel()]
        if kind == "skewed" and part % 3 == 0:
            columns[0] = np.full(len(columns[0]), queries)
            columns[1] = 1_000_000_000 + start * DEPTH + np.arange(len(columns[1]))
            judged.append((columns[0][:JUDGED], columns[1][:JUDGED]))
        if kind == "scattered":  # over the part: as in a log that is ordered by time
            order = chance.permutation(len(columns[0]))
            columns = [column[order] for column in columns]
        table = pa.table([_ids(columns[0]), _ids(columns[1]), pa.array(columns[2])],
                         names=["query", "document", "score"])  # fmt: skip
        pyarrow.parquet.write_table(table, partial / f"part-{part:05}.parquet", compression="zstd")
    of_query, document = (np.concatenate(parts) for parts in zip(*judged, strict=True))
    grades = pa.array(np.ones(len(document), dtype=np.int32))
    table = pa.table([_ids(of_query), _ids(document), grades], names=["query", "document", "grade"])
    pyarrow.parquet.write_table(table, qrels, compression="zstd")
    partial.rename(run)
    return qrels, run


def _ids(numbers: Any) -> Any:
    import pyarrow as pa

    return pa.array(numbers + FIRST_ID).cast(pa.string())


class Memory(threading.Thread):
    """The peaks of this process, of Java and of the Python workers, in megabytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks: dict[str, float] = {"driver": 0.0, "java": 0.0, "workers": 0.0}

    def run(self) -> None:
        """Sample until the process ends."""
        while True:
            found = {"driver": _resident("self", "VmHWM"), "java": 0.0, "workers": 0.0}
            for pid in _descendants(os.getpid()):
                name = _read(pid, "comm")
                if name == "java":
                    found["java"] += _resident(pid, "VmHWM")
                elif name.startswith("python"):
                    found["workers"] += _resident(pid, "RssAnon")
            self.peaks = {name: max(peak, found[name]) for name, peak in self.peaks.items()}
            time.sleep(0.2)


def _descendants(pid: int) -> list[str]:
    stats = (path.parent.name for path in Path("/proc").glob("[0-9]*/stat"))
    parents = {child: _read(child, "stat").rpartition(")")[2].split()[1:2] for child in stats}
    found, grew = {str(pid)}, True
    while grew:
        more = {child for child, parent in parents.items() if found & {*parent}} - found
        grew, found = bool(more), found | more
    return sorted(found - {str(pid)})


def _read(pid: str, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text().strip()
    except OSError:  # it has ended
        return ""


def _resident(pid: str, field: str) -> float:
    found = re.search(rf"{field}:\s+(\d+) kB", _read(pid, "status"))
    return int(found[1]) / 1024 if found else 0.0


def start_spark(cores: int, folder: Path, heap: str) -> Any:
    """Start Spark on the first processors."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.pop("SPARK_HOME", None)
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": heap,
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.port": "0",
        "spark.sql.shuffle.partitions": PARTITIONS,  # for all tools
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def score_with_berryeval(
    session: Any, qrels: Path, run: Path, options: dict[str, Any], *, from_files: bool
) -> Any:
    """Return the means and the seconds, from files or from DataFrames of them."""
    from berryeval.spark import evaluate

    start = time.perf_counter()
    open_source = str if from_files else lambda path: session.read.parquet(str(path))
    scores = evaluate(open_source(qrels), open_source(run), METRICS, **options)
    elapsed = time.perf_counter() - start
    means = list(scores.mean.values())
    scores.unpersist()
    return means, elapsed


def score_in_memory(qrels: Path, run: Path) -> Any:
    """Return the means and the seconds of the local engine, from tables in memory."""
    import berryeval as be

    judgments, rows = be.Qrels.load(qrels), be.Run.load(run)
    start = time.perf_counter()
    scores = be.evaluate(judgments, rows, METRICS)
    return list(scores.mean.values()), time.perf_counter() - start


def build_rankings(session: Any, qrels: Path, run: Path) -> Any:
    """Return a DataFrame with the ranking and the relevant documents of each query."""
    session.read.parquet(str(run)).createOrReplaceTempView("run")
    session.read.parquet(str(qrels)).createOrReplaceTempView("qrels")
    return session.sql(
        """
        SELECT transform(coalesce(r.ranked, array()), x -> x.document) AS predicted, j.labels
        FROM (SELECT query, collect_list(document) AS labels FROM qrels WHERE grade > 0
              GROUP BY query) j
        LEFT JOIN (SELECT query, sort_array(collect_list(struct(-score AS s, document))) AS ranked
                   FROM run GROUP BY query) r
        ON j.query = r.query
        """
    )


def score_with_mllib(session: Any, qrels: Path, run: Path) -> Any:
    """Return the means, the seconds from rows, and those from rankings in memory."""
    from pyspark.mllib.common import callMLlibFunc

    start = time.perf_counter()
    rankings = build_rankings(session, qrels, run).persist()
    rankings.count()
    built = time.perf_counter()
    metrics = callMLlibFunc("newRankingMetrics", rankings._jdf)  # noqa: SLF001 - without Python rows
    means = [metrics.precisionAt(10), metrics.recallAt(100), metrics.ndcgAt(10)]
    means.append(metrics.meanAveragePrecision())
    end = time.perf_counter()
    rankings.unpersist()
    return means, end - start, end - built


def score_with_pyspark(session: Any, qrels: Path, run: Path) -> Any:
    """Return the means and the seconds of the documented way: an RDD of pairs of lists."""
    from pyspark.mllib.evaluation import RankingMetrics

    start = time.perf_counter()
    rows = build_rankings(session, qrels, run).rdd
    pairs = rows.map(lambda row: (row.predicted, row.labels)).persist()
    metrics = RankingMetrics(pairs)
    means = [metrics.precisionAt(10), metrics.recallAt(100), metrics.ndcgAt(10)]
    means.append(metrics.meanAveragePrecision)
    elapsed = time.perf_counter() - start
    pairs.unpersist()
    return means, elapsed


def read_stages(session: Any) -> dict[str, int]:
    """Return the bytes and the times of all stages so far."""
    context = session.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(address) as answer:  # noqa: S310 - our own Spark
        stages = json.load(answer)
    names = ("shuffleWriteBytes", "executorRunTime", "executorCpuTime",
             "memoryBytesSpilled", "diskBytesSpilled")  # fmt: skip
    return {name: sum(stage[name] for stage in stages) for name in names}


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Run the measurements of a job in this process: the fastest round of each tool."""
    memory = Memory()
    memory.start()
    folder, qrels, run = (Path(job[name]) for name in ("folder", "qrels", "run"))
    session = start_spark(job["cores"], folder, job["heap"])
    warm = write_rows(folder, 100_000)
    found = {}
    for tool, rounds in job["tools"].items():
        measure_tool(tool, session, *warm, job["options"])
        times = [measure_tool(tool, session, qrels, run, job["options"]) for _ in range(rounds)]
        found[tool] = min(times, key=lambda one: one["seconds"])
        found[tool]["memory"] = memory.peaks  # of this tool and those before
    session.stop()
    return found


def measure_tool(
    tool: str, session: Any, qrels: Path, run: Path, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the means and the seconds of a tool, and the stages of ours."""
    if tool == "mllib":
        means, seconds, rankings = score_with_mllib(session, qrels, run)
        return {"means": means, "seconds": seconds, "rankings": rankings}
    if tool == "pyspark":
        means, seconds = score_with_pyspark(session, qrels, run)
        return {"means": means, "seconds": seconds}
    if tool == "memory":
        means, seconds = score_in_memory(qrels, run)
        return {"means": means, "seconds": seconds}
    before = read_stages(session)
    from_files = tool == "files"
    means, seconds = score_with_berryeval(session, qrels, run, options, from_files=from_files)
    after = read_stages(session)
    stages = {name: after[name] - before[name] for name in after}
    stages["inputBytes"] = sum(file.stat().st_size for file in run.iterdir())
    return {"means": means, "seconds": seconds, "stages": stages}


def measure_apart(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job in a fresh process."""
    child = subprocess.run(
        [sys.executable, __file__, "--job", json.dumps(job)],
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode:
        sys.exit(f"the measurement failed: {json.dumps(job)}\n{child.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure everything, print it, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=None, help="folder for large files")
    parser.add_argument("--middle", type=int, default=20_000_000, help="rows for all but memory")
    parser.add_argument("--large", type=int, default=100_000_000, help="rows for the peak memory")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--document", action="store_true", help="write docs/scale.md")
    chosen = parser.parse_args()
    if chosen.job:
        print(json.dumps(measure(json.loads(chosen.job))))
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder, prefix="bench-spark-") as name:
        sections, faults = run_all(Path(name), chosen)
    for title, head, rows in sections:
        table = Table(*head, title=title)
        for row in rows:
            table.add_row(*row)
        Console(width=120).print(table)
    if chosen.document:
        parts = [f"{title}:\n\n{markdown_table(head, rows)}" for title, head, rows in sections]
        machine = f"{os.cpu_count()} cores, {platform.machine()}, Spark {version('pyspark')}"
        rounds = f"best of {chosen.rounds} runs, PySpark once"
        put_between_marks(PAGE, "spark scale", "\n\n".join([*parts, f"{machine}; {rounds}."]))
    for fault in faults:
        print(f"not met: {fault}")
    sys.exit(bool(faults))


Section = tuple[str, list[str], list[list[str]]]


def run_all(folder: Path, chosen: argparse.Namespace) -> tuple[list[Section], list[str]]:
    """Return the tables of all measurements, and the bars that are not met."""

    def run(
        tools: tuple[str, ...], rows: int, cores: int, kind: str = "grouped", **options: Any
    ) -> dict[str, Any]:
        qrels, path = write_rows(folder, rows, kind)
        rounds = {tool: 1 if tool == "pyspark" else chosen.rounds for tool in tools}
        heap = "12g" if "mllib" in tools else "4g"  # MLlib keeps all rankings in Java
        job = {"tools": rounds, "cores": cores, "heap": heap, "folder": str(folder),
               "qrels": str(qrels), "run": str(path), "options": options}  # fmt: skip
        found = measure_apart(job)
        for tool, one in found.items():
            print(f"{tool} {rows:,} {kind} {cores}: {one['seconds']:.1f} s", file=sys.stderr)
            one |= {"rows": rows, "cores": cores}
        return found

    middle, large = chosen.middle, chosen.large
    peers = run(("mllib", "pyspark"), middle, 1)
    peers["mllib, large"] = run(("mllib",), large, 1)["mllib"]
    in_memory = run(("memory",), middle, 1)["memory"]["seconds"]
    jobs: dict[str, Any] = {}
    for label, tool, *job in (
        ("files, one core", "files", middle, 1),
        ("files, two cores", "files", middle, 2),
        ("files, rows scattered", "files", middle, 2, "scattered"),
        ("files, large, one core", "files", large, 1),
        ("files, large", "files", large, 2),
        ("DataFrame, one core", "frames", middle, 1),
        ("DataFrame, two cores", "frames", middle, 2),
        ("DataFrame, rows scattered", "frames", middle, 2, "scattered"),
        ("DataFrame, a third of the rows in one query", "frames", middle, 2, "skewed"),
        ("DataFrame, large", "frames", large, 2),
    ):
        jobs[label] = run((tool,), *job)[tool]
    label = "DataFrame, judgments shuffled, not broadcast"
    jobs[label] = run(("frames",), middle, 2, broadcast=False)["frames"]
    faults = judge(jobs, peers, in_memory)
    seconds = {label: job["seconds"] for label, job in jobs.items()}
    timed = [
        ("BerryEval, from rows in Parquet files", large, seconds["files, large, one core"]),
        ("MLlib RankingMetrics in the JVM, from rows", large, peers["mllib, large"]["seconds"]),
        ("BerryEval, from rows in Parquet files", middle, seconds["files, one core"]),
        ("BerryEval, from a DataFrame of these rows", middle, seconds["DataFrame, one core"]),
        ("MLlib RankingMetrics in the JVM, from rows", middle, peers["mllib"]["seconds"]),
        ("PySpark RankingMetrics, from rows", middle, peers["pyspark"]["seconds"]),
        ("BerryEval, from rankings in memory (`be.evaluate`, without Spark)", middle, in_memory),
        ("MLlib RankingMetrics, from rankings in memory", middle, peers["mllib"]["rankings"]),
    ]
    lines = [[name, f"{rows / 1e6:g}", f"{one:.2f}", f"{rows / one / 1e6:.2f}"]
             for name, rows, one in timed]  # fmt: skip
    far = [extrapolate(jobs[f"{kind}, large"]) for kind in ("files", "DataFrame")]
    sections = [
        (f"On one core, {', '.join(METRICS)}",
         ["tool", "million rows", "seconds", "million rows/s"], lines),
        ("BerryEval on one machine, memory in MB at its peak",
         ["run", "million rows", "cores", "seconds", "µs per row and core", "read, bytes per row",
          "shuffled, bytes per row", "driver", "Java", "Python workers"],
         [describe_job(label, job) for label, job in jobs.items()]),
        ("Extrapolated to 10¹¹ rows from the largest runs", ["what", "files", "DataFrame"],
         [[what, one, other] for (what, one), (_, other) in zip(*far, strict=True)]),
    ]  # fmt: skip
    return sections, faults


def judge(jobs: dict[str, Any], peers: dict[str, Any], in_memory: float) -> list[str]:
    """Return the bars that are not met; other means are an error."""
    ours = {one["rows"]: one for one in (jobs["files, one core"], jobs["files, large, one core"])}
    for peer in peers.values():
        if not np.allclose(ours[peer["rows"]]["means"], peer["means"], rtol=1e-9):
            sys.exit(f"the means differ: {ours[peer['rows']]['means']} and {peer['means']}")
    faults = []
    for what, ratio, least in (
        *((f"{name} from {peer['rows']:,} rows",
           peer["seconds"] / ours[peer["rows"]]["seconds"], LEAST_RATIO)
          for name, peer in peers.items()),
        ("MLlib from rankings in memory", peers["mllib"]["rankings"] / in_memory, LEAST_RATIO),
        ("one core, with two",
         jobs["files, large, one core"]["seconds"] / jobs["files, large"]["seconds"],
         LEAST_SPEEDUP),
    ):  # fmt: skip
        print(f"{ratio:.1f}x of {what}")
        faults += [f"{ratio:.1f}x of {what}"] * (ratio < least)
    return faults


def describe_job(label: str, job: dict[str, Any]) -> list[str]:
    """Return the line of a measurement."""
    rows, stages, memory = job["rows"], job["stages"], job["memory"]
    cost = job["seconds"] * job["cores"] / rows * 1e6
    return [
        label, f"{rows / 1e6:g}", str(job["cores"]), f"{job['seconds']:.1f}", f"{cost:.2f}",
        f"{stages['inputBytes'] / rows:.1f}", f"{stages['shuffleWriteBytes'] / rows:.1f}",
        *(f"{memory[part]:,.0f}" for part in ("driver", "java", "workers")),
    ]  # fmt: skip


def extrapolate(job: dict[str, Any]) -> list[list[str]]:
    """Multiply what a row cost by the rows of a large cluster job."""
    rows, stages, memory = job["rows"], job["stages"], job["memory"]
    hours = job["seconds"] * job["cores"] / rows * FAR / 3600
    read, shuffled = (stages[name] / rows * FAR for name in ("inputBytes", "shuffleWriteBytes"))
    per_core = memory["workers"] / job["cores"]
    return [
        ["core hours", f"{hours:,.1f}"],
        ["on 100 executors with 4 cores", f"{hours / 400 * 60:,.1f} minutes"],
        ["read from Parquet", f"{read / 1e12:.1f} TB"],
        ["shuffled, written and read once", f"{shuffled / 1e12:.1f} TB"],
        ["per executor disk for it, of 100", f"{shuffled / 1e9 / 100:,.0f} GB"],
        ["Python memory per core", f"{per_core:,.0f} MB"],
        ["partitions of 2 million rows", f"{FAR / 2e6:,.0f}"],
    ]


if __name__ == "__main__":
    main()
