"""Tests of `berryeval.reports`."""
