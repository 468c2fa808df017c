"""Audits."""
