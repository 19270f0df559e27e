# SPDX-License-Identifier: Apache-2.0
"""README, CONTRIBUTING and docs/: what they link to and name exists, and what they import is public."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path, PurePosixPath

import pytest
import yaml

pytestmark = pytest.mark.feature("002-F185")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")),
         *sorted((ROOT / "studies/docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
INTERFACE = re.compile(r"(?:msg|srv|action)/\w+$")

@cache
def tracked():
    """Files and folders of the repository, as paths relative to it."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no git repository")
    files = {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    return files | {str(folder) for name in files for folder in PurePosixPath(name).parents} - {"."}


def anchors(path):
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)", FENCE.sub("", path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def code(path):
    """What a page sets in code: the spans of its lines, and its blocks."""
    text = path.read_text()
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", text)) + [block for _, block in FENCE.findall(text)]


def path_of(module):
    """Path of a module or package, without its ending: the studies lie next door."""
    path = module.replace(".", "/")
    return f"studies/{path}" if path.startswith("humanoid_studies") else path


def module_exists(name):
    """Whether a dotted name is a package or a module, or a word of one."""
    parts = name.split(".")
    paths = [path_of(".".join(parts[:n])) for n in range(1, len(parts) + 1)]
    depth = max(n for n, path in enumerate(paths, 1) if n == 1 or path in tracked() or f"{path}.py" in tracked())
    path = ROOT / paths[depth - 1]
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.is_file() and (depth == len(parts) or re.search(rf"\b{parts[depth]}\b", file.read_text()) is not None)


def names(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_and_anchors_exist(page):
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if not re.match(r"\w+:", target):
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.is_file(), target
            assert not anchor or anchor in anchors(file), target


def test_every_picture_is_shown():
    shown = {target for page in PAGES for target in re.findall(r"images/[\w.]+", page.read_text())}
    assert shown == {f"images/{path.name}" for path in (ROOT / "docs/images").iterdir()}


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_paths_and_modules_exist(page):
    """Paths may leave out the folders that they begin with: a page says which package it tells of."""
    missing = set()
    for text in code(page):
        for word in (word.rstrip("./") for word in re.findall(r"(?<![\w<>$*/.~])\w[\w./-]*(?![\w<>*])", text)):
            root = word.split("/")[0]
            if re.fullmatch(r"(?!humanoid_stack/)\w+/(msg|srv|action)/\w+", word):
                continue  # of another package
            if INTERFACE.search(word):
                word = re.sub(r"^humanoid_stack/", "", word)
                found = f"{word}.{word.split('/')[0]}" in tracked()
            elif re.fullmatch(r"humanoid_\w+(\.\w+)+", word) and path_of(word.split(".")[0]) in tracked():
                found = module_exists(word)
            elif "/" in word and (root.startswith("humanoid_") or root in tracked()):
                found = word in tracked()
            elif re.search(r"\w\.py$", word) and not word.startswith("my_"):
                found = any(f"/{name}".endswith(f"/{word}") for name in tracked())
            else:
                continue
            if not found:
                missing.add(word)
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_commands_exist(page):
    targets = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for text in code(page):
        assert set(re.findall(r"^make ([a-z][a-z0-9-]*)", text, re.MULTILINE)) <= set(targets), text
        for module in re.findall(r"python -m (humanoid_[\w.]+)", text):
            file = path_of(module)
            assert {f"{file}/__main__.py", f"{file}.py"} & tracked(), module


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_snippets_import_public_names_of_packages(page):
    """A package is a folder; its public names are in its __all__."""
    for language, block in FENCE.findall(page.read_text()):
        for node in ast.walk(ast.parse(block)) if language == "python" else ():
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                init = ROOT / path_of(module) / "__init__.py"
                if not module.startswith("humanoid_"):
                    continue
                listed = re.search(r"__all__ = \[(.*?)\]", init.read_text(), re.DOTALL) if init.is_file() else None
                public = set(re.findall(r'"(\w+)"', listed[1])) if listed else set()
                assert {alias.name for alias in node.names} <= public, ast.unparse(node)


def test_index_and_site_have_every_page():
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    index = {target.split("#")[0] for target in LINK.findall((ROOT / "docs/index.md").read_text())}
    assert pages - {"index.md"} <= index

    def leaves(entry):
        if isinstance(entry, str):
            return {entry}
        return set().union(*map(leaves, entry.values() if isinstance(entry, dict) else entry))

    listed = leaves(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    assert {name for name in listed if "/" not in name} == pages | {"features.md", "nodes.md"}  # the hook makes these


def test_every_cited_section_is_in_the_table_of_theses():
    """Sections of specifications that comments cite: docs/architecture.md says where in which thesis they are."""
    rows = re.findall(r"^\| (00\d §.*?) \|", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    listed = {(row[:3], number) for row in rows for number in re.findall(r"(?:§|Part )(\d+)", row)}
    cited = {
        (specification, number): name
        for name in tracked()
        if name.endswith((".py", ".md", ".msg", ".srv", ".action", ".yaml")) and not name.startswith("test/")
        for specification, number in re.findall(
            r"\b(00[0-4]),? (?:§+|sections? |Part )(\d+)", (ROOT / name).read_text()
        )
    }
    assert len(cited) > 30
    assert {key: name for key, name in cited.items() if key not in listed} == {}


def test_tables_of_launch_files_are_what_there_is():
    """Each launch file has its row in docs/interfaces.md, and each of its arguments."""
    from humanoid_ros.bringup.node_list import ARGUMENTS

    _, _, section = (ROOT / "docs" / "interfaces.md").read_text().partition("\n## Launch files\n")
    tables = section.partition("\n## ")[0]
    files = re.findall(r"^\| `(\w+)\.launch\.py` \|", tables, re.MULTILINE)
    assert sorted(files) == sorted(path.name.split(".")[0] for path in (ROOT / "launch").glob("*.launch.py"))
    told = {
        (file, argument)
        for cells in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ([\w, ]+) \|", tables, re.MULTILINE)
        for file in (ARGUMENTS if cells[1] == "all" else cells[1].split(", "))
        for argument in re.findall(r"\w+", cells[0])
    }
    assert told == {(file, argument.name) for file, arguments in ARGUMENTS.items() for argument in arguments}


MODULES = {"pin": {"pinocchio"}, "pyyaml": {"yaml"}, "ros_rclpy": {"rclpy"}, "pillow": {"PIL"}}
"""Modules of distributions of another name."""
BESIDE = {"control_msgs", "tf2_msgs", "builtin_interfaces", "action_msgs", "rcl_interfaces", "rosgraph_msgs"}
"""Packages of ROS that come with what requirements.txt names, or are generated."""
PROGRAMS = [*PAGES, *sorted(ROOT.glob("examples/*.py")), *sorted(ROOT.glob("studies/examples/*.py"))]


def installed_by_make_build():
    """Distributions that requirements.txt asks for, as modules are called: lower case, no hyphens."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    found = (re.match(r"[\w-]+", line) for line in lines)
    return {line[0].lower().replace("-", "_") for line in found if line}


@pytest.mark.parametrize("place", PROGRAMS, ids=names)
def test_what_snippets_and_examples_import_is_installed_by_make_build(place):
    text = place.read_text()
    installed = installed_by_make_build()
    known = {name.removeprefix("ros_jazzy_") for name in installed}
    known = known.union(*(MODULES.get(name, ()) for name in installed))
    blocks = [block for language, block in FENCE.findall(text) if language == "python"]
    for block in [text] if place.suffix == ".py" else blocks:
        for node in ast.walk(ast.parse(block)):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for top in {module.split(".")[0] for module in modules}:
                here = ((ROOT / path_of(top)).is_dir() and top != "benchmark") or top == "humanoid_stack"
                assert here or top in known | BESIDE | sys.stdlib_module_names, top


@pytest.mark.feature("004-F55")
@pytest.mark.parametrize("place", PROGRAMS, ids=names)
def test_robots_that_make_build_leaves_out_are_installed_before_they_are_used(place):
    """In the version that tests run with."""
    text = place.read_text()
    tested = re.search(r"^example-robot-data==.*$", (ROOT / "requirements-test.txt").read_text(), re.MULTILINE)
    assert tested is not None
    used = re.search(r"package://example-robot-data|--robot (?:talos|g1)", text)
    if used and "example_robot_data" not in installed_by_make_build():
        before = text if place.suffix == ".py" else text[: used.start()]
        assert re.search(rf"pip\s+install {re.escape(tested[0])}", before)
