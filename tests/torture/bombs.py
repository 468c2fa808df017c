"""Inputs that are small and would grow without end: refused, in bounded memory."""

from __future__ import annotations

import gzip
import itertools
import lzma
from typing import TYPE_CHECKING, Any

import berryeval as be
from tests.torture.faults import serve
from tests.torture.trials import Tally, call
from tests.workflows.worlds import benchmark, plan_of, results_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

SIZE = 2_000_000_000  # bytes that a compressed run would grow to


def _score_compressed(folder: Path, name: str, opener: Any, **options: int) -> None:
    (folder / "qrels.trec").write_text("q1 0 d1 1\n")
    with opener(folder / name, "wb", **options) as stream:
        for _ in range(SIZE // 10_000_000):
            stream.write(b" " * 10_000_000)
    call("score", str(folder / "qrels.trec"), str(folder / name))


def _gzip(folder: Path) -> None:
    _score_compressed(folder, "run.trec.gz", gzip.open, compresslevel=1)


def _xz(folder: Path) -> None:
    _score_compressed(folder, "run.trec.xz", lzma.open, preset=0)


def _zstd(folder: Path) -> None:
    import zstandard

    _score_compressed(folder, "run.trec.zst", zstandard.open)


def _aliases(folder: Path) -> None:
    tens = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10))
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *tens, "providers: *a9"]
    (folder / "berryeval.yaml").write_text("\n".join(lines))
    call("eval", "--config", str(folder / "berryeval.yaml"), "--output", str(folder / "out"))


def _merges(folder: Path) -> None:
    twice = (f"a{n}: &a{n} {{b: *a{n - 1}, c: *a{n - 1}, <<: *a{n - 1}}}" for n in range(1, 24))
    lines = ["a0: &a0 {k0: 1}", *twice, "run: *a23"]
    (folder / "berryeval.yaml").write_text("\n".join(lines))
    call("eval", "--config", str(folder / "berryeval.yaml"), "--output", str(folder / "out"))


def _search(folder: Path, spec: dict[str, Any]) -> None:
    run = {"timeout": 20.0, "attempts": 1}
    results_of(plan_of(benchmark(folder, 4), spec, run=run, limit=2), folder / "run")


def _endless_hits(folder: Path) -> None:
    def search(text: str, k: int) -> Any:
        return ({"id": f"{text}{n}", "text": "x" * 1000} for n in itertools.count(k))

    be.run_benchmark(
        benchmark(folder, 4), {"endless": search}, metrics=["R@5"], output=folder / "o"
    )


def _endless_list(folder: Path) -> None:
    def search(text: str, k: int) -> Any:
        return [f"{text}{n}" for n in range(2_000_000 + k)]

    be.run_benchmark(benchmark(folder, 4), {"long": search}, metrics=["R@5"], output=folder / "o")


def _http(fault: str) -> Callable[[Path], None]:
    def search(folder: Path) -> None:
        with serve(lambda _: {"hits": []}, lambda _: fault) as url:
            _search(folder, {"type": "http", "name": "h", "options": {"url": f"{url}/search"}})

    return search


def _deep(folder: Path) -> None:
    (folder / "run.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
    call("report", str(folder / "run.json"), "--format", "json")
    call("score", str(folder / "run.json"), str(folder / "run.json"))


def _digits(folder: Path) -> None:
    (folder / "run.json").write_text('{"q1": {"d1": ' + "9" * 1_000_000 + "}}")
    call("score", str(folder / "run.json"), str(folder / "run.json"))


BOMBS: dict[str, Callable[[Path], None]] = {
    "gzip file": _gzip,
    "xz file": _xz,
    "zstd file": _zstd,
    "aliases": _aliases,
    "merges": _merges,
    "endless generator": _endless_hits,
    "long list": _endless_list,
    "endless body": _http("endless"),
    "gzip body": _http("bomb"),
    "deep JSON": _deep,
    "many digits": _digits,
}


def try_once(chance: Random, folder: Path, shared: Path) -> Tally:
    """Set off one bomb; the caller measures the memory of this process."""
    del shared
    tally = Tally()
    name = chance.choice(list(BOMBS))
    with tally.expect_only_our_errors(name):
        BOMBS[name](folder)
    tally.counts[f"bomb: {name}"] += 1
    return tally
