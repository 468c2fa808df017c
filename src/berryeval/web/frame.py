"""The frame of every page: templates, the report's among them, and what all of them show."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup
from starlette.responses import HTMLResponse

from berryeval import __version__
from berryeval.judging import mark_words
from berryeval.reports import build_environment, drop_heading
from berryeval.web.site import site_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request

STATIC: Final = Path(__file__).parent / "static"


@cache
def environment() -> Environment:
    """Return the templates of this package, before those of the report.

    `layout.html` of this package takes the place of the report's, so that the report's pages show
    within the site.
    """
    found = build_environment("berryeval.web")
    found.filters |= {"mark_words": mark_words, "without_heading": drop_heading, "moment": moment}
    return found


def moment(created: str) -> str:
    """Format the start of a run in its own time zone: 16 Nov 2026, 16:03."""
    try:
        found = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{found.day} {found:%b %Y, %H:%M}"


def render_blocks(template: str, **values: Any) -> dict[str, Markup]:
    """Render the blocks of a page of the report, to be kept and shown by `body.html`."""
    found = environment().get_template(template)
    context = found.new_context(values)
    return {
        name: Markup("".join(draw(context)))  # noqa: S704 - templates escape what they show
        for name, draw in found.blocks.items()
    }


def is_partial(request: Request) -> bool:
    """Return whether htmx asks for a part of a page only."""
    return request.headers.get("hx-request-type") == "partial"


def render(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a page of the site.

    With htmx, templates may show a part only (`part`). Every form with the method post sends
    `form_token` as a hidden field.
    """
    shown = (
        environment()
        .get_template(template)
        .render(
            root=site_of(request).settings.root,
            users_are_named=site_of(request).settings.users,
            person=request.state.person,
            form_token=request.state.form_token,
            path=request.url.path,
            part=is_partial(request),
            target=request.headers.get("hx-target", "").partition("#")[2],
            version=__version__,
            **values,
        )
    )
    return HTMLResponse(shown, status)
