"""`berryeval judge next`: judge pairs in the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rich.padding import Padding
from rich.text import Text

from berryeval._internal.text import escape_controls, pluralize
from berryeval.cli.flags import Flag
from berryeval.cli.output import console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.judging import Pair, Session, Vote
    from berryeval.workflows import JudgeDesk

_CONTEXT: Final = 300  # characters before and after the passage
_LONGEST: Final = 20_000  # characters of a passage that are shown
_BAR: Final = "│ "  # before every line of the passage
_OTHER_LINES: Final = 9  # around a passage
_PROMPT: Final = "  grade? "
_END: Final = "q"
_ENDINGS: Final = ("", "\x03", "\x04")  # end of input, Ctrl-C and Ctrl-D


class Key(NamedTuple):
    """A key that was pressed, and a note that came with it."""

    name: str
    note: str = ""


def judge_next(
    *,
    benchmark: str | None = None,
    ledger: str | None = None,
    judge: str | None = None,
    count: int | None = None,
    adjudicate: Flag = False,
    json: Flag = False,
) -> None:
    """Judge the pairs of the pool, one after the other, in the terminal.

    A pair is a query and a passage. Press the grade, or s to skip, ? if you cannot tell, n for a
    note, u to take the last grade back, q to end. A grade is stored before the next pair shows.

    Args:
        benchmark: Benchmark that was pooled; default: the only one with a pool here.
        ledger: Folder or store with the pool and the votes; default: beside the benchmark.
        judge: Your name; default: BERRYEVAL_JUDGE, or the name you are logged in with.
        count: Stop after this many pairs.
        adjudicate: Decide the pairs that judges disagree about; shows their grades.
        json: Print the next pair as JSON and end.
    """
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import open_desk

    if count is not None and count < 1:
        raise ConfigurationError(f"--count must be 1 or more, found {count}")
    desk = open_desk(benchmark, ledger, judge, adjudicates=adjudicate)
    if json:
        print_json("judge next", _describe(desk))
        return
    screen = console()
    for note in desk.notes:
        screen.print(note, style="yellow")
    single = all(len(f"{grade:g}") == 1 for grade in desk.session.scale)
    _judge_all(screen, desk, _read_keys(screen, single=single), count)
    _print_end(screen, desk.session)


def _describe(desk: JudgeDesk) -> dict[str, Any]:
    session, pair = desk.session, desk.session.next()
    shown: dict[str, Any] | None = None
    if pair is not None:
        shown = {
            **{name: getattr(pair, name) for name in ("id", "query_id", "text", "name")},
            "before": pair.before,
            "after": pair.after,
            "query": desk.query_text(pair),
            "wanted": desk.describe_wanted(pair),
        }
    return {
        "judge": session.judge,
        "notes": list(desk.notes),
        "left": len(session.left),
        "pairs": len(session.pool.pairs),
        "scale": list(session.scale),
        "pair": shown,
    }


def _judge_all(screen: Console, desk: JudgeDesk, keys: Iterator[Key], count: int | None) -> None:
    """Show pairs until the judge ends or none is left."""
    session = desk.session
    pair = session.next()
    if pair is not None:
        _print_keys(screen, session)
    while pair is not None:
        if count is not None and len(session.given) >= count:
            return
        _print_pair(screen, desk, pair)
        _drop_keys()
        if not _ask(screen, session, pair, keys):
            return
        pair = session.next()


def _ask(screen: Console, session: Session, pair: Pair, keys: Iterator[Key]) -> bool:
    """Read keys until the pair is judged or skipped; return whether to continue."""
    grades = {f"{grade:g}": grade for grade in session.scale}
    note = ""
    for key in keys:
        note = key.note or note
        if key.name == _END:
            return False
        if key.name in grades or key.name == "?":
            _print_stored(screen, session.vote(pair, grades.get(key.name), note))
            return True
        if key.name == "s":
            session.skip(pair)
            screen.print("  skipped", style="dim")
            return True
        if key.name == "u":
            taken = session.undo()
            words = "nothing to take back in this session" if taken is None else "taken back"
            screen.print(f"  {words}", style="yellow")
            return True
        if key.name == "n":
            screen.print(f"  note: {note}" if note else "  a note needs a text", style="dim")
        else:
            screen.print(f"  {key.name!r} is no key; {_list_keys(session)}", style="yellow")
    return False


def _read_keys(screen: Console, *, single: bool) -> Iterator[Key]:
    """Yield keys: single ones in a terminal, else one per line, each with a note after a space."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip():
                yield _split_line(line)
        return
    while True:
        line = _read_key(screen) if single else _read_line(_PROMPT)
        if line is not None and line.strip() == "n":
            note = _read_line("  note: ")
            line = None if note is None else f"n {note}"
        if line is None:
            return
        if line.strip():
            yield _split_line(line)


def _read_key(screen: Console) -> str | None:
    """Read one key; None at the end of the input or for Ctrl-C."""
    with _single_keys() as read_one:
        screen.print(_PROMPT, style="bold", end="")
        name = read_one()
    if name in _ENDINGS:
        return None
    screen.print(escape_controls(name))
    return name


def _split_line(line: str) -> Key:
    name, _, note = line.strip().partition(" ")
    return Key(name, note.strip())


def _read_line(prompt: str) -> str | None:
    """Read a line; None at the end of the input or for Ctrl-C."""
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt):
        return None


def _drop_keys() -> None:
    """Discard keys that were typed before the pair was shown."""
    if not sys.stdin.isatty():
        return
    try:
        import termios
    except ImportError:  # Windows
        import msvcrt

        while msvcrt.kbhit():  # type: ignore[attr-defined, unused-ignore]
            msvcrt.getwch()  # type: ignore[attr-defined, unused-ignore]
        return
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


@contextmanager
def _single_keys() -> Iterator[Callable[[], str]]:
    """Read single keys, without Enter."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        import msvcrt

        yield msvcrt.getwch  # type: ignore[attr-defined, unused-ignore]
        return
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    tty.setcbreak(file, termios.TCSANOW)
    try:
        yield lambda: _read_character(file)
    finally:
        termios.tcsetattr(file, termios.TCSANOW, before)


def _read_character(file: int) -> str:
    """Read one character of UTF-8, past the buffer of `sys.stdin`; "" at the end or for Ctrl-C."""
    found = b""
    with suppress(KeyboardInterrupt):
        while one := os.read(file, 1):
            found += one
            with suppress(UnicodeDecodeError):
                return found.decode()
    return ""


def _print_pair(screen: Console, desk: JudgeDesk, pair: Pair) -> None:
    from berryeval.judging import mark_words

    session, query = desk.session, desk.query_text(pair)
    done = len(session.pool.pairs) - len(session.left)
    screen.print()
    screen.print(f"── {done} of {len(session.pool.pairs)} done ──", style="dim")
    screen.print(Text(escape_controls(query), style="bold"))
    for line in desk.describe_wanted(pair):
        _print_block(screen, Text(escape_controls(line), style="dim"))
    screen.print()
    if pair.name:
        screen.print(Text(escape_controls(pair.name), style="cyan"))
    _print_block(screen, Text(escape_controls(_end_of(pair.before)), style="dim"))
    shown = Text()
    for piece in mark_words(pair.text[:_LONGEST], query):
        style = "bold underline" if piece.marked else ""
        shown.append(escape_controls(piece.text), style=style)
    if not pair.text:
        shown.append(f"(the text of {escape_controls(pair.name or pair.id)} is unknown)")
    for row in shown.wrap(screen, max(1, screen.width - len(_BAR))):
        screen.print(Text(_BAR).append_text(row))
    if (more := len(pair.text) - _LONGEST) > 0:
        whole = "`berryeval judge export` has all of them"
        screen.print(f"  … {more:,} more characters; {whole}", style="yellow")
    _print_block(screen, Text(escape_controls(_start_of(pair.after)), style="dim"))
    screen.print()
    for vote in session.votes_on(pair):
        screen.print(f"  {vote.judge}: {_describe_grade(vote)} {vote.note}".rstrip(), style="cyan")
    lines = sum(len(line) // screen.width + 1 for line in shown.plain.splitlines())
    if screen.is_terminal and lines > screen.height - _OTHER_LINES:  # the query is out of sight
        screen.print(Text(escape_controls(query), style="bold"))
        _print_keys(screen, session)


def _print_block(screen: Console, text: Text) -> None:
    if text.plain:
        screen.print(Padding(text, (0, 0, 0, 2), expand=False), soft_wrap=False)


def _end_of(text: str) -> str:
    return (text if len(text) <= _CONTEXT else f"…{text[-_CONTEXT:]}").strip("\n")


def _start_of(text: str) -> str:
    return (text if len(text) <= _CONTEXT else f"{text[:_CONTEXT]}…").strip("\n")


def _print_keys(screen: Console, session: Session) -> None:
    screen.print(f"judging as {session.judge}: {_list_keys(session)}", style="dim")


def _list_keys(session: Session) -> str:
    from berryeval.judging import name_grades

    grades = [f"{grade:g} {name}".rstrip() for grade, name in name_grades(session.scale).items()]
    return f"{', '.join(grades)}; ? cannot tell, s skip, n note, u undo, {_END} end"


def _print_stored(screen: Console, vote: Vote) -> None:
    screen.print(f"  {_describe_grade(vote)}, stored", style="green")


def _describe_grade(vote: Vote) -> str:
    return "cannot tell" if vote.grade is None else f"grade {vote.grade:g}"


def _print_end(screen: Console, session: Session) -> None:
    left, given = len(session.left), len(session.given)
    pace = f", {session.seconds_per_pair:.0f} s each" if given else ""
    screen.print()
    screen.print(f"{pluralize(given, 'pair')} judged{pace}; {left} left", style="bold")
    if session.ending:
        screen.print(session.ending)
    if session.skipped:
        screen.print(f"{len(session.skipped)} skipped: they are shown again next time")
