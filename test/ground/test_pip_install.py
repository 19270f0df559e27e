# SPDX-License-Identifier: Apache-2.0
"""`pip install .` brings what the libraries import, and the pages' Python runs on nothing else."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.feature("000-F028")

ROOT = Path(__file__).parents[2]
LIBRARIES = (
    "humanoid_model", "humanoid_kinematics", "humanoid_codegen", "humanoid_sim", "humanoid_planner", "humanoid_gait",
    "humanoid_control",
)  # fmt: skip
DISTRIBUTION = {"pinocchio": "pin", "coal": "pin", "llvmlite": "numba", "yaml": "pyyaml", "PIL": "pillow"}
"""What brings a module of another name."""
BEHIND_A_CHECK = {
    "humanoid_gait/": "casadi",
    "humanoid_planner/optimisation/ipopt.py": "casadi",
}
"""Imported only where `optional_library` has found it: test/humanoid_model/test_extensions.py."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def names(requirements):
    return {re.split(r"[<>=\[]", requirement)[0].lower() for requirement in requirements}


def dependencies():
    text = (ROOT / "pyproject.toml").read_text()
    return names(ast.literal_eval(re.search(r"^dependencies = (\[.*?^\])", text, re.S | re.M)[1]))


def extras():
    text = (ROOT / "pyproject.toml").read_text()
    table = re.search(r"^\[project.optional-dependencies\]\n(.*?)^\[", text, re.S | re.M)[1]
    found = re.findall(r"^(\w+) = (\[.*?\])$", table, re.S | re.M)
    return {name: names(ast.literal_eval(value)) for name, value in found}


def sources():
    return [path for library in LIBRARIES for path in sorted((ROOT / library).rglob("*.py"))]


def imports(tree):
    """Modules that a file imports, those for type checkers alone left out."""
    typing = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test).endswith("TYPE_CHECKING")
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in typing:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_what_the_libraries_import_comes_with_them():
    core = dependencies()
    missing = set()
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        checked = {library for place, library in BEHIND_A_CHECK.items() if name.startswith(place)}
        for module in imports(ast.parse(path.read_text())):
            if module in sys.stdlib_module_names or module in LIBRARIES or module in checked:
                continue
            if DISTRIBUTION.get(module, module).lower() not in core:
                missing.add(f"{name}: {module}")
    assert not missing


def test_what_is_asked_for_by_name_is_in_the_extra_that_the_error_names():
    found, calls = extras(), 0
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "optional_library":
                module, extra = (argument.value for argument in node.args)
                assert module.split(".")[0] in found[extra], f"{path}: {module} isn't in '{extra}'"
                calls += 1
    assert calls >= 10


def snippets(page):
    """The Python of a page that needs no ROS, as one program: later pieces know the names of those before them."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)
    return "\n".join(block for block in blocks if "humanoid_ros" not in block)


def run(command, folder, **environment):
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    kept = {key: value for key, value in kept.items() if not key.startswith(("HUMANOID_", "AMENT_", "VIRTUAL_ENV"))}
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def take_kernels_along(packages):
    """Gives installed sources the times of the checkout's, which they equal, and the kernels compiled from these."""
    for path in sources():
        installed = packages / path.relative_to(ROOT)
        assert installed.read_bytes() == path.read_bytes()
        shutil.copystat(path, installed)
    for library in LIBRARIES:
        for path in (ROOT / library).rglob("__pycache__/*.nb[ci]"):
            kept = packages / path.relative_to(ROOT)
            kept.parent.mkdir(exist_ok=True)
            shutil.copy2(path, kept)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_snippet_of_the_pages_runs_from_the_wheel(tmp_path):
    """Without extras first; what ends there names an extra, and runs with it. Needs a package registry."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in (*LIBRARIES, "humanoid_ros", "urdf", "config", "launch", "msg"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, tree)
    done = run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, tree], tmp_path)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    shutil.copytree(ROOT / "studies", tmp_path / "studies", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))

    environment = tmp_path / "environment"
    assert run([sys.executable, "-m", "venv", environment], tmp_path).returncode == 0
    python = environment / "bin" / "python"
    pinned = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if re.match(r"[\w.-]+==", line)]
    (tmp_path / "pinned.txt").write_text("\n".join(pinned))

    def install(what):
        done = run([python, "-m", "pip", "install", "--quiet", "--constraint", tmp_path / "pinned.txt", what], tmp_path)
        assert done.returncode == 0, done.stderr

    install(wheel)
    take_kernels_along(next((environment / "lib").glob("python3*/site-packages")))

    # A page about a robot of another package needs that package, one about the bridge a running stack; test_tutorials
    # runs both.
    apart = ("own_robot.md", "tutorial_bridge.md")
    waiting = {page.name: snippets(page) for page in PAGES if snippets(page) and page.name not in apart}
    assert len(waiting) >= 14
    wanted = set()
    for extra in ("", "planner"):
        for name, program in list(waiting.items()):
            folder = tmp_path / f"{name}{extra}"
            folder.mkdir()
            (folder / "page.py").write_text(program)
            done = run([python, "page.py"], folder, MPLBACKEND="Agg", XDG_CACHE_HOME=str(tmp_path / "cache"))
            if done.returncode == 0:
                del waiting[name]
                continue
            missing = re.search(r"MissingLibraryError: .*'humanoid_stack\[(\w+)\]'", done.stderr)
            assert missing, f"{name}: {done.stderr[-3000:]}"
            wanted.add(missing[1])
        if not extra:
            # Gaits need CasADi, the guides of contact plans networkx.
            assert set(waiting) <= {"contacts.md", "control.md", "gait.md", "tutorial_gait.md"}, waiting.keys()
            assert wanted == {"planner"}
            install(f"{wheel}[planner]")
    assert not waiting
    find = [python, "-c", "from humanoid_sim.contact.solve import find_solver; find_solver('jacobi')"]
    assert "`pip install ./studies` adds" in run(find, tmp_path).stderr
    done = run([python, "-m", "pip", "install", "--quiet", "--no-deps", tmp_path / "studies"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert run(find, tmp_path).returncode == 0
