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

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.inverse_dynamics_program import BodyLimits, WeightedTasks, WholeBodyProgram
from humanoid_model.whole_body_trajectory import WholeBodySample, WholeBodyTrajectory
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


_SAME = 1e-6
"""Distance along a sole within which corners belong to one edge [m]."""
_PRESSES = 20.0
"""Normal force from which on a sole has landed [N]."""
_EARLY = 0.15
"""How much before its time a sole may land [s]."""
_ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
_SKEW = np.stack([pin.skew(axis) for axis in np.eye(3)]).reshape(3, 9)
"""Makes the matrices of cross products, row by row, of vectors from their components."""


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
    """Walks a robot along a :class:`WholeBodyTrajectory` by torques.

    It reads the ideal state of the robot, and which soles press.

    Attributes:
        name: ``"whole_body_tracking/<robot>"``.
        offset: (3,) how far the plan has been moved along with the soles [m].
    """

    def __init__(self, robot: str, motion: WholeBodyTrajectory, gains: TrackingGains | None = None) -> None:
        """Choose the motion.

        Args:
            robot: name in the scene.
            motion: of this robot.
            gains: how it is followed.
        """
        self.name = f"whole_body_tracking/{robot}"
        self._robot, self._motion, self._gains = robot, motion, gains or TrackingGains()
        self.offset: Array = np.zeros(3)
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
        for sole in self._motion.locations:
            if sole not in robot.contacts or not robot.contacts[sole].support:
                soles = [name for name, contact in robot.contacts.items() if contact.support]
                raise InputError(
                    f"'{sole}' is no sole of '{robot.name}'",
                    element="contacts",
                    remedy=f"Use {', '.join(soles) or 'a robot that has soles'}",
                )
        self._model, self._base = robot.model, robot.base_joint
        self._root = robot.model.joints[robot.base_joint].idx_v
        self._data, self._planned = robot.model.createData(), robot.model.createData()
        names = [name for name in own.joint_names if name in robot.actuators]
        self._names, self._columns = names, np.array([robot.index_v(name) for name in names])
        efforts, gains = robot.limits.effort[self._columns], self._gains
        self._body = BodyLimits(self._root, self._columns, efforts, gains.friction, gains.force_weight)
        self._links, self._joints, self._corners, self._edges = {}, {}, {}, {}
        for sole in self._motion.locations:
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
        q, v, sample = own.q, own.v, self._motion.at(simulation.time)
        self._look(q, v, sample)
        self._update_bearing(simulation, sample)
        program = self._program(q, v, sample, simulation.time)
        x = program.solve()
        if x is None:
            # No motion keeps to all of it, as in a fall: the plan's torques on the joints are the best there is.
            x = np.zeros(len(program.gradient))
            x[: self._model.nv] = self._wanted(q, v, sample)
        own.set_effort(np.clip(program.efforts(x), -self._body.efforts, self._body.efforts), self._names)

    def detach(self, simulation: Simulation) -> None:
        """Leave the joints to their servos, where they are."""
        simulation.robots[self._robot].hold()

    def save(self) -> object:
        """Return which soles bear, and where the plan has been moved to."""
        return dict(self._bearing), self.offset.copy()

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, tuple)
        self._bearing, self.offset = dict(state[0]), state[1].copy()

    def _look(self, q: Array, v: Array, sample: WholeBodySample) -> None:
        """Kinematics and dynamics of the robot and of its plan; accelerations without those of joints."""
        model, data, planned = self._model, self._data, self._planned
        pin.computeAllTerms(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.centerOfMass(model, planned, sample.q, sample.v, sample.a)
        pin.forwardKinematics(model, planned, sample.q, sample.v, sample.a)

    def _update_bearing(self, simulation: Simulation, sample: WholeBodySample) -> None:
        """Soles bear when the plan says so and they press; one that lands takes the plan along."""
        presses = dict.fromkeys(self._motion.locations, 0.0)
        contacts = simulation.contacts
        for force, bodies in zip(contacts.normal_force, contacts.bodies, strict=True):
            for body in bodies:
                if body in self._links:
                    presses[self._links[body]] += float(force)
        bearing = {}
        for sole in self._motion.locations:
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

    def _program(self, q: Array, v: Array, sample: WholeBodySample, time: float) -> WholeBodyProgram:
        """Tasks in the order of their weights, within what the robot can do; after :meth:`_look`."""
        tasks, corners = WeightedTasks(self._model.nv), [np.zeros((0, self._model.nv))]
        for sole in self._joints:
            if sole in self._bearing:
                corners.append(self._hold(tasks, sole, v))
            else:
                self._swing(tasks, sole, sample, time)
        self._move_centre(tasks, q, v)
        self._keep_upright(tasks, v, sample)
        self._pose(tasks, q, v, sample)
        M = np.triu(self._data.M)
        return self._body.program(tasks, M + np.triu(M, 1).T, np.array(self._data.nle), np.vstack(corners))

    def _hold(self, tasks: WeightedTasks, sole: str, v: Array) -> Array:
        """Return a bearing sole stays where it is; gives (3 corners, nv) the Jacobian of its corners."""
        data, joint = self._data, self._joints[sole]
        J = pin.getJointJacobian(self._model, data, joint, _ALIGNED)
        drift = pin.getClassicalAcceleration(self._model, data, joint, _ALIGNED)
        spin = pin.skew(pin.getVelocity(self._model, data, joint, _ALIGNED).angular)
        levers = self._corners[sole][self._edges[sole][self._bearing[sole]]] @ data.oMi[joint].rotation.T
        skews = (levers @ _SKEW).reshape(-1, 3, 3)
        J_corners = (J[:3] - skews @ J[3:]).reshape(-1, self._model.nv)
        drifts = drift.linear - skews @ drift.angular + levers @ (spin @ spin).T
        tasks.add(J_corners, -self._gains.contact * (J_corners @ v) - drifts.ravel(), self._gains.weights[0])
        return np.asarray(J_corners)

    def _swing(self, tasks: WeightedTasks, sole: str, sample: WholeBodySample, time: float) -> None:
        """Lead a sole in the air along its plan; lead one down that should have landed."""
        data, planned, joint, k = self._data, self._planned, self._joints[sole], self._gains.swing
        J = pin.getJointJacobian(self._model, data, joint, _ALIGNED)
        drift = pin.getClassicalAcceleration(self._model, data, joint, _ALIGNED).vector
        speed = pin.getVelocity(self._model, data, joint, _ALIGNED).vector
        wanted = pin.getVelocity(self._model, planned, joint, _ALIGNED).vector
        rate = pin.getClassicalAcceleration(self._model, planned, joint, _ALIGNED).vector
        goal, own = planned.oMi[joint], data.oMi[joint]
        place = goal.translation + self.offset
        if sole in sample.bearing:
            place = place - np.array([0.0, 0.0, self._gains.descent * (time - sample.landed[sole])])
        error = np.concatenate([place - own.translation, pin.log3(goal.rotation @ own.rotation.T)])
        tasks.add(J, rate + k**2 * error + 2.0 * k * (wanted - speed) - drift, self._gains.weights[3])

    def _move_centre(self, tasks: WeightedTasks, q: Array, v: Array) -> None:
        """Give the centre of mass its planned acceleration, and what brings it back to its plan."""
        data, planned, k = self._data, self._planned, self._gains.centre
        zero = np.zeros(self._model.nv)
        drift = pin.computeCentroidalMomentumTimeVariation(self._model, data, q, v, zero).linear / data.mass[0]
        error = planned.com[0] + self.offset - data.com[0]
        speed = planned.vcom[0] - data.Jcom @ v
        tasks.add(data.Jcom, planned.acom[0] + k**2 * error + 2.0 * k * speed - drift, self._gains.weights[1])

    def _keep_upright(self, tasks: WeightedTasks, v: Array, sample: WholeBodySample) -> None:
        """Turn the base as planned."""
        base, k = self._base, self._gains.trunk
        angular = slice(self._root + 3, self._root + 6)
        J = pin.getJointJacobian(self._model, self._data, base, pin.ReferenceFrame.LOCAL)[3:]
        turn = self._data.oMi[base].rotation
        error = turn.T @ pin.log3(self._planned.oMi[base].rotation @ turn.T)
        target = sample.a[angular] + k**2 * error + 2.0 * k * (sample.v[angular] - v[angular])
        tasks.add(J, target, self._gains.weights[2])

    def _pose(self, tasks: WeightedTasks, q: Array, v: Array, sample: WholeBodySample) -> None:
        """Driven joints keep to the plan."""
        tasks.add_single(self._columns, self._wanted(q, v, sample)[self._columns], self._gains.weights[4])

    def _wanted(self, q: Array, v: Array, sample: WholeBodySample) -> Array:
        """(nv,) accelerations that bring all coordinates back to the plan."""
        k = self._gains.joint
        difference = pin.difference(self._model, q, sample.q)
        return np.asarray(sample.a + k**2 * difference + 2.0 * k * (sample.v - v))
