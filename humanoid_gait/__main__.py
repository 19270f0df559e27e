# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_gait``: an optimal walk, told, and written into a folder."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from collections.abc import Sequence

from humanoid_model import HumanoidError, load_robot
from humanoid_model.progress import Progress, progress_bar

_EXAMPLES = """examples:
  python -m humanoid_gait --robot hrp2 --length 0.25 --steps 4 --start --stop --out walk
  python -m humanoid_gait --length 0.32 --rise 0.15 --single 1.0 --double 0.4
  python -m humanoid_gait --length 0.2 --turn 0.4 --double 0.1,0.3 --proof"""
_NUMBERS = {
    "side": "that a stride of two steps goes to the left [m]",
    "turn": "of a stride, counter-clockwise [rad]",
    "slope": "angle by which the ground rises ahead [rad]",
    "rise": "of a stair, one for each step [m]",
    "width": "between the soles' middles [m]",
    "clearance": "of soles that swing [m]",
    "friction": "coefficient of it",
    "apart": "gap that parts of the robot keep from each other [m]",
}
_DURATIONS = {
    "single": "single support",
    "double": "double support",
    "heel": "double support before that, the front foot on its heel (none)",
    "toe": "double support after it, the rear foot on its toes (none)",
    "settle": "standing before a start and after a stop",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 where the motion walks, 1 where something isn't solved or kept, 2 when something given can't be used, 130
        after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except KeyboardInterrupt:
        return 130
    except HumanoidError as error:
        print(f"humanoid_gait: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    # These bring CasADi and compiled kernels, which a list of options has no need for.
    from humanoid_gait.generation import generate_gait
    from humanoid_gait.walk import WalkRequest
    from humanoid_gait.walk_report import walk_proofs, walk_text, write_walk

    given = {name: getattr(options, name) for name in (*_NUMBERS, *_DURATIONS) if getattr(options, name) is not None}
    request = WalkRequest(options.length, **given)
    robot = load_robot(options.robot, geometry=request.apart is not None)
    with progress_bar(sys.stderr) as bar:

        def tell(item: Progress) -> None:
            stage = f"{item.stage}, iteration {item.iteration}, residual {item.residual:.1e}, cost {item.cost:.5g}"
            bar(dataclasses.replace(item, stage=stage))

        walk = generate_gait(
            robot, request, options.steps, start=options.start, stop=options.stop, progress=tell,
            time_limit=options.time_limit,
        )  # fmt: skip
        proofs = walk_proofs(walk) if options.proof else {}
    print(walk_text(walk, proofs))
    if options.out:
        print(f"written: {', '.join(str(path) for path in write_walk(walk, options.out, proofs))}")
    return 0 if walk.success else 1


def _duration(text: str) -> float | tuple[float, float]:
    """Read seconds, or the least and the greatest with a comma between them."""
    values = tuple(float(part) for part in text.split(","))
    if len(values) > 2:
        raise ValueError(text)
    return values[0] if len(values) == 1 else (values[0], values[1])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_gait", description=__doc__, epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--robot", default="hrp2", help="name, or path of its URDF (hrp2)")
    parser.add_argument("--length", type=float, default=0.25, help="of a step [m]; negative: backwards (0.25)")
    for name, meaning in _NUMBERS.items():
        parser.add_argument(f"--{name}", type=float, help=meaning)
    for name, meaning in _DURATIONS.items():
        told = f"duration of {meaning}, or its range [s]"
        parser.add_argument(f"--{name}", type=_duration, metavar="S[,S]", help=told)
    parser.add_argument("--steps", type=int, default=2, help="of the cycles, in all (2)")
    parser.add_argument("--start", action="store_true", help="from rest, by a step into the cycle")
    parser.add_argument("--stop", action="store_true", help="to rest, likewise")
    parser.add_argument("--proof", action="store_true", help="tell how far Pontryagin's conditions are kept")
    parser.add_argument("--time-limit", type=float, default=math.inf, help="of solving [s]")
    parser.add_argument("--out", help="folder for report, joints, numbers and picture")
    return parser


if __name__ == "__main__":
    sys.exit(main())
