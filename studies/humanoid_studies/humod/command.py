# SPDX-License-Identifier: Apache-2.0
"""Command line of the replay: ``python -m humanoid_studies.humod``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from humanoid_model import HumanoidError, InputError, Robot, load_robot
from humanoid_studies.humod.coordinates import POSITION_JOINTS
from humanoid_studies.humod.evaluator import pinocchio_evaluator
from humanoid_studies.humod.figures import write_figures
from humanoid_studies.humod.generated_evaluator import generated_evaluator
from humanoid_studies.humod.recording import Recording, read_recording, write_recording
from humanoid_studies.humod.replay import Replay, replay
from humanoid_studies.humod.rotation_order import RotationOrder, rotation_order_errors
from humanoid_studies.humod.subject import SYNTHETIC_SUBJECT, Subject, read_subject, write_subject
from humanoid_studies.humod.subject_urdf import subject_urdf
from humanoid_studies.humod.synthetic import synthetic_recording
from humanoid_studies.humod.tables import write_tables

#: What computes, by name.
_MODELS = {"pinocchio": pinocchio_evaluator, "generated": generated_evaluator}

#: Length of the replayed window unless told otherwise, s.
_DURATION = 5.0

#: Longest synthetic run, s.
_LONGEST = 600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 when the replay was made, 2 when the input can't be used.
    """
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except HumanoidError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_studies.humod",
        description="Replays a motion of the HuMoD database on a model of the person and compares the joints' places.",
    )
    parser.add_argument("motion", nargs="?", type=Path, help="motion file of a subject, for example A/2.2.mat")
    parser.add_argument("--parameters", type=Path, help="Parameters.mat of the subject; by default beside the motion")
    parser.add_argument("--synthetic", action="store_true", help="make up a run and replay it; needs no data")
    parser.add_argument("--noise", type=float, default=3.0, help="of the synthetic estimated positions, mm (default 3)")
    parser.add_argument("--model", choices=tuple(_MODELS), default="generated", help="computes it (default generated)")
    parser.add_argument("--start", type=float, help="first instant, s (default: where the steady part starts)")
    parser.add_argument("--duration", type=float, default=_DURATION, help=f"s (default {_DURATION:g})")
    parser.add_argument("--out", type=Path, default=Path("out/humod"), help="folder of the results (default out/humod)")
    return parser


def _run(options: argparse.Namespace) -> None:
    if (options.motion is None) != options.synthetic:
        raise InputError("give either a motion file or --synthetic", remedy="See --help")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        if options.synthetic:
            options.motion = _write_synthetic(options.out, options.duration, options.noise * 1e-3)
        parameters = options.parameters or options.motion.with_name("Parameters.mat")
        subject = read_subject(parameters)
        recording = read_recording(options.motion, start=options.start, duration=options.duration)
        robot = _robot(options.out, subject)
        result = replay(recording, _MODELS[options.model](robot, progress=True))
        report = "\n".join(_report(subject, robot, recording, result))
        (options.out / "summary.txt").write_text(report + "\n", encoding="utf-8")
        written = [*write_tables(options.out, result), *write_figures(options.out, result)]
    except OSError as problem:
        raise InputError(
            f"can't be written: {problem.strerror}",
            source=problem.filename or options.out,
            remedy="Choose another folder by --out",
        ) from None
    print(report)
    print(f"written to {options.out}: summary.txt, {subject.name}.urdf, {', '.join(path.name for path in written)}")


def _robot(folder: Path, subject: Subject) -> Robot:
    path = folder / f"{subject.name}.urdf"
    path.write_text(subject_urdf(subject), encoding="utf-8")
    return load_robot(path)


def _write_synthetic(folder: Path, duration: float, noise: float) -> Path:
    """Write the files of a made-up run as if downloaded; returns the motion's path."""
    if not (0 < duration <= _LONGEST and 0 <= noise < 1):
        raise InputError(
            f"duration is {duration:g} s and noise {1e3 * noise:g} mm",
            element="--synthetic",
            remedy=f"Give a duration up to {_LONGEST:g} s and a noise of 0 to some mm",
        )
    data = folder / "data"
    data.mkdir(exist_ok=True)
    write_subject(data / "Parameters.mat", SYNTHETIC_SUBJECT)
    run = synthetic_recording(load_robot("syn3p33r"), duration=duration, noise=noise, progress=True)
    write_recording(data / "run.mat", run)
    return data / "run.mat"


def _report(subject: Subject, robot: Robot, recording: Recording, result: Replay) -> list[str]:
    """Return what came out, for a person to read."""
    time = recording.time
    lines = [
        f"{recording.name}, {time[0]:g} to {time[-1]:g} s, {len(time)} frames; "
        f"{subject.gender}, {subject.body_mass:.2f} kg, model {robot.total_mass:.2f} kg"
    ]
    difference = subject.mass_difference()
    if difference is not None:
        lines.append(f"segment masses of the file differ by at most {difference:.3g} kg from the regression")
    orders = rotation_order_errors(robot.description, recording)
    lines.append("angles compose as (RMS distance to the published joints):")
    lines += [f"  {order.value:9s} {1e3 * error:10.4g} mm" for order, error in orders.items()]
    if next(iter(orders)) is not RotationOrder.MOVING_AXES:
        lines.append("  WARNING: the robot is made for R Rx Ry Rz, but these data agree better with another order")
    for kind in result.errors:
        lines.append(f"model - {kind} positions, mm: largest (RMS) along x, y, z")
        largest, rms = 1e3 * result.largest(kind), 1e3 * result.rms(kind)
        for i, joint in enumerate(POSITION_JOINTS):
            numbers = "  ".join(f"{largest[i, k]:9.3g} ({rms[i, k]:8.3g})" for k in range(3))
            lines.append(f"  {joint:5s}{numbers}")
        for text, met in (
            ("heights of LLJ and ULJ within 20 mm (thesis level)", result.thesis_level(kind)),
            ("all joints within 20 mm in x, y, z", result.all_within(kind)),
        ):
            lines.append(f"  {'yes' if met else 'NO '} {text}")
        if time[-1] - time[0] < 2.0:
            lines.append("  note: the criteria ask for a window of 2 s or more")
    if recording.ground is None:
        lines.append("the file has no ground force per foot: the base's six efforts are the whole wrench on the person")
    else:
        rest, whole = (abs(values[:, :6]).max(axis=0) for values in (result.efforts, result.unsupported))
        lines.append("largest effort of the base (a residual: it has no motor), with and without the ground's force:")
        lines += [
            f"  WJ_{name:3s}{rest[k]:10.4g} {whole[k]:10.4g} {'N' if k < 3 else 'N m'}"
            for k, name in enumerate(("px", "py", "pz", "x", "y", "z"))
        ]
    return lines
