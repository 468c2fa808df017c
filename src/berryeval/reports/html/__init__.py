"""The HTML report: one file that needs no network and no script, for people to read."""

from berryeval.reports.html.render import render

__all__ = ["render"]
