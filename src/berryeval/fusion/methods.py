"""The methods of fusion: a name, a formula, its source, and its steps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from berryeval._internal.validate import is_number, is_whole, require, suggest
from berryeval.errors import ConfigurationError
from berryeval.fusion import training
from berryeval.fusion.query_fusion import reciprocal_ranks
from berryeval.fusion.recipe import Combine, Floats, Points, Recipe

if TYPE_CHECKING:
    from berryeval.fusion.training import RelevantRanks

Numbers: TypeAlias = Mapping[str, float]
# How weights count: not at all, on the points of a run, or as votes.
Weighting: TypeAlias = Literal["no", "points", "votes"]

_FOX = "Fox and Shaw 1993, Combination of Multiple Searches"
_LEE = "Lee 1997, Analyses of Multiple Evidence Combination"
_MOURAO = "Mourão, Martins and Magalhães 2015, Multimodal Medical Information Retrieval"
_ASLAM = "Aslam and Montague 2001, Models for Metasearch"
_CONDORCET = "Montague and Aslam 2002, Condorcet Fusion for Improved Retrieval"
_WU = "Wu and Crestani 2002, Data Fusion with Estimated Weights"
_LILLIS_2006 = "Lillis and others 2006, ProbFuse: A Probabilistic Approach to Data Fusion"
_LILLIS_2008 = "Lillis and others 2008, Extending Probabilistic Data Fusion Using Sliding Windows"
_LILLIS_2010 = "Lillis and others 2010, Estimating Probabilities for Effective Data Fusion"
_SHOKOUHI = "Shokouhi 2007, Segmentation of Search Engine Results for Effective Data-Fusion"
_BAILEY = "Bailey and others 2017, Retrieval Consistency in the Presence of Query Variations"
_CORMACK = "Cormack, Clarke and Büttcher 2009, Reciprocal Rank Fusion"


@dataclass(frozen=True)
class Parameter:
    """A number that a method takes.

    Attributes:
        default: Value unless another is given.
        text: Meaning of the number.
        low: Lowest value.
        high: Highest value.
        excluded: Whether the highest value itself gives no ranking; ranx accepts it.
        whole: Whether the number must be an integer.
        grid: Values that `optimize_fusion` tries, apart from the default.
    """

    default: float
    text: str
    low: float = 0.0
    high: float = math.inf
    excluded: bool = False
    whole: bool = False
    grid: tuple[float, ...] = ()

    def check(self, owner: str, name: str, value: Any, *, like_ranx: bool = False) -> float:
        """Return the value if it is in range."""
        ok = is_whole(value) if self.whole else is_number(value)
        excluded = self.excluded and not like_ranx
        if not ok or not self.low <= value <= self.high or (excluded and value == self.high):
            kind = "a whole number" if self.whole else "a number"
            limits = (
                f"from {self.low:g} up"
                if self.high == math.inf
                else f"from {self.low:g} to {'below ' * excluded}{self.high:g}"
            )
            raise ConfigurationError(
                f"{name} of {owner} must be {kind} {limits}, found {value!r:.80}"
            )
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class Method:
    """A method of fusion.

    Attributes:
        name: Name, as in ranx.
        formula: Score of a document d in words; n is the number of runs that rank d.
        source: Publication.
        points: Where the points of a run come from.
        combine: How the points of the runs become one score.
        weighting: How weights count.
        parameters: Numbers that the method takes, by name.
        factor: Factor on the sum by the number of runs that rank the document.
        table: Points of a run by rank, from its weight, the trained numbers and the parameters.
        train: Numbers of a run, from the ranks of its relevant documents; None: not trained.
        missing: Points of a document that a run does not rank; NaN: it does not count.
    """

    name: str
    formula: str
    source: str
    points: Points = "score"
    combine: Combine = "sum"
    weighting: Weighting = "no"
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    factor: Callable[[int, Numbers], float] | None = None
    table: Callable[[int, float, Floats, Numbers], Floats] | None = None
    train: Callable[[RelevantRanks, Numbers], Floats] | None = None
    missing: float = math.nan

    @property
    def reads_scores(self) -> bool:
        """Whether scores count, not only their order."""
        return self.points in {"score", "boosted"}

    def build(
        self,
        weights: tuple[float, ...],
        numbers: Numbers,
        trained: tuple[Floats, ...],
        depths: tuple[int, ...],
        *,
        norm: str,
        least: float,
    ) -> Recipe:
        """Build the recipe for runs with rankings of at most these depths."""
        runs = len(depths)
        factor = self.factor or (lambda _count, _numbers: 1.0)
        counts = range(1, runs + 1)
        tables: tuple[Floats, ...] = ()
        if self.table is not None:
            given = trained or (np.zeros(0),) * runs
            parts = zip(depths, weights, given, strict=True)
            tables = tuple(
                np.ascontiguousarray(self.table(depth, weight, numbers_of_run, numbers))
                for depth, weight, numbers_of_run in parts
            )
        scaled = self.weighting == "points" and self.table is None
        return Recipe(
            points=self.points,
            combine=self.combine,
            norm=norm if self.reads_scores or norm == "min-max-inverted" else "none",
            least=least,
            scales=weights if scaled else (1.0,) * runs,
            votes=weights,
            factors=(0.0, *(float(factor(count, numbers)) for count in counts)),
            tables=tables,
            missing=self.missing,
            window=int(numbers.get("window", 0)),
        )


def _pad(numbers: Floats, depth: int, filler: float = 0.0) -> Floats:
    """Return the first `depth` numbers, and the filler where there are fewer."""
    padded = np.full(depth, filler)
    padded[: len(numbers)] = numbers[:depth]
    return padded


def _hundredths(last: int) -> tuple[float, ...]:
    return tuple(step / 100 for step in range(1, last + 1))


_K = Parameter(60, "rank constant: the higher, the less the top ranks stand out",
               grid=tuple(range(10, 101, 10)))  # fmt: skip
_GAMMA = Parameter(1.0, "how much the number of runs counts", high=100.0, grid=_hundredths(100))
_SIGMA = Parameter(0.01, "added to the number of runs", high=1.0, grid=_hundredths(100))
_PHI = Parameter(0.8, "persistence: the higher, the deeper the ranks that count", high=1.0,
                 excluded=True, grid=_hundredths(99))  # fmt: skip
_MOST: Final = 100_000  # segments, or ranks of a window
_FINEST: Final = 1e-12  # step between weights
_SEGMENTS = Parameter(25, "number of segments of a ranking", low=1, high=_MOST, whole=True,
                      grid=tuple(range(1, 101)))  # fmt: skip
_WINDOW = Parameter(5, "ranks on each side", low=1, high=_MOST, whole=True,
                    grid=tuple(range(1, 101)))  # fmt: skip


def _squares(depth: int, *_: Any) -> Floats:
    ranks = np.arange(1, depth + 1, dtype=np.float64)
    squares: Floats = 1 / (ranks * ranks)
    return squares


def _isr(name: str, formula: str, factor: Callable[[int, Numbers], float], **more: Any) -> Method:
    return Method(name, formula, _MOURAO, points="rank", factor=factor, table=_squares, **more)


_ALL: Final = (
    Method("min", "lowest score", _FOX, combine="min"),
    Method("max", "highest score", _FOX, combine="max"),
    Method("med", "median score", _FOX, combine="median"),
    Method("sum", "Σ score", _FOX),
    Method("anz", "Σ score / n", _FOX, combine="mean"),
    Method("mnz", "n · Σ score", _FOX, factor=lambda count, _: count),
    Method("gmnz", "n^gamma · Σ score", _LEE, parameters={"gamma": _GAMMA},
           factor=lambda count, numbers: count ** numbers["gamma"]),
    Method("wsum", "Σ weight · score", _WU, weighting="points"),
    Method("wmnz", "Σ weight · Σ score", _WU, combine="votes", weighting="votes"),
    Method("mixed", "√n · Σ weight · score", _WU, weighting="points",
           factor=lambda count, _: math.sqrt(count)),
    Method("rrf", "Σ weight / (k + rank)", _CORMACK, points="rank", weighting="points",
           parameters={"k": _K},
           table=lambda depth, weight, _, numbers: reciprocal_ranks(depth, numbers["k"], weight)),
    Method("rbc", "Σ (1 - phi) · phi^(rank - 1)", _BAILEY, points="rank", parameters={"phi": _PHI},
           table=lambda depth, _weight, _, numbers:
           (1 - numbers["phi"]) * numbers["phi"] ** np.arange(depth, dtype=np.float64)),
    _isr("isr", "n · Σ 1 / rank²", lambda count, _: count),
    _isr("log_isr", "ln n · Σ 1 / rank²", lambda count, _: math.log(count)),
    _isr("logn_isr", "ln (n + sigma) · Σ 1 / rank²",
         lambda count, numbers: math.log(count + numbers["sigma"]), parameters={"sigma": _SIGMA}),
    Method("bordafuse", "Σ (c - rank + 1), or (c - length + 1) / 2 if not ranked, of c candidates",
           _ASLAM, points="borda"),
    Method("w_bordafuse", "Σ weight · points of bordafuse", _ASLAM, points="borda",
           weighting="points"),
    Method("condorcet", "majorities of runs that rank d higher, merge-sorted", _CONDORCET,
           points="rank", combine="condorcet"),
    Method("w_condorcet", "majorities of weight, merge-sorted", _CONDORCET,
           points="rank", combine="condorcet", weighting="votes"),
    Method("bayesfuse", "Σ ln (p / (1 - p)), p the precision around the rank", _ASLAM,
           points="rank", train=training.log_odds, missing=math.log(0.001 / 0.999),
           table=lambda depth, _, odds, __: _pad(odds, depth, odds[-1])),
    Method("mapfuse", "Σ mean AP of the run / rank", _LILLIS_2010, points="rank",
           train=training.mean_average_precision,
           table=lambda depth, _, means, __: means[0] / np.arange(1, depth + 1)),
    Method("posfuse", "Σ probability of relevance at the rank", _LILLIS_2010, points="rank",
           train=training.probabilities, table=lambda depth, _, odds, __: _pad(odds, depth)),
    Method("probfuse", "Σ probability of relevance in the segment / number of the segment",
           _LILLIS_2006, points="segment", parameters={"segments": _SEGMENTS},
           train=training.segment_probabilities,
           table=lambda _depth, _, shares, __: shares / np.arange(1, len(shares) + 1)),
    Method("segfuse", "Σ probability of relevance in the segment · (score + 1)", _SHOKOUHI,
           points="boosted", train=training.growing_segment_probabilities,
           table=lambda depth, _, shares, __: _pad(training.spread_segments(shares), depth)),
    Method("slidefuse", "Σ mean probability of relevance within window ranks", _LILLIS_2008,
           points="window", parameters={"window": _WINDOW}, train=training.probabilities,
           table=lambda depth, _, odds, __: _pad(odds, depth)),
)  # fmt: skip

METHODS: Final[Mapping[str, Method]] = {method.name: method for method in _ALL}


def find_method(name: Any) -> Method:
    """Return a method, or suggest the closest name."""
    method = METHODS.get(name) if isinstance(name, str) else None
    if method is None:
        hint = suggest(str(name), list(METHODS))
        raise ConfigurationError(f"unknown method of fusion {name!r:.80}; {hint}")
    return method


def count_weights(runs: int, step: float) -> int:
    """Return the number of weights that `list_weights` would list."""
    return math.comb(_count_parts(step) + runs - 1, runs - 1)


def list_weights(
    runs: int, step: float = 0.1, *, even_first: bool = False
) -> list[tuple[float, ...]]:
    """Return all weights in steps that add up to 1, in ascending order or the most even first.

    >>> list_weights(2, 0.5)
    [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)]
    >>> list_weights(2, 0.5, even_first=True)
    [(0.5, 0.5), (1.0, 0.0), (0.0, 1.0)]
    """
    parts = _count_parts(step)
    ends = parts + runs - 1
    shares = [
        tuple(b - a - 1 for a, b in itertools.pairwise((-1, *cut, ends)))
        for cut in itertools.combinations(range(ends), runs - 1)
    ]
    if even_first:
        shares.sort(key=lambda one: (sum(part * part for part in one), [-part for part in one]))
    return [tuple(part / parts for part in one) for one in shares]


def _count_parts(step: float) -> int:
    parts = round(1 / step) if is_number(step) and _FINEST <= step <= 1 else 0
    require(math.isclose(parts * step, 1), "step", "a fraction that divides 1, such as 0.1", step)
    return parts
