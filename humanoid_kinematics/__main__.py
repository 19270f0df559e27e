# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_kinematics``: load a mechanism, close its loops, say what it can do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_kinematics.analysis.dexterity import dexterity
from humanoid_kinematics.analysis.workspace import Section, section
from humanoid_kinematics.mad.load import load_scene
from humanoid_kinematics.report import report
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import HumanoidError
from humanoid_model.progress import progress_bar

_EXAMPLES = """examples:
  python -m humanoid_kinematics cross --drives joint_1 joint_6 joint_11
  python -m humanoid_kinematics innocenti --drives joint_2 joint_5 joint_8 --modes 300
  python -m humanoid_kinematics my_robot.mad --section x --step 0.02 --picture section.png"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 when all went well, 1 when loops don't close, 2 when something given can't be used, 130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    try:
        closed = [_describe(MechanismSolver(one), options) for one in load_scene(options.file).mechanisms.values()]
    except HumanoidError as problem:
        print(f"humanoid_kinematics: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0 if all(closed) else 1


def _describe(solver: MechanismSolver, options: argparse.Namespace) -> bool:
    closed = solver.closing.closed
    print(report(solver, options.drives, modes=options.modes if closed else 0), end="\n\n")
    if closed and options.section:
        tools = [tool.name for tool in solver.mechanism.tools]
        tool = options.tool or (tools[0] if tools else "")
        axis = "xyz".index(options.section)
        rotation = np.roll(np.eye(3), -axis - 1, axis=1)  # the plane's z along the axis
        here = solver.placement(tool).translation
        with progress_bar(sys.stderr) as bar:
            found = section(
                solver, tool, pin.SE3(rotation, here * np.eye(3)[axis]), options.step,
                measure=lambda at: dexterity(at, tool).condition, progress=bar,
            )  # fmt: skip
        print(
            f"workspace of {tool} at {options.section} = {here[axis]:.6g} m: {found.area:.6g} m²"
            f"{'' if found.complete else ' at least'}, cells of {options.step} m\n"
        )
        if options.picture:
            _draw(found, tool, options.section, options.picture)
    return closed


def _draw(found: Section, tool: str, axis: str, path: Path) -> None:
    import matplotlib.pyplot as plt

    start = "xyz".index(axis) + 1
    first, second = "xyzx"[start], "xyzxy"[start + 1]
    low, high = found.cells.min(axis=0), found.cells.max(axis=0)
    image = np.full(high - low + 1, np.nan)
    image[tuple((found.cells - low).T)] = np.log10(found.values)
    edges = np.column_stack([low - 0.5, high + 0.5]).ravel() * found.step
    figure, axes = plt.subplots(figsize=(7.0, 6.0))
    drawn = axes.imshow(image.T, origin="lower", extent=tuple(edges), cmap="viridis_r")
    axes.set(xlabel=f"{first} [m]", ylabel=f"{second} [m]", title=f"{tool}: {found.area:.3g} m²")
    figure.colorbar(drawn, label="log10 of largest by smallest singular value", shrink=0.6)
    figure.savefig(path)
    plt.close(figure)
    print(f"written: {path}\n")


def _step(text: str) -> float:
    value = float(text)
    if not 0.0 < value < np.inf:
        raise argparse.ArgumentTypeError(f"{text} isn't a length above 0")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_kinematics", description=__doc__, epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("file", help="MAD, URDF or MJCF file, or the name of a mechanism or robot of the stack")
    parser.add_argument("--drives", nargs="+", metavar="JOINT", help="joints with motors, before what the file says")
    parser.add_argument("--modes", type=int, default=0, metavar="STARTS", help="search for assembly modes")
    parser.add_argument("--section", choices="xyz", help="section of the workspace across this axis, where the tool is")
    parser.add_argument("--tool", help="tool or link of the section; the first tool if it isn't said")
    parser.add_argument("--step", type=_step, default=0.02, help="side of a cell of the section [m]")
    parser.add_argument("--picture", type=Path, help="draws the section, coloured by dexterity")
    return parser


if __name__ == "__main__":
    sys.exit(main())
