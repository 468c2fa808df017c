"""Tests of `berryeval.gates`."""
