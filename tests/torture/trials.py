"""One trial, what it counts, and what it found; shared by every kind of trial."""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from berryeval.cli.app import build_app, run
from berryeval.errors import BerryEvalError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

MEMORY_LIMIT = 500  # MB that any trial may take
BUG = "this looks like a bug"


@dataclass
class Tally:
    """What a trial did, as numbers by name, and what broke."""

    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def check(self, holds: object, what: str) -> None:
        """Note what broke unless it holds."""
        if not holds:
            self.broken.append(what)

    @contextlib.contextmanager
    def expect_only_our_errors(self, what: str) -> Iterator[None]:
        """Note every exception but those with a message for the user."""
        try:
            yield
        except BerryEvalError as error:
            self.counts["refused"] += 1
            self.check(str(error), f"{what}: {type(error).__name__} without a message")
        except Exception as error:  # noqa: BLE001 - anything else is what is looked for
            self.broken.append(f"{what}: {type(error).__name__}: {str(error)[:200]}")


def call(*arguments: str) -> tuple[int, str]:
    """Return the exit code and all output of a command line, run in this process."""
    out = io.BytesIO()
    stream = io.TextIOWrapper(out, encoding="utf-8", write_through=True)  # as that of a terminal
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        code = run(build_app(), list(arguments))
    stream.flush()
    return code, out.getvalue().decode()


def mutate(chance: Random, content: bytes, parts: list[bytes]) -> bytes:
    """Return the content with one to four random changes; `parts` are pieces to put in."""
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(content) + 1)
        end = min(len(content), place + chance.choice((1, 1, 2, 8, 64)))
        kind = chance.randrange(7)
        if kind == 0 and place < len(content):  # one bit
            changed = bytes([content[place] ^ (1 << chance.randrange(8))])
            content = content[:place] + changed + content[place + 1 :]
        elif kind == 1:
            content = content[:place] + content[end:]
        elif kind == 2:
            content = content[:end] + content[place:]
        elif kind == 3:
            content = content[:place]
        elif kind == 4:
            content = content[:place] + chance.randbytes(chance.randint(1, 8)) + content[place:]
        elif kind == 5:
            content = content[:place] + chance.choice(parts) + content[end:]
        else:  # swap two lines
            lines = content.split(b"\n")
            one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[one], lines[two] = lines[two], lines[one]
            content = b"\n".join(lines)
    return content


# Pieces that readers have stumbled over, in some tool or other.
ODD = [
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\r", b"\t", b"\n\n"),
    *(b"NaN", b"-Infinity", b"1e999", b"-0", b"9" * 5000, b"0x10", b"1_000", b"null", b"true"),
    *(b"[" * 3000, b'{"a":' * 3000, b"&a [*a, *a]", b"<<: *a", b"!!python/object:os.system"),
    *(b'"', b"'", b",", b":", b"#", b"<", b"]]>", b"=1+1", b"../../", b"${HOME}", b"\xe2\x80\xae"),
]  # fmt: skip


def list_files(folder: Path) -> list[Path]:
    """Return the files below a folder, in a fixed order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
