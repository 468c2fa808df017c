"""The log of a model: its requests and answers, appended and never rewritten.

A line is written before a request is sent and another when it is answered. A process that is killed
loses nothing: what was answered is known, and what was under way counts with the most that it can
have cost.
"""

from __future__ import annotations

import json
import os
import threading
import zlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import try_lock
from berryeval._internal.json import encode_json_line
from berryeval._internal.text import file_key
from berryeval.errors import DataError, NotWrittenError
from berryeval.providers import ChatModel, Reply

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval._internal.files import PathLike

_ZERO: Final = Decimal(0)
_FOLDER: Final = "chats"
_ATTRIBUTES: Final = "*.jsonl merge=union\n"  # git keeps the lines of both sides of a merge
_CHECKSUM: Final = b', "checksum": "%08x"}'


class ChatLog:
    """The requests to a model and their answers, in a file that one process writes at a time."""

    def __init__(self, folder: PathLike, model: ChatModel) -> None:
        self.path = Path(folder) / _FOLDER / f"{file_key(model.model)}.jsonl"
        self.replies: dict[str, Reply] = {}
        self.spent = _ZERO
        self._open: dict[str, Decimal] = {}  # by key: requests without an answer
        self._file: int | None = None
        self._lock = threading.Lock()
        with suppress(FileNotFoundError):
            self._read()

    def _read(self) -> None:
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror or error})") from None
        for line in lines:
            text = line[: -len(_CHECKSUM % 0)] + b"}"
            if line != text[:-1] + _CHECKSUM % zlib.crc32(text):
                continue  # empty, or torn when its process was killed
            with suppress(ValueError, KeyError, TypeError, InvalidOperation):
                self._count(json.loads(text))
        self.spent += sum(self._open.values(), _ZERO)

    def _count(self, entry: Mapping[str, Any]) -> None:
        if "most" in entry:
            key = entry["sent"]
            self._open[key] = self._open.get(key, _ZERO) + Decimal(entry["most"])
            return
        self._open.pop(entry["key"], None)
        fields = {name: entry[name] for name in Reply._fields if name in entry}
        if fields.get("cost") is not None:
            fields["cost"] = Decimal(fields["cost"])
            self.spent += fields["cost"]
        self.replies[entry["key"]] = Reply(**fields)

    def add_sent(self, key: str, most: Decimal) -> None:
        """Note that a request is about to be sent."""
        self._write({"sent": key, "most": str(most)})

    def add(self, key: str, reply: Reply) -> None:
        """Keep an answer; once this returns, it survives a killed process."""
        entry = {name: value for name, value in reply._asdict().items() if value not in (None, {})}
        if reply.cost is not None:
            entry["cost"] = str(reply.cost)
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._write({"key": key, **entry, "time": now})
        self.replies[key] = reply

    def _write(self, entry: Mapping[str, Any]) -> None:
        text = encode_json_line(entry)
        data = text[:-1] + _CHECKSUM % zlib.crc32(text) + b"\n"
        with self._lock:
            if self._file is None:
                raise NotWrittenError(f"{self.path}: is not open for writing")
            try:
                while data:
                    data = data[os.write(self._file, data) :]
            except OSError as error:
                raise self._write_error(error) from None

    def _write_error(self, error: OSError) -> NotWrittenError:
        return NotWrittenError(f"{self.path}: cannot be written ({error.strerror or error})")

    def __enter__(self) -> Self:
        """Open the file for writing, and read what was added since."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, flags, 0o666)
            self._claim(self._file)
            attributes = self.path.with_name(".gitattributes")
            if not attributes.exists():
                attributes.write_text(_ATTRIBUTES, encoding="utf-8")
        except OSError as error:
            self.__exit__()
            raise self._write_error(error) from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def _claim(self, file: int) -> None:
        if not try_lock(file):
            raise DataError(
                f"{self.path}: another process is asking this model; wait for it to end, or stop it"
            )
        self.replies, self.spent, self._open = {}, _ZERO, {}
        self._read()
        if os.fstat(file).st_size:
            os.lseek(file, -1, os.SEEK_END)
            if os.read(file, 1) != b"\n":
                os.write(file, b"\n")  # the last line is torn

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = None
