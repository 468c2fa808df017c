"""Tests of metrics in training loops."""
