# SPDX-License-Identifier: Apache-2.0
"""Documents in LaTeX: class article with amsmath, graphicx, TikZ pictures and what every LaTeX has for tables.

Any text is set by pdfLaTeX with its standard fonts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

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

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_\allowbreak{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "-": "-{}",
    "\N{EN DASH}": "--",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{INFINITY}": r"$\infty$",
    "\N{MINUS SIGN}": "$-$",
    "\N{SUPERSCRIPT TWO}": "$^2$",
    "\N{MIDDLE DOT}": r"$\cdot$",
}

#: Combining characters and the accent commands for them.
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c", "\u0328": "k",
}  # fmt: skip

_LETTERS = {"ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}"}


def latex_text(text: str) -> str:
    """Return the text in pure ASCII; what the standard fonts don't have is written as its code point, U+03B1."""
    return "".join(_character(character) for character in text)


def _character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character in _LETTERS:
        return _LETTERS[character]
    if character.isspace() or unicodedata.category(character).startswith("C"):
        return " "
    if character.isascii():
        return character
    base, *marks = list(unicodedata.normalize("NFD", character))
    if base.isascii() and len(marks) == 1 and marks[0] in _ACCENTS:
        return f"\\{_ACCENTS[marks[0]]}{{{base}}}"
    return f"U+{ord(character):04X}"


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


_LINES_TOGETHER = 60
#: Room for a picture on a page [mm].
_PICTURE_WIDTH, _PICTURE_HEIGHT = 170.0, 215.0

_HEAD_END = "\\\\ \\hline \\noalign{\\vskip 2pt}\n\\endhead"

_PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[margin=20mm]{geometry}
\usepackage{amsmath}
\usepackage{graphicx}
\usepackage{array}
\usepackage{longtable}
\usepackage{tikz}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{1ex plus 0.3ex}
\setlength{\tabcolsep}{3pt}
\newcolumntype{N}{>{\raggedright\arraybackslash}p{26mm}}
"""


def write_latex(name: str, blocks: Sequence[Block]) -> dict[str, str]:
    """Return the file of a document, ``name.tex``; the first heading is its title.

    Args:
        name: identifier.
        blocks: of the document.
    """
    title, *rest = blocks
    assert isinstance(title, Heading)
    source = [
        f"{_PREAMBLE}{colour_definitions()}\n\n",
        f"\\title{{{_line(title.content)}}}\n\\author{{}}\n\\date{{}}\n\n\\begin{{document}}\n\\maketitle",
    ]
    for block in rest:
        # An empty line before a display would be a paragraph's end, with its space.
        source.append(f"{chr(10) if isinstance(block, Equations) else chr(10) * 2}{_block(block)}")
    return {f"{name}.tex": "".join([*source, "\n\n\\end{document}\n"])}


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"\\{'sub' * (block.level - 2)}section{{{_line(block.content)}}}"
    if isinstance(block, Paragraph):
        return _line(block.content)
    if isinstance(block, Items):
        return "\\begin{itemize}\n" + "\n".join(f"\\item {_line(item)}" for item in block.items) + "\n\\end{itemize}"
    if isinstance(block, Equations):
        chunks = [block.lines[k : k + _LINES_TOGETHER] for k in range(0, len(block.lines), _LINES_TOGETHER)]
        return "\n".join("\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}" for lines in chunks)
    if isinstance(block, Table):
        header = " & ".join(f"\\textbf{{{_line(cell)}}}" for cell in block.header)
        rows = [" & ".join(_line(cell) for cell in row) + " \\\\" for row in block.rows]
        lines = [f"\\begin{{longtable}}{{{block.columns.replace('n', 'N')}}}", f"{header} {_HEAD_END}", *rows]
        size = "footnotesize" if len(block.columns) < 5 else "scriptsize"
        return f"{{\\{size}\n" + "\n".join([*lines, "\\end{longtable}}"])
    assert isinstance(block, Figure)
    picture = tikz(block.drawing, _PICTURE_WIDTH, _PICTURE_HEIGHT)
    return f"\\begin{{figure}}[!htbp]\n\\centering\n{picture}\n\\caption{{{_line(block.caption)}}}\n\\end{{figure}}"


def _line(content: Text) -> str:
    return "".join(f"${part}$" if isinstance(part, Formula) else latex_text(part) for part in content)
