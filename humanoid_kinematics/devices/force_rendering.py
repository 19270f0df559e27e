# SPDX-License-Identifier: Apache-2.0
"""What a hand feels of the mechanism that it leads: stops, singularities, contacts, attraction, and what can't be done.

Specification §8.5. Everything is a force at the tool; what acts on joints and other links is brought there by virtual
work, over the motions that the loops leave free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_kinematics.analysis.dexterity import free_motions
from humanoid_kinematics.analysis.obstacles import Obstacles
from humanoid_kinematics.devices.selection import DeviceSelection
from humanoid_kinematics.devices.syntaxeur import Syntaxeur
from humanoid_kinematics.solver.commands import ToolMotion
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model.arrays import Array
from humanoid_model.loop_closure import ROWS


@dataclass(frozen=True)
class ForceRules:
    """How hard things feel, at the tool. 0 leaves one out.

    Attributes:
        lag: stiffness between where the tool is led and where it can be [N/m].
        turning: resistance to turns that can't be made [N m s/rad].
        stop: stiffness of a joint that nears its limit [N m/rad, N/m].
        stop_margin: how far before the limit that begins [rad, and of the characteristic length].
        singular: damping at a singularity [N s/m].
        singular_below: smallest scaled singular value at which it begins.
        contact: stiffness of obstacles [N/m].
        contact_distance: how far before them that begins [m].
        attraction: stiffness of targets [N/m].
        attraction_radius: how far they reach [m].
    """

    lag: float = 500.0
    turning: float = 0.05
    stop: float = 20.0
    stop_margin: float = 0.05
    singular: float = 20.0
    singular_below: float = 0.1
    contact: float = 500.0
    contact_distance: float = 0.01
    attraction: float = 100.0
    attraction_radius: float = 0.05


class ForceRendering:
    """Forces of one tool of a mechanism.

    Attributes:
        solver: the mechanism, where it is.
        rules: how hard things feel.
    """

    def __init__(
        self,
        solver: MechanismSolver,
        tool: str,
        rules: ForceRules | None = None,
        *,
        obstacles: Obstacles | None = None,
        targets: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """Describe what can be felt.

        Args:
            solver: the mechanism, where it is.
            tool: name of a tool or link.
            rules: how hard things feel.
            obstacles: that push links away.
            targets: places of the world (3,) [m] that attract the tool, by name.
        """
        self.rules = rules if rules is not None else ForceRules()
        self.solver = solver
        self._tool = tool
        self._obstacles = obstacles
        self._targets = {name: np.asarray(place, float) for name, place in (targets or {}).items()}

    def wrenches(self, velocity: ArrayLike = (0.0, 0.0, 0.0), led: Array | None = None) -> dict[str, Array]:
        """Return wrenches (6,) at the tool in world axes, force first, by what they come from: only what pushes.

        Args:
            velocity: of the tool (3,) [m/s].
            led: (k, 6) orthonormal directions, translations first, in which a hand leads the tool; None for all. What
                acts on joints and other links is brought to the tool in these.
        """
        led = np.eye(6) if led is None else led
        solver, rules = self.solver, self.rules
        free = self._free()
        J = solver.tool_jacobian(self._tool) @ free
        place = solver.placement(self._tool).translation
        found: dict[str, Array] = {}
        efforts = self._stops()
        if efforts.any():
            found["stop"] = self._at_tool(J, free.T @ efforts, led)
        if rules.singular > 0.0:
            scaled = J.copy()
            scaled[:3] /= solver.length
            sigma = np.linalg.svd(led @ scaled, compute_uv=False)
            near = 1.0 - (float(sigma[-1]) if len(sigma) else 0.0) / rules.singular_below
            if near > 0.0:
                force = -rules.singular * near**2 * np.asarray(velocity, float)
                found["singularity"] = np.concatenate([force, np.zeros(3)])
        if self._obstacles is not None and rules.contact > 0.0:
            for name, nearest in self._obstacles.nearest().items():
                depth = rules.contact_distance - nearest.distance
                apart = nearest.point_on_part - nearest.point_on_obstacle
                length = float(np.linalg.norm(apart))
                if depth <= 0.0 or length < 1e-9:
                    continue
                force = rules.contact * depth * np.sign(nearest.distance) * apart / length
                effort = self._point_jacobian(nearest.part.split("/")[0], nearest.point_on_part).T @ force
                found[f"contact with {name}"] = self._at_tool(J, free.T @ effort, led)
        for name, target in self._targets.items():
            away = target - place
            part = 1.0 - float(np.linalg.norm(away)) / rules.attraction_radius
            if part > 0.0 and rules.attraction > 0.0:
                found[f"attraction to {name}"] = np.concatenate([rules.attraction * part * away, np.zeros(3)])
        return found

    def _free(self) -> Array:
        """(nv, freedoms) velocities that loops and locks leave free."""
        free, joints = free_motions(self.solver), self.solver.mechanism.model.joints
        ids = [self.solver.mechanism.robot.parts.joint_ids[joint] for joint in self.solver.locked]
        still = [k for i in ids for k in range(joints[i].idx_v, joints[i].idx_v + joints[i].nv)]
        if still and free.shape[1]:
            _, s, Vt = np.linalg.svd(free[still])
            free = free @ Vt[int(np.sum(s > 1e-9)) :].T
        return np.asarray(free * self.solver.scale[:, None])

    def _stops(self) -> Array:
        """(nv,) efforts of joints that near their limits: springs from the margin on."""
        solver, rules = self.solver, self.rules
        margin = rules.stop_margin * np.where(solver.angles, 1.0, solver.length)
        q = solver.positions
        over, under = np.maximum(q - solver.upper + margin, 0.0), np.maximum(solver.lower + margin - q, 0.0)
        return np.asarray(rules.stop * (under - over))

    def _at_tool(self, J: Array, efforts: Array, led: Array) -> Array:
        """(6,) smallest wrench at the tool that does the work of efforts on the free motions, as far as one can."""
        unit = np.array([1.0 / self.solver.length] * 3 + [1.0] * 3)
        A = led @ (unit[:, None] * J)
        return np.asarray(unit * (led.T @ np.linalg.lstsq(A.T, efforts, rcond=1e-2)[0]))

    def _point_jacobian(self, link: str, point: Array) -> Array:
        """(3, nv) Jacobian of a point of a link."""
        J = self.solver.tool_jacobian(link)
        lever = point - self.solver.placement(link).translation
        return np.asarray(J[:3] - pin.skew(lever) @ J[3:])


@dataclass(frozen=True, eq=False)
class Felt:
    """What a tick of a haptic loop came to, in world axes.

    Attributes:
        led: (3,) place that the tool is led to [m].
        tool: (3,) place where it is [m].
        wrenches: (6,) at the tool, force first, by what they come from.
        force: (3,) displayed to the hand, in its axes [N].
        torque: (3,) likewise [N m].
        status: of the solver.
    """

    led: Array
    tool: Array
    wrenches: Mapping[str, Array]
    force: Array
    torque: Array
    status: str


class HapticLoop:
    """A syntaxeur whose hand leads a tool and feels it.

    Translations are absolute: the tool is led to a place that the handle's way adds up to, so that a hand that comes
    back brings the tool back, whatever stopped it in between. Turns are speeds: what can't be turned now isn't made up
    for. Stiffness and damping are felt at the hand as the rules have them at the tool, whatever the selection's scales:
    a wall that is entered by a metre of the hand pushes like one that is entered by a metre of the tool.
    """

    def __init__(self, syntaxeur: Syntaxeur, selection: DeviceSelection, rendering: ForceRendering) -> None:
        """Let a device lead the tool of a rendering; ``selection`` says how."""
        self.syntaxeur = syntaxeur
        self.selection = selection
        self.rendering = rendering
        self._solver = rendering.solver
        self._led = self._solver.placement(selection.tool).translation
        syntaxeur.post(syntaxeur.position, np.zeros(3))
        syntaxeur.read(0.0)  # the way counts from here

    def tick(self, hand: ArrayLike, wrist: ArrayLike, seconds: float, view: pin.SE3 | None = None) -> Felt:
        """Move the handle, the tool by it, and push the hand.

        Args:
            hand: (3,) where the hand wants to be, from the workspace's middle [m].
            wrist: (3,) angles of its wrist [rad].
            seconds: since the last tick; 300 ticks a second are what a hand asks for (§5.1.1).
            view: the camera's frame, for a selection of the view.
        """
        solver, device, selection = self._solver, self.syntaxeur, self.selection
        device.move(hand, wrist, seconds)
        motion = selection.motion(device.read(seconds), view)
        assert motion is not None  # a syntaxeur always commands
        before = solver.placement(selection.tool)
        axes, driven = motion.axes(before), np.array([row in motion.rows for row in ROWS])
        led = np.kron(np.eye(2), axes.T)[driven]
        place = self._led + axes @ np.asarray(motion.linear)
        answer = solver.command(replace(motion, linear=axes.T @ (place - before.translation)))
        tool = solver.placement(selection.tool)
        behind = led[:, :3].T @ (led[:, :3] @ (tool.translation - place))
        self._led = tool.translation - behind  # what it isn't led in goes with the tool
        wrenches = self.rendering.wrenches((tool.translation - before.translation) / seconds, led)
        wrenches["lag"] = np.concatenate(
            [self.rendering.rules.lag * behind, self._unturned(motion, before, tool, seconds)]
        )
        felt = np.kron(np.eye(2), axes.T) @ (led.T @ (led @ np.sum(list(wrenches.values()), axis=0)))
        linear, angular = (1.0 / scale if scale else 0.0 for scale in (selection.linear_scale, selection.angular_scale))
        device.display(linear * felt[:3], angular * felt[3:])
        return Felt(self._led, tool.translation, wrenches, device.force, device.torque, answer.status)

    def _unturned(self, motion: ToolMotion, before: pin.SE3, tool: pin.SE3, seconds: float) -> Array:
        """(3,) torque against turns that were commanded and not made."""
        _, wanted = motion.in_world(before)
        missing = pin.log3(tool.rotation @ before.rotation.T) - wanted
        return np.asarray(self.rendering.rules.turning * missing / seconds)
