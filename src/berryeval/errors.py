"""Every exception BerryEval raises on purpose, apart from Python's own for wrong arguments.

    BerryEvalError                   something the user can put right: what, where, what next
    ├── ConfigurationError           a setting or environment variable cannot be used as it is
    │                                (also a ValueError)
    ├── DataError                    a file, frame or dict does not hold what it should; says where
    │   │                            (also a ValueError)
    │   ├── RepeatedDocumentError    a document stands twice in one query
    │   └── NotWrittenError          a file or folder cannot be written
    ├── MetricError                 an unknown metric, or a parameter it does not take
    │   │                            (also a ValueError)
    │   └── NotScoredError           a metric that a table of scores does not hold
    │                                (also a KeyError)
    ├── ProviderError                a provider could not answer; says whether trying again may help
    ├── RunFailedError               a run was given up; what was done is kept
    ├── MissingDependencyError       a feature needs a package that is not installed; says which
    │                                (also an ImportError)
    └── BackendUnavailableError      a backend was demanded that this installation does not have
                                     (also an ImportError)

A wrong argument to a Python function is a plain `TypeError` or `ValueError`. The command line turns
all of these into exit codes in one place, `berryeval.cli.app`.
"""


class BerryEvalError(Exception):
    """Base of the exceptions of this package; its message is fit to be shown to the user."""


class ConfigurationError(BerryEvalError, ValueError):
    """A setting or environment variable has a value that cannot be used."""


class DataError(BerryEvalError, ValueError):
    """A file, frame or dict does not hold what it should."""


class RepeatedDocumentError(DataError):
    """A document stands twice in one query."""


class NotWrittenError(DataError):
    """A file or folder cannot be written."""


class MetricError(BerryEvalError, ValueError):
    """A metric nobody knows, a parameter it does not take, or a value that is no number."""


class NotScoredError(MetricError, KeyError):
    """A metric that a table of scores does not hold."""

    def __str__(self) -> str:
        """The message as it is; a KeyError alone would show it in quotes."""
        return str(self.args[0]) if self.args else ""


class ProviderError(BerryEvalError):
    """A provider could not answer.

    Attributes:
        passing: whether the same question may be answered when it is asked again.
        retry_after: how many seconds the provider asked to wait, if it did.
    """

    def __init__(
        self, message: str, *, passing: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.passing = passing
        self.retry_after = retry_after


class RunFailedError(BerryEvalError):
    """A run was given up; what was done until then is kept."""


class MissingDependencyError(BerryEvalError, ImportError):
    """A feature needs a package that is not installed."""


class BackendUnavailableError(BerryEvalError, ImportError):
    """The backend that was asked for is not there."""
