# SPDX-License-Identifier: Apache-2.0
"""From footsteps to walking patterns: preview control, inverse kinematics, dynamic filter (specification 000, F157)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from humanoid_control.walking.footstep_plan import Footstep, FootstepPlan, Phase
from humanoid_control.walking.leg_kinematics import LegKinematics, LegSolution
from humanoid_control.walking.preview_control import PreviewController, zmp_reference
from humanoid_control.walking.walking_pattern import WalkingPattern, quintic, swing_placement, swing_yaw
from humanoid_model import Robot
from humanoid_model.convex_polygon import convex_hull, polygon_margin
from humanoid_model.errors import InputError
from humanoid_model.whole_body_dynamics import multibody_zero_moment_point

_GRAVITY = 9.81
"""m/s^2."""


def generate_walk(
    robot: Robot,
    plan: FootstepPlan,
    posture: str,
    *,
    swing_height: float = 0.05,
    dt: float = 5e-3,
    horizon: float = 1.6,
    passes: int = 2,
    zmp_points: Mapping[str, Sequence[float]] | None = None,
) -> WalkingPattern:
    """Make the motion of all joints that follows a plan of footsteps (Kajita et al. 2003).

    The trunk stays upright at the height of the posture, as in the patterns of the thesis (specification 000 §20.6),
    and heads between the feet. Arms and other joints keep the posture. Preview control of a cart on a table gives the
    centre of mass, inverse kinematics the legs. What the zero-moment point of all bodies then differs from its
    reference goes through the preview control again and corrects the centre of mass; each such pass shrinks the
    difference.

    Args:
        robot: with two support contacts.
        plan: where and when it steps; it begins where the posture stands.
        posture: of the robot at the beginning.
        swing_height: how high the feet are lifted [m].
        dt: time between samples [s]; all times of the plan are rounded to it.
        horizon: of the preview [s].
        passes: how often the dynamic filter corrects the centre of mass; 0 leaves that of the cart.
        zmp_points: by sole, where the zero-moment point is to be in single support, in the sole's frame [m]. Below the
            last joint of the leg if not given: there the ankle needs no torque and what is soft in it stays straight.

    Raises:
        InputError: a number that makes no sense; a step that the legs can't make, by the step, the joint or sole, and
            how much is missing; footprints that overlap; a motion whose zero-moment point leaves the standing soles.
    """
    if not (math.isfinite(swing_height) and swing_height > 0.0):
        raise InputError(f"swing_height is {swing_height}", element="swing_height", remedy="Give a positive height")
    if passes < 0:
        raise InputError(f"passes is {passes}", element="passes", remedy="Give 0 or more")
    return _Walk(robot, plan, posture, swing_height, dt, horizon, zmp_points or {}).make(passes)


class _Walk:
    """One walk in the making."""

    def __init__(
        self,
        robot: Robot,
        plan: FootstepPlan,
        posture: str,
        swing_height: float,
        dt: float,
        horizon: float,
        zmp_points: Mapping[str, Sequence[float]],
    ) -> None:
        self.robot, self.plan, self.dt = robot, plan, dt
        self.swing_height = swing_height
        self.kinematics = LegKinematics(robot)
        self.soles = self.kinematics.soles
        self.start = robot.posture(posture)
        model = robot.model
        centre = pin.centerOfMass(model, model.createData(), self.start)
        self.controller = PreviewController(float(centre[2]), dt=dt, horizon=horizon, gravity=_GRAVITY)
        self.times: NDArray[np.float64] = np.asarray(dt * np.arange(round(plan.duration / dt) + 1), dtype=np.float64)
        targets = {sole: self._zmp_point(sole, zmp_points) for sole in self.soles}
        self.reference = zmp_reference(plan, centre[:2], targets, dt)
        phases = plan.phases
        ends = np.array([phase.end for phase in phases])
        # A sample on the border belongs to the double support.
        self.phases = [_phase_at(phases, ends, time, 0.5 * dt) for time in self.times]
        _check_footprints(robot, plan)
        self.placements = np.empty((len(self.times), 2, 4))
        self.support = np.zeros((len(self.times), 2), dtype=bool)
        for i, (time, phase) in enumerate(zip(self.times, self.phases, strict=True)):
            self._place_soles(i, time, phase)

    def make(self, passes: int) -> WalkingPattern:
        """Return the pattern after so many passes of the dynamic filter."""
        robot = self.robot
        centre = self._at_rest_at_end(self.controller.track(self.reference).position)
        q = self._configurations(centre)
        zmp = self._zmp(q)
        # A cart at rest would answer an error that is there at once with a larger one to the other side.
        fade_in = np.array([quintic(min(1.0, 2.0 * time / self.plan.lead)) for time in self.times])[:, None]
        for _ in range(passes):
            correction = self.controller.track(fade_in * (self.reference - zmp), start=np.zeros(2)).position
            centre = self._at_rest_at_end(centre + correction)
            q = self._configurations(centre)
            zmp = self._zmp(q)
        self._check_joints(q)
        margin = self._margins(zmp)
        self._check_margin(margin)
        joints = [name for name in robot.joint_names if name in robot.actuators]
        data = robot.model.createData()
        return WalkingPattern(
            robot=robot.name,
            joint_names=tuple(joints),
            times=self.times,
            positions=q[:, [robot.index_q(name) for name in joints]],
            base=np.array([pin.SE3ToXYZQUAT(robot.placement_base(row)) for row in q]),
            zmp_reference=self.reference,
            zmp=zmp,
            margin=margin,
            centre_of_mass=np.array([pin.centerOfMass(robot.model, data, row).copy() for row in q]),
            soles=self.soles,
            sole_placements=self.placements,
            support=self.support,
        )

    def _zmp_point(self, sole: str, given: Mapping[str, Sequence[float]]) -> NDArray[np.float64]:
        """Return where the zero-moment point is in the frame of a sole that stands alone, shape (2,)."""
        point = np.asarray(given.get(sole, self.kinematics.ankle(sole)[:2]), dtype=float)
        if point.shape != (2,) or not polygon_margin(self.robot.contacts[sole].patch, point) > 0.0:
            raise InputError(
                f"the zero-moment point would be at {point.tolist()}, outside the sole",
                element=f"zmp_points['{sole}']",
                remedy="Give a point of the sole's frame inside its patch",
            )
        return point

    def _at_rest_at_end(self, centre: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return centres of mass, shape (k, 2), that come to rest where the reference ends.

        Over a resting zero-moment point a cart comes to rest only exponentially: in the second half of the time after
        the last step, when it has all but arrived, it is led to its place.
        """
        span = 0.5 * self.plan.settle
        late = np.clip((self.times - self.times[-1] + span) / span, 0.0, 1.0)
        share = np.array([quintic(float(s)) for s in late])[:, None]
        return centre + share * (self.reference[-1] - centre)

    def _place_soles(self, i: int, time: float, phase: Phase) -> None:
        """Places of both soles in a sample."""
        for foot in phase.supports:
            place = self.soles.index(foot.sole)
            self.placements[i, place] = foot.x, foot.y, 0.0, foot.yaw
            self.support[i, place] = True
        if phase.swing is not None:
            origin, goal = phase.swing
            s = min(max((time - phase.start) / (phase.end - phase.start), 0.0), 1.0)
            placement = swing_placement(origin, goal, self.swing_height, s)
            yaw = swing_yaw(origin, goal, s)
            self.placements[i, self.soles.index(goal.sole)] = *placement.translation, yaw

    def _configurations(self, centre: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return configurations of all samples, shape (k, nq), for centres of mass, shape (k, 2)."""
        robot, model = self.robot, self.robot.model
        base = model.joints[robot.base_joint].idx_q
        height = self.start[base + 2]
        upright = pin.Quaternion(self.start[base + 3 : base + 7]).matrix()
        heading = self.placements[:, :, 3].mean(axis=1)
        q, last = np.empty((len(self.times), model.nq)), self.start
        failed: list[tuple[Phase, LegSolution]] = []
        for i in range(len(self.times)):
            if failed and self.phases[i].step != failed[0][0].step:
                break
            soles = {
                sole: pin.SE3(pin.utils.rotate("z", row[3]), row[:3])
                for sole, row in zip(self.soles, self.placements[i], strict=True)
            }
            rotation = pin.utils.rotate("z", heading[i] - heading[0]) @ upright
            solution = self.kinematics.solve(last, rotation, height, centre[i], soles)
            if not solution.reached:
                failed.append((self.phases[i], solution))
            q[i] = last = solution.q
        if failed:
            self._fail(*max(failed, key=lambda failure: max(failure[1].missed.values())))
        return q

    def _motion(
        self, q: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Velocities and accelerations of configurations by cubic splines, shape (k, nv) each."""
        robot, model = self.robot, self.robot.model
        joint = model.joints[robot.base_joint]
        v, a = np.zeros((len(q), model.nv)), np.zeros((len(q), model.nv))
        for name in robot.joint_names:
            at, to = robot.index_q(name), robot.index_v(name)
            if np.ptp(q[:, at]) > 0.0:
                spline = CubicSpline(self.times, q[:, at], bc_type="clamped")
                v[:, to], a[:, to] = spline(self.times, 1), spline(self.times, 2)
        place = CubicSpline(self.times, q[:, joint.idx_q : joint.idx_q + 3], bc_type="clamped")
        heading = self.placements[:, :, 3].mean(axis=1)
        yaw = CubicSpline(self.times, heading, bc_type="clamped")
        turns = np.array([pin.Quaternion(row[joint.idx_q + 3 : joint.idx_q + 7]).matrix().T for row in q])
        up = turns[:, :, 2]  # the world's vertical, seen from the base
        spin = yaw(self.times, 1)[:, None] * up
        moves, rises = place(self.times, 1)[:, :, None], place(self.times, 2)[:, :, None]
        at = joint.idx_v
        v[:, at : at + 3], v[:, at + 3 : at + 6] = (turns @ moves)[:, :, 0], spin
        a[:, at : at + 3] = (turns @ rises)[:, :, 0] - np.cross(spin, v[:, at : at + 3])
        a[:, at + 3 : at + 6] = yaw(self.times, 2)[:, None] * up
        return v, a

    def _zmp(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        v, a = self._motion(q)
        points, forces = multibody_zero_moment_point(self.robot.model, q, v, a)
        points[forces[:, 2] <= 0.0] = np.nan
        return points

    def _margins(self, zmp: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far within the standing soles points are [m], shape (k,)."""
        margins = np.empty(len(zmp))
        for i, point in enumerate(zmp):
            corners = []
            for sole, row, stands in zip(self.soles, self.placements[i], self.support[i], strict=True):
                if stands:
                    corners.append(_footprint(self.robot, Footstep(sole, row[0], row[1], row[3])))
            margins[i] = polygon_margin(convex_hull(np.vstack(corners)), point)
        return margins

    def _fail(self, phase: Phase, solution: LegSolution) -> None:
        """Say which step is too long, and by how much."""
        sole = max(solution.missed, key=lambda name: solution.missed[name])
        missed, tilted = solution.missed[sole], math.degrees(max(solution.tilted.values()))
        raise InputError(
            f"the legs can't reach: '{sole}' stays {1e3 * missed:.1f} mm short, the soles tilt by {tilted:.2f} "
            f"degrees and the centre of mass is {1e3 * solution.astray:.1f} mm astray",
            element=_step_name(phase),
            remedy="Take shorter steps, or a posture with the trunk lower",
        )

    def _check_joints(self, q: NDArray[np.float64]) -> None:
        """Joints stay within their ranges and speeds."""
        robot = self.robot
        v, _ = self._motion(q)
        limits = robot.limits
        for sole in self.soles:
            for name in self.kinematics.leg_joints[sole]:
                at, to = robot.index_q(name), robot.index_v(name)
                over = np.maximum(limits.lower[at] - q[:, at], q[:, at] - limits.upper[at])
                i = int(np.argmax(over))
                if over[i] > 0.0:
                    raise InputError(
                        f"the joint '{name}' is at {math.degrees(q[i, at]):.1f} degrees, {math.degrees(over[i]):.1f} "
                        "degrees beyond its range",
                        element=_step_name(self.phases[i]),
                        remedy="Take shorter or narrower steps, or another posture",
                    )
                i = int(np.argmax(np.abs(v[:, to])))
                fast = abs(v[i, to])
                if fast > limits.velocity[to]:
                    raise InputError(
                        f"the joint '{name}' moves at {fast:.2f} rad/s, faster than its {limits.velocity[to]:.2f}",
                        element=_step_name(self.phases[i]),
                        remedy="Take shorter or slower steps",
                    )

    def _check_margin(self, margin: NDArray[np.float64]) -> None:
        i = int(np.argmin(margin))
        if not margin[i] > 0.0:
            raise InputError(
                f"the zero-moment point is {-100.0 * margin[i]:.1f} cm outside the standing soles at "
                f"{self.times[i]:.2f} s",
                element=_step_name(self.phases[i]),
                remedy="Take slower steps, a longer double support or more passes",
            )


def _phase_at(phases: Sequence[Phase], ends: NDArray[np.float64], time: float, tolerance: float) -> Phase:
    """Return the phase at a time; at the end of a swing the foot has landed."""
    place = min(int(np.searchsorted(ends, time + tolerance, side="right")), len(phases) - 1)
    if phases[place].swing is not None and time - phases[place].start < tolerance:
        place -= 1
    return phases[place]


def _step_name(phase: Phase) -> str:
    return f"step {phase.step}" if phase.step >= 0 else "before the first step"


def _footprint(robot: Robot, foot: Footstep) -> NDArray[np.float64]:
    """Return corners of a sole on the ground [m], shape (k, 2)."""
    turn = np.array([[math.cos(foot.yaw), math.sin(foot.yaw)], [-math.sin(foot.yaw), math.cos(foot.yaw)]])
    return np.asarray(robot.contacts[foot.sole].patch @ turn + np.array([foot.x, foot.y]))


def _check_footprints(robot: Robot, plan: FootstepPlan) -> None:
    """No foot lands on, or swings through, the place of the other one."""
    for phase in plan.phases:
        if phase.swing is None:
            continue
        origin, goal = phase.swing
        stance = _footprint(robot, phase.supports[0])
        for s in np.linspace(0.0, 1.0, 21):
            share = quintic(float(s))
            foot = Footstep(
                goal.sole,
                origin.x + share * (goal.x - origin.x),
                origin.y + share * (goal.y - origin.y),
                swing_yaw(origin, goal, float(s)),
            )
            overlap = _overlap(stance, _footprint(robot, foot))
            if overlap > 0.0:
                raise InputError(
                    f"'{goal.sole}' is {100.0 * overlap:.1f} cm inside '{phase.supports[0].sole}'",
                    element=_step_name(phase),
                    remedy="Walk wider or turn less",
                )


def _overlap(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return how deep two convex polygons overlap [m], negative where an edge separates them (separating axes)."""
    depth = math.inf
    for polygon in (one, other):
        edges = np.roll(polygon, -1, axis=0) - polygon
        normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
        for normal in normals:
            a, b = one @ normal, other @ normal
            depth = min(depth, a.max() - b.min(), b.max() - a.min())
    return depth
