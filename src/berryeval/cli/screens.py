"""Where tables and lines go; whatever data says, it cannot steer the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment

from berryeval.io.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType
    from rich.text import Text

__all__ = ["OutputScreen", "SafeScreen", "safe_screen"]


class SafeScreen(Console):
    """One that shows control characters of texts as escapes; its own still work."""

    def render_str(self, text: str, **options: Any) -> Text:
        """A text, with escapes before its width is measured."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is written, also of texts that were made elsewhere."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible(text), style)


class OutputScreen(SafeScreen):
    """One that leaves it to the command to end when its reader has gone."""

    def on_broken_pipe(self) -> None:
        """Say so."""
        raise BrokenPipeError


def safe_screen(kind: type[SafeScreen], **options: Any) -> SafeScreen:
    """A screen that takes texts as they are."""
    return kind(markup=False, highlight=False, emoji=False, soft_wrap=True, **options)
