"""Benchmarks: a corpus, queries and judgments, with loaders, a writer and checks."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import GENERATED, Benchmark, BenchmarkBuilder
    from berryeval.benchmarks.checks.finding import Finding, Report, name_of, words_of
    from berryeval.benchmarks.checks.similarity import SIMILAR, find_copied_run, find_similar
    from berryeval.benchmarks.checks.subject import CHECKS, Subject, check_benchmark
    from berryeval.benchmarks.checks.summary import Example, Spread, Summary, build_example
    from berryeval.benchmarks.documents import read_corpus
    from berryeval.benchmarks.loading import (
        LOADERS,
        Source,
        bundled_benchmarks,
        bundled_folder,
        check_source,
        detect_format,
        load_benchmark,
        options_of,
    )
    from berryeval.benchmarks.writing import write_benchmark
else:
    __getattr__, __dir__ = open_door(__name__)
