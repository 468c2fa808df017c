"""A cluster that loses an executor, and clients that are not part of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import berryeval as be
from berryeval.spark import evaluate
from tests.spark.test_dataframes import METRICS, as_dicts, frame, judged, make_rows
from tests.spark.test_file_parts import group_by_query, write

psutil = pytest.importorskip("psutil")


def list_executors() -> dict[int, Any]:
    """Return the processes of executors that this process has started."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline()):
                found[process.pid] = process
    return found


@pytest.mark.parametrize("kind", ["frame", "files"])
def test_an_executor_killed_in_the_middle_changes_nothing(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The first task waits until its executor is killed; another executor does its work again."""
    started = tmp_path / "started"
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys, time, pathlib\n"
        f"started = pathlib.Path({str(started)!r})\n"
        "class Wait:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'berryeval.spark.batch_scoring' and not started.exists():\n"
        "            started.write_text(str(os.getpid()))\n"
        "            time.sleep(60)\n"
        "sys.meta_path.insert(0, Wait())\n",
        "utf-8",
    )
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("berryeval.spark.file_parts._LEAST", 1 << 12)  # several tasks
    judgments, run = make_rows(5)
    run = group_by_query(run)
    write(tmp_path / "run.parquet", run)
    given = frame(spark, run) if kind == "frame" else str(tmp_path / "run.parquet")
    killed: list[int] = []

    def kill() -> None:
        while not (started.exists() and started.read_text("utf-8")):
            time.sleep(0.05)
        worker = psutil.Process(int(started.read_text("utf-8")))
        executors = list_executors()
        parent = next(one for one in worker.parents() if one.pid in executors)
        os.kill(parent.pid, signal.SIGKILL)
        killed.append(parent.pid)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = evaluate(judged(spark, judgments), given, METRICS)
    killer.join(timeout=60)
    assert len(killed) == 1
    assert killed[0] not in list_executors()
    assert found.collect() == be.evaluate(as_dicts(judgments), as_dicts(run), METRICS)


def test_spark_connect_gives_the_same_bytes(spark: Any) -> None:
    service = "org.apache.spark.sql.connect.service.SparkConnectService$"
    port = getattr(getattr(spark.sparkContext._jvm, service), "MODULE$").localPort()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.spark.connect_client",
            f"sc://127.0.0.1:{port}",
        ],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "run: document 'd1' appears twice in query 'q 1'\n"
