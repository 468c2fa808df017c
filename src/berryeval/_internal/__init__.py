"""Machinery shared by all packages, in independent modules."""
