# SPDX-License-Identifier: Apache-2.0
"""A gait over time in a robot's own coordinates: motion, feed-forward torques, contacts and planned forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.trajectory.contact_schedule import ContactInterval

Side = Literal["before", "after"]


class GaitSample(NamedTuple):
    """A gait at L times.

    Attributes:
        positions: (L, nj) of the joints [rad].
        velocities: (L, nj) [rad/s].
        accelerations: (L, nj) [rad/s²].
        torques: (L, nj) feed-forward [N m].
        base: (L, 3) x, z and pitch of the root link [m, rad].
        base_velocity: (L, 3) rates of it.
        normal: (L, 2, k) normal forces under both feet [N].
        tangential: (L, 2) forces along x [N].
        places: (L, 2, k, 2) x and z of the feet's places [m].
        phase: (L,) index of the phase.
    """

    positions: Reals
    velocities: Reals
    accelerations: Reals
    torques: Reals
    base: Reals
    base_velocity: Reals
    normal: Reals
    tangential: Reals
    places: Reals
    phase: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GaitTrajectory:
    """A gait sampled K times; nj joints drive the robot, which has 2 feet of k places each: heel and toe, or a tip.

    Torques, forces and accelerations jump where one phase gives way to the next. Each such time is there **twice**,
    first with what the phase before ends with, then with what the next one begins with, so that interpolation between
    neighbours never mixes phases. Legs and feet keep their order while they change parts from step to step.

    Attributes:
        robot: name of the robot.
        joint_names: driven joints.
        joint_q: (nj,) their places in q.
        joint_v: (nj,) their places in v.
        times: (K,) from 0, equal at transitions, increasing otherwise [s].
        phase: (K,) index of the phase that a sample belongs to.
        kinds: of the phases, ``double_support`` for example.
        starts: (P + 1,) beginning of each of the P phases, and the end [s].
        q: (K, nq) postures of the robot's model.
        v: (K, nv) velocities.
        acceleration: (K, nv) their rates.
        tau: (K, nv) feed-forward torques [N m].
        base: (K, 3) x, z and pitch of the root link, forward positive [m, rad].
        base_velocity: (K, 3) rates of it.
        base_acceleration: (K, 3) rates of those.
        legs: limbs of the robot, first the one that is the rear or stance leg at the beginning.
        feet: support contacts that they end in.
        foot_places: names of a foot's k places: heel and toe, or tip.
        normal: (K, 2, k) planned normal forces [N].
        tangential: (K, 2) planned forces along x [N].
        places: (K, 2, k, 2) where the places are, x and z [m].
        contacts: when which part of which foot is on the ground.
        next_offset: (2,) how far a repetition of the whole would be ahead, x and z [m].
    """

    robot: str
    joint_names: tuple[str, ...]
    joint_q: NDArray[np.int64]
    joint_v: NDArray[np.int64]
    times: Reals
    phase: NDArray[np.int64]
    kinds: tuple[str, ...]
    starts: Reals
    q: Reals
    v: Reals
    acceleration: Reals
    tau: Reals
    base: Reals
    base_velocity: Reals
    base_acceleration: Reals
    legs: tuple[str, str]
    feet: tuple[str, str]
    foot_places: tuple[str, ...]
    normal: Reals
    tangential: Reals
    places: Reals
    contacts: tuple[ContactInterval, ...]
    next_offset: Reals

    @property
    def duration(self) -> float:
        """Time of the last sample [s]."""
        return float(self.times[-1])

    @property
    def positions(self) -> Reals:
        """(K, nj) of the driven joints [rad]."""
        return np.asarray(self.q[:, self.joint_q])

    @property
    def velocities(self) -> Reals:
        """(K, nj) of the driven joints [rad/s]."""
        return np.asarray(self.v[:, self.joint_v])

    @property
    def accelerations(self) -> Reals:
        """(K, nj) of the driven joints [rad/s²]."""
        return np.asarray(self.acceleration[:, self.joint_v])

    @property
    def torques(self) -> Reals:
        """(K, nj) feed-forward torques of the driven joints [N m]."""
        return np.asarray(self.tau[:, self.joint_v])

    @property
    def total_normal(self) -> Reals:
        """(K,) sum of all normal forces [N]."""
        return np.asarray(self.normal.sum(axis=(1, 2)))

    @property
    def centre_of_pressure(self) -> Reals:
        """(K,) where the resultant of normal forces on level ground acts, along x; NaN where nothing presses [m]."""
        moment = (self.normal * self.places[..., 0]).sum(axis=(1, 2))
        return _divided(moment, self.total_normal)

    @property
    def foot_centres_of_pressure(self) -> Reals:
        """(K, 2) the same under each foot."""
        return _divided((self.normal * self.places[..., 0]).sum(axis=2), self.normal.sum(axis=2))

    @property
    def transitions(self) -> Reals:
        """(P - 1,) times at which one phase gives way to the next [s]."""
        return np.asarray(self.starts[1:-1])

    @property
    def increasing(self) -> NDArray[np.int64]:
        """Indices of samples whose times increase strictly: of each transition the side after it.

        Positions and velocities are the same on both sides.
        """
        return np.flatnonzero(np.append(np.diff(self.times) > 0.0, True))

    def at(self, times: ArrayLike, side: Side = "after") -> GaitSample:
        """Return the gait between its samples, within phases only.

        Positions run as polynomials of fifth degree that meet positions, velocities and accelerations of the samples on
        both sides; torques and forces as straight lines.

        Args:
            times: (L,) [s].
            side: of a transition, at its very time: ``before`` tells what the phase before it ends with.

        Raises:
            InputError: a time isn't within the gait, or an unknown side.
        """
        if side not in ("before", "after"):
            raise InputError(f"is '{side}'", element="side", remedy="Use before or after")
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        inside = (wanted >= self.times[0]) & (wanted <= self.times[-1])
        if not inside.all():
            raise InputError(
                f"{wanted[~inside][0]:g} s is not within the gait",
                element="times",
                remedy=f"Give times from {self.times[0]:g} to {self.times[-1]:g} s",
            )
        later = np.searchsorted(self.times, wanted, side="right" if side == "after" else "left")
        first = np.clip(later - 1, 0, len(self.times) - 2)
        second = first + 1
        span = self.times[second] - self.times[first]
        share = (wanted - self.times[first]) / span
        known = [
            np.hstack([moved, of_base])
            for moved, of_base in (
                (self.positions, self.base),
                (self.velocities, self.base_velocity),
                (self.accelerations, self.base_acceleration),
            )
        ]
        values = _quintic(span, share, *(column[first] for column in known), *(column[second] for column in known))
        nj = len(self.joint_names)

        def line(series: Reals) -> Reals:
            weight = share.reshape(-1, *([1] * (series.ndim - 1)))
            return np.asarray((1.0 - weight) * series[first] + weight * series[second])

        return GaitSample(
            values[0][:, :nj],
            values[1][:, :nj],
            values[2][:, :nj],
            line(self.torques),
            values[0][:, nj:],
            values[1][:, nj:],
            line(self.normal),
            line(self.tangential),
            line(self.places),
            np.asarray(self.phase[first]),
        )


def _divided(above: Reals, below: Reals) -> Reals:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0.0, above / below, np.nan)


_HERMITE = np.array(
    [
        [1.0, 0.0, 0.0, -10.0, 15.0, -6.0],
        [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
        [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
        [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
        [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
    ]
)
"""Coefficients of the powers of s of the six polynomials on [0, 1] for value, slope and curvature at 0 and at 1."""


def _quintic(span: Reals, share: Reals, *ends: Reals) -> tuple[Reals, Reals, Reals]:
    """Values, first and second derivatives (L, m) between values, slopes and curvatures of both ends."""
    h = span[:, None]
    scaled = [ends[0], h * ends[1], h**2 * ends[2], ends[3], h * ends[4], h**2 * ends[5]]
    powers = np.arange(6)
    results = []
    for order in range(3):
        factor = np.prod([powers - lower for lower in range(order)], axis=0) if order else np.ones(6)
        power = share[:, None] ** np.maximum(powers - order, 0) * factor
        weights = power @ _HERMITE.T
        total = sum(weights[:, [index]] * scaled[index] for index in range(6))
        results.append(np.asarray(total) / h**order)
    return results[0], results[1], results[2]
