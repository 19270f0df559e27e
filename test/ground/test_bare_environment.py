# SPDX-License-Identifier: Apache-2.0
"""What the first pages tell to type runs after `make build` alone: nothing of requirements-test.txt is there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path

import pytest
from fixtures.ros_domain import claim_domain

pytestmark = pytest.mark.feature("000-F028")

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "docs/index.md", "docs/own_robot.md", "docs/controllers.md")),
    *sorted((ROOT / "docs").glob("tutorial_*.md")),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
OWN_ROBOT = "example-robot-data"
"""What docs/own_robot.md tells to install, on its own page alone."""

RUN: dict[str, tuple[str, ...]] = {
    "python examples/standing_forces.py forces.png": (),
    "python -m humanoid_codegen hrp2 -o model --lang c,markdown": (),
    "python -m humanoid_kinematics cross": (),
}
"""Commands that run to their end, and what is added to each here."""
RUN_SLOWLY: dict[str, tuple[str, ...]] = {
    "python examples/lean_on_table.py": (),
    "python -m humanoid_sim run examples/my_scenario.py --plot plot.png": (),
    "python examples/push_limits.py --count 160": ("--count", "10", "--watch", "0.5", "--picture", "limits.png"),
    "python examples/play_plan.py chair": (),
    "python examples/optimal_walk.py walk.png": ("--steps", "2"),
    "python examples/simulate_generated_code.py": ("--duration", "0.5"),
    "python examples/drag_and_simulate.py": (),
}
SERVE = {
    "python -m humanoid_ros.recorder --ros-args -p path:=run.mcap": "records to run.mcap",
    "python -m humanoid_ros.bringup kinematics mechanism=gough": "the page is at http",
    "python -m humanoid_ros.contact_planner": "plans in the scene stand",
    "python -m humanoid_ros.bringup scene=walk bridge=hrp2": "scene 'walk' with hrp2",
}
"""Commands that go on until Ctrl-C, and what they say when they are there."""
ELSEWHERE = {
    "python": "line by line: the Python of the pages, below",
    "python -m pip install example-robot-data==6.0.0": "the registry; test_docs.py holds the version",
    "python -m humanoid_ros.bringup sim robot=romeo.yaml": "the file that the page's Python writes, below",
}


def commands() -> set[str]:
    return {
        " ".join(command.split())
        for page in PAGES
        for command in re.findall(r"scripts/run ([^`\n#]*[^`\n# ])", page.read_text())
    }


def python_of(page: Path, *, ros: bool = False) -> str:
    blocks = [block for block in BLOCK.findall(page.read_text()) if ros or "humanoid_ros" not in block]
    return "\n".join(blocks)


class Bare:
    """The environment of `make build`: that of the tests, less what comes with the test requirements."""

    def __init__(self, folder: Path, kept: str = "") -> None:
        inside = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
        full, bare = Path(sys.prefix) / inside, folder / inside
        bare.mkdir(parents=True)
        locked = {name: self.locked(name) for name in ("requirements.lock", "requirements-test.lock")}
        self.left_out = sorted(locked["requirements-test.lock"] - locked["requirements.lock"] - {kept})
        files = {file.parts for name in self.left_out for file in distribution(name).files or ()}
        tops = {parts[0] for parts in files if parts[0] not in ("..", "cmeel.prefix", "__pycache__")}
        packages = {parts[2] for parts in files if parts[:2] == ("cmeel.prefix", "share")} - {"ament_index", "doc"}
        for entry in full.iterdir():
            if entry.name not in tops and entry.name != "cmeel.prefix":
                (bare / entry.name).symlink_to(entry)
        for part in (full / "cmeel.prefix").iterdir():
            place = bare / "cmeel.prefix" / part.name
            place.parent.mkdir(exist_ok=True)
            if part.name != "share":
                place.symlink_to(part)
                continue
            place.mkdir()
            for package in part.iterdir():
                if package.name not in packages:
                    (place / package.name).symlink_to(package)
        (folder / "bin").mkdir()
        for name in ("python", "python3"):
            (folder / "bin" / name).symlink_to(Path(sys.executable).resolve())
        (folder / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
        self._environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "MPLBACKEND": "Agg"}
        paths = [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        self._environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, paths)))
        self.python = folder / "bin" / "python"

    @staticmethod
    def locked(name: str) -> set[str]:
        return set(re.findall(r"^([a-z0-9-]+)(?:\[\w+\])?==", (ROOT / name).read_text(), re.MULTILINE))

    def start(self, words: Sequence[str], folder: Path, **options: object) -> subprocess.Popen[str]:
        """Start what a page tells to type, in a folder of its own where the examples are."""
        if not (folder / "examples").exists():
            (folder / "examples").symlink_to(ROOT / "examples")
        return subprocess.Popen(
            [str(self.python), *words[1:]], cwd=folder, env=self._environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options,
        )  # type: ignore[call-overload]  # fmt: skip

    def run(self, words: Sequence[str], folder: Path) -> str:
        process = self.start(words, folder)
        told, _ = process.communicate()
        assert process.returncode == 0, told[-3000:]
        return str(told)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Bare:
    return Bare(tmp_path_factory.mktemp("environment"))


def test_what_tests_need_is_not_there(bare: Bare, tmp_path: Path) -> None:
    assert {"hypothesis", "mypy", "example-robot-data"} <= set(bare.left_out)
    found = bare.run(["python", "-c", "from importlib.metadata import distributions as all_of\n"
                      "print(*(one.metadata['Name'].lower() for one in all_of()))"], tmp_path)  # fmt: skip
    assert "numba" in found.split()
    assert not set(bare.left_out) & {name.replace("_", "-") for name in found.split()}
    seen = bare.run(["python", "-c", "from humanoid_model import load_robot\ntry: load_robot('talos')\n"
                     "except Exception as error: print(error)"], tmp_path)  # fmt: skip
    assert "example-robot-data" in seen


def test_every_command_of_the_first_pages_is_tried() -> None:
    assert commands() == {*RUN, *RUN_SLOWLY, *SERVE, *ELSEWHERE}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("command", "more"),
    [*RUN.items(), *(pytest.param(*item, marks=pytest.mark.slow) for item in RUN_SLOWLY.items())],
    ids=[*RUN, *RUN_SLOWLY],
)
def test_a_command_runs_to_its_end_and_names_what_it_wrote(
    bare: Bare, tmp_path: Path, command: str, more: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare._environment["ROS_DOMAIN_ID"] = str(claim_domain())
    told = bare.run([*command.split(), *more], tmp_path)
    written = {path.name for path in tmp_path.iterdir()} - {"examples"}
    assert all(name in told for name in written), (written, told[-500:])
    pictures = {word for word in [*command.split(), *more] if word.endswith(".png")}
    assert pictures <= written


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("command", "said"), SERVE.items(), ids=list(SERVE))
def test_a_command_serves_until_ctrl_c(bare: Bare, tmp_path: Path, command: str, said: str) -> None:
    bare._environment["ROS_DOMAIN_ID"] = str(claim_domain())
    words = [*command.split(), *(["port=0"] if "bringup" in command else [])]
    process = bare.start(words, tmp_path)
    try:
        told = ""
        assert process.stdout is not None
        for line in process.stdout:
            told += line
            if said in line:
                break
        assert said in told
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=120.0)
    finally:
        process.kill()
    assert process.returncode in (0, 130), told + rest
    assert "Traceback" not in told + rest


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "page",
    [
        page
        if page.stem in ("README", "controllers", "tutorial_kinematics")
        else pytest.param(page, marks=pytest.mark.slow)
        for page in PAGES
        if page.stem not in ("index", "own_robot", "tutorial_bridge")
    ],
    ids=lambda page: page.stem,
)
def test_the_python_of_a_page_runs(bare: Bare, tmp_path: Path, page: Path) -> None:
    (tmp_path / "page.py").write_text(python_of(page))
    bare.run(["python", "page.py"], tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_python_of_ones_own_robot_runs_with_what_its_page_installs(tmp_path: Path) -> None:
    bare = Bare(tmp_path / "environment", kept=OWN_ROBOT)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "page.py").write_text(python_of(ROOT / "docs/own_robot.md"))
    assert "stands" in bare.run(["python", "page.py"], folder)
    bare._environment["ROS_DOMAIN_ID"] = str(claim_domain())
    process = bare.start(["python", "-m", "humanoid_ros.bringup", "sim", "robot=romeo.yaml", "port=0"], folder)
    try:
        assert process.stdout is not None
        assert any("scene 'stand' with romeo" in line for line in process.stdout)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120.0)


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("page", "stack"),
    [("README.md", "stack headless=true"), ("docs/tutorial_bridge.md", "scene=walk bridge=hrp2 headless=true")],
)
def test_the_python_of_a_page_runs_on_the_stack_that_it_tells_to_start(
    bare: Bare, tmp_path: Path, page: str, stack: str
) -> None:
    bare._environment["ROS_DOMAIN_ID"] = str(claim_domain())
    (tmp_path / "page.py").write_text(python_of(ROOT / page, ros=True))
    process = bare.start(f"python -m humanoid_ros.bringup {stack}".split(), tmp_path)
    try:
        time.sleep(1.0)
        assert process.poll() is None
        bare.run(["python", "page.py"], tmp_path)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120.0)
