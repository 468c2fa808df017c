"""The way from depot to depot."""

import heapq


def shortest(roads: dict[str, dict[str, float]], start: str, goal: str) -> list[str]:
    """Find the quickest way between two depots with Dijkstra's algorithm."""
    queue, seen = [(0.0, [start])], set()
    while queue:
        hours, way = heapq.heappop(queue)
        if way[-1] == goal:
            return way
        if way[-1] not in seen:
            seen.add(way[-1])
            for depot, more in roads.get(way[-1], {}).items():
                heapq.heappush(queue, (hours + more, [*way, depot]))
    raise ValueError(f"no road leads from {start} to {goal}")


def load_vans(weights: list[int], limit: int) -> list[list[int]]:
    """Fill as few vans as possible: heaviest first, each into the first van with room."""
    vans: list[list[int]] = []
    for weight in sorted(weights, reverse=True):
        for van in vans:
            if sum(van) + weight <= limit:
                van.append(weight)
                break
        else:
            vans.append([weight])
    return vans
