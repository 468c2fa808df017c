"""`fuse`: one run from several; `FusionModel`: a method with everything that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number, reject_unknown, require, require_whole, suggest
from berryeval.data import Qrels, QueryTable, Run
from berryeval.errors import ConfigurationError, DataError
from berryeval.fusion.methods import METHODS, find_method
from berryeval.fusion.recipe import NORMS, PROFILES, Floats, Recipe
from berryeval.fusion.table_fusion import ABSENT, align_queries, fuse_tables
from berryeval.fusion.training import RelevantRanks, relevant_ranks

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.fusion.methods import Method

_FEWEST_RUNS = 2


@dataclass(frozen=True)
class FusionModel:
    """A method of fusion with its parameters, weights and trained numbers.

    Attributes:
        method: Name of the method.
        norm: Normalization of scores.
        weights: Weight of each run; empty: 1 each.
        parameters: Numbers that the method takes; the defaults stand for others.
        trained: Numbers of each run, for a trained method.
        profile: Conventions of the normalization: "berryeval" or "ranx".
    """

    method: str = "rrf"
    norm: str = "min-max"
    weights: tuple[float, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    trained: tuple[tuple[float, ...], ...] = ()
    profile: str = "berryeval"

    def __post_init__(self) -> None:
        method = find_method(self.method)
        object.__setattr__(self, "norm", find_norm(self.norm))
        object.__setattr__(self, "weights", _check_weights(method, self.weights))
        mapped = isinstance(self.parameters, Mapping)
        require(mapped, f"parameters of {method.name}", "a mapping", self.parameters)
        reject_unknown(method.name, self.parameters, method.parameters, kind="parameter")
        known = method.parameters.items()
        numbers = {
            name: one.check(
                method.name, name, self.parameters.get(name, one.default),
                like_ranx=self.profile == "ranx",
            )
            for name, one in known
        }  # fmt: skip
        object.__setattr__(self, "parameters", numbers)
        object.__setattr__(self, "trained", _check_trained(method, self.trained))
        if not isinstance(self.profile, str) or self.profile not in PROFILES:
            raise ConfigurationError(
                f"unknown profile {self.profile!r:.80}; {suggest(str(self.profile), PROFILES)}"
            )

    @property
    def is_trained(self) -> bool:
        """Whether the model has all the numbers that its method needs."""
        return bool(self.trained) or find_method(self.method).train is None

    def train(self, ranks: Sequence[RelevantRanks]) -> FusionModel:
        """Return the model with numbers from the relevant documents of each run."""
        train = find_method(self.method).train
        if train is None:
            return self
        numbers = [train(found.answered(), self.parameters) for found in ranks]
        return replace(self, trained=tuple(tuple(one.tolist()) for one in numbers))

    def build(self, tables: Sequence[QueryTable]) -> Recipe:
        """Build the recipe for these tables; check that the model fits their number."""
        method, count = find_method(self.method), len(tables)
        if not self.is_trained:
            raise ConfigurationError(
                f"{self.method} is trained on judgments: give qrels, or a model of train_fusion"
            )
        for what, given in (("weight", self.weights), ("trained run", self.trained)):
            if given and len(given) != count:
                raise ConfigurationError(
                    f"{self.method} has {pluralize(len(given), what)} for {count} runs; one per "
                    "run is needed"
                )
        depths = tuple(int(np.diff(table.offsets).max(initial=0)) for table in tables)
        trained: tuple[Floats, ...] = tuple(np.array(one) for one in self.trained)
        return method.build(
            self.weights or (1.0,) * count, self.parameters, trained, depths,
            norm=self.norm, least=PROFILES[self.profile],
        )  # fmt: skip

    def fuse(self, runs: Sequence[Any], *, depth: int | None = None, name: str = "") -> Run:
        """Fuse runs, as `berryeval.fuse` does."""
        if depth is not None:
            require_whole("depth", depth)
        tables = [run.table for run in load_runs(runs)]
        recipe = self.build(tables)
        check_scores(runs, tables, recipe)
        queries, places = align_queries(tables)
        if len(tables) > 1 and not ((places != ABSENT).sum(axis=0) > 1).any():
            raise DataError(
                "no query is in two of the runs, so there is nothing to fuse: do the ids fit? "
                f"found {_show_query(tables[0])} in the first run, "
                f"{_show_query(tables[1])} in the second"
            )
        table = fuse_tables(tables, queries, places, recipe, depth=depth)
        return Run(table, name or self.method)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as JSON data."""
        return {
            "method": self.method,
            "norm": self.norm,
            "weights": list(self.weights),
            "parameters": dict(self.parameters),
            "trained": [list(numbers) for numbers in self.trained],
            "profile": self.profile,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FusionModel:
        """Read a model from JSON data."""
        require(isinstance(data, Mapping), "a fusion model", "a mapping", data)
        reject_unknown("a fusion model", data, list(cls.__dataclass_fields__), kind="field")
        return cls(**data)


def fuse(
    runs: Sequence[Run | Mapping[str, Mapping[str, float]] | PathLike | Any],
    method: str | FusionModel = "rrf",
    norm: str | None = "min-max",
    weights: Sequence[float] | None = None,
    *,
    qrels: Qrels | Mapping[str, Mapping[str, float]] | PathLike | Any = None,
    depth: int | None = None,
    profile: str = "berryeval",
    name: str = "",
    **parameters: float,
) -> Run:
    """Fuse runs into one.

    The result has the queries of all runs. A run that lacks a query, or has no documents for it,
    contributes nothing to it. Documents are ordered by fused score, then by id, both descending.

    Args:
        runs: Two or more runs, or arguments of `Run.load`.
        method: Name in `berryeval.fusion.METHODS`, or a model of `train_fusion` or
            `optimize_fusion`, which has its own settings.
        norm: Normalization of scores in each ranking: a name in `berryeval.fusion.NORMS`; None and
            "none" keep the scores. Methods that read only ranks ignore it, except for
            "min-max-inverted", which ranks the lowest score first.
        weights: Weight of each run, for the methods that take them; 1 by default.
        qrels: Judgments to train on, for bayesfuse, mapfuse, posfuse, probfuse, segfuse and
            slidefuse. Use judgments of other queries than those to be scored.
        depth: Number of documents to keep per query; None keeps all.
        profile: "ranx" divides by at least 1e-9 when it normalizes, as ranx does.
        name: Name of the result; the name of the method by default.
        parameters: Numbers that the method takes, such as `k` of rrf.
    """
    if isinstance(method, FusionModel):
        if weights is not None or qrels is not None or parameters:
            raise ConfigurationError("a fusion model has its own weights, judgments and parameters")
        return method.fuse(runs, depth=depth, name=name)
    model = FusionModel(method, find_norm(norm), _as_weights(weights), parameters, profile=profile)
    if qrels is not None and not model.is_trained:
        runs = load_runs(runs)
        model = train_model(model, qrels, runs)
    return model.fuse(runs, depth=depth, name=name)


def train_fusion(
    qrels: Qrels | Mapping[str, Mapping[str, float]] | PathLike | Any,
    runs: Sequence[Run | Mapping[str, Mapping[str, float]] | PathLike | Any],
    method: str,
    norm: str | None = "min-max",
    weights: Sequence[float] | None = None,
    *,
    rel: float = 1.0,
    **parameters: float,
) -> FusionModel:
    """Train a method on judgments; each run on the judged queries for which it has documents.

    Args:
        qrels: Judgments, or an argument of `Qrels.load`.
        runs: Two or more runs, or arguments of `Run.load`; the model fuses the same systems.
        method: Name in `berryeval.fusion.METHODS`.
        norm: Normalization of scores in each ranking.
        weights: Weight of each run, for the methods that take them.
        rel: Lowest grade of a relevant document.
        parameters: Numbers that the method takes.
    """
    model = FusionModel(method, find_norm(norm), _as_weights(weights), parameters)
    return train_model(model, qrels, load_runs(runs), rel=rel)


def train_model(
    model: FusionModel, qrels: Any, runs: Sequence[Run], *, rel: float = 1.0
) -> FusionModel:
    """Train a model on judgments in any form."""
    require(is_number(rel), "rel", "a finite number", rel)
    judgments = Qrels.load(qrels).flat
    ranks = []
    for run in runs:
        found = find_relevant(model, judgments, run, rel)
        if not (found.lengths > 0).any():
            raise DataError(
                f"no query of the run {run.name!r} is judged, so {model.method} cannot be trained "
                f"on it: found {_show_query(run.table)} in the run, {_show_query(judgments)} in "
                "the judgments"
            )
        ranks.append(found)
    if METHODS[model.method].train is not None and not any(len(one.ranks) for one in ranks):
        highest = float(judgments.values.max(initial=0.0))
        why = (
            f"no grade is {rel:g} or higher, the highest is {highest:g}; rel sets the level"
            if highest < rel
            else "none of the relevant documents is in a run; do the document ids fit?"
        )
        raise DataError(f"{model.method} has nothing to learn from: {why}")
    return model.train(ranks)


def find_relevant(
    model: FusionModel, judgments: QueryTable, run: Run, rel: float = 1.0
) -> RelevantRanks:
    """Find the relevant documents of a run in the order in which the model ranks them."""
    table = run.table
    if model.norm == "min-max-inverted":
        table = replace(table, values=-table.values)
    return relevant_ranks(judgments, table, rel)


def load_runs(runs: Sequence[Any]) -> list[Run]:
    """Load two or more runs."""
    if isinstance(runs, str | Mapping | Run) or not isinstance(runs, Sequence):
        raise ConfigurationError(f"runs must be a list of runs, found {type(runs).__name__}")
    if len(runs) < _FEWEST_RUNS:
        raise ConfigurationError(f"fusion needs two runs or more, found {len(runs)}")
    return [Run.load(run) for run in runs]


def check_scores(runs: Sequence[Any], tables: Sequence[QueryTable], recipe: Recipe) -> None:
    """Reject scores that have no order, or no size where the size counts."""
    for place, table in enumerate(tables):
        faulty = ~np.isfinite(table.values) if recipe.reads_scores else np.isnan(table.values)
        if faulty.any():
            row = int(np.argmax(faulty))
            query = table.queries[int(np.searchsorted(table.offsets, row, side="right")) - 1]
            name = getattr(runs[place], "name", "") or table.source or f"run {place + 1}"
            raise DataError(
                f"{name}: the score of document {table.documents[row]!r} for query {query!r} must "
                f"be a finite number, found {table.values[row]}; only methods of ranks, such as "
                "rrf, can fuse infinite scores"
            )


def find_norm(norm: Any) -> str:
    """Return the name of a normalization, or suggest the closest."""
    name = "none" if norm is None else norm
    if not isinstance(name, str) or name not in NORMS:
        raise ConfigurationError(
            f"unknown normalization {norm!r:.80}; {suggest(str(norm), list(NORMS))}"
        )
    return name


def _as_weights(weights: Any) -> tuple[float, ...]:
    return () if weights is None else weights  # checked by the model


def _check_weights(method: Method, given: Any) -> tuple[float, ...]:
    weights = _read_list(f"weights of {method.name}", given)
    if not weights:
        return ()
    if method.weighting == "no":
        twin = {"sum": "wsum", "mnz": "wmnz"}.get(method.name, f"w_{method.name}")
        hint = f"; use {twin}" if twin in METHODS else ""
        raise ConfigurationError(f"{method.name} takes no weights{hint}")
    valid = all(is_number(weight) and weight >= 0 for weight in weights)
    if not valid or not any(weights):
        raise ConfigurationError(
            f"weights of {method.name} must be numbers of 0 or more, one per run, and not all 0; "
            f"found {list(weights)}"
        )
    return tuple(float(weight) for weight in weights)


def _check_trained(method: Method, trained: Any) -> tuple[tuple[float, ...], ...]:
    what = f"trained numbers of {method.name}"
    runs = tuple(_read_list(what, numbers) for numbers in _read_list(what, trained))
    if runs and method.train is None:
        raise ConfigurationError(f"{method.name} is not trained, but has trained numbers")
    if not all(numbers and all(map(is_number, numbers)) for numbers in runs):
        raise ConfigurationError(f"{method.name} needs finite trained numbers for each run")
    return tuple(tuple(map(float, numbers)) for numbers in runs)


def _read_list(name: str, given: Any) -> tuple[Any, ...]:
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    require(listed, name, "a list of numbers", given)
    return tuple(given)


def _show_query(table: QueryTable) -> str:
    return f"{table.queries[0]!r:.60}" if len(table.queries) else "no query"
