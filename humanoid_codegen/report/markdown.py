# SPDX-License-Identifier: Apache-2.0
"""Documents in Markdown with formulas between dollar signs and pictures in SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from humanoid_codegen.report.document import (
    COLOURS,
    Block,
    Disc,
    Drawing,
    Equations,
    Figure,
    Formula,
    Heading,
    Items,
    Label,
    Line,
    Paragraph,
    Point,
    Polygon,
    Shape,
    Table,
    Text,
    arrow_head,
)


def svg(drawing: Drawing, title: str) -> str:
    """Return the drawing as a picture of its own, on white paper.

    Args:
        drawing: what to draw.
        title: of the picture, for readers who can't see it.
    """
    left, top, right, bottom = drawing.bounds()
    width, height = right - left, bottom - top
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.1f}mm" height="{height:.1f}mm" '
        f'viewBox="{left:.2f} {top:.2f} {width:.2f} {height:.2f}" font-family="Helvetica, Arial, sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect x="{left:.2f}" y="{top:.2f}" width="{width:.2f}" height="{height:.2f}" fill="white"/>',
    ]
    for shape in drawing.shapes:
        lines += _shape(shape)
    return "\n".join([*lines, "</svg>", ""])


def _shape(shape: Shape) -> list[str]:
    if isinstance(shape, Line):
        dash = ' stroke-dasharray="1.2 0.9"' if shape.dashed else ""
        stroke = f'stroke="{_colour(shape.colour)}" stroke-width="{shape.width:.2f}"'
        drawn = [f'<polyline points="{_points(shape.points)}" fill="none" {stroke} stroke-linejoin="round"{dash}/>']
        if shape.arrow:
            drawn += _shape(Polygon(arrow_head(shape), shape.colour, shape.colour))
        return drawn
    if isinstance(shape, Disc):
        (x, y), fill, edge = shape.centre, _colour(shape.fill), _colour(shape.edge)
        circle = f'cx="{x:.2f}" cy="{y:.2f}" r="{shape.radius:.2f}"'
        return [f'<circle {circle} fill="{fill}" stroke="{edge}" stroke-width="0.25"/>']
    if isinstance(shape, Polygon):
        dash = ' stroke-dasharray="1.2 0.9"' if shape.dashed else ""
        fill, edge = _colour(shape.fill), _colour(shape.edge)
        return [f'<polygon points="{_points(shape.points)}" fill="{fill}" stroke="{edge}" stroke-width="0.25"{dash}/>']
    return [_label(shape)]


def _label(label: Label) -> str:
    x, y = label.place
    text = escape(label.text)
    if label.subscript:
        size = 0.7 * label.size
        text = (
            f'<tspan font-style="italic">{text}</tspan>'
            f'<tspan font-size="{size:.2f}" dy="{0.25 * label.size:.2f}">{escape(label.subscript)}</tspan>'
        )
        if label.rest:
            text += f'<tspan dy="{-0.25 * label.size:.2f}" xml:space="preserve">{escape(label.rest)}</tspan>'
    return (
        f'<text x="{x:.2f}" y="{y + 0.35 * label.size:.2f}" font-size="{label.size:.2f}" text-anchor="{label.anchor}" '
        f'fill="{_colour(label.colour)}">{text}</text>'
    )


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _colour(name: str) -> str:
    return "#{:02x}{:02x}{:02x}".format(*COLOURS[name])


_LINES_TOGETHER = 40


def write_markdown(name: str, blocks: Sequence[Block]) -> dict[str, str]:
    """Return files of a document: ``name.md`` and its pictures beside it.

    Args:
        name: identifier.
        blocks: of the document.
    """
    files: dict[str, str] = {}
    parts: list[str] = []
    for block in blocks:
        if isinstance(block, Figure):
            file = f"{name}_{block.name}.svg"
            title = "".join(part for part in block.caption if not isinstance(part, Formula))
            files[file] = svg(block.drawing, title)
            parts.append(f"![{markdown_text(title)}]({file})\n\n*{_line(block.caption)}*")
        else:
            parts.append(_block(block))
    return {f"{name}.md": "\n\n".join(parts) + "\n", **files}


def markdown_text(words: str) -> str:
    """Words in which no character is taken for markup."""
    words = re.sub(r"[\x00-\x20\x7f]+", " ", words)
    words = re.sub(r"([\\`*_\[\]#|$~!])", r"\\\1", words)
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_line(block.content)}"
    if isinstance(block, Paragraph):
        return _line(block.content)
    if isinstance(block, Items):
        return "\n".join(f"- {_line(item)}" for item in block.items)
    if isinstance(block, Equations):
        chunks = [block.lines[k : k + _LINES_TOGETHER] for k in range(0, len(block.lines), _LINES_TOGETHER)]
        return "\n\n".join(
            "$$\n\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n$$" for lines in chunks
        )
    assert isinstance(block, Table)
    rows = [[_line(cell) for cell in row] for row in (block.header, *block.rows)]
    rule = [{"r": "---:"}.get(column, ":---") for column in block.columns]
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:]))


def _line(content: Text) -> str:
    return "".join(f"${part}$" if isinstance(part, Formula) else markdown_text(part) for part in content)
