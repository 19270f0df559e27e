# SPDX-License-Identifier: Apache-2.0
"""One motion of the HuMoD database: trajectory, joint positions, ground reaction; reader and writer of its files.

What the files hold (``save`` of MATLAB, one per subject and experiment): ``motion.trajectory.q``, ``dqdt``, ``ddqddt``
with a row per coordinate and a column per frame, lengths in mm; ``motion.jointX``, ``jointY``, ``jointZ``, each with
``estimated`` (from the markers) and ``smoothed`` (forward kinematics of HuMoD's own model along the trajectory), in
mm; ``force.grfX_L`` ... in N and ``force.copX_L`` ... in mm, not a number where the foot is off the ground.
Axes: x forward, y up, z right, origin on the belt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.io

from humanoid_model.errors import InputError
from humanoid_studies.humod.coordinates import COLUMNS, POSITION_JOINTS, POSITION_LABELS
from humanoid_studies.humod.mat_file import MatFile

#: Links that stand on the ground, in the order of the files' ``_L``, ``_R``.
FEET = ("foot_L", "foot_R")

#: Published positions: measured, and of HuMoD's own model.
KINDS = ("estimated", "smoothed")

_MILLIMETRE = 1e-3
_TRANSLATIONS = slice(0, 3)


@dataclass(frozen=True, eq=False)
class GroundForce:
    """Force of the ground on the feet; the force platform has a frame rate of its own.

    Attributes:
        time: (M,) s.
        force: (M, 2, 3) N, world axes, on the feet of ``FEET``.
        point: (M, 2, 3) m, centre of pressure in the world; not a number without contact.
    """

    time: np.ndarray
    force: np.ndarray
    point: np.ndarray

    def at(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Force (N, 2, 3) and point (N, 2, 3) of the samples nearest to some times (N,); both zero without contact."""
        step = (self.time[-1] - self.time[0]) / max(len(self.time) - 1, 1)
        nearest = np.rint((time - self.time[0]) / step).astype(int) if step else np.zeros(len(time), dtype=int)
        nearest = nearest.clip(0, len(self.time) - 1)
        force, point = self.force[nearest], self.point[nearest]
        contact = np.isfinite(np.concatenate([force, point], axis=2)).all(axis=2)[..., np.newaxis]
        return np.where(contact, force, 0.0), np.where(contact, point, 0.0)


@dataclass(frozen=True, eq=False)
class Recording:
    """A window of one motion, SI units.

    Attributes:
        name: of the experiment.
        time: (N,) s from the start of the file.
        q: (N, 36) m and rad, in the order of ``COLUMNS``.
        v: (N, 36) rates.
        a: (N, 36) accelerations.
        positions: (N, 13, 3) m, joints in the order of ``POSITION_JOINTS``, by ``estimated``, ``smoothed``.
        ground: force of the ground, None where the file separates no left and right.
    """

    name: str
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    positions: Mapping[str, np.ndarray]
    ground: GroundForce | None


def read_recording(path: str | Path, *, start: float | None = None, duration: float | None = None) -> Recording:
    """Read a motion file of the HuMoD database (``A/2.2.mat``).

    Args:
        path: of the file.
        start: first instant, s; by default where the steady part starts (``meta.startTime``), or 0.
        duration: s; by default up to the end.

    Raises:
        InputError: the file is missing or no MATLAB file of version 7 or before, a field is missing or has a wrong
            size, a number of the window is not finite, or the window lies outside the motion.
    """
    file = MatFile(path, ("motion", "force", "meta"))
    rate = file.positive("motion.frameRate")
    order = _trajectory_order(file)
    rows = {name: file.matrix(f"motion.trajectory.{name}", len(COLUMNS)) for name in ("q", "dqdt", "ddqddt")}
    frames = rows["q"].shape[1]
    window = _window(file, rate, frames, start, duration)
    trajectory: dict[str, np.ndarray] = {}
    for name, values in rows.items():
        field = f"motion.trajectory.{name}"
        if values.shape[1] != frames:
            raise file.fail(field, f"has {values.shape[1]} frames, not the {frames} of motion.trajectory.q")
        values = values[order][:, window].T.copy()
        _check_finite(file, field, values, COLUMNS, window)
        values[:, _TRANSLATIONS] *= _MILLIMETRE
        trajectory[name] = values
    kinds = [kind for kind in KINDS if file.get(f"motion.jointX.{kind}") is not None]
    if not kinds:
        file.need("motion.jointX.smoothed")
    experiment = file.get("meta.experiment")
    name = experiment if isinstance(experiment, str) else Path(path).stem
    time = np.arange(window.start, window.stop) / rate
    return Recording(
        name,
        time,
        trajectory["q"],
        trajectory["dqdt"],
        trajectory["ddqddt"],
        {kind: _positions(file, kind, frames, window) for kind in kinds},
        _ground(file, time),
    )


def write_recording(path: str | Path, recording: Recording) -> None:
    """Write a motion file with the fields, units and sizes of HuMoD's."""
    time, ground = recording.time, recording.ground
    motion: dict[str, object] = {
        "frameRate": _rate(time),
        "frames": float(len(time)),
        "trajectoryLabels": np.array(COLUMNS, dtype=object),
    }
    scale = np.ones(len(COLUMNS))
    scale[_TRANSLATIONS] /= _MILLIMETRE
    trajectory = {"q": recording.q, "dqdt": recording.v, "ddqddt": recording.a}
    motion["trajectory"] = {name: (values * scale).T for name, values in trajectory.items()}
    order = [POSITION_JOINTS.index(label) for label in POSITION_LABELS]
    motion["jointLabels"] = {kind: np.array(POSITION_LABELS, dtype=object) for kind in recording.positions}
    for axis, letter in enumerate("XYZ"):
        motion[f"joint{letter}"] = {
            kind: values[:, order, axis].T / _MILLIMETRE for kind, values in recording.positions.items()
        }
    content: dict[str, object] = {
        "motion": motion,
        "meta": {"experiment": recording.name, "startTime": time[0], "endTime": time[-1]},
    }
    if ground is not None:
        force: dict[str, object] = {"frameRate": _rate(ground.time), "frames": float(len(ground.time))}
        for foot, side in enumerate("LR"):
            for axis, letter in enumerate("XYZ"):
                force[f"grf{letter}_{side}"] = ground.force[:, foot, axis][np.newaxis]
                force[f"cop{letter}_{side}"] = ground.point[:, foot, axis][np.newaxis] / _MILLIMETRE
        content["force"] = force
    scipy.io.savemat(path, content, do_compression=True, oned_as="column")


def _rate(time: np.ndarray) -> float:
    return round((len(time) - 1) / (time[-1] - time[0]), 6)


def _trajectory_order(file: MatFile) -> list[int]:
    """Return rows of the file's trajectory in the order of ``COLUMNS``: by its labels, else as documented."""
    if file.get("motion.trajectoryLabels") is None:
        return list(range(len(COLUMNS)))
    labels = file.labels("motion.trajectoryLabels")
    missing = [column for column in COLUMNS if column not in labels]
    if missing or len(labels) != len(COLUMNS):
        raise file.fail(
            "motion.trajectoryLabels",
            f"has {len(labels)} names" + (f", none of them {', '.join(missing)}" if missing else ""),
            f"The {len(COLUMNS)} coordinates of HuMoD are needed; files before version 1.2 (2016) have fewer",
        )
    return [labels.index(column) for column in COLUMNS]


def _window(file: MatFile, rate: float, frames: int, start: float | None, duration: float | None) -> slice:
    if start is None:
        start = float(file.vector("meta.startTime", 1)[0]) if file.get("meta.startTime") is not None else 0.0
    length = frames / rate
    stop = length if duration is None else min(start + duration, length)
    if not (start >= 0 and stop - start > 1 / rate):
        wanted = "" if duration is None else f" for {duration:g} s"
        raise InputError(
            f"the window from {start:g} s{wanted} holds no motion",
            source=file.path,
            remedy=f"The motion lasts from 0 to {(frames - 1) / rate:g} s",
        )
    return slice(round(start * rate), min(round(stop * rate) + 1, frames))


def _check_finite(file: MatFile, field: str, values: np.ndarray, names: tuple[str, ...], window: slice) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        frame, column = bad[0]
        raise file.fail(
            field,
            f"of {names[column]} is {values[frame, column]:g} in frame {window.start + frame + 1}",
            "Choose a window without gaps by its start and duration",
        )


def _positions(file: MatFile, kind: str, frames: int, window: slice) -> np.ndarray:
    labels = list(POSITION_LABELS)
    if file.get(f"motion.jointLabels.{kind}") is not None:
        labels = file.labels(f"motion.jointLabels.{kind}")
    missing = [joint for joint in POSITION_JOINTS if joint not in labels]
    if missing:
        raise file.fail(f"motion.jointLabels.{kind}", f"has no {', '.join(missing)}")
    order = [labels.index(joint) for joint in POSITION_JOINTS]
    axes = []
    for letter in "XYZ":
        field = f"motion.joint{letter}.{kind}"
        values = file.matrix(field, len(labels), frames)[order][:, window].T
        _check_finite(file, field, values, POSITION_JOINTS, window)
        axes.append(values * _MILLIMETRE)
    return np.stack(axes, axis=2)


def _ground(file: MatFile, time: np.ndarray) -> GroundForce | None:
    """Ground force over a window; None where the file holds none of each foot (``force.copX_L`` is missing)."""
    if any(file.get(f"force.{name}X_{side}") is None for name in ("grf", "cop") for side in "LR"):
        return None
    rate = file.positive("force.frameRate")
    count = file.array("force.grfX_L").size
    samples = {name: np.empty((count, 2, 3)) for name in ("grf", "cop")}
    for name, values in samples.items():
        for foot, side in enumerate("LR"):
            for axis, letter in enumerate("XYZ"):
                field = f"force.{name}{letter}_{side}"
                row = file.array(field).reshape(-1)
                if row.size != count:
                    raise file.fail(field, f"has {row.size} frames, not the {count} of force.grfX_L")
                values[:, foot, axis] = row
    first, last = round(time[0] * rate), min(round(time[-1] * rate) + 1, count)
    if last - first < (time[-1] - time[0]) * rate:
        raise file.fail(
            "force.grfX_L",
            f"has {count} frames at {rate:g} Hz, but the window ends at {time[-1]:g} s",
            "Choose a shorter window, or the motion file that belongs to the force",
        )
    window = slice(first, last)
    return GroundForce(np.arange(first, last) / rate, samples["grf"][window], samples["cop"][window] * _MILLIMETRE)
