"""Measures: every one a declaration in a family file, found here by any of its names."""

from berryeval.measures.base import Definition, Hit, JudgedRanking, Measure
from berryeval.measures.catalogue import definitions, register
from berryeval.measures.grammar import parse_measure, parse_measures

__all__ = [
    "Definition",
    "Hit",
    "JudgedRanking",
    "Measure",
    "definitions",
    "parse_measure",
    "parse_measures",
    "register",
]
