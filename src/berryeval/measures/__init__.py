"""Measures: every one a declaration in a family file, found here by any of its names."""

from berryeval.measures.base import Definition, JudgedHit, JudgedRanking, Measure
from berryeval.measures.catalogue import definitions, register
from berryeval.measures.grammar import parse_measure, parse_measures
from berryeval.measures.subtopics import SubtopicHit, SubtopicRanking

__all__ = [
    "Definition",
    "JudgedHit",
    "JudgedRanking",
    "Measure",
    "SubtopicHit",
    "SubtopicRanking",
    "definitions",
    "parse_measure",
    "parse_measures",
    "register",
]
