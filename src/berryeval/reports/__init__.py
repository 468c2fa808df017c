"""What people read and other programs take: one report, many formats."""

from berryeval.reports.model import Report, Section, System

__all__ = ["Report", "Section", "System"]
