"""The command line: parse, call one library function, print."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.cli.app import main
else:
    __getattr__, __dir__ = open_door(__name__)
