"""Tests of `berryeval.pipeline`."""
