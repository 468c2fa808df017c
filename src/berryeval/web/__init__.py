"""The web application: look at runs and judge together, in the browser."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.web.application import build_application
    from berryeval.web.server import Serving, serve
    from berryeval.web.site import Site, SiteSettings
else:
    __getattr__, __dir__ = open_door(__name__)
