# SPDX-License-Identifier: Apache-2.0
"""Hooks of mkdocs: the pages of the site that docs/ doesn't hold, made when it is built.

`api/` has a page of the public names of each package, `source/` the files of the repository that pages link to;
`features.md` is the table of features, `nodes.md` what running nodes tell (`make docs` writes it to out/nodes.md).
"""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path

from feature_table import table
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
ROLE = re.compile(r":(?:attr|class|data|func|math|meth|mod):(<code[^>]*>)(?:~[\w.]+\.)?")


def public_names(path: Path) -> list[str]:
    """List `__all__` of a module, without importing it."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def packages() -> dict[str, list[str]]:
    """List the packages that have public names, by name, each with these."""
    found = {}
    for path in sorted(ROOT.glob("humanoid_*/**/__init__.py")):
        if names := public_names(path):
            found[".".join(path.parent.relative_to(ROOT).parts)] = names
    return found


def described_fields() -> dict[str, list[str]]:
    """List the tables of fields that dataclasses describe (`humanoid_model.fields`) by class, without importing any."""
    tables: dict[str, list[str]] = {}
    for path in ROOT.glob("humanoid_*/**/*.py"):
        for kind in [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]:
            rows = [row for item in kind.body if (row := field_row(item))]
            if rows:
                tables[kind.name] = ["", "| field | default | meaning | range |", "| --- | --- | --- | --- |", *rows]
    return tables


def field_row(item: ast.stmt) -> str:
    """Write the row of a described field; empty of anything else in a class."""
    if not (isinstance(item, ast.AnnAssign) and isinstance(item.value, ast.Call)):
        return ""
    call, given = item.value, {key.arg: ast.unparse(key.value) for key in item.value.keywords}
    kind = ast.unparse(call.func)
    if kind not in ("number", "count", "flag", "text", "choice"):
        return ""
    default, *texts = (one.value if isinstance(one, ast.Constant) else ast.unparse(one) for one in call.args)
    meaning = texts[1] if kind == "choice" else texts[0]
    unit = f" [{texts[1]}]" if kind == "number" and len(texts) > 1 else ""
    low = given.get("low", "0" if kind == "count" else "")
    ends = f"above {low}" if "above" in given else f"{low} or more" if low else "", given.get("high", "")
    limits = ", at most ".join(filter(None, ends)) if ends[0] else f"at most {ends[1]}" if ends[1] else ""
    shown = "open" if default is None or default == "math.inf" else f"`{default}`"
    return f"| `{ast.unparse(item.target)}` | {shown} | {meaning}{unit} | {limits} |"


def names_page(package: str, all_names: dict[str, list[str]]) -> str:
    """Write the page of a package's public names and of those of the packages in it."""
    lines, tables = [f"# {package}", "", "Public names. All others are internal and may change."], described_fields()
    for name, members in all_names.items():
        if name == package or name.startswith(f"{package}."):
            docstring = ast.get_docstring(ast.parse((ROOT / name.replace(".", "/") / "__init__.py").read_text()))
            lines += ["", f"## `{name}` {{#{name}}}", "", (docstring or "").split("\n\n")[0]]
            for member in members:
                lines += [f"\n::: {name}.{member}", *tables.get(member, ())]
    return "\n".join(lines) + "\n"


def origin(uri: str) -> str:
    """Tell where in the repository a page of the site comes from."""
    return uri.removeprefix("source/").removesuffix(".md") if uri.startswith("source/") else f"docs/{uri}"


def place(path: str) -> str:
    """Tell where on the site a file of the repository is."""
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}.md"


def targets(text: str, page: str) -> list[str]:
    """List the files of the repository that a page at a path of the repository links to."""
    return [posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in LINK.findall(text)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of public names, and the files that pages link to and, in turn, those link to."""
    all_names = packages()
    for package in sorted({name.split(".")[0] for name in all_names}):
        files.append(File.generated(config, f"api/{package}.md", content=names_page(package, all_names)))
    files.append(File.generated(config, "features.md", content=table(ROOT)))
    files.append(File.generated(config, "nodes.md", content=(ROOT / "out/nodes.md").read_text()))
    waiting = [(path, path.read_text()) for path in sorted((ROOT / "docs").glob("*.md"))]
    while waiting:
        path, text = waiting.pop()
        for target in targets(text, str(path.relative_to(ROOT))):
            linked = ROOT / target
            if target.startswith("docs/") or files.get_file_from_path(place(target)) or not linked.is_file():
                continue
            content = linked.read_text()
            if linked.suffix == ".md":
                waiting.append((linked, content))
            else:
                content = f"# {target}\n\n````{linked.suffix[1:]}\n{content}````\n"
            files.append(File.generated(config, place(target), content=content, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    here = page.file.src_uri
    if here.startswith("api/"):
        return markdown

    def to_site(link: re.Match[str]) -> str:
        (target,) = targets(f"]({link[1]}", origin(here))
        return posixpath.relpath(place(target), posixpath.dirname(here) or ".")

    return LINK.sub(to_site, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Drop the roles of docstrings, such as `:func:`, and what they leave out of names: Markdown doesn't know them."""
    return ROLE.sub(r"\1", html) if page.file.src_uri.startswith("api/") else html
