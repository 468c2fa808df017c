"""`Charts`: drawings that show themselves in a notebook and can be saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.files import replace_file
from berryeval._internal.optional import import_optional
from berryeval._internal.validate import suggest
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike

_FONTS: Final = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"
_SCALE: Final = 2.0  # pixels of a PNG file per unit
# How JupyterLab, VS Code, Colab and marimo mark a dark theme. Elsewhere a chart is a light card.
_DARK: Final = (
    'body[data-jp-theme-light="false"], body.vscode-dark, html[theme="dark"], html.dark, body.dark'
)
_PAGE: Final = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    '<body style="margin:16px;background:#fff">{body}</body></html>\n'
)


@dataclass(frozen=True)
class Chart:
    """A drawing of shapes and escaped texts only, with its name and caption."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True, repr=False)
class Charts:
    """Charts by name; `charts["latency"]` has one of them.

    Attributes:
        charts: The charts.
        dark_rules: Style rules that give the shapes within `.berryeval-chart` their dark colors.
        dark_page: Color of the card in a dark notebook, and of its caption.
    """

    charts: tuple[Chart, ...]
    dark_rules: str = ""
    dark_page: tuple[str, str] = ("#1d1a20", "#e9e4ec")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the charts."""
        return tuple(one.name for one in self.charts)

    def __getitem__(self, name: str) -> Charts:
        return self.select([name])

    def select(self, names: Sequence[str]) -> Charts:
        """Return these charts only, in this order; all without names."""
        known = {one.name: one for one in self.charts}
        for name in names:
            if name not in known:
                hint = suggest(name, self.names) if known else "there is nothing to draw"
                raise ConfigurationError(f"there is no chart {name!r}; {hint}")
        chosen = tuple(known[name] for name in names)
        return Charts(chosen or self.charts, self.dark_rules, self.dark_page)

    def __len__(self) -> int:
        return len(self.charts)

    def __repr__(self) -> str:
        return f"Charts({', '.join(self.names) or 'nothing to draw'})"

    def _repr_html_(self) -> str:
        if not self.charts:
            return "<div>nothing to draw</div>"
        figures = "".join(
            '<figure class="berryeval-chart" style="margin:0;padding:10px 12px;border-radius:6px;'
            'background:#fff;color:#2b2730;max-width:36rem;flex:0 1 auto">'
            f'{one.svg.replace("<svg ", _SIZED, 1)}<figcaption style="font-size:12px;'
            f'margin-top:4px">{escape(one.caption)}</figcaption></figure>'
            for one in self.charts
        )
        back, ink = self.dark_page
        card = f".berryeval-chart {{ background: {back} !important; color: {ink} !important }}"
        style = f".berryeval-chart text {{ font-family: {_FONTS} }}\n"
        style += f":is({_DARK}) {{\n{card}\n{self.dark_rules}\n}}" if self.dark_rules else ""
        return (
            f"<style>{style}</style>"
            f'<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start">{figures}'
            "</div>"
        )

    def save(self, path: PathLike) -> None:
        """Write a file: .svg or .png for one chart, .html for any number of them."""
        place = Path(path)
        kind = place.suffix.lower()
        if kind not in {".svg", ".png", ".html", ".htm"}:
            raise ConfigurationError(
                f"{place}: charts are saved as .svg, .png or .html; found {kind or 'no ending'!r}"
            )
        if kind in {".html", ".htm"}:
            content = _PAGE.format(title=escape(", ".join(self.names)), body=self._repr_html_())
            data = content.encode()
        else:
            data = self._encode(place, kind)
        with replace_file(place) as stream:
            stream.write(data)

    def _encode(self, place: Path, kind: str) -> bytes:
        if len(self.charts) != 1:
            found = ", ".join(self.names) or "none"
            raise ConfigurationError(
                f"{place}: a {kind} file holds one chart, and there are {found}; choose one by its "
                "name, as in plot('metrics'), or save them all as .html"
            )
        svg = _stand_alone(self.charts[0].svg)
        if kind == ".svg":
            return svg.encode()
        converter = import_optional("vl_convert", "a chart as PNG", extra="report")
        found_png: bytes = converter.svg_to_png(svg, scale=_SCALE)
        return found_png


def draw(kind: str, result: Any) -> Charts:
    """Draw a result of a package below the reports, which are loaded by name when they are needed.

    `reports` imports these packages, so they cannot import it.
    """
    charts: Charts = getattr(import_module("berryeval.reports"), f"draw_{kind}")(result)
    return charts


_SIZED: Final = '<svg style="display:block;max-width:100%;height:auto;overflow:visible" '


def _stand_alone(svg: str) -> str:
    """Return a drawing as a file of its own: with a name space, a font and a white background."""
    start, end = svg.index("<svg ") + len("<svg "), svg.index(">") + 1
    head = f'xmlns="http://www.w3.org/2000/svg" font-family="{_FONTS}" '
    back = '<rect width="100%" height="100%" fill="#fff"/>'
    return f"<svg {head}{svg[start:end]}{back}{svg[end:]}"
