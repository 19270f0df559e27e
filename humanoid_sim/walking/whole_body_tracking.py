# SPDX-License-Identifier: Apache-2.0
r"""A stabiliser: joint torques that bring a walking robot back to its plan as far as its soles can press.

Each step solves for accelerations and contact forces at once, the inverse dynamics of a whole body as a quadratic
program (Herzog et al. 2016; Feng et al. 2015). In the order of their weights,

- bearing soles stay where they are,
- the centre of mass gets the planned acceleration and a correction
  :math:`\omega_c^2(c_d-c)+2\omega_c(\dot c_d-\dot c)`, which moves the centre of pressure as an ankle strategy does
  until it reaches the edge of the sole,
- trunk and swinging sole follow theirs likewise, which beyond that edge gives way: the hip strategy,
- other joints keep to the plan,

within the dynamics of the base, friction pyramids, and the joints' efforts. The plan is moved along with the soles: at
each landing it starts from where the sole has really come down, so that neither slips nor slopes add up. A sole that
lands early bears as soon as it presses, one that is late is led down until it does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import daqp
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.module import Module
from humanoid_sim.walking.whole_body_motion import MotionSample, WholeBodyMotion

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation

Real = NDArray[np.float64]

_SAME = 1e-6
"""Distance along a sole within which corners belong to one edge [m]."""
_PRESSES = 20.0
"""Normal force from which on a sole has landed [N]."""
_EARLY = 0.15
"""How much before its time a sole may land [s]."""
_EQUALITY = 5
"""DAQP's mark of an equality."""


@dataclass(frozen=True)
class TrackingGains:
    """How strictly and how fast the plan is followed.

    Attributes:
        centre: natural frequency of the centre of mass, critically damped [rad/s].
        trunk: of the base's attitude [rad/s].
        swing: of a sole in the air [rad/s].
        joint: of joints that the tasks leave free [rad/s].
        contact: rate at which a bearing sole's speed fades [1/s].
        weights: of bearing soles, centre of mass, trunk, swinging sole, joints.
        force_weight: of squared contact forces, beside squared accelerations [1/kg²].
        friction: coefficient that forces keep to.
        descent: speed of a sole that should have landed [m/s].
    """

    centre: float = 5.0
    trunk: float = 10.0
    swing: float = 20.0
    joint: float = 10.0
    contact: float = 30.0
    weights: tuple[float, float, float, float, float] = (1e3, 30.0, 3.0, 3.0, 1e-2)
    force_weight: float = 1e-6
    friction: float = 0.6
    descent: float = 0.15

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: one isn't positive.
        """
        for name, value in vars(self).items():
            numbers = value if isinstance(value, tuple) else (value,)
            if not all(math.isfinite(number) and number > 0.0 for number in numbers):
                raise InputError(f"is {value}", element=f"gains.{name}", remedy="Give numbers above 0")


class WholeBodyTracking(Module):
    """Walks a robot along a :class:`WholeBodyMotion` by torques.

    It reads the ideal state of the robot, and which soles press.

    Attributes:
        name: ``"whole_body_tracking/<robot>"``.
        offset: (3,) how far the plan has been moved along with the soles [m].
    """

    def __init__(self, robot: str, motion: WholeBodyMotion, gains: TrackingGains | None = None) -> None:
        """Choose the motion.

        Args:
            robot: name in the scene.
            motion: of this robot.
            gains: how it is followed.
        """
        self.name = f"whole_body_tracking/{robot}"
        self._robot, self._motion, self._gains = robot, motion, gains or TrackingGains()
        self.offset: Real = np.zeros(3)
        self._bearing: dict[str, str] = {}

    def attach(self, simulation: Simulation) -> None:
        """Find soles and joints.

        Raises:
            InputError: there is no robot of that name, it is another one than that of the motion, or its base is fixed.
        """
        if self._robot not in simulation.robots:
            raise InputError(
                f"there is no robot '{self._robot}'",
                element="robot",
                remedy=f"There are {', '.join(simulation.robots) or 'none'}",
            )
        own = simulation.robots[self._robot]
        robot = own.robot
        if robot.base_joint is None or robot.model.nv != self._motion.robot.model.nv:
            raise InputError(
                f"'{self._robot}' isn't the robot of the motion",
                element="robot",
                remedy=f"Give a '{self._motion.robot.name}' on a free base",
            )
        self._model, self._base = robot.model, robot.base_joint
        self._root = robot.model.joints[robot.base_joint].idx_v
        self._data, self._planned = robot.model.createData(), robot.model.createData()
        names = [name for name in own.joint_names if name in robot.actuators]
        self._names, self._columns = names, np.array([robot.index_v(name) for name in names])
        self._limits = np.array([robot.limits.effort[column] for column in self._columns])
        self._links, self._joints, self._corners, self._edges = {}, {}, {}, {}
        for sole in self._motion.soles:
            contact = robot.contacts[sole]
            link = robot.parts.links[contact.link]
            placed, along = link.placement_joint_link, contact.patch[:, 0]
            self._links[f"{self._robot}/{contact.link}"] = sole
            self._joints[sole] = link.joint_id
            self._corners[sole] = contact.vertices_link @ placed.rotation.T + placed.translation
            self._edges[sole] = {
                "sole": np.arange(len(along)),
                "toe": np.flatnonzero(along > along.max() - _SAME),
                "heel": np.flatnonzero(along < along.min() + _SAME),
            }
        self.offset, self._bearing = np.zeros(3), {}

    def before_step(self, simulation: Simulation) -> None:
        """Solve and set the efforts."""
        own = simulation.robots[self._robot]
        sample = self._motion.at(simulation.time)
        self._look(own.q, own.v, sample)
        self._update_bearing(simulation, sample)
        own.set_effort(self._efforts(own.q, own.v, sample, simulation.time), self._names)

    def detach(self, simulation: Simulation) -> None:
        """Leave the joints to their servos, where they are."""
        simulation.robots[self._robot].hold()

    def save(self) -> object:
        """Which soles bear, and where the plan has been moved to."""
        return dict(self._bearing), self.offset.copy()

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, tuple)
        self._bearing, self.offset = dict(state[0]), state[1].copy()

    def _look(self, q: Real, v: Real, sample: MotionSample) -> None:
        """Kinematics and dynamics of the robot and of its plan; accelerations without those of joints."""
        model, data, planned = self._model, self._data, self._planned
        pin.computeAllTerms(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.centerOfMass(model, planned, sample.q, sample.v, sample.a)
        pin.forwardKinematics(model, planned, sample.q, sample.v, sample.a)

    def _update_bearing(self, simulation: Simulation, sample: MotionSample) -> None:
        """Soles bear when the plan says so and they press; one that lands takes the plan along."""
        presses = dict.fromkeys(self._motion.soles, 0.0)
        contacts = simulation.contacts
        for force, bodies in zip(contacts.normal_force, contacts.bodies, strict=True):
            for body in bodies:
                if body in self._links:
                    presses[self._links[body]] += float(force)
        bearing = {}
        for sole in self._motion.soles:
            if sole in sample.bearing:
                late = simulation.time > 0.0 and sole not in self._bearing and presses[sole] < _PRESSES
                if not late:
                    bearing[sole] = sample.bearing[sole]
            elif sole in self._bearing:
                # It has landed early, or its time is over.
                if sample.landing[sole] - simulation.time < _EARLY:
                    bearing[sole] = "sole"
            elif presses[sole] > _PRESSES and sample.landing[sole] - simulation.time < _EARLY:
                bearing[sole] = "sole"
        for sole in bearing:
            if sole not in self._bearing and simulation.time > 0.0:
                joint = self._joints[sole]
                at = sample if sole in sample.bearing else self._motion.at(sample.landing[sole])
                goal = self._model.createData()
                pin.forwardKinematics(self._model, goal, at.q)
                self.offset = self._data.oMi[joint].translation - goal.oMi[joint].translation
        self._bearing = bearing

    def _efforts(self, q: Real, v: Real, sample: MotionSample, time: float) -> Real:
        """(n,) torques of the driven joints [N m]."""
        model, data, planned, gains = self._model, self._data, self._planned, self._gains
        nv = model.nv
        held, centred, upright, swung, posed = gains.weights
        rows: list[Real] = []
        targets: list[Real] = []

        def task(J: Real, target: Real, weight: float) -> None:
            rows.append(math.sqrt(weight) * J)
            targets.append(math.sqrt(weight) * target)

        corner_rows: list[Real] = []
        for sole, joint in self._joints.items():
            J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            drift = pin.getClassicalAcceleration(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).vector
            speed = pin.getVelocity(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            if sole in self._bearing:
                for corner in self._corners[sole][self._edges[sole][self._bearing[sole]]]:
                    lever = data.oMi[joint].rotation @ corner
                    at = J[:3] - pin.skew(lever) @ J[3:]
                    corner_rows.append(at)
                    spin = pin.skew(speed.angular)
                    still = -gains.contact * (at @ v) - drift[:3] + pin.skew(lever) @ drift[3:] - spin @ spin @ lever
                    task(at, still, held)
                continue
            goal = planned.oMi[joint]
            wanted = pin.getVelocity(model, planned, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).vector
            rate = pin.getClassicalAcceleration(model, planned, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).vector
            place = goal.translation + self.offset
            if sole in sample.bearing:
                place = place - np.array([0.0, 0.0, gains.descent * (time - sample.landed[sole])])
            error = np.concatenate(
                [place - data.oMi[joint].translation, pin.log3(goal.rotation @ data.oMi[joint].rotation.T)]
            )
            k = gains.swing
            task(J, rate + k**2 * error + 2.0 * k * (wanted - speed.vector) - drift, swung)

        k = gains.centre
        centre_error = planned.com[0] + self.offset - data.com[0]
        drift = pin.computeCentroidalMomentumTimeVariation(model, self._data, q, v, np.zeros(nv)).linear / data.mass[0]
        J_centre = data.Jcom
        task(
            J_centre,
            planned.acom[0] + k**2 * centre_error + 2.0 * k * (planned.vcom[0] - J_centre @ v) - drift,
            centred,
        )
        base, root = self._base, slice(self._root, self._root + 6)
        k = gains.trunk
        J = pin.getJointJacobian(model, data, base, pin.ReferenceFrame.LOCAL)[3:]
        turn = data.oMi[base].rotation
        error = turn.T @ pin.log3(planned.oMi[base].rotation @ turn.T)
        turning, planned_turning = v[root][3:], sample.v[root][3:]
        task(J, sample.a[root][3:] + k**2 * error + 2.0 * k * (planned_turning - turning), upright)
        k = gains.joint
        difference = pin.difference(model, q, sample.q)
        wanted = sample.a + k**2 * difference + 2.0 * k * (sample.v - v)
        task(np.eye(nv)[self._columns], wanted[self._columns], posed)

        A, b = np.vstack(rows), np.concatenate(targets)
        J_corner = np.vstack(corner_rows) if corner_rows else np.zeros((0, nv))
        forces = len(J_corner)
        count = nv + forces
        H = np.zeros((count, count))
        H[:nv, :nv] = A.T @ A + 1e-6 * np.eye(nv)
        H[nv:, nv:] = gains.force_weight * np.eye(forces)
        g = np.concatenate([-A.T @ b, np.zeros(forces)])
        M = np.triu(data.M) + np.triu(data.M, 1).T
        dynamics = np.hstack([M, -J_corner.T])
        inner = gains.friction / math.sqrt(2.0)
        pyramid = np.array(
            [[1.0, 0.0, -inner], [-1.0, 0.0, -inner], [0.0, 1.0, -inner], [0.0, -1.0, -inner], [0.0, 0.0, -1.0]]
        )
        cones = np.hstack([np.zeros((5 * (forces // 3), nv)), np.kron(np.eye(forces // 3), pyramid)])
        bias = np.array(data.nle)
        driven = self._columns
        rows_all = np.ascontiguousarray(np.vstack([dynamics[root], dynamics[driven], cones]))
        upper = np.concatenate([-bias[root], self._limits - bias[driven], np.zeros(len(cones))])
        lower = np.concatenate([-bias[root], -self._limits - bias[driven], np.full(len(cones), -1e30)])
        sense = np.zeros(len(upper), np.intc)
        sense[:6] = _EQUALITY
        x, _, status, _ = daqp.solve(H, g, rows_all, upper, lower, sense)
        if status <= 0:
            # In the air nothing carries the base: the plan's torques on the joints are the best there is.
            x = np.concatenate([wanted, np.zeros(forces)])
        torques = dynamics[driven] @ x + bias[driven]
        return np.asarray(np.clip(torques, -self._limits, self._limits))
