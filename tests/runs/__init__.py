"""Tests of `berryeval.runs`."""
