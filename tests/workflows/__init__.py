"""Tests of `berryeval.workflows`."""
