"""Tests of BerryEval; the folders mirror the package."""
