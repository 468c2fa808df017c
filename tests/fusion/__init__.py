"""Tests of fusion."""
