# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_studies.lift_editor``: a lift is edited by hand on a page (000, F158).

Above the studies, because it draws on the viewer's page; it needs no node, and nothing of ROS runs.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from humanoid_model.errors import HumanoidError
from humanoid_model.robot import load_robot
from humanoid_ros.viewer.page import PORT, Page
from humanoid_studies.lift_editor.lift_studio import LiftStudio
from humanoid_studies.lifting.lift_editing import LiftEditing
from humanoid_studies.lifting.lift_files import read_lift
from humanoid_studies.lifting.planar_lifter import PlanarLifter
from humanoid_studies.lifting.weight_lift import WeightLift
from humanoid_studies.simulator.weight_lifting import OBJECT, thesis_postures

NAME = "lift_editor"
_EXAMPLES = """examples:
  python -m humanoid_studies.lift_editor                           # the lift of least energy of 8.4 kg, found first
  python -m humanoid_studies.lift_editor --straight                # straight lines in joint angles, at once
  python -m humanoid_studies.lift_editor lift.yaml --port 8081     # what was saved on the page"""


def main(arguments: Sequence[str] | None = None, stop: threading.Event | None = None) -> int:
    """Serve the page until Ctrl-C.

    Args:
        arguments: words of the command line; None: those of this process.
        stop: ends it as Ctrl-C does.

    Returns:
        0 at its end, 2 when something given can't be used.
    """
    options = _parser().parse_args(arguments)
    try:
        # First, so that nobody waits for an optimum that can't be shown.
        page = Page(options.host, options.port)
    except HumanoidError as problem:
        return _refuse(problem)
    try:
        robot = load_robot("hrp2")
        held, motion = read_lift(options.file) if options.file else (OBJECT, None)
        lifter = PlanarLifter(robot, held)
        if motion is not None:
            lift = WeightLift(lifter, motion.points[0], motion.points[-1], count=len(motion.points))
        else:
            lift = WeightLift(lifter, *thesis_postures(lifter))
            motion = lift.straight()
            if not options.straight:
                print(f"{NAME}: finding the lift of least energy, some ten seconds", flush=True)
                found = lift.solve()
                print(f"{NAME}: {found.status} in {found.seconds:.1f} s, {found.energy:.4g} J", flush=True)
                motion = found.motion
        studio = LiftStudio(page, robot, LiftEditing(lift, motion), str(options.file or "lift.yaml"))
        print(f"{NAME}: the page is at {page.address}; Ctrl-C ends it", flush=True)
        try:
            studio.run(stop or threading.Event())
        finally:
            studio.close()
    except HumanoidError as problem:
        return _refuse(problem)
    except KeyboardInterrupt:
        pass
    finally:
        page.close()
    return 0


def _refuse(problem: HumanoidError) -> int:
    print(f"{NAME}: {problem}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_studies.lift_editor",
        description="Edit a lift by hand on a web page: drag control points, see which limits break, and when.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a lift that the page has saved (YAML)")
    parser.add_argument("--straight", action="store_true", help="begin with straight lines, not with the optimum")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on: this machine only, unless told so")
    parser.add_argument("--port", type=int, default=PORT, help="TCP port; 0 takes any free one")
    return parser
