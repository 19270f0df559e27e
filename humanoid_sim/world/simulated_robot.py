# SPDX-License-Identifier: Apache-2.0
"""One robot of a running simulation: its state, its commands and its sensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model import Robot
from humanoid_model.errors import InputError, did_you_mean
from humanoid_model.joint_view import BallJoint, JointView
from humanoid_model.sensor_kind import SENSOR_KINDS
from humanoid_sim.world.sensors import ImuReading

if TYPE_CHECKING:
    from humanoid_sim.readings import Readings
    from humanoid_sim.world.sensors import Sensors


class SimulatedRobot:
    """A robot of the scene.

    Joints are seen one number each, in the order of the model; a ball joint appears as the three revolute joints
    of the URDF, so that ``joint_names`` are always names of the URDF.

    Attributes:
        name: its name in the scene.
        robot: what it is.
        joint_names: its joints without the base.
        driven_joint_names: those that an actuator moves; the others are sprung or mimic another joint.
    """

    def __init__(self, simulation: Readings, sensors: Sensors, robot: Robot, name: str) -> None:
        """View of the robot ``name``; made by the simulation."""
        self.name = name
        self.robot = robot
        self._simulation, self._sensors = simulation, sensors
        self._slices = simulation.world.robots[name]
        self._joints: list[JointView] = []
        for joint_name in robot.joint_names:
            joint = simulation.world.model.joints[self._slices.joints[joint_name]]
            q = slice(joint.idx_q, joint.idx_q + joint.nq)
            v = slice(joint.idx_v, joint.idx_v + joint.nv)
            driven = joint_name in robot.actuators
            if joint_name in robot.ball_joints:
                members = tuple(robot.ball_joints[joint_name])
                ball = BallJoint(robot.description, members)
                self._joints.append(JointView(members, q, v, ball, driven))
            elif joint.nq == 1:
                self._joints.append(JointView((joint_name,), q, v, None, driven))
        self.joint_names = tuple(name for joint in self._joints for name in joint.names)
        self.driven_joint_names = tuple(
            name for joint in self._joints if joint.driven for name in joint.names
        )
        self._place = {name: i for i, name in enumerate(self.joint_names)}
        # Without ball joints all joints are read and commanded at once: players do so in each step.
        self._plain = all(joint.ball is None for joint in self._joints)
        self._q_places = np.array([joint.q.start for joint in self._joints], dtype=np.int64)
        self._v_places = np.array([joint.v.start for joint in self._joints], dtype=np.int64)
        self._commanded: dict[tuple[str, ...] | None, NDArray[np.int64]] = {}

    # -- state -------------------------------------------------------------------------------

    @property
    def q(self) -> NDArray[np.float64]:
        """Configuration, as of ``robot.model``, shape (nq,)."""
        return self._simulation.q[self._slices.q].copy()

    @property
    def v(self) -> NDArray[np.float64]:
        """Velocity, as of ``robot.model``: the base's twist is in the base frame, shape (nv,)."""
        return self._slices.free_flyer_velocity(self.q, self._simulation.v[self._slices.v])

    @property
    def acceleration(self) -> NDArray[np.float64]:
        """Mean acceleration of the last step, shape (nv,)."""
        simulation, slices = self._simulation, self._slices
        return slices.free_flyer_acceleration(
            simulation.q_before[slices.q], simulation.v_before[slices.v], simulation.acceleration[slices.v]
        )

    @property
    def joint_positions(self) -> NDArray[np.float64]:
        """Positions of ``joint_names`` [rad or m], shape (n,)."""
        q = self._simulation.q
        if self._plain:
            return np.asarray(q[self._q_places])
        return _joined([joint.positions(q) for joint in self._joints])

    @property
    def joint_velocities(self) -> NDArray[np.float64]:
        """Velocities of ``joint_names`` [rad/s or m/s], shape (n,)."""
        q, v = self._simulation.q, self._simulation.v
        if self._plain:
            return np.asarray(v[self._v_places])
        return _joined([joint.velocities(q, v) for joint in self._joints])

    @property
    def joint_efforts(self) -> NDArray[np.float64]:
        """Efforts of servos and springs on ``joint_names`` in the last step [N m or N], shape (n,)."""
        q, efforts = self._simulation.q, self._simulation.efforts
        if self._plain:
            return np.asarray(efforts[self._v_places])
        return _joined([joint.efforts(q, efforts) for joint in self._joints])

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
        return self._sensors.centre_of_mass(self.name)

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
        """Return copies of a configuration and a velocity with some joints put elsewhere.

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
        values, rates = _motion(positions, velocities, len(places))
        q_new, v_new = self._simulation.q.copy(), self._simulation.v.copy()
        q_new[self._slices.q], v_new[self._slices.v] = q, v
        for joint, own in self._selected(places):
            at, speed = joint.positions(q_new), np.zeros(len(joint.names))
            for member, i in own:
                at[member], speed[member] = values[i], rates[i]
            q_new[joint.q] = joint.coordinates(at)
            v_new[joint.v] = joint.velocity_coordinates(at, speed)
        return q_new[self._slices.q], v_new[self._slices.v]

    # -- commands ----------------------------------------------------------------------------

    def set_position_target(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        joints: Sequence[str] | None = None,
        efforts: ArrayLike | None = None,
        gains: NDArray[np.float64] | Sequence[ArrayLike] | None = None,
    ) -> None:
        """Let the servos drive joints to positions.

        Args:
            positions: targets [rad or m], shape (n,).
            velocities: target velocities [rad/s or m/s], shape (n,); zero if not given.
            joints: names of the n joints; all driven joints if not given. The members of a ball joint that are not
                named keep their target.
            efforts: feed-forward that the servos' own efforts are added to [N m or N], shape (n,); none if not given.
                Both together are kept within the actuators' limits.
            gains: stiffness and damping until the joints are commanded again, shape (2, n); the servos' own if not
                given. A ball joint has the largest of its members'.

        Raises:
            InputError: unknown, repeated or passive joint, wrong length, a value that is not finite, a negative gain.
        """
        servos = self._simulation.servos
        if self._plain:
            indices = self._plain_places(joints)
            targets, rates = _motion(positions, velocities, len(indices))
            given = None if gains is None else _gains(gains, len(indices))
            servos.position_mode(self._v_places[indices])
            servos.q_target[self._q_places[indices]] = targets
            servos.v_target[self._v_places[indices]] = rates
            if efforts is not None:
                servos.wanted[self._v_places[indices]] = _finite("efforts", efforts, len(indices))
            if given is not None:
                servos.stiffness[self._v_places[indices]], servos.damping[self._v_places[indices]] = given
            return
        places = self._driven_places(joints)
        targets, rates = _motion(positions, velocities, len(places))
        given = None if gains is None else _gains(gains, len(places))
        for joint, own in self._selected(places):
            at, speed = joint.positions(servos.q_target), np.zeros(len(joint.names))
            for member, i in own:
                at[member], speed[member] = targets[i], rates[i]
            servos.position_mode(joint.v)
            servos.q_target[joint.q] = joint.coordinates(at)
            servos.v_target[joint.v] = joint.velocity_coordinates(at, speed)
            if given is not None:
                servos.stiffness[joint.v], servos.damping[joint.v] = given[:, [i for _, i in own]].max(axis=1)
        if efforts is not None:
            values = _finite("efforts", efforts, len(places))
            for joint, own in self._selected(places):
                servos.wanted[joint.v] = joint.effort_coordinates(self._simulation.q, _of(joint, own, values))

    def set_effort(self, efforts: ArrayLike, joints: Sequence[str] | None = None) -> None:
        """Drive joints by efforts instead of servos, until the next position target.

        Args:
            efforts: [N m or N], shape (n,); kept within the actuators' limits.
            joints: names of the n joints; all driven joints if not given. The members of a ball joint that are not
                named get none.

        Raises:
            InputError: unknown, repeated or passive joint, wrong length, a value that is not finite.
        """
        if self._plain:
            indices = self._plain_places(joints)
            values = _finite("efforts", efforts, len(indices))
            self._simulation.servos.effort_mode(self._v_places[indices], values)
            return
        places = self._driven_places(joints)
        values = _finite("efforts", efforts, len(places))
        for joint, own in self._selected(places):
            self._simulation.servos.effort_mode(
                joint.v, joint.effort_coordinates(self._simulation.q, _of(joint, own, values))
            )

    def hold(self) -> None:
        """Let the servos hold all driven joints where they are now."""
        positions = self.joint_positions
        self.set_position_target([positions[place] for place in self._driven_places(None)])

    def set_gains(
        self, stiffness: ArrayLike, damping: ArrayLike, joints: Sequence[str] | None = None
    ) -> None:
        """Change servo gains.

        Args:
            stiffness: position gains [N m/rad or N/m], shape (n,), or one number for all; the largest of its members'
                for a ball joint.
            damping: velocity gains [N m s/rad or N s/m], shape (n,), or one number for all.
            joints: names of the n joints; all joints if not given.

        Raises:
            InputError: unknown or repeated joint, wrong length, a negative value or one that is not finite.
        """
        places = self._places(joints)
        size = len(places)
        wanted = [np.broadcast_to(one, size) if np.ndim(one) == 0 else one for one in (stiffness, damping)]
        given = _gains(wanted, size)
        servos = self._simulation.servos
        for joint, pairs in self._selected(places):
            own = [i for _, i in pairs]
            in_position_mode = np.array_equal(
                servos.stiffness[joint.v], servos.servo_stiffness[joint.v]
            )
            servos.servo_stiffness[joint.v], servos.servo_damping[joint.v] = given[:, own].max(axis=1)
            if in_position_mode:
                servos.stiffness[joint.v] = servos.servo_stiffness[joint.v]
                servos.damping[joint.v] = servos.servo_damping[joint.v]

    def _selected(self, places: list[int]) -> Iterator[tuple[JointView, list[tuple[int, int]]]]:
        """Yield joints that a list of places is about, each with pairs of a member and its index in the list."""
        indices = {place: i for i, place in enumerate(places)}
        start = 0
        for joint in self._joints:
            members = range(len(joint.names))
            own = [(member, indices[start + member]) for member in members if start + member in indices]
            start += len(joint.names)
            if own:
                yield joint, own

    def drive_places(self, joints: Sequence[str] | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the world's configuration and velocity have joints that an actuator moves.

        Args:
            joints: their names; all driven joints if not given.

        Raises:
            InputError: unknown, repeated or passive joint, or a robot with ball joints, which are no numbers.
        """
        if not self._plain:
            raise InputError(
                f"'{self.name}' has ball joints", element="joints", remedy="Command it through its methods"
            )
        places = self._plain_places(joints)
        return self._q_places[places], self._v_places[places]

    def _plain_places(self, joints: Sequence[str] | None) -> NDArray[np.int64]:
        """:meth:`_driven_places` of a robot without ball joints; players name the same joints in each step."""
        named = None if joints is None else tuple(joints)
        places = self._commanded.get(named)
        if places is None:
            places = self._commanded[named] = np.array(self._driven_places(joints), dtype=np.int64)
        return places

    def _driven_places(self, joints: Sequence[str] | None) -> list[int]:
        """Return places of named joints, all of which must have an actuator; of all driven joints by default."""
        for name in joints or ():
            if name in self._place and name not in self.driven_joint_names:
                raise InputError(
                    f"no actuator moves the joint '{name}' of the robot '{self.name}'",
                    element="joints",
                    remedy=f"Command {', '.join(self.driven_joint_names)}",
                )
        return self._places(self.driven_joint_names if joints is None else joints)

    def _places(self, joints: Sequence[str] | None) -> list[int]:
        if joints is None:
            return list(range(len(self.joint_names)))
        places = []
        for name in joints:
            if name not in self._place:
                raise InputError(
                    f"the robot '{self.name}' has no joint '{name}'",
                    element="joints",
                    remedy=f"{did_you_mean(name, self.joint_names)}Its joints are {', '.join(self.joint_names)}",
                )
            places.append(self._place[name])
        if len(set(places)) != len(places):
            repeated = next(name for name in joints if list(joints).count(name) > 1)
            raise InputError(
                f"the joint '{repeated}' is named twice", element="joints", remedy="Name each joint once"
            )
        return places

    # -- sensors -----------------------------------------------------------------------------

    def reading(self, sensor: str) -> dict[str, NDArray[np.float64]]:
        """Return the ideal reading of a sensor of any kind in the last step, by quantity.

        Raises:
            InputError: the robot has no sensor of that name, or it is a camera.
        """
        own = self._sensors.find(self.robot, sensor)
        return SENSOR_KINDS[own.type].read(self._sensors.state(self.name, own))

    def wrench(self, sensor: str) -> NDArray[np.float64]:
        """Return the reading of a force-torque sensor in its frame: force [N] and torque [N m], shape (6,).

        It is the wrench that the sensor's link and all beyond it exert on the rest of the robot in the last step:
        what the ground does to a foot, less the foot's own weight and inertia.

        Raises:
            InputError: the robot has no force-torque sensor of that name.
        """
        return self._sensors.state(self.name, self._sensors.find(self.robot, sensor, "force_torque")).wrench

    def imu(self, sensor: str) -> ImuReading:
        """Return the reading of an inertial measurement unit in the last step.

        Raises:
            InputError: the robot has no inertial measurement unit of that name.
        """
        self._sensors.find(self.robot, sensor, "imu")
        return ImuReading(**self.reading(sensor))

    def image(self, sensor: str) -> NDArray[np.uint8]:
        """Take the picture of a camera: red, green and blue, shape (height, width, 3).

        Raises:
            InputError: the robot has no camera of that name, or a mesh can't be read.
        """
        own = self._sensors.find(self.robot, sensor, "camera")
        return self._simulation.image(own.camera, size=own.size, body=f"{self.name}/{own.link}")

    def depth_image(self, sensor: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return how far away what a camera sees is, and which body; see :meth:`Simulation.depth_image`.

        Raises:
            InputError: as of :meth:`image`.
        """
        own = self._sensors.find(self.robot, sensor, "camera")
        return self._simulation.depth_image(own.camera, size=own.size, body=f"{self.name}/{own.link}")


def _of(joint: JointView, own: list[tuple[int, int]], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of a joint's members, zero for those that aren't among ``own``: pairs of a member and a value's index."""
    given = np.zeros(len(joint.names))
    for member, i in own:
        given[member] = values[i]
    return given


def _joined(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """One vector of all parts, of which there may be none."""
    return np.concatenate(parts) if parts else np.zeros(0)


def _motion(
    positions: ArrayLike, velocities: ArrayLike | None, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check positions and velocities that a user gave; no velocities are zero velocities."""
    checked = _finite("positions", positions, size)
    return checked, np.zeros(size) if velocities is None else _finite("velocities", velocities, size)


def _gains(gains: NDArray[np.float64] | Sequence[ArrayLike], size: int) -> NDArray[np.float64]:
    """Check gains that a user gave; stiffness and damping, shape (2, n)."""
    if len(gains) != 2:
        raise InputError(f"gains has {len(gains)} rows", element="gains", remedy="Give two: stiffness and damping")
    rows = []
    for name, values in zip(("stiffness", "damping"), gains, strict=True):
        checked = _finite(name, values, size)
        if np.any(checked < 0.0):
            i = int(np.argmax(checked < 0.0))
            raise InputError(f"{name}[{i}] is {checked[i]}", element=name, remedy="Gains are zero or positive")
        rows.append(checked)
    return np.array(rows)


def _finite(name: str, values: ArrayLike, size: int) -> NDArray[np.float64]:
    """Check a vector that a user gave."""
    array = np.asarray(values, dtype=float).reshape(-1)
    if array.size != size:
        raise InputError(f"{name} has {array.size} values", element=name, remedy=f"Give {size}")
    if not np.isfinite(array).all():
        i = int(np.argmax(~np.isfinite(array)))
        raise InputError(f"{name}[{i}] is {array[i]}", element=name, remedy="Give finite numbers")
    return array
