"""Families of metrics, one module each."""
