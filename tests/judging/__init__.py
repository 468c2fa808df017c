"""Tests of `berryeval.judging`."""
