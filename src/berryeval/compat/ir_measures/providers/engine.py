"""The providers of ir_measures as conventions of this engine: measures, order, evaluator."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from berryeval.compat.ir_measures.measures import catalogue as known
from berryeval.compat.ir_measures.measures.base import NOT_PROVIDED, Measure
from berryeval.compat.ir_measures.providers.base import Any_, Choices, Evaluator, Provider, register
from berryeval.compat.ir_measures.providers.evaluators import (
    AccuracyEvaluator,
    CompatEvaluator,
    CwlEvaluator,
    DiversityEvaluator,
    EngineEvaluator,
    GdevalEvaluator,
    JudgedEvaluator,
    PytrecEvaluator,
    SetFEvaluator,
)
from berryeval.data import RankingRule
from berryeval.errors import MetricError
from berryeval.metrics import PROFILES


class EngineProvider(Provider):
    """A provider of ir_measures: its measures, its order of documents, its evaluator."""

    RULE: ClassVar[RankingRule]
    EVALUATOR: ClassVar[type[EngineEvaluator | CompatEvaluator | DiversityEvaluator]] = (
        EngineEvaluator
    )

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        names = {one.NAME for one in self.SUPPORTED_MEASURES}
        for measure in measures:
            if measure.NAME not in names:
                raise MetricError(
                    f"unsupported measure {measure} of the provider {self.NAME}; "
                    f"berryeval.evaluate(qrels, run, ['{measure}']) computes it if docs/metrics.md "
                    "lists it"
                )
        return self.EVALUATOR(list(dict.fromkeys(measures)), qrels, self.RULE)


_GIVEN: Final = Choices(NOT_PROVIDED)
_NO: Final = Choices(False)
_NEEDED: Final = Any_(required=True)
_RISING: Final = RankingRule("document ascending")
_AS_GIVEN: Final = RankingRule("given order")


class AccuracyProvider(EngineProvider):
    """Relevant documents before others."""

    NAME = "accuracy"
    RULE = _AS_GIVEN
    EVALUATOR = AccuracyEvaluator
    SUPPORTED_MEASURES = [known.Accuracy]


class CompatProvider(EngineProvider):
    """Compatibility."""

    NAME = "compat"
    RULE = _RISING
    EVALUATOR = CompatEvaluator
    SUPPORTED_MEASURES = [known.Compat]


class CwlEvalProvider(EngineProvider):
    """Measures of the C/W/L framework, of the first thousand documents."""

    NAME = "cwl_eval"
    RULE = RankingRule("given order", depth=1000)
    EVALUATOR = CwlEvaluator
    SUPPORTED_MEASURES = [
        known.P(judged_only=_NO),
        known.RR(cutoff=_GIVEN, judged_only=_NO),
        known.AP(cutoff=_GIVEN, judged_only=_NO),
        known.RBP(cutoff=_GIVEN, rel=_NEEDED),
        known.BPM(max_rel=_NEEDED),
        known.SDCG(cutoff=_NEEDED, max_rel=_NEEDED),
        known.NERR8(cutoff=_NEEDED, max_rel=_NEEDED),
        known.NERR9(cutoff=_NEEDED, max_rel=_NEEDED),
        known.NERR10(max_rel=_NEEDED),
        known.NERR11(max_rel=_NEEDED),
        known.INST(max_rel=_NEEDED),
        known.INSQ(max_rel=_NEEDED),
    ]


class GdevalProvider(EngineProvider):
    """ERR and nDCG of gdeval."""

    NAME = "gdeval"
    RULE = RankingRule()
    EVALUATOR = GdevalEvaluator
    SUPPORTED_MEASURES = [
        known.nDCG(cutoff=_NEEDED, dcg=Choices("exp-log2"), gains=_GIVEN, judged_only=_NO),
        known.ERR(cutoff=_NEEDED),
    ]


class JudgedProvider(EngineProvider):
    """Share of judged documents."""

    NAME = "judged"
    RULE = _RISING
    EVALUATOR = JudgedEvaluator
    SUPPORTED_MEASURES = [known.Judged]


class MsMarcoProvider(EngineProvider):
    """Reciprocal rank of MS MARCO."""

    NAME = "msmarco"
    RULE = _RISING
    SUPPORTED_MEASURES = [known.RR(judged_only=_NO)]


class PyNdEvalProvider(EngineProvider):
    """Diversity."""

    NAME = "pyndeval"
    RULE = _RISING
    EVALUATOR = DiversityEvaluator
    SUPPORTED_MEASURES = [
        known.ERR_IA, known.nERR_IA, known.alpha_DCG, known.alpha_nDCG, known.NRBP, known.nNRBP,
        known.AP_IA, known.P_IA, known.StRecall,
    ]  # fmt: skip


class PytrecEvalProvider(EngineProvider):
    """Measures of trec_eval 9."""

    NAME = "pytrec_eval"
    RULE = PROFILES["ir_measures"].rule
    EVALUATOR = PytrecEvaluator

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        if any(one.NAME == "SetF" and one["beta"] != 1 for one in measures):
            return SetFEvaluator(list(dict.fromkeys(measures)), qrels, self.RULE)
        return super()._evaluator(measures, qrels)

    SUPPORTED_MEASURES = [
        known.P, known.RR(cutoff=_GIVEN), known.Rprec, known.AP, known.nDCG(dcg=Choices("log2")),
        known.R, known.Bpref, known.NumRet, known.NumQ, known.NumRel(rel=Choices(1)), known.SetAP,
        known.SetF, known.SetP, known.SetR, known.Success, known.IPrec, known.infAP,
    ]  # fmt: skip


class RanxProvider(EngineProvider):
    """Measures of ranx; ties stay in the given order."""

    NAME = "ranx"
    RULE = _AS_GIVEN
    SUPPORTED_MEASURES = [
        known.P(judged_only=_NO),
        known.SetP(relative=_NO, judged_only=_NO),
        known.RR(cutoff=_GIVEN, judged_only=_NO),
        known.Rprec(judged_only=_NO),
        known.AP(judged_only=_NO),
        known.nDCG(gains=_GIVEN, judged_only=_NO),
        known.R(judged_only=_NO),
        known.SetR,
        known.NumRet(rel=_NEEDED),
        known.Success(judged_only=_NO),
    ]


class TrectoolsProvider(EngineProvider):
    """Measures that trectools computes as others do; ties stay in the given order."""

    NAME = "trectools"
    RULE = _AS_GIVEN
    SUPPORTED_MEASURES = [
        known.P(rel=Choices(1), judged_only=_NO),
        known.RR(cutoff=_GIVEN, rel=Choices(1), judged_only=_NO),
        known.Rprec(rel=Choices(1), judged_only=_NO),
        known.AP(rel=Choices(1), judged_only=_NO),
    ]


accuracy = register(AccuracyProvider())
compat = register(CompatProvider())
cwl_eval = register(CwlEvalProvider())
gdeval = register(GdevalProvider())
judged = register(JudgedProvider())
msmarco = register(MsMarcoProvider())
pyndeval = register(PyNdEvalProvider())
pytrec_eval = register(PytrecEvalProvider())
ranx = register(RanxProvider())
trectools = register(TrectoolsProvider())
