# SPDX-License-Identifier: Apache-2.0
"""Drawings as SVG text."""

from __future__ import annotations

from xml.sax.saxutils import escape

from humanoid_codegen.report.drawing import COLOURS, Disc, Drawing, Label, Line, Point, Polygon, Shape


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


def arrow_head(line: Line) -> tuple[Point, Point, Point]:
    """Triangle on the last point of a line [mm]."""
    (x0, y0), (x1, y1) = line.points[-2:]
    length = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-9)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    size = 1.2 + 1.5 * line.width
    back = (x1 - size * dx, y1 - size * dy)
    side = 0.35 * size
    return ((x1, y1), (back[0] - side * dy, back[1] + side * dx), (back[0] + side * dy, back[1] - side * dx))


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _colour(name: str) -> str:
    return "#{:02x}{:02x}{:02x}".format(*COLOURS[name])
