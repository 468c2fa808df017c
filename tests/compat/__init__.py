"""Tests of the names of other tools."""
