# SPDX-License-Identifier: Apache-2.0
"""Planned forces of a trajectory place by place, and what each place takes of the force along the ground."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from humanoid_model.whole_body_trajectory import PlannedForce
from humanoid_studies.planar_gait.lift.lifted_gait import LiftedGait, corner_forces
from humanoid_studies.planar_gait.trajectory.gait_trajectory import GaitTrajectory

INSTANT = 1e-9
"""Within which a sample belongs to the phase that it is told of [s]."""
PRESSES = 1e-6
"""Least force that counts as one [N]."""


GROUND = "ground"
"""What the feet stand on."""
_UP = np.array([0.0, 0.0, 1.0])


def planned_forces(
    trajectory: GaitTrajectory, sample: int, friction: float, across: Sequence[float]
) -> list[PlannedForce]:
    """Return forces at the feet's places at a sample of a trajectory in the sagittal plane.

    What acts along the ground is shared, as the normal forces are, between the places that are down by the contact
    schedule: a toe that presses while it is in the air, as the thesis plans it, takes nothing of it. Where none of
    those presses it is shared alike. A foot slips or sticks as a whole.

    Args:
        trajectory: that is planned.
        sample: its index.
        friction: coefficient of the ground.
        across: y of both feet [m].
    """
    down = _parts_down(trajectory, sample)
    found: list[PlannedForce] = []
    for index, foot in enumerate(trajectory.feet):
        normals, tangential = trajectory.normal[sample, index], float(trajectory.tangential[sample, index])
        held = np.array([name in down.get(foot, ()) for name in trajectory.foot_places])
        pressing = np.where(held, np.maximum(normals, 0.0), 0.0)
        if pressing.sum() <= PRESSES:
            pressing = held.astype(float) if held.any() else np.ones(len(held))
        shares = pressing / pressing.sum()
        slips = abs(tangential) > friction * float(normals.sum()) * (1.0 + 1e-9)
        for normal, place, share in zip(normals, trajectory.places[sample, index], shares, strict=True):
            force = np.array([share * tangential, 0.0, float(normal)])
            if np.abs(force).max() > PRESSES:
                at = np.array([place[0], across[index], place[1]])
                found.append(PlannedForce(foot, GROUND, at, _UP, force, friction, slips))
    return found


def lifted_forces(lifted: LiftedGait, friction: float) -> Iterator[list[PlannedForce]]:
    """Yield forces at the corners that press, of every sample of a lifted gait; planned within the friction cone.

    Args:
        lifted: the gait.
        friction: coefficient of the ground.
    """
    for phase in lifted.phases:
        for sample in range(len(phase.t)):
            yield [
                PlannedForce(sole.name, GROUND, np.asarray(place), _UP, np.asarray(force), friction)
                for sole, force, place in corner_forces(lifted, phase, sample)
                if force[2] > PRESSES
            ]


def _parts_down(trajectory: GaitTrajectory, sample: int) -> dict[str, tuple[str, ...]]:
    """Places of each foot that are on the ground at a sample, which at a transition belongs to one of its phases."""
    phase = int(trajectory.phase[sample])
    middle = 0.5 * (trajectory.starts[phase] + trajectory.starts[phase + 1])
    time = trajectory.times[sample] + math.copysign(INSTANT, middle - trajectory.times[sample])
    return {item.foot: item.parts for item in trajectory.contacts if item.start <= time <= item.end}
