"""The floor of ir_measures has its names, types and numbers."""

from __future__ import annotations

import inspect
import io
import logging
import math
import pickle
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import ir_measures as peer
import numpy as np
import pandas as pd
import pytest

from berryeval.compat import ir_measures as ours
from tests.compat.peers import agree, draw

TREC = [
    "P@5", "P(rel=2)@3", "P(judged_only=True)@3", "RR", "RR(rel=2)", "Rprec", "AP", "AP@3",
    "AP(rel=2)", "nDCG", "nDCG@4", "R@5", "R(rel=2)@5", "Bpref", "Bpref(rel=2)", "NumRet",
    "NumRelRet", "NumRet(rel=2)", "NumQ", "NumRel", "SetAP", "SetF", "SetF(beta=0.5)", "SetP",
    "SetRelP", "SetR", "Success@3", "IPrec@0.3", "infAP", "nDCG(judged_only=True)",
]  # fmt: skip
BY_PROVIDER = {
    "pytrec_eval": [*TREC, "nDCG(gains={0:1,1:3,2:7})@4"],
    "msmarco": ["RR@3", "RR(rel=2)@4", "RR"],
    "judged": ["Judged@3", "Judged"],
    "compat": ["Compat", "Compat(p=0.8)", "Compat(normalize=False)"],
    "cwl_eval": [
        "P@5", "RR", "AP", "RBP(rel=1)", "RBP(p=0.5,rel=2)", "BPM(max_rel=3)@5",
        "SDCG(max_rel=3)@5",
        "NERR8(max_rel=3)@5", "NERR9(max_rel=3)@5", "NERR10(max_rel=3)", "NERR11(max_rel=3)",
        "INST(max_rel=3)", "INSQ(max_rel=3)",
    ],
    "pyndeval": [
        "ERR_IA@5", "nERR_IA@5", "alpha_DCG@5", "alpha_nDCG@5", "NRBP", "nNRBP", "AP_IA", "P_IA@5",
        "StRecall@5",
    ],
    "accuracy": ["Accuracy", "Accuracy@4", "Accuracy(rel=2)"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence the warnings of the peer about scales of grades."""
    logging.getLogger("ir_measures").disabled = True
    logging.getLogger("ir_measures.cwl_eval").disabled = True
    yield
    logging.getLogger("ir_measures").disabled = False
    logging.getLogger("ir_measures.cwl_eval").disabled = False


def records(seed: int, module: Any) -> tuple[list[Any], list[Any]]:
    qrels, run = draw(seed, most=25)
    judged = [
        module.Qrel(query, document, grade, str(len(document) % 2))
        for query, row in qrels.items()
        for document, grade in row.items()
    ]
    ranked = [
        module.ScoredDoc(query, document, score)
        for query, row in run.items()
        for document, score in row.items()
    ]
    return judged, ranked


def values_of(module: Any, provider: str, text: str, seed: int) -> dict[str, float] | None:
    measure = module.parse_measure(text)
    try:
        found = list(getattr(module, provider).iter_calc([measure], *records(seed, module)))
    except ZeroDivisionError:  # Accuracy of the peer, if everything retrieved is relevant
        return None
    assert {one.measure for one in found} <= {measure}
    return {one.query_id: one.value for one in found}


@pytest.mark.parametrize("provider", BY_PROVIDER)
@pytest.mark.parametrize("seed", range(4))
def test_every_provider_has_the_values_of_the_peer(provider: str, seed: int) -> None:
    for text in BY_PROVIDER[provider]:
        expected = values_of(peer, provider, text, seed)
        found = values_of(ours, provider, text, seed)
        if expected is not None and found is not None:
            assert found.keys() == expected.keys(), text
            assert all(agree(found[query], value) for query, value in expected.items()), text


@pytest.mark.parametrize("seed", range(8))
def test_the_pipeline_aggregates_as_the_peer(seed: int) -> None:
    chosen = [*TREC, "RR@3", "Judged@4", "RBP(rel=1)", "Compat"]
    # One at a time: together, the peer mixes some up, by the order of a set.
    asked = [peer.parse_measure(one) for one in chosen]
    expected = {one: peer.calc_aggregate([one], *records(seed, peer))[one] for one in asked}
    measures = [ours.parse_measure(one) for one in chosen]
    found = ours.calc_aggregate(measures, *records(seed, ours))
    assert list(found) == measures
    for measure, value in expected.items():
        assert agree(found[ours.parse_measure(str(measure))], value), measure
    aggregated, per_query = ours.calc(measures, *records(seed, ours))
    assert aggregated == found
    assert len(per_query) == len(measures) * 4


def test_the_names_are_those_of_the_peer() -> None:
    assert set(peer.__all__) - {"lazylibs"} == set(ours.__all__)  # its way to import pandas
    assert set(peer.providers.__all__) <= set(ours.providers.__all__)
    assert peer.measures.registry.keys() == ours.measures.registry.keys()
    assert peer.providers.registry.keys() == ours.providers.registry.keys()
    for name, measure in peer.measures.registry.items():
        mine = ours.measures.registry[name]
        assert (str(mine), mine.AT_PARAM) == (str(measure), measure.AT_PARAM)
        assert mine.SUPPORTED_PARAMS.keys() == measure.SUPPORTED_PARAMS.keys()
        assert type(mine.aggregator()).__name__ == type(measure.aggregator()).__name__
    for record in ("Qrel", "ScoredDoc", "Metric", "CalcResults", "CwlMetric"):
        assert getattr(ours, record)._fields == getattr(peer, record)._fields


def test_every_form_of_input_gives_the_same(tmp_path: Path) -> None:
    qrels, run = records(3, ours)
    measures = [ours.nDCG @ 5, ours.RR @ 3, ours.AP]
    expected = ours.calc_aggregate(measures, qrels, run)
    judged, ranked = tmp_path / "qrels", tmp_path / "run"
    judged.write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g, _ in qrels))
    ranked.write_text("".join(f"{q} Q0 {d} 0 {s!r} tag\n" for q, d, s in run))
    forms = [
        (iter(qrels), iter(run)),
        (pd.DataFrame(qrels), pd.DataFrame(run)),
        (ours.util.QrelsConverter(qrels).as_dict_of_dict(), draw(3, most=25)[1]),
        (ours.read_trec_qrels(str(judged)), ours.read_trec_run(str(ranked))),
        (
            ours.read_trec_qrels(judged.read_text()),
            ours.read_trec_run(io.StringIO(ranked.read_text())),
        ),
    ]
    for form in forms:
        assert ours.calc_aggregate(measures, *form) == expected
    evaluator = ours.evaluator(measures, qrels)
    assert evaluator.calc_aggregate(iter(run)) == evaluator.calc_aggregate(run) == expected


def test_rows_of_a_file_are_read_once() -> None:
    rows = ours.read_trec_run("q Q0 d1 1 2 t\nq Q0 d2 2 1 t\n")
    assert next(rows) == ours.ScoredDoc("q", "d1", 2.0)
    assert list(rows) == [ours.ScoredDoc("q", "d2", 1.0)]
    with pytest.raises(ValueError, match="unpack"):
        list(ours.read_trec_qrels("q 0 d\n\n"))


def test_measures_are_parsed_and_printed_as_by_the_peer() -> None:
    texts = [
        "P(rel=2)@5",
        'nDCG(dcg="exp-log2", cutoff=20)@10',
        "nDCG(gains={1:2,0:1})",
        "IPrec@0.2",
    ]
    for text in texts:
        assert str(ours.parse_measure(text)) == str(peer.parse_measure(text))
    for name in ("official", "P.5,10", "set_F.1.0,0.5", "iprec_at_recall", "map"):
        found = [str(one) for one in ours.parse_trec_measure(name)]
        assert found == [str(one) for one in peer.parse_trec_measure(name)]
    for wrong in ("P(5)", "P@5; AP", "P +", "P(rel=x)", "P(rel=1"):
        with pytest.raises(ValueError, match="format"):
            ours.parse_measure(wrong)
    with pytest.raises(NameError, match=r"metrics\.md"):
        ours.parse_measure("Nothing@5")


@pytest.mark.parametrize("name", ["gm_map", "11pt_avg", "nothing"])
def test_a_name_without_a_measure_names_the_native_way(name: str) -> None:
    with pytest.raises(ValueError, match=r"berryeval\.evaluate"):
        ours.parse_trec_measure(name)


def test_a_measure_that_no_provider_computes_names_the_native_way() -> None:
    with pytest.raises(ValueError, match=r"berryeval\.evaluate"):
        ours.calc_aggregate([ours.ERR], {"q": {"d": 1}}, {"q": {"d": 1.0}})
    with pytest.raises(ValueError, match=r"berryeval\.evaluate"):
        ours.trectools.calc_aggregate([ours.Bpref], {"q": {"d": 1}}, {"q": {"d": 1.0}})
    with pytest.raises(AssertionError, match="invalid param"):
        ours.calc_aggregate([ours.P], {"q": {"d": 1}}, {"q": {"d": 1.0}})


@pytest.mark.parametrize("cutoff", ["5", 5.0])
def test_an_invalid_cutoff_is_rejected_also_after_a_valid_one(cutoff: Any) -> None:
    """A measure that prints the same and was computed before does not make it valid."""
    qrels, run = {"q": {"d": 1}}, {"q": {"d": 1.0}}
    assert ours.calc_aggregate([ours.P @ 5], qrels, run)
    with pytest.raises(AssertionError, match="invalid param cutoff"):
        ours.calc_aggregate([ours.P @ 5, ours.P @ cutoff], qrels, run)


def test_defined_measures_are_those_of_the_peer() -> None:
    def share(qrels: Any, run: Any) -> float:
        merged = run.merge(qrels, "left", on=["doc_id"])
        return float((merged["relevance"] > 0).sum() / len(merged))

    found = {}
    for module in (peer, ours):
        own = module.define_byquery(share)
        qrels, run = records(2, module)
        values = module.iter_calc([own @ 2, module.P @ 2], qrels, run)
        found[module] = sorted((one.query_id, str(one.measure), one.value) for one in values)
    assert found[ours] == found[peer]
    assert ours.run_inputs([ours.P @ 5]) == ["query_id", "doc_id", "score"]


def test_gdeval_rounds_to_five_decimals() -> None:
    """The values are those that the suite of the peer expects of its Perl program."""
    qrels = {"0": {"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0}}
    run = {"0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1}}
    assert ours.gdeval.calc_aggregate([ours.ERR @ 5], qrels, run) == {ours.ERR @ 5: 0.10175}


def test_nothing_to_average_is_not_a_number() -> None:
    assert math.isnan(ours.calc_aggregate([ours.P @ 5], [], [])[ours.P @ 5])
    assert list(ours.iter_calc([ours.P @ 5], {"q": {"d": 1}}, [])) == [("q", ours.P @ 5, 0.0)]


def test_old_names_warn() -> None:
    with pytest.warns(DeprecationWarning, match="ScoredDoc"):
        assert ours.GenericScoredDoc("q", "d", 1.0) == ours.ScoredDoc("q", "d", 1.0)
    with (
        pytest.warns(DeprecationWarning, match="evaluator"),
        ours.calc_ctxt([ours.AP], {}) as score,
    ):
        assert list(score({})) == []
    with pytest.warns(DeprecationWarning, match="parse_trec_measure"):
        assert ours.convert_trec_name("map") == [ours.AP]


@pytest.mark.parametrize("wrong", [object(), [("q", "d", 1.0)], pd.DataFrame({"query_id": ["q"]})])
def test_unknown_input_is_an_error(wrong: Any) -> None:
    with pytest.raises(ValueError, match="unknown run format"):
        ours.calc_aggregate([ours.AP], {"q": {"d": 1}}, wrong)
    with pytest.raises(ValueError, match="unknown qrels format"):
        ours.calc_aggregate([ours.AP], wrong, {"q": {"d": 1.0}})


@pytest.mark.parametrize("grade", ["0.5", "1e-9"])
def test_fractional_grades_of_a_file_are_an_error(grade: str) -> None:
    for module in (peer, ours):
        with pytest.raises(ValueError, match=grade):
            module.calc_aggregate(
                [module.AP],
                module.read_trec_qrels(f"q 0 d {grade}\n"),
                module.read_trec_run("q Q0 d 1 1 t\n"),
            )


def test_sums_without_a_judged_query_are_those_of_the_peer() -> None:
    for module in (peer, ours):
        found = module.calc_aggregate([module.NumRet], {"q": {"d": 1}}, {"p": {"d": 1.0}})
        assert repr(found[module.NumRet]) == "0.0"


def test_a_path_and_a_binary_file_are_read(tmp_path: Path) -> None:
    """The peer reads nothing from a `Path`, and scores NaN."""
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q 0 d 1\n")
    for source in (qrels, str(qrels), io.BytesIO(qrels.read_bytes())):
        found = ours.calc_aggregate([ours.AP], ours.read_trec_qrels(source), {"q": {"d": 1.0}})
        assert found == {ours.AP: 1.0}


@pytest.mark.parametrize("measure", ["RR@10", "Judged@2", "Accuracy@5", "RBP(rel=1)", "P@2"])
@pytest.mark.parametrize("grade", [np.int64(1), np.float32(1.0), 1.0, True])
def test_numbers_of_numpy_count_where_the_peer_takes_them(measure: str, grade: Any) -> None:
    found: list[Any] = []
    for tool in (peer, ours):
        qrels = {"q": {"a": 0, "b": grade}}
        run = {"q": {"a": np.float32(3.0), "b": 2.0, "c": np.int64(1)}}
        try:
            found.append(tool.calc_aggregate([tool.parse_measure(measure)], qrels, run))
        except TypeError:
            found.append(TypeError)
    expected, value = ([*one.values()] if isinstance(one, dict) else one for one in found)
    assert value == (expected if expected is TypeError else pytest.approx(expected))


def test_each_family_of_measures_has_the_module_of_the_peer() -> None:
    for part in pkgutil.iter_modules(peer.measures.__path__):
        theirs = import_module(f"ir_measures.measures.{part.name}")
        mine = import_module(f"berryeval.compat.ir_measures.measures.{part.name}")
        assert {name for name in theirs.__dict__ if name in ours.measures.registry} <= set(
            vars(mine)
        )


@pytest.mark.parametrize("name", sorted(ours.measures.registry))
def test_measures_can_be_sent_to_other_processes(name: str) -> None:
    measure = ours.measures.registry[name]
    metric = pickle.loads(pickle.dumps(ours.Metric("q", measure, 0.5)))  # noqa: S301 - ours
    assert (metric.query_id, metric.measure, metric.value) == ("q", measure, 0.5)
    assert type(metric.measure) is type(measure)


@pytest.mark.parametrize("name", sorted(ours.measures.registry))
def test_help_describes_a_measure_and_its_parameters(name: str) -> None:
    measure = ours.measures.registry[name]
    text = inspect.getdoc(measure) or ""
    assert measure.PRETTY_NAME
    assert text.startswith(measure.PRETTY_NAME)
    assert all(f"    {name}: " in text for name in measure.SUPPORTED_PARAMS)


@pytest.mark.parametrize("provider", [*ours.providers.registry.values(), ours.DefaultPipeline])
def test_providers_can_be_sent_to_other_processes(provider: Any) -> None:
    made = pickle.loads(pickle.dumps(provider))  # noqa: S301 - ours
    assert type(made) is type(provider)
    measures = [one for one in (ours.AP, ours.Accuracy) if made.supports(one)]
    assert len(made.calc_aggregate(measures, {"q": {"d": 1}}, {"q": {"d": 1.0}})) == len(measures)


@pytest.mark.parametrize("module", [ours, peer])
def test_a_provider_of_the_user_is_initialized_once(module: Any) -> None:
    """What it needs is loaded by `initialize`; a RuntimeError makes it unavailable."""
    calls: list[str] = []

    class Own(module.Provider):  # type: ignore[misc] # of either module
        NAME = "own"

        def initialize(self) -> None:
            calls.append("initialize")

        def _evaluator(self, measures: Any, qrels: Any) -> Any:
            return module.pytrec_eval.evaluator(measures, qrels)

    class Away(Own):
        def initialize(self) -> None:
            raise RuntimeError("not installed")

    own = Own()
    for _ in range(2):
        found = own.calc_aggregate([module.AP], {"q": {"d": 1}}, {"q": {"d": 1.0}})
        assert found == {module.AP: 1.0}
    assert calls == ["initialize"]
    assert not Away().is_available()
    with pytest.raises(RuntimeError, match="own is not available"):
        Away().evaluator([module.AP], {})


@pytest.mark.parametrize("name", ["define", "define_byquery", "calc", "iter_calc", "evaluator"])
def test_functions_take_the_arguments_of_the_peer(name: str) -> None:
    mine, theirs = (inspect.signature(getattr(one, name)).parameters for one in (ours, peer))
    assert [(one.name, one.kind) for one in mine.values()] == [
        (one.name, one.kind) for one in theirs.values()
    ]


def test_what_is_missing_names_the_native_way() -> None:
    with pytest.raises(ImportError, match="berryeval score"):
        import_module("berryeval.compat.ir_measures.bin.main")
