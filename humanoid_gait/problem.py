# SPDX-License-Identifier: Apache-2.0
"""A gait as an optimal control problem: phases, what is held in them, and what the ends are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_gait.costs import AccelerationCost, Cost, ForceCost, TorqueCost
from humanoid_gait.hold import Hold
from humanoid_model import InputError, Robot
from humanoid_model.arrays import Array
from humanoid_model.description import Geometry
from humanoid_model.ground_profile import LEVEL, GroundProfile


@dataclass(frozen=True, eq=False)
class Corridor:
    """Where points of a link may be: near their places on a given way.

    Attributes:
        link: that they belong to.
        points: (k, 3) in its frame [m].
        lower: (N + 1, k, 3) by which they may be off the way towards smaller coordinates, at a phase's nodes [m].
        upper: (N + 1, k, 3) towards greater ones [m].
        axes: (N + 1, 3, 3) rotations of the axes in which that counts.
    """

    link: str
    points: Array
    lower: Array
    upper: Array
    axes: Array

    def places(self, robot: Robot, q: Array) -> Array:
        """(N + 1, k, 3) of configurations (N + 1, nq), in these axes [m]."""
        frames = [robot.link_placements(row)[self.link] for row in q]
        world = np.array([[frame.act(point) for point in self.points] for frame in frames])
        return np.einsum("nij,nki->nkj", self.axes, world)


@dataclass(frozen=True, eq=False)
class Tube:
    """How near to a given way a phase stays.

    Attributes:
        q: (N + 1, nq) configurations on it, at the phase's nodes.
        width: (nv,) or (N + 1, nv) by which each coordinate may be off [m or rad].
        corridors: of links.
    """

    q: Array
    width: Array
    corridors: tuple[Corridor, ...] = ()


@dataclass(frozen=True)
class Phase:
    """A time in which the contacts don't change; none at all is a flight.

    One of duration 0 is an impact: what the phase before doesn't hold strikes its place and stays there, by impulses
    within the same cones; velocities jump, positions don't.

    Attributes:
        holds: what is held.
        cuts: what bears, though no row holds it: loops that are cut open, their forces controls, their closure a cost
            (:class:`.ClosureCost`).
        duration: [s], or its least and greatest value where it is free; 0 of an impact.
        intervals: of the transcription; 1 of an impact.
        swinging: locations that swing: their corners stay above the ground.
        clearance: height of these in the middle of the phase [m]; towards its ends it falls as a parabola does.
        tube: that the motion stays in; None where it is free.
    """

    holds: tuple[Hold, ...]
    duration: float | tuple[float, float]
    intervals: int = 20
    swinging: tuple[str, ...] = ()
    clearance: float = 0.02
    cuts: tuple[Hold, ...] = ()
    tube: Tube | None = None

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: a duration or a number of intervals that can't be, or a location held twice.
        """
        least, most = self.range
        if not (0.0 < least <= most < math.inf or self.impact):
            remedy = "Give one above 0, or the least and the greatest; 0 of an impact"
            raise InputError(f"is {self.duration}", element="duration", remedy=remedy)
        if self.impact and (self.intervals > 1 or self.swinging or self.cuts or self.tube or not self.holds):
            remedy = "Give holds and one interval, nothing that swings, no cuts, no tube"
            raise InputError("is 0, an impact's", element="duration", remedy=remedy)
        if self.intervals < 1:
            raise InputError(f"are {self.intervals}", element="intervals", remedy="Give one or more")
        names = [(hold.contact.location.name, hold.part) for hold in (*self.holds, *self.cuts)]
        if len(set(names)) < len(names):
            raise InputError("hold a location twice", element="holds", remedy="Hold each once")

    @property
    def range(self) -> tuple[float, float]:
        """Least and greatest duration [s]."""
        if isinstance(self.duration, tuple):
            return self.duration
        return (self.duration, self.duration)

    @property
    def impact(self) -> bool:
        """Whether it is an impact."""
        return self.duration == 0.0

    @property
    def free(self) -> bool:
        """Whether the duration is an unknown."""
        return self.range[0] < self.range[1]


@dataclass(frozen=True, eq=False)
class State:
    """A state that an end is in.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity; at rest if left out.
        free_q: joints whose positions are chosen, as far as contacts leave them open.
        free_v: joints whose speeds are chosen, likewise.
    """

    q: ArrayLike
    v: ArrayLike | None = None
    free_q: Sequence[str] = ()
    free_v: Sequence[str] = ()

    @property
    def whole(self) -> bool:
        """Whether nothing of it is free."""
        return not (self.free_q or self.free_v)


@dataclass(frozen=True, eq=False)
class Cycle:
    """The end is the beginning, further on.

    Attributes:
        step: motion of the plane from the start to the end.
        mirrored: left and right have changed places.
    """

    step: pin.SE3
    mirrored: bool = False


@dataclass(frozen=True, eq=False)
class GaitProblem:
    """Phases in a row.

    Attributes:
        robot: that moves.
        phases: in order.
        start: state at the start; None where it is free.
        end: state at the end, or that it is the start's; None where it is free.
        costs: that are summed up.
        heading: of the base about which its chart lies [rad].
        gravity: (3,) [m/s²].
        ground: that it walks on.
        efforts: share of the joints' effort limits that is used.
        speeds: share of their speed limits.
        apart: gap that capsules around the robot's bodies keep from each other at nodes [m]; None where they may touch.
        obstacles: boxes, cylinders, capsules, spheres and half-spaces in the world that they keep that gap from, too;
            none at least.
    """

    robot: Robot
    phases: Sequence[Phase]
    start: State | None = None
    end: State | Cycle | None = None
    costs: Sequence[Cost] = field(default_factory=lambda: (TorqueCost(), AccelerationCost(), ForceCost()))
    heading: float = 0.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    ground: GroundProfile = LEVEL
    efforts: float = 1.0
    speeds: float = 1.0
    apart: float | None = None
    obstacles: Sequence[Geometry] = ()

    def __post_init__(self) -> None:
        """Check that phases join.

        Raises:
            InputError: there is no phase, no cost, a cycle with a given start, a free joint that the robot doesn't
                have, contacts that jump from one phase to the next, or the robot has no shapes to keep clear.
        """
        for name, state in (("start", self.start), ("end", self.end)):
            for joint in (*state.free_q, *state.free_v) if isinstance(state, State) else ():
                if joint not in self.robot.joint_names:
                    raise InputError(
                        f"the robot '{self.robot.name}' has no joint '{joint}'",
                        element=f"{name}.free",
                        remedy=f"Joints are {', '.join(self.robot.joint_names)}",
                    )
        if not self.phases:
            raise InputError("there are none", element="phases", remedy="Give one or more")
        shapes = any(link.collisions for link in self.robot.description.links.values())
        if (self.obstacles or self.apart is not None) and not shapes:
            remedy = "Load it with its geometry, or leave out 'apart' and 'obstacles'"
            raise InputError("has no shapes to keep clear", element=f"robot '{self.robot.name}'", remedy=remedy)
        if not self.costs:
            raise InputError("there are none", element="costs", remedy="Give one or more")
        if self.start is not None and isinstance(self.end, Cycle):
            raise InputError("is given for a cycle", element="start", remedy="Leave it free")
        for index, (before, after) in enumerate(zip(self.phases, self.phases[1:], strict=False)):
            for hold in before.holds:
                for kept in after.holds:
                    same = hold.contact.location.name == kept.contact.location.name
                    if same and not np.allclose(
                        hold.placement.homogeneous, kept.placement.homogeneous, atol=1e-9
                    ):
                        raise InputError(
                            f"'{hold.contact.location.name}' jumps",
                            element=f"phases[{index + 1}]",
                            remedy="Let it swing for a phase in between",
                        )
