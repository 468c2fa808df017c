"""Retrieved ids that a benchmark does not have: count them, explain them, rewrite them.

A system that returns `docs/argparse.md` where the benchmark says `argparse` finds everything and
scores 0. `IdTally` counts such ids, `explain_ids` says what the two sides look like and which
option of the provider cures it, and `IdRules` are these options.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import chain, islice, product, takewhile
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.masking import MASK
from berryeval._internal.text import pluralize
from berryeval.relevance.matching import ADDRESS_FIELDS

if TYPE_CHECKING:
    from berryeval.anchors import Targets
    from berryeval.data import Hit, Judgment
    from berryeval.relevance.strategies import Judged

_EXTENSION: Final = re.compile(r"(?<=[^./\\])\.[A-Za-z][A-Za-z0-9]{0,9}$")
_PATH: Final = re.compile(r"^.*[/\\](?=.)", re.DOTALL)
_CHUNK: Final = re.compile(
    r"(?:#|::).*$|[-_@:/. ](?:(?:chunk|part|passage|node|page)[-_ ]?)?\d+(?:-\d+)?$", re.DOTALL
)
# What `strip` removes by name; any other word is removed from the beginning or the end of an id.
STRIPPED: Final[Mapping[str, Callable[[str], str]]] = {
    "extension": lambda name: _EXTENSION.sub("", name),
    "path": lambda name: _PATH.sub("", name),
    "chunk": lambda name: _CHUNK.sub("", name),
    "case": str.lower,
}
_ABOUT: Final = {
    "extension": "a file extension",
    "path": "a path",
    "chunk": "the number of a chunk instead of the id of its document",
    "case": "other letter case",
}
# In this order, so that the shortest cure is found first.
_CURES: Final = (
    ("extension",), ("path",), ("case",), ("chunk",), ("path", "extension"), ("extension", "case"),
    ("path", "case"), ("chunk", "extension"), ("chunk", "path"), ("chunk", "path", "extension"),
    ("path", "extension", "case"), ("chunk", "path", "extension", "case"),
)  # fmt: skip
_ENDINGS: Final = ((), ("extension",), ("chunk",), ("chunk", "extension"))  # beside a prefix
PASSAGE: Final = "passage:"  # begins the id of a hit that had only a text
_EXAMPLES: Final = 1000  # unknown ids that are kept
_SHOWN: Final = 3
_JUDGED: Final = ("judged", "returned was", "are these the ids of the system that was judged?")
_SIDES: Final = ("returned", "the benchmark has", "is it a search over other documents?")


@dataclass(frozen=True)
class IdRules:
    """How the ids of a provider become those of the benchmark.

    Attributes:
        id_map: The benchmark's id by the provider's id.
        strip: What to remove, in this order: "extension", "path", "chunk" (a trailing number, or
            all from a # on), "case" (compare in lower case), or a text at the beginning or end.
        known: Ids of the benchmark, which are kept; empty if it does not list them.
        used: What was removed from an id so far.
    """

    id_map: Mapping[str, str] = field(default_factory=dict)
    strip: Sequence[str] = ()
    known: Collection[str] = ()
    used: set[str] = field(default_factory=set, compare=False)

    @cached_property
    def _by_case(self) -> dict[str, str]:
        return {name.lower(): name for name in self.known}

    def rename(self, name: str) -> str:
        """Return the benchmark's id; an id that stays unknown is not changed."""
        if not name or name in self.id_map:
            return self.id_map.get(name, name)
        if name in self.known:
            return name
        shorter, any_case = name, "case" in self.strip
        for word in self.strip:
            before, shorter = shorter, _strip(shorter, word)
            if shorter != before:
                self.used.add(word)
            if shorter in self.known:
                return shorter
            if any_case and shorter.lower() in self._by_case:
                return self._by_case[shorter.lower()]
        return name if self.known else shorter or name

    def rename_hit(self, hit: Hit) -> Hit:
        """Rewrite the id and the document of a hit."""
        return replace(hit, id=self.rename(hit.id), doc_id=self.rename(hit.doc_id))


def _strip(name: str, word: str) -> str:
    if word in STRIPPED:
        return STRIPPED[word](name)
    return name.removeprefix(word) if name.startswith(word) else name.removesuffix(word)


def find_cure(unknown: Iterable[str], known: Collection[str]) -> tuple[tuple[str, ...], str, str]:
    """Return what to strip, an unknown id and the id that it then becomes.

    Nothing to strip, but ids, if the benchmark's own ids are the longer ones; all empty if the two
    sides have nothing in common.
    """
    names = [name for name in islice(unknown, _EXAMPLES) if MASK not in name]  # no part of an id
    for cure in _CURES:
        rules = IdRules(strip=cure, known=known)
        found = next((name for name in names if rules.rename(name) in known), None)
        if found is not None:
            return cure, found, rules.rename(found)
    for name, ending in product(names, _ENDINGS):
        shorter = reduce(_strip, ending, name)
        for place in _boundaries(shorter):
            if shorter[place:] in known:
                return (shorter[:place], *ending), name, shorter[place:]
            if name[:place] in known:
                return (name[place:],), name, name[:place]
    plain: dict[str, list[str]] = defaultdict(list)
    for name in known:
        plain[_plain(name)].append(name)
    same = next((name for name in names if _plain(name) in plain), "")
    alike = plain[_plain(same)] if same else [""]
    return (), same, max(alike, key=lambda name: _count_shared(name, same))


def _count_shared(name: str, other: str) -> int:
    """Count the folders, from the last on, in which two paths are the same."""
    folders = (re.split(r"[/\\]", one.lower())[-2::-1] for one in (name, other))
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*folders, strict=False)))


def _boundaries(name: str) -> Iterator[int]:
    """Yield the places between a letter or digit and another character."""
    for place in range(1, len(name)):
        if name[place - 1].isalnum() != name[place].isalnum():
            yield place


def _plain(name: str) -> str:
    return STRIPPED["extension"](STRIPPED["path"](name)).lower()


def explain_ids(
    unknown: Sequence[str], known: Collection[str], *, sides: tuple[str, str, str] = _SIDES
) -> str:
    """Show ids of both sides, and say what would make them the same.

    The sides are a provider and a benchmark, or two others, which have no options to rewrite ids;
    then comes a question about ids that have nothing in common.
    """
    (returned, have, question), fixed = sides, sides is not _SIDES
    if unknown and all(name.startswith(PASSAGE) for name in unknown):
        return (
            "the hits have texts and no ids, and no document of the benchmark contains these "
            "texts; search the documents of the benchmark (build the retriever from its chunks), "
            "or return ids beside the texts"
        )
    padded = [name for name in unknown if name != name.strip()]
    for name in set(known).intersection(map(str.strip, padded)) if padded else ():
        example = next(one for one in padded if one.strip() == name)
        example = f"{_quote(example)} {returned}; {have} {_quote(name)}"
        return f"{example}; the ids have blanks around them; remove the blanks"
    cure, theirs, ours = find_cure(unknown, known)
    if not theirs:
        listed = ", ".join(map(_quote, islice(known, _SHOWN))) or "none"
        got = ", ".join(map(_quote, unknown[:_SHOWN]))
        advice = "" if fixed or MASK in got else " If not, map the ids (id_map)"
        return f"{got} {returned}; {have} {listed}; {question}{advice}"
    example = f"{_quote(theirs)} {returned}; {have} {_quote(ours)}"
    if not cure:
        return example if fixed else f"{example}; return these ids, or map yours (id_map)"
    more = " and ".join(_ABOUT.get(word, f"{word!r:.40}") for word in cure)
    words = ", ".join(word if word in STRIPPED else repr(word) for word in cure)
    return f"{example}; the ids have {more}{'' if fixed else f' (strip: [{words}])'}"


def _quote(name: str) -> str:
    return f"{name!r:.60}"


@dataclass(frozen=True)
class UnknownIds:
    """Retrieved ids that the benchmark does not have.

    Attributes:
        count: Number of hits with such ids.
        retrieved: Number of hits.
        examples: The first such ids.
        explanation: Ids of both sides and what would make them the same.
        is_certain: Whether the benchmark lists its ids, so that others are wrong.
    """

    count: int
    retrieved: int
    examples: tuple[str, ...]
    explanation: str
    is_certain: bool

    @property
    def is_failure(self) -> bool:
        """Whether all ids are unknown, so that scores would not measure the search."""
        return self.is_certain and self.count == self.retrieved

    @property
    def summary(self) -> str:
        """The number of ids in a few words."""
        ids = pluralize(self.retrieved, "retrieved id")
        if not self.is_certain:
            return f"none of {ids} is judged for any query"
        if self.is_failure:
            return f"none of {ids} is in the benchmark"
        return f"{self.count} of {ids} {'is' if self.count == 1 else 'are'} not in the benchmark"

    def describe(self) -> str:
        """Describe the ids, their effect and the remedy in one line."""
        effect = "so there is no score" if self.is_failure else "and cannot be relevant"
        if not self.is_certain:
            effect = "so the scores say nothing about the search"
        return f"{self.summary}, {effect}: {self.explanation}"

    def to_json(self) -> dict[str, Any]:
        """Return the ids for the record of a run."""
        return {
            "count": self.count,
            "retrieved": self.retrieved,
            "summary": self.summary,
            "examples": list(self.examples[:_SHOWN]),
            "explanation": self.explanation,
        }


class IdTally:
    """Counts the retrieved ids that a benchmark does not have.

    A benchmark *lists* its ids if it has documents and no judgment names a chunk that is not there;
    then every other id is wrong. If it does not (only judgments, or labels of a pack), most
    retrieved ids may rightly be missing: it counts only if none of them is judged for any query.

    Hits with a text or an address may match without their ids. If any hit does, the system has ids
    of its own, and its other hits are not counted.

    Judged ids of chunks that are not there may be those of the system. If none of them is ever
    returned, they are wrong, or the system finds nothing.

    If parts of documents are judged, a hit needs more than a known id: `_Places` counts those whose
    place cannot be known.
    """

    def __init__(self, targets: Targets, judgments: Iterable[Judgment], *, has_pack: bool) -> None:
        self._targets = targets
        self._judged: dict[str, None] = {}
        self._elsewhere: dict[str, list[str]] = defaultdict(list)  # judged ids, by query
        self._wanted: dict[str, None] = {}  # of the queries so far
        self._returned: dict[str, None] = {}  # for these queries
        self._lists_ids = targets.corpus.closed and not has_pack
        self._places = _Places(targets)
        for judgment in judgments:
            anchor, alias = judgment.target, judgment.extra.get("chunk_id")
            part = anchor.section or anchor.quote or anchor.start is not None
            self._places.are_judged &= bool(anchor.document and part)
            if anchor.document and targets.corpus.listed and anchor.document not in targets.corpus:
                continue  # a document that was removed: a search that still finds it is stale
            self._judged.update(dict.fromkeys(filter(None, (anchor.chunk, anchor.document))))
            if anchor.chunk and anchor.chunk not in targets.chunks:
                self._lists_ids = False
                if judgment.grade > 0 and anchor.chunk not in targets.corpus:
                    self._elsewhere[judgment.query_id].append(anchor.chunk)
            if isinstance(alias, str) and alias:
                self._judged[alias] = None
        self._retrieved = self._bare = self._evident = self._matched = 0
        self._examples: dict[str, None] = {}
        self._has_match = False

    def add(self, query: str, hits: Sequence[Hit], judged: Judged) -> None:
        """Count the hits of a query."""
        covered = {hit.rank for hit in judged.ranking.hits}
        if names := self._elsewhere.get(query):
            self._wanted |= dict.fromkeys(names)
            self._has_match |= bool(covered)
            self._returned |= dict.fromkeys(hit.id for hit in hits[:_SHOWN])
        self._places.add(hits, has_match=bool(covered) or judged.strategy != "qrels")
        self._retrieved += len(hits)
        for rank, hit in enumerate(hits, start=1):
            if self._is_known(hit):
                continue
            if rank in covered or (hit.text and judged.strategy == "token-fallback"):
                self._matched += 1
                continue
            if hit.text or hit.doc_id or any(map(hit.metadata.get, ADDRESS_FIELDS)):
                self._evident += 1
            else:
                self._bare += 1
            if len(self._examples) < _EXAMPLES:
                self._examples[hit.id] = None

    def explain_zeros(self) -> str:
        """Say that no judged id was returned, or no hit has a place; empty if one was or has."""
        if not self._wanted or not self._returned or self._has_match:
            return self._places.describe()
        ids = pluralize(len(self._wanted), "judged id")
        return (
            f"none of {ids} is in the documents, and none was returned, so the scores may say "
            f"nothing about the search: "
            f"{explain_ids(list(self._wanted), self._returned, sides=_JUDGED)}"
        )

    def _is_known(self, hit: Hit) -> bool:
        names = {hit.id, hit.id.partition("#")[0], hit.doc_id}
        targets = self._targets
        return any(
            name in targets.chunks or name in targets.corpus or name in self._judged
            for name in names
            if name
        )

    @property
    def found(self) -> UnknownIds | None:
        """The unknown ids; None if all are known, or the benchmark does not list its ids."""
        count = self._bare + (0 if self._matched else self._evident)
        if not count or (not self._lists_ids and count < self._retrieved):
            return None
        examples = tuple(self._examples)
        known = dict.fromkeys(chain(self._targets.corpus.ids, self._judged))
        known |= dict.fromkeys(self._targets.chunks)
        certain = self._lists_ids or _is_curable(examples, known)
        explanation = explain_ids(examples, known)
        return UnknownIds(count, self._retrieved, examples, explanation, certain)


def _has_place(hit: Hit) -> bool:
    """Whether a hit says where in its document it is, by its text, its section or its address."""
    address = "#" in hit.id or any(map(hit.metadata.get, ADDRESS_FIELDS))
    return bool(hit.text or hit.section or hit.start is not None or address)


class _Places:
    """Counts hits that cannot cover a part of a document, though their ids are known."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self.are_judged = True  # parts of documents, and nothing else
        self._has_match = False
        self._retrieved = self._without = self._astray = 0
        self._example = ""

    def add(self, hits: Sequence[Hit], *, has_match: bool) -> None:
        """Count the hits of a query."""
        self._has_match |= has_match
        if self._has_match or not self.are_judged:
            return
        self._retrieved += len(hits)
        known = self._targets.corpus
        for hit in hits:
            if hit.doc_id and hit.doc_id not in known:
                self._astray += 1
                self._example = self._example or hit.doc_id
            elif not (hit.id in known or _has_place(hit)):
                self._without += 1

    def describe(self) -> str:
        """Say that no hit has a place in a document of the benchmark; empty if one has."""
        if self._has_match or not self._retrieved:
            return ""
        hits = pluralize(self._retrieved, "hit")
        if self._without == self._retrieved:
            return (
                f"none of {hits} has a text, a section or a position, and the judgments are of "
                "parts of documents, so nothing can be relevant; return them beside the document"
            )
        if self._astray == self._retrieved and self._targets.corpus.closed:
            example, known = _quote(self._example), next(iter(self._targets.corpus.ids), "")
            return (
                f"none of {hits} is in a document of the benchmark, so nothing can be relevant: "
                f"{example} is the document of one, and the benchmark has {_quote(known)}; return "
                "these ids as documents, or none"
            )
        return ""


def _is_curable(unknown: Sequence[str], known: Collection[str]) -> bool:
    """Whether the cure makes known ids of at least two, so that it is no coincidence."""
    rules = IdRules(strip=find_cure(unknown, known)[0], known=known)
    cured = sum(rules.rename(name) in known for name in unknown)
    return bool(rules.strip) and cured >= min(2, len(unknown))
