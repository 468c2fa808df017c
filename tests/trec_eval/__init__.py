"""Tests of `berryeval.trec_eval`."""
