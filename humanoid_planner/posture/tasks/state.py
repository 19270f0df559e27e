# SPDX-License-Identifier: Apache-2.0
"""A posture under trial: configuration, contact forces, extra variables, and what follows from them.

The forces are unknown ones at the points of contacts and known loads; the joints' efforts balance them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.contact import ContactKind
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.kinematics.statics import (
    ENTRY,
    external_wrench,
    external_wrench_jacobian,
    place_entries,
    static_efforts,
    static_efforts_by_force,
    static_efforts_jacobian,
)
from humanoid_planner.posture.tasks.contact import PlacedContact


@dataclass(frozen=True, eq=False)
class Load:
    """A known wrench on a link, for example the weight of what a hand holds.

    Attributes:
        link: that it acts on.
        force: (3,) [N].
        point: (3,) where it acts, in the link frame [m].
        couple: (3,) [N m].
        in_link_frame: force and couple are given in the link frame and turn with it; otherwise in the world frame.
    """

    link: str
    force: ArrayLike = (0.0, 0.0, 0.0)
    point: ArrayLike = (0.0, 0.0, 0.0)
    couple: ArrayLike = (0.0, 0.0, 0.0)
    in_link_frame: bool = False


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A point of a contact that bears force.

    Attributes:
        placed: the contact.
        local: (3,) the point in the frame of the body that carries it [m].
    """

    placed: PlacedContact
    local: NDArray[np.float64]


class ForceModel:
    """All forces as entries, see :mod:`humanoid_planner.kinematics.statics`.

    Force variables are in units of the robot's weight and in the contact frame: two tangents, then the normal. A
    contact on another link of the robot acts on that link too, in the opposite direction.

    Attributes:
        points: contact points, in the order of their variables.
        weight: [N], the unit of the force variables.
        gravity: (3,) [m/s^2].
        friction: (k,) coefficients.
        bilateral: (k,) whether the point may pull.
        forces: (e, 3) world forces [N] of all entries; the first k are the contact points'.
        places: (e, 3) world points that entries act on the robot as a whole at [m]: for contacts whose place is known
            that place, which doesn't move with the posture.
    """

    def __init__(
        self,
        kinematics: RobotKinematics,
        contacts: Sequence[PlacedContact],
        loads: Sequence[Load],
        gravity: NDArray[np.float64],
    ) -> None:
        self._kinematics = kinematics
        self.gravity = np.array(gravity, dtype=float)
        acceleration = float(np.linalg.norm(self.gravity))
        self.weight = kinematics.total_mass * acceleration if acceleration > 0 else max(kinematics.total_mass, 1.0)
        self._pull = kinematics.total_mass * self.gravity
        self.points = tuple(
            ContactPoint(placed, placed.placement_body_patch.act(np.array([x, y, 0.0])))
            for placed in contacts
            if placed.contact.kind.bears
            for x, y in placed.bearing
        )
        count = len(self.points)
        bodies: list[int] = []
        locals_, frames, anchors, couples = [], [], [], []
        turning: list[int] = []
        variables: list[int] = []
        anchored: list[bool] = []
        for index, point in enumerate(self.points):
            placed = point.placed
            sliding = placed.contact.kind == ContactKind.SLIDING
            reference = placed.placement_ground_surface if sliding else placed.placement_ground_contact
            bodies.append(placed.body)
            locals_.append(point.local)
            turning.append(placed.ground)
            frames.append(self.weight * reference.rotation)
            variables.append(3 * index)
            anchored.append(placed.fixed_in_world)
            in_patch = placed.placement_body_patch.actInv(point.local)
            anchors.append(placed.placement_ground_contact.act(in_patch))
        for index, point in enumerate(self.points):
            placed = point.placed
            if placed.ground:
                in_patch = placed.placement_body_patch.actInv(point.local)
                bodies.append(placed.ground)
                locals_.append(placed.placement_ground_contact.act(in_patch))
                turning.append(placed.ground)
                frames.append(-frames[index])
                variables.append(3 * index)
                anchored.append(False)
                anchors.append(np.zeros(3))
        couples = [np.zeros(3)] * len(bodies)
        fixed = [np.zeros(3)] * len(bodies)
        for load in loads:
            body, placement = kinematics.body_of(load.link)
            turn = placement.rotation if load.in_link_frame else np.eye(3)
            bodies.append(body)
            locals_.append(placement.act(np.asarray(load.point, dtype=float)))
            turning.append(body if load.in_link_frame else 0)
            fixed.append(turn @ np.asarray(load.force, dtype=float))
            couples.append(turn @ np.asarray(load.couple, dtype=float))
            frames.append(np.eye(3))
            variables.append(-1)
            anchored.append(False)
            anchors.append(np.zeros(3))
        entries = len(bodies)
        self._entries = np.zeros(entries, dtype=ENTRY)
        self._entries["body"], self._entries["turning"], self._entries["variable"] = bodies, turning, variables
        self._entries["anchored"] = anchored
        self._entries["local"] = np.array(locals_, dtype=float).reshape(entries, 3)
        self._frames_local = np.array(frames, dtype=float).reshape(entries, 3, 3)
        self._fixed_local = np.array(fixed, dtype=float).reshape(entries, 3)
        self._couples_local = np.array(couples, dtype=float).reshape(entries, 3)
        self._anchors = np.array(anchors, dtype=float).reshape(entries, 3)
        self._anchored = self._entries["anchored"].copy()
        self._turning_entries = np.flatnonzero(self._entries["turning"])
        self._with_variables = np.flatnonzero(self._entries["variable"] >= 0)
        self._variable_rows = self._entries["variable"][self._with_variables] // 3
        self._frames, self._couples = self._entries["frame"], self._entries["couple"]
        self._frames[:], self._couples[:] = self._frames_local, self._couples_local
        self.places, self.forces = self._entries["place"], self._entries["force"]
        self.friction = np.array([point.placed.friction for point in self.points])
        self.bilateral = np.array([point.placed.contact.bilateral for point in self.points], dtype=bool)
        size = kinematics.size
        self._sums = np.zeros((kinematics.variables.body_count, 15))
        self._efforts = np.zeros(size)
        self._efforts_jacobian = np.zeros((size, size))
        self._efforts_by_force = np.zeros((size, 3 * count))
        self._wrench = np.zeros(6)
        self._current = False
        bearing = self._anchors[:count]
        #: (3,) world point that moments are taken about: amid the contacts, so that they are small numbers.
        self.centre = bearing.mean(axis=0) if count else np.zeros(3)

    @property
    def size(self) -> int:
        """Number of force variables, 3 k."""
        return 3 * len(self.points)

    def forget(self) -> None:
        """Follow a change of the posture."""
        self._current = False

    def update(self, forces: NDArray[np.float64]) -> None:
        """World points and forces at the current configuration, unless they are known.

        Args:
            forces: (3 k,) force variables.
        """
        if self._current:
            return
        kinematics = self._kinematics
        kinematics.place_bodies()
        place_entries(self._entries, kinematics.placements)
        self.places[:] = self._entries["point"]
        self.places[self._anchored] = self._anchors[self._anchored]
        self.forces[:] = self._fixed_local
        for e in self._turning_entries:
            R = kinematics.rotations[self._entries["turning"][e]]
            self._frames[e] = R @ self._frames_local[e]
            self._couples[e] = R @ self._couples_local[e]
            self.forces[e] = R @ self._fixed_local[e]
        if self.size:
            values = forces.reshape(-1, 3)[self._variable_rows]
            self.forces[self._with_variables] = np.einsum("eij,ej->ei", self._frames[self._with_variables], values)
        self._current = True

    def frames_of_points(self) -> NDArray[np.float64]:
        """(k, 3, 3) world frames of the contact points, columns tangents and normal, times the weight."""
        return self._frames[: len(self.points)]

    def wrench(self) -> NDArray[np.float64]:
        """(6,) force [N] and moment about ``centre`` [N m] of gravity, contacts and loads; zero in equilibrium."""
        external_wrench(self._pull, self._kinematics.centre_of_mass(), self.centre, self._entries, self._wrench)
        return self._wrench

    def wrench_jacobian(self, size: int) -> NDArray[np.float64]:
        """(6, size) derivative of :meth:`wrench`."""
        kinematics = self._kinematics
        table, placements = kinematics.tree, kinematics.placements
        D = np.zeros((6, size))
        J_com = kinematics.centre_of_mass_jacobian()
        external_wrench_jacobian(self._pull, J_com, self.centre, table, placements, self._entries, D)
        return D

    def efforts(self) -> NDArray[np.float64]:
        """(nx,) efforts [N m] or [N] that hold every variable still, those of a floating base included (3.64)."""
        kinematics = self._kinematics
        table, placements = kinematics.tree, kinematics.placements
        static_efforts(self.gravity, table, placements, self._entries, self._sums, self._efforts)
        return self._efforts

    def efforts_jacobian(self) -> NDArray[np.float64]:
        """(nx, nx) derivative of :meth:`efforts` by the configuration."""
        kinematics = self._kinematics
        table, placements = kinematics.tree, kinematics.placements
        static_efforts_jacobian(self.gravity, table, placements, self._entries, self._sums, self._efforts_jacobian)
        return self._efforts_jacobian

    def efforts_by_force(self) -> NDArray[np.float64]:
        """(nx, 3 k) derivative of :meth:`efforts` by the force variables: the A of (3.67), but for its sign."""
        kinematics = self._kinematics
        self._efforts_by_force[:] = 0.0
        static_efforts_by_force(
            kinematics.tree, kinematics.placements, self._entries, self._efforts_by_force
        )
        return self._efforts_by_force


class PostureState:
    """The variables of a posture problem (specification 001 section 4.1), lazily evaluated.

    ``x`` holds the configuration, the force variables, and extra variables, in this order.

    Attributes:
        kinematics: at the configuration.
        force_model: forces and efforts.
        extra_count: number of extra variables.
        x: (size,) all variables; read-only, use :meth:`set`.
        version: goes up with every move, for those who keep what they have computed.
    """

    def __init__(self, kinematics: RobotKinematics, force_model: ForceModel, extra_count: int = 0) -> None:
        self.kinematics = kinematics
        self.force_model = force_model
        self.extra_count = extra_count
        self.x = np.full(kinematics.size + force_model.size + extra_count, np.nan)
        self.version = 0

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.x)

    @property
    def first_force(self) -> int:
        """Index of the first force variable."""
        return self.kinematics.size

    @property
    def first_extra(self) -> int:
        """Index of the first extra variable."""
        return self.kinematics.size + self.force_model.size

    def set(self, x: NDArray[np.float64]) -> None:
        """Move the posture, unless it is there already.

        Args:
            x: (size,) variables; copied.
        """
        if np.array_equal(x, self.x):
            return
        self.x[:] = x
        self.version += 1
        self.kinematics.set(self.x[: self.first_force])
        self.force_model.forget()

    @property
    def force_variables(self) -> NDArray[np.float64]:
        """(k, 3) forces in units of the weight, in the contact frames: tangents, normal."""
        return self.x[self.first_force : self.first_extra].reshape(-1, 3)

    @property
    def extras(self) -> NDArray[np.float64]:
        """Extra variables."""
        return self.x[self.first_extra :]

    def place_forces(self) -> ForceModel:
        """Return the force model at this posture."""
        self.force_model.update(self.x[self.first_force : self.first_extra])
        return self.force_model

    @property
    def forces(self) -> NDArray[np.float64]:
        """(k, 3) forces at the contact points, world frame [N]."""
        model = self.place_forces()
        return model.forces[: len(model.points)]

    @property
    def efforts(self) -> NDArray[np.float64]:
        """(nx,) efforts that hold the posture [N m] or [N]; those of a floating base are zero in equilibrium."""
        return self.place_forces().efforts()
