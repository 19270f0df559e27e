# SPDX-License-Identifier: Apache-2.0
"""One robot of a running simulation: its state, its commands and its sensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model import Robot
from humanoid_model.errors import InputError
from humanoid_sim.ball_joint import BallJoint
from humanoid_sim.sensors import ImuReading

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class _Joint:
    """A joint of the robot in the world's coordinates."""

    names: tuple[str, ...]  # one, or the three members of a ball joint
    actuator: str
    q: slice
    v: slice
    ball: BallJoint | None


class SimulatedRobot:
    """A robot of the scene.

    Joints are seen one number each, in the order of the model; a ball joint appears as the three revolute joints
    of the URDF, so that ``joint_names`` are always names of the URDF.

    Attributes:
        name: its name in the scene.
        robot: what it is.
        joint_names: its joints without the base.
    """

    def __init__(self, simulation: Simulation, name: str, robot: Robot) -> None:
        """View of the robot ``name``; made by the simulation."""
        self.name = name
        self.robot = robot
        self._simulation = simulation
        self._slices = simulation.world.robots[name]
        self._joints: list[_Joint] = []
        for joint_name in robot.joint_names:
            joint = simulation.world.model.joints[self._slices.joints[joint_name]]
            q = slice(joint.idx_q, joint.idx_q + joint.nq)
            v = slice(joint.idx_v, joint.idx_v + joint.nv)
            if joint_name in robot.ball_joints:
                members = tuple(robot.ball_joints[joint_name])
                ball = BallJoint(robot.description, members)
                self._joints.append(_Joint(members, joint_name, q, v, ball))
            elif joint.nq == 1:
                self._joints.append(_Joint((joint_name,), joint_name, q, v, None))
        self.joint_names = tuple(name for joint in self._joints for name in joint.names)
        self._place = {name: i for i, name in enumerate(self.joint_names)}

    # -- state -------------------------------------------------------------------------------

    @property
    def q(self) -> NDArray[np.float64]:
        """Configuration, as of ``robot.model``, shape (nq,)."""
        return self._simulation.q[self._slices.q].copy()

    @property
    def v(self) -> NDArray[np.float64]:
        """Velocity, as of ``robot.model``: the base's twist is in the base frame, shape (nv,)."""
        return self._slices.told(self.q, self._simulation.v[self._slices.v])

    @property
    def acceleration(self) -> NDArray[np.float64]:
        """Mean acceleration of the last step, shape (nv,)."""
        simulation, slices = self._simulation, self._slices
        return slices.told_acceleration(
            simulation.q_before[slices.q], simulation.v_before[slices.v], simulation.acceleration[slices.v]
        )

    @property
    def joint_positions(self) -> NDArray[np.float64]:
        """Positions of ``joint_names`` [rad or m], shape (n,)."""
        q = self._simulation.q
        values = [
            q[joint.q] if joint.ball is None else joint.ball.angles(q[joint.q]) for joint in self._joints
        ]
        return np.concatenate(values) if values else np.zeros(0)

    @property
    def joint_velocities(self) -> NDArray[np.float64]:
        """Velocities of ``joint_names`` [rad/s or m/s], shape (n,)."""
        q, v = self._simulation.q, self._simulation.v
        values = []
        for joint in self._joints:
            if joint.ball is None:
                values.append(v[joint.v])
            else:
                rates = joint.ball.rate_matrix(joint.ball.angles(q[joint.q]))
                values.append(np.linalg.pinv(rates, rcond=1e-6) @ v[joint.v])
        return np.concatenate(values) if values else np.zeros(0)

    @property
    def joint_efforts(self) -> NDArray[np.float64]:
        """Efforts that the actuators of ``joint_names`` applied in the last step [N m or N], shape (n,)."""
        q, efforts = self._simulation.q, self._simulation.efforts
        values = []
        for joint in self._joints:
            if joint.ball is None:
                values.append(efforts[joint.v])
            else:
                values.append(joint.ball.rate_matrix(joint.ball.angles(q[joint.q])).T @ efforts[joint.v])
        return np.concatenate(values) if values else np.zeros(0)

    @property
    def placement_world_base(self) -> pin.SE3:
        """Root link in the world."""
        return self.placement(self.robot.description.root)

    @property
    def twist_base(self) -> NDArray[np.float64]:
        """Linear and angular velocity of the floating base in its own frame, shape (6,); zero if fixed."""
        if self.robot.base_joint is None:
            return np.zeros(6)
        start = self.robot.model.joints[self.robot.base_joint].idx_v
        return self.v[start : start + 6]

    def placement(self, link: str) -> pin.SE3:
        """Link frame in the world.

        Raises:
            InputError: unknown link.
        """
        return self._simulation.placement(f"{self.name}/{link}")

    @property
    def centre_of_mass(self) -> NDArray[np.float64]:
        """Centre of mass in the world [m], shape (3,)."""
        return self._simulation.sensors.centre_of_mass(self.name)

    def set_state(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Put the robot into a state; its servos keep their targets.

        Args:
            q: configuration of ``robot.model``, shape (nq,).
            v: velocity, shape (nv,); zero if not given.

        Raises:
            InputError: wrong length, a value that is not finite, a quaternion that is not of unit length.
        """
        model = self.robot.model
        q_new = _finite("q", q, model.nq)
        v_new = np.zeros(model.nv) if v is None else _finite("v", v, model.nv)
        if not pin.isNormalized(model, q_new, 1e-3):
            raise InputError(
                "a quaternion or a cosine-sine pair of q is not of unit length",
                element="q",
                remedy="Normalise it (pinocchio.normalize)",
            )
        self._simulation.overwrite(self._slices, pin.normalize(model, q_new), v_new)

    def place_joints(
        self,
        q: NDArray[np.float64],
        v: NDArray[np.float64],
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        joints: Sequence[str] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Copies of a configuration and a velocity with some joints put elsewhere.

        Args:
            q: configuration of ``robot.model``, shape (nq,).
            v: velocity, shape (nv,).
            positions: of the joints [rad or m], shape (n,).
            velocities: of the joints [rad/s or m/s], shape (n,); zero if not given.
            joints: names of the n joints; all joints if not given. The members of a ball joint that are not named
                keep their angle.

        Raises:
            InputError: unknown or repeated joint, wrong length, a value that is not finite.
        """
        places = self._places(joints)
        values = _finite("positions", positions, len(places))
        rates = np.zeros(len(places)) if velocities is None else _finite("velocities", velocities, len(places))
        chosen = {place: i for i, place in enumerate(places)}
        q_new, v_new = q.copy(), v.copy()
        start = 0
        for joint in self._joints:
            own = [chosen.get(start + i) for i in range(len(joint.names))]
            start += len(joint.names)
            if all(i is None for i in own):
                continue
            at_q = slice(joint.q.start - self._slices.q.start, joint.q.stop - self._slices.q.start)
            at_v = slice(joint.v.start - self._slices.v.start, joint.v.stop - self._slices.v.start)
            if joint.ball is None:
                assert own[0] is not None
                q_new[at_q], v_new[at_v] = values[own[0]], rates[own[0]]
                continue
            angles, angle_rates = joint.ball.angles(q_new[at_q]), np.zeros(3)
            for member, i in enumerate(own):
                if i is not None:
                    angles[member], angle_rates[member] = values[i], rates[i]
            q_new[at_q] = joint.ball.quaternion(angles)
            v_new[at_v] = joint.ball.rate_matrix(angles) @ angle_rates
        return q_new, v_new

    # -- commands ----------------------------------------------------------------------------

    def set_position_target(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        joints: Sequence[str] | None = None,
    ) -> None:
        """Let the servos drive joints to positions.

        Args:
            positions: targets [rad or m], shape (n,).
            velocities: target velocities [rad/s or m/s], shape (n,); zero if not given.
            joints: names of the n joints; all joints if not given. The members of a ball joint that are not named
                keep their target.

        Raises:
            InputError: unknown or repeated joint, wrong length, a value that is not finite.
        """
        places = self._places(joints)
        targets = _finite("positions", positions, len(places))
        rates = np.zeros(len(places)) if velocities is None else _finite("velocities", velocities, len(places))
        chosen = {place: i for i, place in enumerate(places)}
        servos = self._simulation.servos
        start = 0
        for joint in self._joints:
            own = [chosen.get(start + i) for i in range(len(joint.names))]
            start += len(joint.names)
            if all(i is None for i in own):
                continue
            servos.position_mode(joint.v)
            if joint.ball is None:
                assert own[0] is not None
                servos.q_target[joint.q] = targets[own[0]]
                servos.v_target[joint.v] = rates[own[0]]
            else:
                angles = joint.ball.angles(servos.q_target[joint.q])
                angle_rates = np.zeros(3)
                for member, i in enumerate(own):
                    if i is not None:
                        angles[member], angle_rates[member] = targets[i], rates[i]
                servos.q_target[joint.q] = joint.ball.quaternion(angles)
                servos.v_target[joint.v] = joint.ball.rate_matrix(angles) @ angle_rates

    def set_effort(self, efforts: ArrayLike, joints: Sequence[str] | None = None) -> None:
        """Drive joints by efforts instead of servos, until the next position target.

        Args:
            efforts: [N m or N], shape (n,); kept within the actuators' limits.
            joints: names of the n joints; all joints if not given. The members of a ball joint that are not named
                get none.

        Raises:
            InputError: unknown or repeated joint, wrong length, a value that is not finite.
        """
        places = self._places(joints)
        values = _finite("efforts", efforts, len(places))
        chosen = {place: values[i] for i, place in enumerate(places)}
        start = 0
        for joint in self._joints:
            own = [chosen.get(start + i) for i in range(len(joint.names))]
            start += len(joint.names)
            if all(value is None for value in own):
                continue
            given = np.array([0.0 if value is None else value for value in own])
            if joint.ball is not None:
                angles = joint.ball.angles(self._simulation.q[joint.q])
                given = np.linalg.pinv(joint.ball.rate_matrix(angles).T, rcond=1e-6) @ given
            self._simulation.servos.effort_mode(joint.v, given)

    def hold(self) -> None:
        """Let the servos hold all joints where they are now."""
        self.set_position_target(self.joint_positions)

    def set_gains(
        self, stiffness: ArrayLike, damping: ArrayLike, joints: Sequence[str] | None = None
    ) -> None:
        """Change servo gains.

        Args:
            stiffness: position gains [N m/rad or N/m], shape (n,); the largest of its members' for a ball joint.
            damping: velocity gains [N m s/rad or N s/m], shape (n,).
            joints: names of the n joints; all joints if not given.

        Raises:
            InputError: unknown or repeated joint, wrong length, a negative value or one that is not finite.
        """
        places = self._places(joints)
        gains = {"stiffness": stiffness, "damping": damping}
        checked = {name: _finite(name, value, len(places)) for name, value in gains.items()}
        for name, values in checked.items():
            if np.any(values < 0.0):
                i = int(np.argmax(values < 0.0))
                raise InputError(
                    f"{name}[{i}] is {values[i]}", element=name, remedy="Gains are zero or positive"
                )
        servos = self._simulation.servos
        start = 0
        for joint in self._joints:
            own = [i for i, place in enumerate(places) if start <= place < start + len(joint.names)]
            start += len(joint.names)
            if not own:
                continue
            in_position_mode = np.array_equal(
                servos.stiffness[joint.v], servos.servo_stiffness[joint.v]
            )
            servos.servo_stiffness[joint.v] = checked["stiffness"][own].max()
            servos.servo_damping[joint.v] = checked["damping"][own].max()
            if in_position_mode:
                servos.stiffness[joint.v] = servos.servo_stiffness[joint.v]
                servos.damping[joint.v] = servos.servo_damping[joint.v]

    def _places(self, joints: Sequence[str] | None) -> list[int]:
        if joints is None:
            return list(range(len(self.joint_names)))
        places = []
        for name in joints:
            if name not in self._place:
                raise InputError(
                    f"the robot '{self.name}' has no joint '{name}'",
                    element="joints",
                    remedy=f"Its joints are {', '.join(self.joint_names)}",
                )
            places.append(self._place[name])
        if len(set(places)) != len(places):
            repeated = next(name for name in joints if list(joints).count(name) > 1)
            raise InputError(
                f"the joint '{repeated}' is named twice", element="joints", remedy="Name each joint once"
            )
        return places

    # -- sensors -----------------------------------------------------------------------------

    def wrench(self, sensor: str) -> NDArray[np.float64]:
        """Reading of a force-torque sensor in its frame: force [N] and torque [N m], shape (6,).

        It is the wrench that the sensor's link and all beyond it exert on the rest of the robot in the last step:
        what the ground does to a foot, less the foot's own weight and inertia.

        Raises:
            InputError: the robot has no force-torque sensor of that name.
        """
        return self._simulation.sensors.wrench(self.name, self.robot, sensor)

    def imu(self, sensor: str) -> ImuReading:
        """Reading of an inertial measurement unit in the last step.

        Raises:
            InputError: the robot has no inertial measurement unit of that name.
        """
        return self._simulation.sensors.imu(self.name, self.robot, sensor)


def _finite(name: str, values: ArrayLike, size: int) -> NDArray[np.float64]:
    """Check a vector that a user gave."""
    array = np.array(values, dtype=float).reshape(-1)
    if array.size != size:
        raise InputError(f"{name} has {array.size} values", element=name, remedy=f"Give {size}")
    if not np.all(np.isfinite(array)):
        i = int(np.argmax(~np.isfinite(array)))
        raise InputError(f"{name}[{i}] is {array[i]}", element=name, remedy="Give finite numbers")
    return array
