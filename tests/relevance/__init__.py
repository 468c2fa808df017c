"""Tests of who decides what is relevant."""
