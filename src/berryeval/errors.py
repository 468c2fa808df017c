"""The exceptions of BerryEval.

    BerryEvalError                   a problem that the user can fix
    ├── ConfigurationError           an invalid setting, option or environment variable
    │                                (also a ValueError)
    ├── DataError                    invalid content of a file, frame or dict (also a ValueError)
    │   ├── RepeatedDocumentError    a document appears twice in one query
    │   └── NotWrittenError          a file or folder cannot be written
    ├── MetricError                  an unknown metric or an invalid parameter (also a ValueError)
    │   └── NotScoredError           a metric that was not computed (also a KeyError)
    ├── ProviderError                a provider that did not answer
    ├── RunFailedError               a run that was aborted
    ├── MissingDependencyError       a package that is not installed (also an ImportError)
    └── BackendUnavailableError      a backend that is not installed (also an ImportError)

Messages state what was found, where, and what to do. Invalid arguments to Python functions raise a
plain `TypeError` or `ValueError`. `berryeval.cli.app` maps the exceptions to exit codes.
"""


class BerryEvalError(Exception):
    """Base of all exceptions of BerryEval; the message can be shown to the user."""


class ConfigurationError(BerryEvalError, ValueError):
    """An invalid setting, option or environment variable."""


class DataError(BerryEvalError, ValueError):
    """Invalid content of a file, frame or dict."""


class RepeatedDocumentError(DataError):
    """A document that appears twice in one query."""


class NotWrittenError(DataError):
    """A file or folder that cannot be written."""


class MetricError(BerryEvalError, ValueError):
    """An unknown metric, an invalid parameter, or a value that is not a number."""


class NotScoredError(MetricError, KeyError):
    """A metric that was not computed."""

    def __str__(self) -> str:
        """Return the message; `KeyError` alone would put it in quotes."""
        return str(self.args[0]) if self.args else ""


class ProviderError(BerryEvalError):
    """A provider that did not answer.

    Attributes:
        passing: Whether a retry may succeed.
        retry_after: Seconds that the provider asked to wait, if any.
        status: Status of a server that answered with an error; None for no answer.
        timed_out: Whether no answer came in time.
        sent: Whether the request may have reached the server.
    """

    def __init__(
        self,
        message: str,
        *,
        passing: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
        timed_out: bool = False,
        sent: bool = True,
    ) -> None:
        super().__init__(message)
        self.passing = passing
        self.retry_after = retry_after
        self.status = status
        self.timed_out = timed_out
        self.sent = sent


class RunFailedError(BerryEvalError):
    """A run that was aborted; its answers so far are kept."""


class MissingDependencyError(BerryEvalError, ImportError):
    """A package that a feature needs and that is not installed."""


class BackendUnavailableError(BerryEvalError, ImportError):
    """A requested backend that is not installed."""
