"""Benchmarks: a corpus, queries and judgments, with loaders, a writer and checks.

>>> from berryeval.benchmarks import LOADERS, load_benchmark
>>> benchmark = load_benchmark("technical-docs")
>>> len(benchmark.documents), len(benchmark.queries)
(25, 50)
>>> "beir" in LOADERS
True
"""

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
        NamedSource,
        Source,
        bundled_benchmarks,
        bundled_folder,
        check_source,
        detect_format,
        find_named,
        load_benchmark,
        options_of,
    )
    from berryeval.benchmarks.writing import write_benchmark

    __all__ = [
        "CHECKS",
        "GENERATED",
        "LOADERS",
        "SIMILAR",
        "Benchmark",
        "BenchmarkBuilder",
        "Example",
        "Finding",
        "NamedSource",
        "Report",
        "Source",
        "Spread",
        "Subject",
        "Summary",
        "build_example",
        "bundled_benchmarks",
        "bundled_folder",
        "check_benchmark",
        "check_source",
        "detect_format",
        "find_copied_run",
        "find_named",
        "find_similar",
        "load_benchmark",
        "name_of",
        "options_of",
        "read_corpus",
        "words_of",
        "write_benchmark",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
