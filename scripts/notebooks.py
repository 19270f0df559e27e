# SPDX-License-Identifier: Apache-2.0
"""Runs the Python of tutorials and writes them as notebooks with what it printed and drew, into notebooks/.

``scripts/run python scripts/notebooks.py``; names of pages after it for some of them. A piece of Python whose last line
is a picture, of Pillow's or matplotlib's, shows it, as in Jupyter. The page shows the same picture from docs/images/,
which is written too; in the notebook the link to it behind the piece is left out.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = (
    "own_robot",
    *(f"tutorial_{name}" for name in ("simulator", "contact_planner", "kinematics", "gait", "model_generator")),
)
"""What needs no running nodes."""
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[[^]]*\]\(images/(\w+\.png)\)\n*")
LINK = re.compile(r"(?<=\]\()(?!\w+:|#|\.\./)")


def pieces(page: str) -> list[tuple[str, str]]:
    """Return the text and the Python of a page in their order, each with its kind of cell."""
    found, end = [], 0
    text = (ROOT / "docs" / f"{page}.md").read_text()
    for block in BLOCK.finditer(text):
        found += [("markdown", text[end : block.start()].strip()), ("code", block[1].rstrip("\n"))]
        end = block.end()
    found.append(("markdown", text[end:].strip()))
    return [(kind, content) for kind, content in found if content]


def outputs(codes: list[str]) -> list[tuple[str, bytes | None]]:
    """Run pieces of Python in turn in an empty folder; return what each prints, and its picture as PNG."""
    known: dict[str, Any] = {"__name__": "__main__"}
    found, before = [], Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for code in codes:
                tree = ast.parse(code)
                last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    exec(compile(tree, "<tutorial>", "exec"), known)
                    value = eval(compile(ast.Expression(last.value), "<tutorial>", "eval"), known) if last else None
                found.append((output.getvalue(), _png(value)))
        finally:
            os.chdir(before)
    return found


def _png(value: Any) -> bytes | None:
    """Return a picture of Pillow's or matplotlib's as PNG, None of anything else."""
    from matplotlib.figure import Figure
    from PIL import Image

    file = io.BytesIO()
    if isinstance(value, Image.Image):
        value.quantize(64).save(file, "png", optimize=True)
    elif isinstance(value, Figure):
        value.savefig(file, format="png", dpi=60)
        file = io.BytesIO(_png(Image.open(file).convert("RGB")) or b"")
    else:
        return None
    return file.getvalue()


def notebook(page: str) -> tuple[str, dict[str, bytes]]:
    """Return a page as a notebook, its Python run, and its pictures by the names that the page has for them.

    Raises:
        ValueError: a picture that the page doesn't show behind the Python that makes it.
    """
    cells: list[dict[str, Any]] = []
    pictures: dict[str, bytes] = {}
    found = pieces(page)
    made = iter(outputs([content for kind, content in found if kind == "code"]))
    picture = None
    for number, (kind, content) in enumerate(found):
        if kind == "markdown":
            if picture is not None:
                link = PICTURE.match(content)
                if link is None:
                    raise ValueError(f"docs/{page}.md: no ![...](images/....png) follows the Python that draws it")
                pictures[link[1]], content = picture, content[link.end() :]
            # A notebook lies beside docs/.
            content = LINK.sub("../docs/", content)
        cell: dict[str, Any] = {
            "cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": content.splitlines(keepends=True)
        }  # fmt: skip
        picture = None
        if kind == "code":
            text, picture = next(made)
            lines = text.splitlines(keepends=True)
            cell["execution_count"] = None
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
            if picture is not None:
                data = {"image/png": base64.b64encode(picture).decode()}
                cell["outputs"] += [{"data": data, "metadata": {}, "output_type": "display_data"}]
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    written = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(written, indent=1, ensure_ascii=False) + "\n", pictures


def main() -> None:
    """Write them."""
    (ROOT / "notebooks").mkdir(exist_ok=True)
    for page in sys.argv[1:] or PAGES:
        text, pictures = notebook(page)
        (ROOT / "notebooks" / f"{page}.ipynb").write_text(text)
        for name, picture in pictures.items():
            (ROOT / "docs" / "images" / name).write_bytes(picture)
        print(f"notebooks/{page}.ipynb")


if __name__ == "__main__":
    main()
