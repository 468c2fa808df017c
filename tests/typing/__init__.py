"""Code as users write it, for type checkers."""
