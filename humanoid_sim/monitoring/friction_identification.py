# SPDX-License-Identifier: Apache-2.0
r"""Friction found by pulling (specification 000 §20.1, E17): a body breaks away at :math:`f = \mu m g` (5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.description import Box, Geometry, HalfSpace
from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, Scene, SceneBody
from humanoid_sim.simulation import Simulation
from humanoid_sim.stepping.contacts import SLIP_SPEED

MASS, FRICTION, PULLS = 11.84, 0.983, 50
"""Of the thesis' experiment: HRP-2's foot with an added weight on the floor of its laboratory."""
_FOOT = (0.22, 0.13, 0.03)


@dataclass(frozen=True)
class FrictionEstimate:
    """Friction from several pulls.

    Attributes:
        friction: mean coefficient.
        deviation: standard deviation of single pulls; NaN of a single one.
        standard_error: of the mean; NaN of a single pull.
        pulls: their number.
    """

    friction: float
    deviation: float
    standard_error: float
    pulls: int


def identify_friction(forces: ArrayLike, mass: float, gravity: float = 9.8) -> FrictionEstimate:
    """Return the static friction from the horizontal forces at which a body began to slide on level ground (5.1).

    Args:
        forces: N, shape (k,).
        mass: of all that rests on the surface [kg].
        gravity: m/s^2.

    Raises:
        InputError: no force, a force that is negative or not finite, a mass or gravity that is not positive.
    """
    pulled = np.atleast_1d(np.array(forces, dtype=float))
    if pulled.ndim != 1 or pulled.size == 0 or not np.all(np.isfinite(pulled)) or np.any(pulled < 0.0):
        raise InputError(
            f"forces are {pulled.tolist()}", element="forces", remedy="Give one or more finite forces, 0 or more"
        )
    for name, value in (("mass", mass), ("gravity", gravity)):
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name} is {value}", element=name, remedy="Give a positive number")
    coefficients = pulled / (mass * gravity)
    deviation = float(coefficients.std(ddof=1)) if pulled.size > 1 else math.nan
    return FrictionEstimate(
        float(coefficients.mean()), deviation, deviation / math.sqrt(pulled.size), int(pulled.size)
    )


class PullTest:
    """A foot-sized block on level ground, pulled at the height of the ground ever harder until it slides.

    Attributes:
        simulation: block and floor.
        mass: of the block [kg].
    """

    def __init__(
        self, mass: float = MASS, friction: float = FRICTION, *, gravity: float = 9.8, dt: float = 1e-3
    ) -> None:
        """Put the block on the floor and let it come to rest.

        Args:
            mass: kg.
            friction: coefficient between block and floor.
            gravity: m/s^2.
            dt: time step [s].

        Raises:
            InputError: a mass or gravity that is not positive, a friction that is negative or not finite.
        """
        for name, value in (("mass", mass), ("gravity", gravity)):
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"{name} is {value}", element=name, remedy="Give a positive number")
        if not (math.isfinite(friction) and friction >= 0.0):
            raise InputError(f"friction is {friction}", element="friction", remedy="Give a number, 0 or more")
        self.mass = mass
        x, y, z = _FOOT
        inertia = mass / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
        here = pin.SE3.Identity()
        floor = SceneBody(
            "floor", "floor", 0.0, np.zeros(3), np.zeros((3, 3)), here, np.zeros(6),
            (Geometry("", HalfSpace(), here, np.ones(4)),),
        )  # fmt: skip
        block = SceneBody(
            "block", "block", mass, np.zeros(3), inertia, pin.SE3(np.eye(3), np.array([0.0, 0.0, z / 2])),
            np.zeros(6), (Geometry("", Box(np.array(_FOOT)), here, np.ones(4)),),
        )  # fmt: skip
        scene = Scene(
            name="pull test",
            bodies=(floor, block),
            rules=(PairRule("*", "*", friction=friction),),
            gravity=np.array([0.0, 0.0, -gravity]),
        )
        self.simulation = Simulation(scene, dt)
        self.simulation.run(0.05)
        self._start = self.simulation.save_state()

    def pull(
        self, direction: float = 0.0, *, rate: float = 100.0, start: float = 0.0, speed: float = SLIP_SPEED
    ) -> float:
        """Pull the resting block until it slides.

        Args:
            direction: of the force in the horizontal plane, from x [rad].
            rate: growth of the force [N/s].
            start: force at the beginning [N].
            speed: at which the block slides [m/s].

        Returns:
            The force at which it began to slide [N].

        Raises:
            InputError: a number that is not finite, a rate or speed that is not positive, a start that is negative.
        """
        given = {"direction": direction, "rate": rate, "start": start, "speed": speed}
        for name, value in given.items():
            too_small = value < 0.0 if name == "start" else value <= 0.0 and name != "direction"
            if not math.isfinite(value) or too_small:
                raise InputError(f"{name} is {value}", element=name, remedy="Give a finite number that makes sense")
        simulation = self.simulation
        simulation.restore_state(self._start)
        block = simulation.bodies["block"]
        along = np.array([math.cos(direction), math.sin(direction), 0.0])
        began = simulation.time
        while True:
            force = start + rate * (simulation.time - began)
            point = block.placement_world_body.act(np.array([0.0, 0.0, -_FOOT[2] / 2]))
            simulation.apply_wrench("block", force * along, point=point, duration=simulation.dt)
            simulation.step()
            if np.linalg.norm(block.twist[:3]) > speed:
                return force
