"""`berryeval serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.cli.flags import Flag

if TYPE_CHECKING:
    from berryeval.web import Serving


def serve(
    *benchmarks: str,
    host: str = "127.0.0.1",
    port: int = 8642,
    url: str = "",
    store: str | None = None,
    ledger: str | None = None,
    judge: str | None = None,
    users: Flag = False,
) -> None:
    """Look at runs, compare them and judge their hits in the browser.

    Args:
        benchmarks: Benchmarks to judge; default: those with a pool in this folder.
        host: Address to listen on; only this machine reaches the default.
        port: Port to listen on; 0 for any that is free.
        url: Address of the server behind a proxy: --url https://eval.example.org/berry.
        store: Store of past runs: a SQLite file, or the URL of a PostgreSQL.
        ledger: Folder or store of the judgments; default: beside the benchmark.
        judge: Your name as a judge; default: BERRYEVAL_JUDGE, else your login.
        users: Let people sign in, each with a token and a role kept in the store; the first start
            makes you the administrator, who adds the others on the page People.
    """
    from berryeval._internal.optional import require_modules

    needed = ("uvicorn", "fastapi", "python_multipart", "sqlalchemy")
    require_modules([("berryeval serve", dict.fromkeys(needed, "web"))])
    from berryeval.web import SiteSettings
    from berryeval.web import serve as start

    start(SiteSettings(store, benchmarks, ledger, judge, users, host, port, url), _announce)


def _announce(serving: Serving) -> None:
    from berryeval.cli.output import console

    screen = console()
    for note in serving.notes:
        screen.print(f"note: {note}", style="yellow", soft_wrap=True, highlight=False)
    for line in _describe(serving):
        screen.print(line, soft_wrap=True, highlight=False, markup=False)


def _describe(serving: Serving) -> list[str]:
    if not serving.is_first:
        return [f"that link was used; for another browser: {serving.link}"]
    if serving.link.startswith(f"{serving.address}/sign-in"):
        return [
            f"{serving.who} is the first administrator; this link is shown only once:",
            f"open {serving.link}",
            "stop with Ctrl-C",
        ]
    return [f"open {serving.link or serving.address}", "stop with Ctrl-C"]
