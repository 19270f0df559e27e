# SPDX-License-Identifier: Apache-2.0
"""Tables of recorded signals, and what a simulation puts into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from humanoid_sim.recording.balance import robot_zero_moment_point
from humanoid_sim.stepping.contacts import ContactState

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation

Row = tuple[object, ...]


@dataclass(frozen=True)
class Table:
    """A group of signals: one row per instant and thing, one column per signal.

    Attributes:
        name: of the group.
        columns: names of the columns; the first is the simulated time.
        units: of each column; empty for words, ``"-"`` for numbers without unit.
        rows: rows of the present instant without the time.
    """

    name: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    rows: Callable[[Simulation], Iterator[Row]]

    @property
    def header(self) -> list[str]:
        """Names of the columns with their units: ``force_x [N]``."""
        return [f"{name} [{unit}]" if unit else name for name, unit in zip(self.columns, self.units, strict=True)]


def _contacts(simulation: Simulation) -> Iterator[Row]:
    contacts = simulation.contacts
    numbers = np.hstack(
        [
            contacts.position,
            contacts.normal,
            contacts.force,
            contacts.torque,
            contacts.gap[:, None],
            contacts.friction[:, None],
        ]
    ).tolist()
    for (a, b), values, state in zip(contacts.bodies, numbers, contacts.state.tolist(), strict=True):
        yield (a, b, *values, ContactState(state).name.lower())


def _balance(simulation: Simulation) -> Iterator[Row]:
    contacts, gravity = simulation.contacts, np.asarray(simulation.scene.gravity)
    size = float(np.linalg.norm(gravity))
    for name, robot in simulation.robots.items():
        com = robot.centre_of_mass.tolist()
        zmp = robot_zero_moment_point(contacts, name, -gravity / size) if size > 0.0 else np.full(3, np.nan)
        yield (name, *com, *zmp.tolist())


def _joints(simulation: Simulation) -> Iterator[Row]:
    for name, robot in simulation.robots.items():
        yield from zip(
            [name] * len(robot.joint_names),
            robot.joint_names,
            robot.joint_positions.tolist(),
            robot.joint_velocities.tolist(),
            robot.joint_efforts.tolist(),
            strict=True,
        )


def moving_bodies(simulation: Simulation) -> Iterator[tuple[str, pin.SE3, np.ndarray]]:
    """Yield the base links that float, and free bodies: name, placement, twist in the body's frame, shape (6,)."""
    for name, robot in simulation.robots.items():
        base = robot.robot.base_joint
        if base is not None:
            link = next(link for link, part in robot.robot.parts.links.items() if part.joint_id == base)
            yield f"{name}/{link}", robot.placement(link), robot.twist_base
    for name, body in simulation.bodies.items():
        if not body.fixed:
            yield name, body.placement_world_body, body.twist


def _bodies(simulation: Simulation) -> Iterator[Row]:
    for name, placement, twist in moving_bodies(simulation):
        pose = pin.SE3ToXYZQUAT(placement).tolist()
        yield (name, *pose, *twist.tolist())


def _sensors(simulation: Simulation) -> Iterator[Row]:
    for name, robot in simulation.robots.items():
        for sensor in robot.robot.sensors.values():
            if sensor.type == "force_torque":
                yield (name, sensor.name, *robot.wrench(sensor.name).tolist())


def _energy(simulation: Simulation) -> Iterator[Row]:
    energy = simulation.energy()
    yield energy.kinetic, energy.potential, energy.total


def _solver(simulation: Simulation) -> Iterator[Row]:
    result = simulation.solver
    if result is None:
        yield simulation.method, "no_contact", 0, 0, 0.0, 0.0, 0.0, 0.0
        return
    yield (
        simulation.method,
        result.status.name.lower(),
        len(result.impulses),
        int(result.iterations),
        float(result.residuals.complementarity),
        float(result.residuals.cone),
        float(result.residuals.dissipation),
        float(result.time),
    )


def _profile(simulation: Simulation) -> Iterator[Row]:
    yield from simulation.profile.last.items()


_XYZ = ("x", "y", "z")


def _vector(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{axis}" for axis in _XYZ)


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "contacts",
            (
                "time",
                "body_a",
                "body_b",
                *_vector("position"),
                *_vector("normal"),
                *_vector("force"),
                *_vector("torque"),
                "gap",
                "friction",
                "state",
            ),
            ("s", "", "", *["m"] * 3, *["-"] * 3, *["N"] * 3, *["N m"] * 3, "m", "-", ""),
            _contacts,
        ),
        Table(
            "balance",
            ("time", "robot", *_vector("com"), *_vector("zmp")),
            ("s", "", *["m"] * 6),
            _balance,
        ),
        Table(
            "joints",
            ("time", "robot", "joint", "position", "velocity", "effort"),
            ("s", "", "", "rad or m", "rad/s or m/s", "N m or N"),
            _joints,
        ),
        Table(
            "bodies",
            (
                "time",
                "body",
                *_vector("position"),
                *_vector("quaternion"),
                "quaternion_w",
                *_vector("velocity"),
                *_vector("angular_velocity"),
            ),
            ("s", "", *["m"] * 3, *["-"] * 4, *["m/s"] * 3, *["rad/s"] * 3),
            _bodies,
        ),
        Table(
            "sensors",
            ("time", "robot", "sensor", *_vector("force"), *_vector("torque")),
            ("s", "", "", *["N"] * 3, *["N m"] * 3),
            _sensors,
        ),
        Table("energy", ("time", "kinetic", "potential", "total"), ("s", "J", "J", "J"), _energy),
        Table(
            "solver",
            ("time", "method", "status", "contacts", "iterations", "complementarity", "cone", "dissipation", "seconds"),
            ("s", "", "", "-", "-", "N s m/s", "N s", "N s m/s", "s"),
            _solver,
        ),
        Table("profile", ("time", "stage", "seconds"), ("s", "", "s"), _profile),
    )
}
"""Everything that is recorded, by name of the group. Velocities of bodies are in the body's own frame."""
