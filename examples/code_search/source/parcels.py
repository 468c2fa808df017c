"""Parcels and their prices."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parcel:
    """A parcel: grams, and the three sides in centimetres."""

    weight: int
    sides: tuple[int, int, int]
    insured: float = 0.0


def girth(parcel: Parcel) -> int:
    """Return the longest side plus the distance around the other two."""
    short, middle, long = sorted(parcel.sides)
    return long + 2 * (short + middle)


def price(parcel: Parcel, zone: int) -> float:
    """Return the postage in euros: a base by zone, a step per kilogram, and insurance."""
    base = {1: 4.5, 2: 7.0, 3: 12.0}[zone]
    kilograms = -(-parcel.weight // 1000)
    return base + 0.8 * kilograms + 0.01 * parcel.insured


def refuse(parcel: Parcel) -> str:
    """Say why a parcel cannot be sent; an empty text if it can."""
    if parcel.weight > 31_500:
        return "heavier than 31.5 kg"
    if girth(parcel) > 360:
        return "too bulky"
    return ""
