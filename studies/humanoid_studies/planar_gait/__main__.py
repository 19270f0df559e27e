# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_studies.planar_gait``: walks and single phases, into a folder."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.files import list_resources, save_picture
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_studies.planar_gait import (
    GaitModel,
    GaitSettings,
    GaitSolution,
    GaitSpec,
    Penalties,
    PhaseKind,
    PhaseSettings,
    PhaseSpec,
    SynthesisOptions,
    WalkData,
    cyclic_walk,
    generate_gait,
    load_gait_model,
    load_walk,
    walk_between_rests,
)
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle
from humanoid_studies.planar_gait.report.gait_files import write_gait_folder
from humanoid_studies.planar_gait.report.gait_report import gait_report
from humanoid_studies.planar_gait.report.phase_figure import phase_figure
from humanoid_studies.planar_gait.solvers.direct import TIME_LIMIT
from humanoid_studies.planar_gait.specification.gait_model import FootSizes
from humanoid_studies.planar_gait.specification.walker import RabbitWalker

_STEPS = {"bip": "bip_cyclic", "rabbit": "rabbit"}
"""Step data of the models that come with the stack."""
MAX_WORKERS = 61
"""As many processes as Python's executors take on every system."""
_KINDS = tuple(kind.label for kind in PhaseKind if kind is not PhaseKind.BRAKE)
_EXAMPLES = """examples:
  python -m humanoid_studies.planar_gait walk --cycles 2 --out walk
  python -m humanoid_studies.planar_gait walk --between-rests --friction 0.3 --rates --out walk
  python -m humanoid_studies.planar_gait walk --model rabbit --hold none --no-film
  python -m humanoid_studies.planar_gait walk --step bip_stairs_up --friction 0.5 --out stairs
  python -m humanoid_studies.planar_gait phase single_support --obstacle 0.1,0.05,0.05 --out over"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 when all went well, 1 when a phase isn't solved or something isn't kept, 2 when something given can't be used,
        130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    options.progress = options.progress or sys.stderr.isatty()
    try:
        return int(options.command(options))
    except HumanoidError as problem:
        tqdm.write(f"humanoid_studies.planar_gait: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        tqdm.write("humanoid_studies.planar_gait: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_studies.planar_gait",
        description="Synthesise walking that is optimal by Pontryagin's principle.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="walk | phase")

    walk = commands.add_parser("walk", help="synthesise a walk")
    walk.set_defaults(command=_walk)
    _add_common(walk)
    walk.add_argument("--cycles", type=int, default=1, metavar="N", help="cyclic steps (1)")
    walk.add_argument(
        "--between-rests", action="store_true", help="from rest to rest, by a start, a braking step, a stop"
    )
    walk.add_argument("--braking", metavar="STEP", help="braking step before the stop (bip_braking)")

    phase = commands.add_parser("phase", help="synthesise one phase of a walk")
    phase.set_defaults(command=_phase)
    phase.add_argument("kind", choices=_KINDS, metavar="KIND", help=f"of {', '.join(_KINDS)}")
    _add_common(phase)
    phase.add_argument("--duration", type=float, metavar="S", help="instead of the step's own [s]; 0: free")
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    known = ", ".join(list_resources("config/gait/steps", (".yaml",)))
    parser.add_argument(
        "--model", default="bip", metavar="NAME", help="bip, rabbit, a .yaml file, or a robot's name or URDF (bip)"
    )
    parser.add_argument("--step", metavar="STEP", help=f"of {known}, or a .yaml file; the model's own if left out")
    parser.add_argument(
        "--friction", type=float, default=0.6, metavar="MU", help="of the ground, kept and checked (0.6)"
    )
    parser.add_argument("--toe-force", type=float, default=6.0, metavar="N", help="least force of the front toe (6)")
    parser.add_argument(
        "--hold",
        default="6",
        metavar="N",
        help="least force under heel and toe of the standing foot (6); none checks only",
    )
    parser.add_argument("--point-feet", action="store_true", help="RABBIT without a torque at the stance tip")
    parser.add_argument(
        "--no-ranges", action="store_true", help="leave joint ranges of single support to the check alone"
    )
    parser.add_argument("--rates", action="store_true", help="keep joint rates in single support, too")
    parser.add_argument(
        "--clearance", type=float, default=0.0, metavar="M", help="wished height of the swinging foot [m]"
    )
    parser.add_argument(
        "--obstacle",
        action="append",
        default=[],
        metavar="X,WIDTH,HEIGHT",
        help="to step over in single support; X ahead of the stance toe [m]",
    )
    parser.add_argument("--transcription", action="store_true", help="by direct transcription alone")
    parser.add_argument(
        "--time-limit", type=float, default=TIME_LIMIT, metavar="S", help=f"for each phase [s] ({TIME_LIMIT:g})"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="phases solved side by side (1)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where report, tables, pictures and film go")
    parser.add_argument("--no-film", action="store_true", help="leave out gait.gif, which takes longest")
    parser.add_argument("--progress", action="store_true", help="tell stages also where the output is no terminal")


def _walk(options: argparse.Namespace) -> int:
    model, walk = _model(options), _step(options)
    if options.between_rests:
        if isinstance(model.walker, RabbitWalker) and options.braking is None:
            raise InputError("is missing", element="--braking", remedy="Give RABBIT's braking step, a .yaml file")
        specs = walk_between_rests(walk, load_walk(options.braking or "bip_braking"), options.cycles)
    elif options.braking is not None:
        raise InputError("is of use with --between-rests alone", element="--braking", remedy="Give both, or none")
    else:
        specs = cyclic_walk(walk, options.cycles)
    return _solve(options, model, specs)


def _phase(options: argparse.Namespace) -> int:
    model, walk = _model(options), _step(options)
    kind = PhaseKind[options.kind.upper()]
    spec = next(spec for spec in walk_between_rests(walk, walk) if spec.kind is kind)
    if options.duration is not None:
        spec = dataclasses.replace(spec, duration=options.duration)
    return _solve(options, model, (spec,), alone=True)


def _solve(options: argparse.Namespace, model: GaitModel, specs: Sequence[PhaseSpec], alone: bool = False) -> int:
    """Synthesise phases, writes them, and prints the report; of a phase ``alone`` its own picture as well."""
    settings = _settings(options, model)
    if not 1 <= options.workers <= MAX_WORKERS:
        raise InputError(f"is {options.workers}", element="--workers", remedy=f"Give 1 to {MAX_WORKERS}")
    pool: AbstractContextManager[Executor | None] = (
        ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) if options.workers > 1 else nullcontext()
    )
    with pool as executor:
        spec = GaitSpec(model, tuple(specs), settings=settings)
        result = generate_gait(spec, _teller(specs) if options.progress else None, executor)
    gait = result.gait
    if gait is None:
        tqdm.write(f"humanoid_studies.planar_gait: {result.message}", file=sys.stderr)
        return 2
    report = gait_report(gait)
    if options.out:
        write_gait_folder(gait, options.out, animation=not options.no_film, progress=options.progress)
        if alone:
            save_picture(phase_figure(gait.phases[0]), options.out / "phase.png")
    print(report.text())
    if options.out:
        print(f"written to {options.out}: {', '.join(sorted(path.name for path in options.out.iterdir()))}")
    _tell_rescues(gait)
    if result.success:
        return 0
    tqdm.write(f"humanoid_studies.planar_gait: {result.message}", file=sys.stderr)
    return 1


def _tell_rescues(gait: GaitSolution) -> None:
    """Print the log of phases that the first transcription didn't lead to a solution."""
    for index, solution in enumerate(gait.phases):
        if len(solution.log) > 2 and not any(solution is earlier for earlier in gait.phases[:index]):
            tqdm.write(f"phase {index + 1} was not solved at once:", file=sys.stderr)
            for line in solution.log:
                tqdm.write(f"  {line}", file=sys.stderr)


def _teller(specs: Sequence[PhaseSpec]) -> ProgressCallback:
    """Tell each stage once, with its phase."""
    last = ""

    def tell(progress: Progress) -> None:
        nonlocal last
        line = f"{specs[progress.part].kind.label}: {progress.stage}"
        if progress.result is None and line != last:
            tqdm.write(line, file=sys.stderr)
            last = line

    return tell


def _model(options: argparse.Namespace) -> GaitModel:
    """Return the model with its contacts."""
    feet = FootSizes(ankle_torque=not options.point_feet)
    return load_gait_model(options.model, feet, "--model").with_contacts(options.friction, options.toe_force)


def _step(options: argparse.Namespace) -> WalkData:
    if options.step is not None:
        return load_walk(options.step)
    if options.model not in _STEPS:
        raise InputError("is missing", element="--step", remedy=f"Give step data that fit '{options.model}'")
    return load_walk(_STEPS[options.model])


def _settings(options: argparse.Namespace, model: GaitModel) -> GaitSettings:
    """Return settings of the reference solutions, with what the command line asks for."""
    rabbit = isinstance(model.walker, RabbitWalker)
    effort = QuadraticEffort(force_weight=0.1, force_scale=1e-2) if rabbit else QuadraticEffort()
    swing = Penalties(
        range_weight=0.0 if options.no_ranges else 1.0,
        rate_weight=1.0 if options.rates else 0.0,
        clearance=options.clearance,
        obstacles=tuple(_obstacle(text) for text in options.obstacle),
    )
    hold = _hold(options.hold)
    return GaitSettings(
        PhaseSettings(effort, min_root_force=hold),
        PhaseSettings(effort, swing, min_root_force=hold),
        friction=options.friction,
        synthesis=SynthesisOptions(
            method="direct" if options.transcription else "pontryagin", time_limit=_time_limit(options.time_limit)
        ),
    )


def _time_limit(seconds: float) -> float:
    if not seconds > 0.0:
        raise InputError(f"is {seconds}", element="--time-limit", remedy="Give more than 0 s")
    return seconds


def _hold(text: str) -> float | None:
    if text == "none":
        return None
    try:
        force = float(text)
    except ValueError:
        raise InputError(f"is '{text}'", element="--hold", remedy="Give a force [N], or none") from None
    if not 0.0 <= force < math.inf:
        raise InputError(f"is {text} N", element="--hold", remedy="Give 0 N or more, or none")
    return force


def _obstacle(text: str) -> Obstacle:
    try:
        centre, width, height = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"is '{text}'", element="--obstacle", remedy="Give three numbers: place, width and height [m]"
        ) from None
    return Obstacle(centre, width, height)


if __name__ == "__main__":
    sys.exit(main())
