"""Tests of the stand-in for ranx."""
