"""`Report` of ranx: mean values of runs, and which of them differ significantly."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import replace_file
from berryeval._internal.optional import import_optional

if TYPE_CHECKING:
    import pandas as pd

    from berryeval._internal.files import PathLike

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_RAISED: Final = dict(zip(_LETTERS, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
_LABELS: Final = {
    "hits": "Hits", "hit_rate": "Hit Rate", "precision": "P", "recall": "Recall", "f1": "F1",
    "r-precision": "R-Prec", "mrr": "MRR", "map": "MAP", "dcg": "DCG", "dcg_burges": "DCG Burges",
    "ndcg": "NDCG", "ndcg_burges": "NDCG Burges", "bpref": "BPref", "rbp": "RBP",
}  # fmt: skip
TEST_LABELS: Final = {
    "fisher": "Fisher's randomization test",
    "student": "paired Student's t-test",
    "tukey": "Tukey's HSD test",
}
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")


class FrozensetDict(MutableMapping[Any, Any]):
    """A dict whose keys are sets: the order of the names in a key does not matter."""

    def __init__(self, arg: Mapping[Any, Any] | None = None) -> None:
        self._items: dict[frozenset[Any], Any] = {}
        self.update(arg or {})

    def __getitem__(self, key: Any) -> Any:
        return self._items[frozenset(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[frozenset(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._items[frozenset(key)]

    def __iter__(self) -> Iterator[frozenset[Any]]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


@dataclass(repr=False, eq=False)
class Report:
    """The result of `compare`.

    Attributes:
        model_names: Names of the runs.
        results: Mean values by run and metric.
        comparisons: `p_value` and `significant` of each metric, by pair of runs in any order.
        metrics: Names of the metrics.
        max_p: Highest p-value of a significant difference.
        win_tie_loss: Number of queries that the first run of a pair wins (W), ties (T) and loses
            (L), by pair of runs and metric.
        rounding_digits: Number of decimals in tables.
        show_percentages: Whether tables show percentages.
        stat_test: Name of the significance test.
    """

    model_names: list[str]
    results: dict[str, dict[str, float]]
    comparisons: FrozensetDict
    metrics: list[str]
    max_p: float
    win_tie_loss: dict[tuple[str, str], dict[str, dict[str, int]]]
    rounding_digits: int = 3
    show_percentages: bool = False
    stat_test: str = "student"

    def format_score(self, score: float) -> str:
        """Format a mean value for tables."""
        return format_score(score, self.rounding_digits, percentages=self.show_percentages)

    def get_metric_label(self, m: str) -> str:
        """Return the label of a metric: NDCG@10 for ndcg@10."""
        return label_metric(m)

    def get_stat_test_label(self, stat_test: str) -> str:
        """Return the label of a significance test."""
        return TEST_LABELS[stat_test]

    def _beaten(self, model: str, metric: str) -> list[bool]:
        """Return for each run whether `model` is significantly better."""
        mean = self.results[model][metric]
        return [
            other != model
            and bool(self.comparisons[model, other][metric]["significant"])
            and mean > self.results[other][metric]
            for other in self.model_names
        ]

    def get_superscript_for_table(self, model: str, metric: str) -> str:
        """Return raised letters for the runs that `model` beats significantly."""
        raised = self.get_superscript_for_latex(model, metric)
        return "".join(_RAISED[letter] for letter in raised)

    def get_superscript_for_latex(self, model: str, metric: str) -> str:
        """Return the letters of the runs that `model` beats significantly."""
        beaten = self._beaten(model, metric)
        return "".join(_letter(place) for place, is_beaten in enumerate(beaten) if is_beaten)

    def get_phantoms_for_latex(self, model: str, metric: str) -> str:
        """Return the letters of the other runs, which keep a column aligned when invisible."""
        beaten = self._beaten(model, metric)
        return "".join(
            _letter(place)
            for place, name in enumerate(self.model_names)
            if name != model and not beaten[place]
        )

    def to_table(self) -> str:
        """Return the mean values as a text table; raised letters mark the runs that are beaten."""
        rows = [
            [
                _letter(place),
                model,
                *(
                    self.format_score(self.results[model][metric])
                    + self.get_superscript_for_table(model, metric)
                    for metric in self.metrics
                ),
            ]
            for place, model in enumerate(self.model_names)
        ]
        return _draw_table(["#", "Model", *map(self.get_metric_label, self.metrics)], rows)

    def to_latex(self) -> str:
        """Return a LaTeX table for the packages graphicx and booktabs."""
        from berryeval.reports import escape_latex

        labels = [escape_latex(self.get_metric_label(metric)) for metric in self.metrics]
        test = self.get_stat_test_label(self.stat_test)
        caption = (
            r"\caption{Mean effectiveness of the models, the best in bold. A superscript names a "
            f"model that is significantly worse ({test}, $p \\le {self.max_p}$).}}"
        )
        rows = [
            " & ".join([_letter(place), escape_latex(model), *self._latex_cells(model)]) + r" \\"
            for place, model in enumerate(self.model_names)
        ]
        return "\n".join([
            r"% The preamble needs \usepackage{graphicx} and \usepackage{booktabs}.",
            r"\begin{table*}[ht]",
            r"\centering",
            caption,
            r"\resizebox{0.8\textwidth}{!}{",
            r"\begin{tabular}{c|l" + "|c" * len(self.metrics) + "}",
            r"\toprule",
            " & ".join(rf"\textbf{{{label}}}" for label in [r"\#", "Model", *labels]) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            "}",
            r"\label{tab:results}",
            r"\end{table*}",
        ])  # fmt: skip

    def _latex_cells(self, model: str) -> Iterator[str]:
        for metric in self.metrics:
            means = {name: self.results[name][metric] for name in self.model_names}
            rounded = {name: round(mean, self.rounding_digits) for name, mean in means.items()}
            best = max(rounded.values())
            text = self.format_score(means[model])
            if best > 0 and model == next(name for name in rounded if rounded[name] == best):
                text = rf"\textbf{{{text}}}"
            if raised := self.get_superscript_for_latex(model, metric):
                text += f"$^{{{raised}}}$"
            if hidden := self.get_phantoms_for_latex(model, metric):
                text += rf"\hphantom{{$^{{{hidden}}}$}}"
            yield text

    def to_dict(self) -> dict[str, Any]:
        """Return the test, the metrics, and for each run its scores, p-values, wins and losses."""
        found: dict[str, Any] = {
            "stat_test": self.stat_test,
            "metrics": self.metrics,
            "model_names": self.model_names,
        }
        for model in self.model_names:
            others = [other for other in self.model_names if other != model]
            found[model] = {
                "scores": self.results[model],
                "comparisons": {
                    other: {
                        metric: self.comparisons[model, other][metric]["p_value"]
                        for metric in self.metrics
                    }
                    for other in others
                },
                "win_tie_loss": {other: self.win_tie_loss[model, other] for other in others},
            }
        return found

    def to_dataframe(self) -> pd.DataFrame:
        """Return the mean values as a pandas frame: a row per run, a column per metric."""
        pandas = import_optional("pandas", "Report.to_dataframe")
        rows = [{"model_names": name, **self.results[name]} for name in self.model_names]
        return pandas.DataFrame(rows)

    def save(self, path: PathLike) -> None:
        """Write `to_dict` as a JSON file."""
        with replace_file(path) as stream:
            stream.write(json.dumps(self.to_dict(), indent=4).encode())

    def print_results(self) -> None:
        """Print the mean values as JSON."""
        sys.stdout.write(json.dumps(self.results, indent=4) + "\n")

    def __repr__(self) -> str:
        return self.to_table()


@dataclass(repr=False, eq=False)
class OptimizationReport:
    """The training scores of all configurations that `optimize_fusion` tried.

    Attributes:
        method: Fusion method.
        configs: Configurations as text.
        results: Training score of each.
        metric: Name of the metric.
        rounding_digits: Number of decimals in the table.
        show_percentages: Whether the table shows percentages.
    """

    method: str
    configs: Sequence[str]
    results: Sequence[float]
    metric: str
    rounding_digits: int = 3
    show_percentages: bool = False

    def to_table(self) -> str:
        """Return the configurations and their scores as a text table; a star marks the best."""
        best = max(range(len(self.results)), key=self.results.__getitem__, default=-1)
        rows = [
            [config, self.format_score(score) + ("*" if place == best else "")]
            for place, (config, score) in enumerate(zip(self.configs, self.results, strict=True))
        ]
        return _draw_table([self.method, label_metric(self.metric)], rows)

    def format_score(self, score: float) -> str:
        """Format a score for the table."""
        return format_score(score, self.rounding_digits, percentages=self.show_percentages)

    def __repr__(self) -> str:
        return self.to_table()


def format_score(score: float, digits: int, *, percentages: bool) -> str:
    """Format a score with this many decimals, two fewer for percentages."""
    if percentages:
        decimals = max(0, digits - 2)
        return f"{round(score * 100, decimals):.{decimals}f}"
    return f"{round(score, digits):.{digits}f}"


def label_metric(name: str) -> str:
    """Return the label of a metric; a name that ranx does not have is its own label."""
    match = re.match(r"[a-z_1-]+?(?=[@.]|-l[0-9]|$)", name)
    label = _LABELS.get(match[0]) if match else None
    return name if match is None or label is None else label + name[match.end() :]


def _letter(place: int) -> str:
    """Return a, b, ..., z, aa, ab, and so on."""
    letters = _LETTERS[place % 26]
    return letters if place < len(_LETTERS) else _letter(place // 26 - 1) + letters


def _draw_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Draw columns two spaces apart below a line; numbers are aligned at the decimal point."""
    columns = [[row[place] for row in rows] for place in range(len(headers))]
    drawn = []
    for header, cells in zip(headers, columns, strict=True):
        numeric = bool(cells) and all(map(_NUMBER.fullmatch, cells))
        shown = _align_points(cells) if numeric else cells
        width = max([len(header) + 2, *map(len, shown)])
        lines = [header, "-" * width, *shown]
        drawn.append([line.rjust(width) if numeric else line.ljust(width) for line in lines])
    return "\n".join("  ".join(line).rstrip() for line in zip(*drawn, strict=True))


def _align_points(cells: Sequence[str]) -> list[str]:
    """Drop trailing zeros of numbers, and pad them to the same number of decimals."""
    shown = [f"{float(cell):g}" if "." in cell else cell for cell in cells]
    after = [len(cell) - cell.index(".") - 1 if "." in cell else -1 for cell in shown]
    return [cell + " " * (max(after) - count) for cell, count in zip(shown, after, strict=True)]
