"""Names of tests and corrections, in the spellings that people use."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from berryeval.errors import ConfigurationError
from berryeval.registry import Registry

__all__ = ["SpelledRegistry"]

T = TypeVar("T")
_BETWEEN = re.compile(r"[\s_'-]+")


class SpelledRegistry(Registry[T]):
    """A registry to which capitals, hyphens and the word "test" at the end are all one.

    >>> known = SpelledRegistry("test", {"t": "tests:t"}, {"student": "t", "students t": "t"})
    >>> known.canonical("T-test"), known.canonical("Student's t test"), known.canonical("ttest")
    ('t', 't', 't')
    """

    def get(self, name: str) -> T:
        """The thing of this name, in any spelling."""
        return super().get(self._known(name))

    def canonical(self, name: str) -> str:
        """The name of the thing that this spelling means."""
        return super().canonical(self._known(name))

    def _known(self, name: Any) -> str:
        if not isinstance(name, str):
            msg = (
                f"expected the name of a {self.kind}, found {type(name).__name__}; "
                f"there are {', '.join(self)}"
            )
            raise ConfigurationError(msg)
        spelled = {_folded(one): one for one in (*self._aliases, *self._homes)}
        return name if name in self._aliases else spelled.get(_folded(name), name)


def _folded(name: str) -> str:
    """Without what is written in many ways."""
    text = _BETWEEN.sub("", name.lower())
    return text.removesuffix("test") or text
