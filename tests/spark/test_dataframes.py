"""Scores of DataFrames: the bytes of the local engine for any partitioning."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

import berryeval as be
from berryeval.errors import (
    ConfigurationError,
    DataError,
    MetricError,
    RepeatedDocumentError,
    RunFailedError,
)
from berryeval.scoring import Scores
from berryeval.spark import evaluate

METRICS = ["nDCG@10", "AP", "P(rel=2)@5", "GMAP", "RR", "num_ret", "alpha_nDCG@5"]
QRELS = [("q1", "a", 1), ("q1", "b", 2), ("q2", "a", 1), ("q3", "c", 0)]
RUN = [("q1", "b", 2.0), ("q1", "x", 2.0), ("q3", "c", 1.0), ("q4", "a", 1.0)]

Rows = list[tuple[Any, ...]]


COLUMNS = "query string, document string, score double"


def frame(spark: Any, rows: Rows, columns: str = COLUMNS) -> Any:
    return spark.createDataFrame(rows, columns)


def judged(spark: Any, rows: Rows = QRELS) -> Any:
    return frame(spark, rows, "query string, document string, grade int")


def make_rows(seed: int) -> tuple[Rows, Rows]:
    """Make judgments and a run with ties, missing and extra queries, and a query of 4,000 rows."""
    chance = random.Random(seed)
    names = [f"q{number}" for number in range(40)] + ["é", "q 1"]
    judgments = [
        (query, f"d{document}", chance.randrange(-1, 4))
        for query in names[5:]
        for document in chance.sample(range(90), 12)
    ]
    run = [
        (query, f"d{document}", chance.randrange(12) / 7)
        for query in names[:38] + names[40:]
        for document in chance.sample(range(90), chance.randrange(1, 40))
    ]
    run += [("skew", f"d{document}", chance.random()) for document in range(4000)]
    judgments += [("skew", f"d{document}", 1) for document in range(0, 400, 7)]
    chance.shuffle(run)
    chance.shuffle(judgments)
    return judgments, run


def as_dicts(rows: Rows) -> dict[str, dict[str, float]]:
    """Return the first number of each document of a query."""
    found: dict[str, dict[str, float]] = {}
    for query, document, number, *_ in rows:
        found.setdefault(query, {}).setdefault(document, number)
    return found


def test_any_partitioning_gives_the_bytes_of_the_local_engine(spark: Any) -> None:
    """Ties, duplicates, skew, missing and extra queries, both ways to bring judgments, profiles."""
    chance = random.Random(18)
    for trial in range(20):
        judgments, run = make_rows(trial)
        lenient, profile = trial % 3 == 0, ("berryeval", "trec_eval", "ranx")[trial % 3]
        if lenient:  # the first row of a repeated document counts
            run += [(query, document, 9.0) for query, document, _ in chance.sample(run, 50)]
            judgments += [(*row[:2], 3) for row in chance.sample(judgments, 20)]
        numbered = [(*row, place) for place, row in enumerate(run)]
        chance.shuffle(numbered)
        rows = frame(spark, numbered, "query string, document string, score double, place int")
        grades = [(*row, place) for place, row in enumerate(judgments)]
        found = evaluate(
            frame(spark, grades, "query string, document string, grade int, place int"),
            rows.repartition(chance.randrange(1, 9)),
            METRICS,
            profile=profile,
            lenient=lenient,
            order="place",
            broadcast=trial % 2 == 0,
        )
        expected = be.evaluate(as_dicts(judgments), as_dicts(run), METRICS, profile=profile)
        dropped = 70 if lenient else 0
        collected = found.collect()
        assert collected.dropped == found.totals.dropped == dropped
        assert Scores(**{**vars(collected), "dropped": 0}) == expected
        assert dict(found.mean) == dict(expected.mean)
        assert dict(found.sum) == dict(expected.sum)
        assert dict(found.std) == pytest.approx(dict(expected.std), rel=1e-12)
        assert found.totals.outcomes == {k: n for k, n in expected.outcome_counts.items() if n}
        assert found.count == expected.count
        found.unpersist()


@pytest.mark.parametrize("broadcast", [True, False])
def test_per_query_has_a_row_for_each_query_that_counts(spark: Any, broadcast: bool) -> None:
    found = evaluate(judged(spark), frame(spark, RUN), ["AP", "RBP(p=0.95)"], broadcast=broadcast)
    expected = be.evaluate(as_dicts(QRELS), as_dicts(RUN), ["AP", "RBP(p=0.95)"])
    counts = ["retrieved", "retrieved_judged", "relevant", "in_run"]
    assert found.per_query.columns == ["query", "outcome", "AP", "RBP(p=0.95)", *counts]
    rows = sorted(map(tuple, found.per_query.collect()))
    assert [row[0] for row in rows] == list(expected.queries)
    assert [row[1] for row in rows] == ["ok", "missing", "no relevant documents"]
    assert [row[2] for row in rows] == list(expected.per_query("AP").values())
    assert [list(row[4:]) for row in rows] == expected.counts.tolist()
    assert [row["query"] for row in found.extra_queries.collect()] == ["q4"]
    assert repr(found) == "SparkScores('run', 3 queries, AP=0.0833, RBP(p=0.95)=0.0158)"


@pytest.mark.parametrize("broadcast", [True, False])
def test_an_order_may_be_of_any_type_and_of_the_run_alone(spark: Any, broadcast: bool) -> None:
    """Of a judgment that is repeated, the highest grade counts then."""
    rows = [("q1", "x", 1.0, "b"), ("q1", "a", 1.0, "a"), ("q2", "a", 2.0, "c")]
    run = frame(spark, rows, f"{COLUMNS}, place string")
    options: dict[str, Any] = {"order": "place", "broadcast": broadcast, "profile": "ranx"}
    found = evaluate(judged(spark), run, ["RR"], **options).collect()
    assert found.per_query("RR") == {"q1": 1.0, "q2": 1.0, "q3": 0.0}
    grades = [("q1", "a", grade) for grade in (0, 2, 1)]
    found = evaluate(judged(spark, grades), run, ["P(rel=2)@1"], lenient=True, **options).collect()
    assert found.per_query("P(rel=2)@1") == {"q1": 1.0}
    assert found.dropped == 2


def test_equal_places_are_ordered_by_document(spark: Any) -> None:
    """Scores do not depend on the partitioning, even if the order has ties."""
    rows = [("q1", f"d{number:02}", 1.0, 7) for number in range(20)]
    run = frame(spark, rows[::-1], f"{COLUMNS}, place int").repartition(3)
    found = evaluate({"q1": {"d04": 1}}, run, ["RR"], order="place", profile="ranx")
    assert found.mean["RR"] == 1 / 5


def test_a_row_without_a_place_is_faulty(spark: Any) -> None:
    rows = [("q1", "x", 1.0, None), ("q1", "a", 1.0, 1)]
    run = frame(spark, rows, f"{COLUMNS}, place int")
    options: dict[str, Any] = {"order": "place", "profile": "ranx"}
    with pytest.raises(DataError, match=r"'x' for query 'q1' .*\(or the column 'place' is null\)$"):
        evaluate(judged(spark), run, ["RR"], **options)
    found = evaluate(judged(spark), run, ["RR"], lenient=True, **options).collect()
    assert (found.per_query("RR")["q1"], found.dropped) == (1.0, 1)


def test_the_mean_has_any_spelling(spark: Any) -> None:
    found = evaluate(judged(spark), frame(spark, RUN), ["ndcg_cut.10"])
    assert found.mean["ndcg_cut.10"] == found.mean["nDCG@10"]


def test_too_many_queries_to_collect_are_an_error(spark: Any) -> None:
    found = evaluate(judged(spark), frame(spark, RUN), ["AP"])
    with pytest.raises(DataError, match="4 queries are more than collect"):
        found.collect(most=3)


def test_grouped_rows_are_not_shuffled_and_checked(spark: Any) -> None:
    """A query in two partitions is found, whether it is judged or not."""
    expected = be.evaluate(as_dicts(QRELS), as_dicts(RUN), ["AP"])
    one = frame(spark, RUN).coalesce(1)
    assert evaluate(judged(spark), one, ["AP"], grouped=True).collect() == expected
    for query in ("q1", "q4"):
        scattered = spark.sparkContext.parallelize([*RUN[1:], (query, "new", 3.0)], 4)
        rows = spark.createDataFrame(scattered, COLUMNS)
        with pytest.raises(DataError, match=f"the rows of query '{query}' are in several"):
            evaluate(judged(spark), rows, ["AP"], grouped=True)
    with pytest.raises(ConfigurationError, match="grouped=True needs all judgments in every"):
        evaluate(judged(spark), one, ["AP"], grouped=True, broadcast=False)


def test_small_partitions_are_merged_and_the_setting_is_put_back(spark: Any) -> None:
    setting = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    before = spark.conf.get(setting)
    found = evaluate(judged(spark), frame(spark, RUN), ["AP"])
    assert found.table.rdd.getNumPartitions() < 4
    assert spark.conf.get(setting) == before


def test_the_code_of_the_page_runs(spark: Any, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    judged(spark).write.parquet(str(tmp_path / "qrels"))
    for name in ("old", "new"):
        frame(spark, RUN).write.parquet(str(tmp_path / name))
    exec(code.replace("s3a://data", str(tmp_path)), {"spark": spark})  # noqa: S102 - our own page
    assert spark.read.parquet(str(tmp_path / "scores")).count() == 3


def test_judgments_may_be_local(spark: Any) -> None:
    expected = be.evaluate(as_dicts(QRELS), as_dicts(RUN), ["AP"])
    assert evaluate(as_dicts(QRELS), frame(spark, RUN), ["AP"]).collect() == expected


def test_ids_may_be_whole_numbers_and_columns_have_any_name(spark: Any) -> None:
    judgments = frame(spark, [(1, 10, 1.0)], "`a.b` bigint, docno bigint, label float")
    run = frame(spark, [(1, 10, 3), (1, 11, 4)], "`a.b` bigint, `x ``y` int, s int")
    found = evaluate(judgments, run, ["RR"], query="a.b", document="x `y", score="s")
    assert found.collect().per_query("RR") == {"1": 0.5}


NAN = float("nan")
FAULTS = [
    ("the score of document 'x' for query 'q1' must not be NaN", [("q1", "x", NAN)], []),
    ("the score of document 'x' for query 'q1' is missing", [("q1", "x", None)], []),
    ("a document of query 'q1' is missing", [("q1", None, 1.0)], []),
    ("the query of a row with document 'x' is missing", [(None, "x", 1.0)], []),
    ("the grade of document 'x' for query 'q1' is missing", [], [("q1", "x", None)]),
]


@pytest.mark.parametrize(("message", "run", "judgments"), FAULTS)
def test_faults_of_rows_name_query_and_document(
    spark: Any, message: str, run: Rows, judgments: Rows
) -> None:
    side = "run" if run else "judgments"
    both = judged(spark, QRELS + judgments), frame(spark, RUN + run)
    for broadcast in (True, False):
        with pytest.raises(DataError, match=f"^{side}: {message}"):
            evaluate(*both, ["AP"], broadcast=broadcast)
    found = evaluate(*both, ["AP"], lenient=True).collect()
    assert found.dropped == 1
    expected = be.evaluate(as_dicts(QRELS), as_dicts(RUN), ["AP"])
    assert found.per_query("AP") == expected.per_query("AP")


def test_the_first_repeated_document_is_named_whatever_the_partitions(spark: Any) -> None:
    """The errors of both sides are those of the local engine; judgments come first."""
    run = [(f"q{number}", document, 1.0) for number in range(9, 0, -1) for document in "cbaab"]
    for partitions in (1, 3, 8):
        rows = frame(spark, run).repartition(partitions)
        with pytest.raises(RepeatedDocumentError) as caught:
            evaluate(judged(spark), rows, ["AP"])
        assert str(caught.value) == "run: document 'a' appears twice in query 'q1'"
        with pytest.raises(RepeatedDocumentError, match=r"^judgments: document 'b' appears twice"):
            evaluate(judged(spark, [*QRELS, ("q1", "b", 1)]), rows, ["AP"], broadcast=False)


def test_columns_are_checked_before_anything_runs(spark: Any) -> None:
    run = frame(spark, RUN)
    wrong = run.selectExpr("query", "document AS wrong")
    with pytest.raises(DataError, match=r"run: no column with the score .*; found 'query', 'wro"):
        evaluate(judged(spark), wrong, ["AP"], document="wrong")
    with pytest.raises(DataError, match="judgments: no column with the document"):
        evaluate(judged(spark).drop("document"), run, ["AP"])
    with pytest.raises(DataError, match="run: column 'score' must hold numbers, found string"):
        evaluate(judged(spark), run.selectExpr("query", "document", "'1' AS score"), ["AP"])
    with pytest.raises(DataError, match=r"run: column 'document' must hold ids .* found double"):
        evaluate(judged(spark), run.selectExpr("query", "score AS document", "score"), ["AP"])
    with pytest.raises(DataError, match="run: no column 'place' with the order of the rows"):
        evaluate(judged(spark), run, ["AP"], order="place")
    with pytest.raises(ConfigurationError, match="the rows of a DataFrame have none"):
        evaluate(judged(spark), run, ["AP"], profile="ranx")
    with pytest.raises(TypeError, match="run must be a Spark DataFrame, found list"):
        evaluate(judged(spark), RUN, ["AP"])
    with pytest.raises(MetricError, match="needs the texts of hits"):
        evaluate(judged(spark), run, ["token_precision@5"])


@pytest.mark.parametrize("broadcast", [True, False])
def test_an_empty_side_is_an_error(spark: Any, broadcast: bool) -> None:
    with pytest.raises(DataError, match=r"^run: holds no rows"):
        evaluate(judged(spark), frame(spark, []), ["AP"], broadcast=broadcast)
    with pytest.raises(DataError, match=r"^judgments: hold no rows"):
        evaluate(judged(spark, []), frame(spark, RUN), ["AP"], broadcast=broadcast)


@pytest.mark.parametrize("broadcast", [True, False])
def test_a_side_with_only_faulty_rows_is_an_error_and_no_zero(spark: Any, broadcast: bool) -> None:
    options: dict[str, Any] = {"lenient": True, "broadcast": broadcast}
    with pytest.raises(DataError, match=r"^run: holds no rows that can be used"):
        evaluate(judged(spark), frame(spark, [("q1", "a", math.nan)]), ["AP"], **options)
    with pytest.raises(DataError, match=r"^judgments: hold no rows that can be used"):
        evaluate(judged(spark, [("q1", None, 1)]), frame(spark, RUN), ["AP"], **options)


@pytest.mark.parametrize("broadcast", [True, False])
def test_notes_are_those_of_the_local_engine(spark: Any, broadcast: bool) -> None:
    """Ids that do not fit, on either side, and a level of relevance above every grade."""
    for run, metric in (
        ([("topic1", "a", 1.0)], "AP"),
        ([("q1", "doc-a", 1.0)], "AP"),
        ([("a", "q1", 1.0)], "AP"),
        (RUN, "P(rel=3)@5"),
    ):
        found = evaluate(judged(spark), frame(spark, run), [metric], broadcast=broadcast)
        expected = be.evaluate(as_dicts(QRELS), as_dicts(run), [metric])
        assert found.notes == expected.notes != ()
        assert found.collect() == expected


@pytest.mark.parametrize(
    ("package", "found"),
    [
        ("raise ImportError('hidden')", "cannot import berryeval: hidden"),
        ("__version__ = '0.0.1'", f"has berryeval 0.0.1, the driver has {be.__version__}"),
    ],
)
def test_executors_without_the_package_or_with_another_version_are_one_clear_error(
    spark: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, package: str, found: str
) -> None:
    (tmp_path / "other.py").write_text(package, "utf-8")
    (tmp_path / "sitecustomize.py").write_text(  # before the finder of an editable install
        "import sys\n"
        "from importlib.util import spec_from_file_location\n"
        "class Other:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        path = {str(tmp_path / 'other.py')!r}\n"
        "        return spec_from_file_location(name, path) if name == 'berryeval' else None\n"
        "sys.meta_path.insert(0, Other())\n",
        "utf-8",
    )
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(tmp_path))
    with pytest.raises(RunFailedError, match=f"^the executor on .*{found}; install berryeval"):
        evaluate(judged(spark), frame(spark, RUN), ["AP"])


def test_a_job_that_fails_is_one_line(spark: Any) -> None:
    run = frame(spark, RUN).selectExpr("query", "document", "score / (score - 1) AS score")
    with pytest.raises(RunFailedError, match=r"^Spark: .*DIVIDE_BY_ZERO") as caught:
        evaluate(judged(spark), run, ["AP"])
    assert "\n" not in str(caught.value)
