"""Machinery shared by all packages; each module stands alone."""
