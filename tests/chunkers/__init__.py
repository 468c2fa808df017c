"""Tests of chunkers."""
