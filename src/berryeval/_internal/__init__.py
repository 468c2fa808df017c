"""Machinery shared by every package; each module stands alone."""
