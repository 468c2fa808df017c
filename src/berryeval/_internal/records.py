"""Former names of `_internal.serial`, until every package uses the new ones."""

# ruff: noqa: PLC0414

from __future__ import annotations

import math

from berryeval._internal import serial
from berryeval._internal.serial import READERS as READERS
from berryeval._internal.serial import JsonRecord as JsonRecord
from berryeval._internal.serial import Reader as Reader

Parts = serial.LazyObject
one_of = serial.choice_reader
found = serial.describe_json
json_pieces = serial.iter_json
read_texts = serial.read_strings
unversioned = serial.strip_schema_version
plain = serial.to_plain
refused = serial.type_mismatch


def is_finite(value: float) -> bool:
    """Whether a float can hold a number."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
