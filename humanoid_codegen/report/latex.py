# SPDX-License-Identifier: Apache-2.0
"""Documents in LaTeX: class article with amsmath, graphicx, TikZ and what every LaTeX has for tables."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.report.document import (
    Block,
    Equations,
    Figure,
    Formula,
    Heading,
    Items,
    Paragraph,
    Table,
    Text,
)
from humanoid_codegen.report.latex_text import latex_text
from humanoid_codegen.report.tikz import colour_definitions, tikz

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
