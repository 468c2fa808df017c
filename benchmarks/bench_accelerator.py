"""Time the array metrics on an accelerator, beside torchmetrics and a compiled broadcast.

Values are compared with those of the CPU first: of this machine, or of another one through a file
of digests (`--write-digests` there, `--digests` here).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from document import markdown_table, put_between_marks

from berryeval.metrics import BACKEND, evaluate_arrays

LINES: list[str] = []
TIMES: dict[tuple[str, str], dict[int, float]] = {}  # seconds by library, call and rows
ROWS, DEPTH, RELEVANT = 1_000_000, 100, 10
METRICS = ["recall@10", "precision@10", "mrr@10", "ndcg@10", "hit_rate@10"]
REPLAYED = 20  # calls in a CUDA graph
SHAPES: dict[str, tuple[str | None, float]] = {
    "binary": (None, 1),
    "graded": ("int32", 2),
    "fractions": ("float32", 1 / 3),
    "fractions in double precision": ("float64", 1 / 3),
}


def draw(rows: int, graded: str | None = None) -> tuple[Any, Any, Any]:
    """Draw rankings and judgments with padding and repeated ids; many grades are equal."""
    chance = np.random.default_rng(18)
    retrieved = chance.integers(-1, 250, size=(rows, DEPTH), dtype=np.int32)
    relevant = chance.integers(-1, 250, size=(rows, RELEVANT), dtype=np.int32)
    if graded is None:
        return retrieved, relevant, None
    grades = (relevant * 7 + np.arange(rows, dtype=np.int32)[:, None]) % 5 - 1
    return retrieved, relevant, grades.astype(graded) / (1 if graded == "int32" else 3)


def say(line: str) -> None:
    """Print a line, and keep it for the document."""
    print(line, flush=True)
    LINES.append(line)


def note(library: str, call: str, rows: int, seconds: float) -> None:
    """Print a time, and keep it for the table of the document."""
    print(f"  {rows:>9,} x {DEPTH}: {library}, {call}: {seconds * 1e3:.3f} ms", flush=True)
    TIMES.setdefault((library, call), {})[rows] = seconds


def digest(values: Any) -> str:
    """Return a digest of the bytes of an array."""
    return hashlib.sha256(np.ascontiguousarray(np.asarray(values)).tobytes()).hexdigest()


def compute_digests() -> dict[str, dict[str, str]]:
    """Compute the digests of all scores on the CPU."""
    found = {}
    for name, (dtype, level) in SHAPES.items():
        retrieved, relevant, grades = draw(ROWS, dtype)
        if grades is not None:
            grades = grades.astype(dtype)
        scores = evaluate_arrays(retrieved, relevant, METRICS, grades=grades, threshold=level)
        found[name] = {metric: digest(values) for metric, values in scores.items()}
        found[name]["input"] = digest_input(retrieved, relevant, grades)
    return found


def digest_input(*arrays: Any) -> str:
    """Return a digest of arrays, which another NumPy could draw differently."""
    return " ".join(digest(one) for one in arrays if one is not None)


def check(
    library: str,
    convert: Callable[[Any], Any],
    back: Callable[[Any], Any],
    expected: dict[str, dict[str, str]],
) -> None:
    """Compare the bytes of all scores of a library with those of the CPU."""
    for name, (dtype, level) in SHAPES.items():
        retrieved, relevant, grades = draw(ROWS, dtype)
        if grades is not None:
            grades = grades.astype(dtype)
        if digest_input(retrieved, relevant, grades) != expected[name]["input"]:
            sys.exit("the digests are of other arrays: write them again with this version of NumPy")
        given = None if grades is None else convert(grades)
        scores = evaluate_arrays(
            convert(retrieved), convert(relevant), METRICS, grades=given, threshold=level
        )
        same = [digest(back(scores[metric])) == expected[name][metric] for metric in METRICS]
        say(
            f"{library}, {name}: {sum(same)} of {len(same)} metrics equal to the CPU, "
            f"all bytes of {ROWS:,} rows"
        )


def time_calls(
    calls: Mapping[str, Callable[[], Any]], wait: Callable[[Any], None]
) -> dict[str, float]:
    """Return the seconds of each call when many follow each other; best of seven rounds of all."""
    best = dict.fromkeys(calls, float("inf"))
    counts = {}
    for name, call in calls.items():
        wait(call())  # compiles
        start = time.perf_counter()
        wait(call())
        counts[name] = max(1, min(1000, int(0.05 / (time.perf_counter() - start))))
    for _ in range(7):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name] - 1):
                call()
            wait(call())
            best[name] = min(best[name], (time.perf_counter() - start) / counts[name])
    return best


def bench_torch(expected: dict[str, dict[str, str]]) -> None:
    """Time torch on its device."""
    import torch

    device = torch.device("cuda")
    say(f"torch {torch.__version__} on {torch.cuda.get_device_name()}")
    check("torch", lambda a: torch.from_numpy(a).to(device), lambda t: t.cpu().numpy(), expected)
    discount = 1 / torch.log2(torch.arange(2, 12, device=device, dtype=torch.float32))

    @torch.compile
    def broadcast(retrieved: Any, relevant: Any) -> Any:
        hits = (retrieved[:, :10, None] == relevant[:, None, :]).any(-1)
        ideal = torch.cumsum(discount, 0)[(relevant >= 0).sum(-1).clamp(1, 10) - 1]
        return (hits * discount).sum(-1) / ideal

    def wait(_: Any) -> None:
        torch.cuda.synchronize()

    from berryeval.metrics import ndcg

    @torch.compile
    def compiled(retrieved: Any, relevant: Any) -> Any:
        return ndcg(retrieved, relevant, 10)

    for rows in (100_000, ROWS):
        arrays = [torch.from_numpy(one).to(device) for one in draw(rows)[:2]]
        distinct = torch.argsort(torch.rand((rows, 250), device=device), dim=1)[:, :RELEVANT]
        arrays[1] = distinct.int().contiguous()
        graded = torch.randint(0, 4, arrays[1].shape, dtype=torch.int32, device=device)
        calls: dict[str, Callable[..., Any]] = {
            "a compiled broadcast of nDCG@10": lambda a, b, _: broadcast(a, b),
            "nDCG@10": lambda a, b, _: ndcg(a, b, 10),
            "nDCG@10 inside torch.compile": lambda a, b, _: compiled(a, b),
            "nDCG@10, graded (grades are checked)": lambda a, b, g: ndcg(a, b, 10, grades=g),
            "five metrics in one call": lambda a, b, _: evaluate_arrays(a, b, METRICS),
            "five metrics, graded": lambda a, b, g: evaluate_arrays(a, b, METRICS, grades=g),
            "nDCG@100": lambda a, b, _: ndcg(a, b, 100),
        }
        if not torch.equal(compiled(*arrays), calls["nDCG@10"](*arrays, graded)):
            sys.exit("nDCG@10 inside torch.compile has other values")
        times = time_calls(
            {name: partial(call, *arrays, graded) for name, call in calls.items()}, wait
        )
        for name in ("nDCG@10", "five metrics in one call"):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(REPLAYED):
                    calls[name](*arrays, graded)
            alone = f"{name}, without Python (a CUDA graph)"
            times[alone] = time_calls({name: graph.replay}, wait)[name] / REPLAYED
        for name, took in times.items():
            note("torch", name, rows, took)
        bench_torchmetrics(rows, times["nDCG@10"], wait)


def bench_torchmetrics(rows: int, ours: float, wait: Callable[[Any], None]) -> None:
    """Time torchmetrics per query, and the class of the same name on all queries."""
    import torch
    import torchmetrics.retrieval as peer

    from berryeval import training

    sample = 200
    generator = torch.Generator("cuda").manual_seed(1)
    scores = torch.rand((rows, DEPTH), device="cuda", generator=generator)
    target = torch.randint(0, 2, (rows, DEPTH), device="cuda", generator=generator)
    indexes = torch.arange(rows, device="cuda")[:, None].expand(-1, DEPTH)

    def compute(metric: Any, count: int) -> Any:
        metric.update(scores[:count], target[:count], indexes[:count])
        found = metric.compute()
        metric.reset()
        return found

    times = time_calls(
        {
            "theirs": partial(compute, peer.RetrievalNormalizedDCG(top_k=10), sample),
            "same": partial(compute, training.RetrievalNormalizedDCG(top_k=10), rows),
        },
        wait,
    )
    theirs, same = times["theirs"] / sample, times["same"]
    values = [
        compute(module.RetrievalNormalizedDCG(top_k=10), sample) for module in (peer, training)
    ]
    note("torchmetrics", "RetrievalNormalizedDCG, one query", rows, theirs)
    note("torch", "berryeval.training.RetrievalNormalizedDCG", rows, same)
    say(
        f"torchmetrics takes {theirs * rows / ours:,.0f} times as long as nDCG@10 of arrays for "
        f"{rows:,} queries (measured for {sample}), and {theirs * rows / same:,.0f} times as long "
        f"as the class of the same name; values {values[0]:.7f} and {values[1]:.7f}"
    )


def bench_jax(expected: dict[str, dict[str, str]]) -> None:
    """Time JAX on its first device."""
    import jax

    device = jax.devices()[0]
    say(f"JAX {jax.__version__} on {device.device_kind}")

    def put(array: Any) -> Any:
        with jax.enable_x64(True):  # otherwise JAX makes float32 of float64
            return jax.device_put(array, device)

    check("JAX", put, np.asarray, expected)
    for rows in (100_000, ROWS):
        arrays = [jax.device_put(one, device) for one in draw(rows)[:2]]
        calls = {
            name: partial(evaluate_arrays, arrays[0], arrays[1], metrics)
            for name, metrics in (("nDCG@10", ["ndcg@10"]), ("five metrics", METRICS))
        }
        for name, took in time_calls(calls, jax.block_until_ready).items():
            note("JAX", name, rows, took)


def bench_cupy(expected: dict[str, dict[str, str]]) -> None:
    """Time CuPy."""
    import cupy

    say(f"CuPy {cupy.__version__}")
    check("CuPy", cupy.asarray, cupy.asnumpy, expected)
    arrays = [cupy.asarray(one) for one in draw(100_000)[:2]]
    call = partial(evaluate_arrays, arrays[0], arrays[1], ["ndcg@10"])
    times = time_calls({"nDCG@10": call}, lambda _: cupy.cuda.Device().synchronize())
    note("CuPy", "nDCG@10", 100_000, times["nDCG@10"])


def main() -> None:
    """Compare and time the libraries."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write-digests", type=Path)
    options.add_argument("--digests", type=Path)
    options.add_argument("--libraries", default="torch,jax,cupy")
    options.add_argument("--document", type=Path, help="a page to write the figures to")
    given = options.parse_args()
    if given.write_digests:
        given.write_digests.write_text(json.dumps(compute_digests()), encoding="utf-8")
        return
    if given.digests:
        expected = json.loads(given.digests.read_text(encoding="utf-8"))
    else:
        say(f"values of the CPU: {BACKEND} backend, {platform.processor() or 'this machine'}")
        expected = compute_digests()
    benches = {"torch": bench_torch, "jax": bench_jax, "cupy": bench_cupy}
    for library in given.libraries.split(","):
        benches[library](expected)
    if given.document:
        put_between_marks(given.document, "accelerator", describe())


def describe() -> str:
    """Return the section of the document."""
    sizes = [100_000, ROWS]
    rows = [
        [*names, *(f"{times[size] * 1e3:.3f} ms" if size in times else "" for size in sizes)]
        for names, times in TIMES.items()
    ]
    introduction = (
        "## On an accelerator\n\n"
        "Written by `make bench-accelerator`. Times are wall-clock times of calls that follow\n"
        "each other, Python included; best of seven. A compiled broadcast is a few lines\n"
        "of torch under `torch.compile`, in float32 and for ids that do not repeat.\n"
    )
    table = markdown_table(["arrays", "call", *(f"{size:,} x {DEPTH}" for size in sizes)], rows)
    return "\n".join([introduction, *(f"- {line}" for line in LINES), "", table])


if __name__ == "__main__":
    main()
