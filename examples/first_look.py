"""A first look at the metrics: compare two searches over a small handbook.

This file is self-contained and meant to be read.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

import berryeval
from berryeval.metrics import BACKEND, PADDING_ID, QueryDocArray, evaluate_arrays
from berryeval.metrics.lists import QueryResult, compute_all, quality_report

K = 5

# How well pages of the handbook answer a question: 3 fully, 2 mostly, 1 partly, 0 not at all.
JUDGMENTS: dict[str, dict[str, int]] = {
    "How do I reset my password?": {"password-reset": 3, "account-settings": 1},
    "refund after 30 days": {"refund-policy": 3, "billing-faq": 2, "terms": 1},
    "why is my upload stuck at 99 %": {"upload-errors": 3, "file-limits": 2, "status-page": 0},
    "single sign-on vs. two-factor": {"sso-guide": 3, "two-factor": 3, "security-overview": 2},
    "export all invoices": {"invoice-export": 3, "billing-api": 2, "billing-faq": 1},
    "delete a team": {"team-admin": 3},
}

# The results of two searches, best first. Keyword search repeats a page once and finds nothing for
# one question; hybrid search returns fewer pages.
SEARCHES: dict[str, dict[str, list[str]]] = {
    "keyword": {
        "How do I reset my password?": [
            "account-settings",
            "two-factor",
            "password-reset",
            "terms",
        ],
        "refund after 30 days": ["billing-faq", "billing-faq", "refund-policy", "file-limits"],
        "why is my upload stuck at 99 %": ["status-page", "file-limits", "upload-errors"],
        "single sign-on vs. two-factor": ["two-factor", "password-reset", "sso-guide", "terms"],
        "export all invoices": [
            "billing-faq",
            "invoice-export",
            "billing-api",
            "terms",
            "sso-guide",
        ],
        "delete a team": ["account-settings", "terms", "file-limits"],
    },
    "hybrid": {
        "How do I reset my password?": ["password-reset", "two-factor", "account-settings"],
        "refund after 30 days": ["refund-policy", "billing-faq", "terms", "invoice-export"],
        "why is my upload stuck at 99 %": ["upload-errors", "status-page", "file-limits"],
        "single sign-on vs. two-factor": ["sso-guide", "security-overview", "two-factor"],
        "export all invoices": ["billing-api", "billing-faq", "invoice-export"],
        "delete a team": ["account-settings", "team-admin"],
    },
}


def per_query_table() -> Table:
    """Build a table of nDCG and reciprocal rank per question."""
    table = Table(title=f"Each question, at {K}", title_justify="left")
    table.add_column("question")
    for search in SEARCHES:
        table.add_column(f"{search}\nnDCG", justify="right")
        table.add_column(f"{search}\nRR", justify="right")
    for question, grades in JUDGMENTS.items():
        cells = []
        for rankings in SEARCHES.values():
            scores = compute_all(rankings[question], grades, K)
            cells += [f"{scores.ndcg:.3f}", f"{scores.reciprocal_rank:.3f}"]
        table.add_row(question, *cells)
    return table


def summary_table() -> Table:
    """Build a table of the means over all questions."""
    table = Table(title="All questions", title_justify="left")
    for column in ("search", "P@5", "P@10", "R@10", "MRR", "found nothing"):
        table.add_column(column, justify="left" if column == "search" else "right")
    reports = {
        search: quality_report(
            QueryResult(question, ranking, JUDGMENTS[question])
            for question, ranking in rankings.items()
        )
        for search, rankings in SEARCHES.items()
    }
    for search, report in reports.items():
        means = (
            report.precision_at_5, report.precision_at_10, report.recall_at_10, report.mrr,
        )  # fmt: skip
        table.add_row(search, *(f"{mean:.3f}" for mean in means), str(report.queries_without_hit))
    return table


def array_table() -> Table:
    """Score the same rankings as integer ids in NumPy arrays, one call per search."""
    pages = sorted({page for judged in JUDGMENTS.values() for page in judged})
    number = {page: index for index, page in enumerate(pages)}

    def rows(lists: list[list[int]], width: int) -> QueryDocArray:
        return np.array([row + [PADDING_ID] * (width - len(row)) for row in lists], dtype=np.int32)

    relevant = rows([[number[page] for page in judged] for judged in JUDGMENTS.values()], 3)
    grades = rows([list(judged.values()) for judged in JUDGMENTS.values()], 3)
    table = Table(title=f"The same as arrays ({BACKEND} backend), means", title_justify="left")
    table.add_column("search")
    names = [f"{name}@{K}" for name in ("recall", "precision", "mrr", "ndcg", "hit_rate")]
    for name in names:
        table.add_column(name, justify="right")
    for search, rankings in SEARCHES.items():
        retrieved = rows([[number[page] for page in ranking] for ranking in rankings.values()], K)
        scores = evaluate_arrays(retrieved, relevant, names, grades=grades)
        table.add_row(search, *(f"{scores[name].mean():.3f}" for name in names))
    return table


def main() -> None:
    """Print the three tables and a next step."""
    console = Console()
    console.print(f"[bold]BerryEval {berryeval.__version__}[/bold], {BACKEND} backend\n")
    for table in (per_query_table(), summary_table(), array_table()):
        console.print(table)
        console.print()
    console.print(
        "Precision differs between the last two tables on purpose: lists divide by k, arrays by\n"
        "the number of ids (denominator= chooses).\n\n"
        "Next: edit this file and run it again, or make demo for the whole job.",
        highlight=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
