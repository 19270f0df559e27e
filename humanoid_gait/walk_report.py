# SPDX-License-Identifier: Apache-2.0
"""A walk as files: report, joints with efforts, numbers, a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from humanoid_gait.generation import Walk
from humanoid_gait.proof import GaitProof, gait_proof
from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.files import save_picture
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_APART = 0.35
"""What each stick figure is moved ahead of the one before it, beside the robot's own way [m]."""
_COLOURS = {"left": "tab:blue", "right": "tab:red"}


def walk_proofs(walk: Walk) -> dict[str, GaitProof]:
    """Return Pontryagin's conditions of the parts that are solved, by their names."""
    return {name: gait_proof(part) for name, part in walk.parts.items() if part.solution.converged}


def write_walk(walk: Walk, folder: str | Path, proofs: dict[str, GaitProof]) -> tuple[Path, ...]:
    """Write ``report.txt``, ``joints.csv``, ``walk.json`` and ``walk.png``, and return their paths.

    ``joints.csv`` has a row of names, then times [s], positions [rad or m] and, in columns ``effort:<joint>``, efforts
    [N m or N]; where contacts change, efforts jump, and there are two rows. ``read_joint_trajectory`` reads it.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    report, joints, numbers, picture = (
        place / name for name in ("report.txt", "joints.csv", "walk.json", "walk.png")
    )
    report.write_text(walk_text(walk, proofs) + "\n", encoding="utf-8")
    motion = walk.motion
    names = ["time", *motion.joint_names, *(f"effort:{name}" for name in motion.joint_names)]
    rows = np.column_stack([motion.times, motion.positions, motion.torques])
    np.savetxt(joints, rows, fmt="%.17g", delimiter=",", header=",".join(names), comments="")
    numbers.write_text(json.dumps(_content(walk, proofs), indent=1) + "\n", encoding="utf-8")
    save_picture(walk_figure(walk), picture)
    return report, joints, numbers, picture


def walk_text(walk: Walk, proofs: dict[str, GaitProof]) -> str:
    """Return report and proofs in words."""
    return "\n".join([walk.report(), *(f"{name}: {proof.report()}" for name, proof in proofs.items())])


def _content(walk: Walk, proofs: dict[str, GaitProof]) -> dict[str, Any]:
    return {
        "robot": walk.robot.name,
        "success": walk.success,
        "message": walk.message,
        "duration": walk.motion.duration,
        "distance": walk.distance,
        "speed": walk.speed,
        "cost": walk.cost,
        "energy": walk.energy,
        "cost_of_transport": walk.cost_of_transport if np.isfinite(walk.cost_of_transport) else None,
        "parts": {
            name: {
                "cost": part.cost, "durations": part.durations, "iterations": part.solution.iterations,
                "proof": proofs[name].numbers if name in proofs else None,
            }
            for name, part in walk.parts.items()
        },
        "contacts": [
            {"location": span.location, "part": span.part, "start": span.start, "end": span.end}
            for span in walk.motion.contacts
        ],
    }  # fmt: skip


def walk_figure(walk: Walk, count: int = 13) -> Figure:
    """Return a picture: stick figures from the side and from behind, normal forces, efforts.

    Args:
        walk: to draw.
        count: of stick figures.
    """
    import matplotlib.pyplot as plt

    motion = walk.motion
    figure, axes = plt.subplots(4, 1, figsize=(11, 11), layout="constrained", height_ratios=(3, 3, 2, 2))
    for axis, along, view in ((axes[0], 0, "from the right"), (axes[1], 1, "from behind")):
        for number, time in enumerate(np.linspace(motion.times[0], motion.times[-1], count)):
            q = motion.at(float(time)).q
            _stick_figure(axis, walk.robot, q, along, number * _APART)
            axis.text(number * _APART + (q[0] if along == 0 else 0.0), -0.12, f"{time:.2f} s", ha="center", fontsize=7)
        axis.set(aspect="equal", title=f"{view}, figures moved apart", ylabel="z [m]", xticks=[])
    for name, force in _normal_forces(motion).items():
        axes[2].plot(motion.times, force, label=name, color=_COLOURS.get(name.split("_")[0]))
    axes[2].set(ylabel="normal force [N]")
    axes[2].legend(fontsize=8)
    limits = np.array([walk.robot.limits.effort[walk.robot.index_v(name)] for name in motion.joint_names])
    shares = np.abs(motion.torques) / limits
    for column in np.argsort(shares.max(axis=0))[-4:]:
        axes[3].plot(motion.times, shares[:, column], label=motion.joint_names[column])
    axes[3].set(xlabel="time [s]", ylabel="share of the\neffort limit")
    axes[3].legend(fontsize=8)
    return figure


def _normal_forces(motion: WholeBodyTrajectory) -> dict[str, Array]:
    """(K,) normal force on each contact location [N]."""
    found: dict[str, Array] = {name: np.zeros(len(motion.times)) for name in motion.locations}
    for k, sample in enumerate(motion.forces):
        for force in sample:
            found[force.location][k] += force.normal @ force.force
    return found


def _stick_figure(axis: Axes, robot: Robot, q: Array, along: int, offset: float) -> None:
    """Draw lines from joint to joint and around soles, as seen along y (0) or along x (1), y to the left."""
    links, parts = robot.link_placements(q), robot.parts

    def flat(points: Array) -> Array:
        ahead = points[..., 0] if along == 0 else -points[..., 1]
        return np.stack([ahead + offset, points[..., 2]], axis=-1)

    model, data = robot.model, robot.model.createData()
    places = _joint_places(robot, q, data)
    for joint in range(2, model.njoints):
        ends = flat(np.array([places[model.parents[joint]], places[joint]]))
        side = next((side for side in _COLOURS if _side(model.names[joint]) == side), "")
        axis.plot(*ends.T, color=_COLOURS.get(side, "0.35"), linewidth=1.2)
    for name, location in robot.contacts.items():
        if location.support:
            corners = np.array([links[location.link].act(corner) for corner in location.vertices_link])
            outline = flat(np.vstack([corners, corners[:1]]))
            axis.plot(*outline.T, color=_COLOURS.get(name.split("_")[0], "0.2"), linewidth=1.2)
            ankle = flat(np.array([corners.mean(axis=0), places[parts.links[location.link].joint_id]]))
            axis.plot(*ankle.T, color=_COLOURS.get(name.split("_")[0], "0.2"), linewidth=1.2)


def _joint_places(robot: Robot, q: Array, data: Any) -> Array:
    import pinocchio as pin

    pin.forwardKinematics(robot.model, data, q)
    return np.array([place.translation for place in data.oMi])


def _side(name: str) -> str:
    return {"l": "left", "r": "right"}.get(name[:1].lower(), "")
