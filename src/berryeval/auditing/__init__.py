"""Audits: what about a run and its judgments makes a score doubtful, and by how much."""

from berryeval.auditing.checks import audit
from berryeval.auditing.report import AuditReport
from berryeval.auditing.ties import TieEffect, TieGroup
from berryeval.auditing.unjudged import Bound, Bounds, bounds

__all__ = ["AuditReport", "Bound", "Bounds", "TieEffect", "TieGroup", "audit", "bounds"]
