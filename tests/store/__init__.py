"""Tests of the store of past runs."""
