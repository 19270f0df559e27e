# SPDX-License-Identifier: Apache-2.0
"""Drawings as TikZ pictures."""

from __future__ import annotations

from humanoid_codegen.report.drawing import COLOURS, Disc, Drawing, Label, Line, Point, Polygon, Shape
from humanoid_codegen.report.latex_text import latex_text
from humanoid_codegen.report.svg import arrow_head

#: One millimetre of letters' height, as the drawing counts it, in points of font size.
_POINTS = 2.845


def colour_definitions() -> str:
    """Return definitions of the colours that the pictures use, for the document's preamble."""
    return "\n".join(
        f"\\definecolor{{robot{name.replace('_', '')}}}{{RGB}}{{{r},{g},{b}}}" for name, (r, g, b) in COLOURS.items()
    )


def tikz(drawing: Drawing, width: float, height: float) -> str:
    """Return the drawing as a picture, made smaller where it wouldn't fit, and turned where it is larger then.

    Args:
        drawing: what to draw.
        width: available [mm].
        height: available [mm].
    """
    left, top, right, bottom = drawing.bounds()
    scale = min(1.0, width / (right - left), height / (bottom - top))
    turned = min(1.0, height / (right - left), width / (bottom - top))
    if turned > 1.1 * scale:
        return f"\\rotatebox{{90}}{{%\n{_picture(drawing, turned)}%\n}}"
    return _picture(drawing, scale)


def _picture(drawing: Drawing, scale: float) -> str:
    lines = [f"\\begin{{tikzpicture}}[x={scale:.4f}mm, y=-{scale:.4f}mm]"]
    lines += [line for shape in drawing.shapes for line in _shape(shape, scale)]
    return "\n".join([*lines, "\\end{tikzpicture}"])


def _shape(shape: Shape, scale: float) -> list[str]:
    if isinstance(shape, Line):
        options = [_colour(shape.colour), f"line width={shape.width * scale:.3f}mm", "line join=round"]
        if shape.dashed:
            options.append(_dashes(scale))
        drawn = [f"\\draw[{', '.join(options)}] {_path(shape.points)};"]
        if shape.arrow:
            drawn += _shape(Polygon(arrow_head(shape), shape.colour, shape.colour), scale)
        return drawn
    if isinstance(shape, Disc):
        (x, y), radius = shape.centre, shape.radius * scale
        return [
            f"\\filldraw[fill={_colour(shape.fill)}, draw={_colour(shape.edge)}, line width={0.25 * scale:.3f}mm] "
            f"({x:.2f},{y:.2f}) circle[radius={radius:.3f}mm];"
        ]
    if isinstance(shape, Polygon):
        options = [f"fill={_colour(shape.fill)}", f"draw={_colour(shape.edge)}", f"line width={0.25 * scale:.3f}mm"]
        if shape.dashed:
            options.append(_dashes(scale))
        return [f"\\filldraw[{', '.join(options)}] {_path(shape.points)} -- cycle;"]
    return [_label(shape, scale)]


def _label(label: Label, scale: float) -> str:
    (x, y), size = label.place, label.size * scale * _POINTS
    text = latex_text(label.text)
    if label.subscript:
        text = f"${text}_{{\\text{{{latex_text(label.subscript)}}}}}$" + latex_text(label.rest)
    anchor = {"start": "west", "middle": "center", "end": "east"}[label.anchor]
    # The strut gives all labels one height, so that they stand on one line.
    font = f"\\sffamily\\fontsize{{{size:.2f}pt}}{{{size:.2f}pt}}\\selectfont"
    options = f"anchor={anchor}, inner sep=0pt, text={_colour(label.colour)}, font={font}"
    return f"\\node[{options}] at ({x:.2f},{y:.2f}) {{\\strut {text}}};"


def _path(points: tuple[Point, ...]) -> str:
    return " -- ".join(f"({x:.2f},{y:.2f})" for x, y in points)


def _dashes(scale: float) -> str:
    return f"dash pattern=on {1.2 * scale:.3f}mm off {0.9 * scale:.3f}mm"


def _colour(name: str) -> str:
    return "robot" + name.replace("_", "")
