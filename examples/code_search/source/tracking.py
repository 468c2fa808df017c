"""Where a parcel is, as scanners report it."""

from datetime import datetime, timedelta

CHECKSUM_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)


def is_valid(number: str) -> bool:
    """Whether the check digit of a tracking number is right."""
    digits = [int(one) for one in number if one.isdigit()]
    if len(digits) != 9:
        return False
    total = sum(weight * digit for weight, digit in zip(CHECKSUM_WEIGHTS, digits))
    expected = 11 - total % 11
    return digits[8] == {10: 0, 11: 5}.get(expected, expected)


def latest(events: list[dict]) -> dict:
    """Return the newest scan; two of one second are ordered by the later place on the route."""
    return max(events, key=lambda event: (event["time"], event["stop"]))


def estimate_arrival(events: list[dict], stops: int) -> datetime:
    """Guess the arrival from the mean time between the stops so far."""
    first, last = events[0]["time"], latest(events)["time"]
    done = max(1, latest(events)["stop"])
    return last + (last - first) / done * (stops - done)


def is_lost(events: list[dict], now: datetime) -> bool:
    """Whether no scanner has seen the parcel for ten days."""
    return now - latest(events)["time"] > timedelta(days=10)
