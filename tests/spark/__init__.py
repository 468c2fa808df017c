"""Tests of berryeval.spark on a real Spark with separate executors."""
