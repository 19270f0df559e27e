# SPDX-License-Identifier: Apache-2.0
"""A gait as series over time in the world: left and right leg instead of rear and front, stance and swing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.optimal_control.foot_series import FootSeries
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.gait_plan import GaitPlan
from humanoid_studies.planar_gait.specification.ground_profile import ground_profile

LEGS = ("left", "right")
"""The leg that bears first, behind in double support or alone, is the left one."""

_SOLE_SAMPLES = 9
"""Places of a sole whose heights are looked at."""


@dataclass(frozen=True, eq=False)
class LegForces:
    """What the ground does to one foot; zero while it is in the air.

    Attributes:
        normal: (K, k) normal force at each of ``places`` [N].
        places: heel and toe, or the tip of a robot without feet.
        tangential: (K,) force along X [N].
        pressure: (K,) centre of pressure along X in the world, NaN where nothing presses [m].
        ground: (K,) height of the ground under the foot, NaN in the air [m].
    """

    normal: Reals
    places: tuple[str, ...]
    tangential: Reals
    pressure: Reals
    ground: Reals

    @property
    def total(self) -> Reals:
        """(K,) sum of the normal forces [N]."""
        return np.asarray(self.normal.sum(axis=1))

    @property
    def bears(self) -> NDArray[np.bool_]:
        """(K,) whether the foot is on the ground."""
        return np.isfinite(self.ground)


@dataclass(frozen=True, eq=False)
class GaitSeries:
    """Samples of a gait; a transition has two, one of each phase, at the same time.

    Attributes:
        t: (K,) [s].
        phase: (K,) index of the phase.
        joints: names of the joints, leg first.
        angles: (K, joints) as the robot counts them, flexion of knees positive [rad].
        rates: (K, joints) [rad/s].
        torques: (K, joints) [N m].
        ground_torque: (K,) of an actuator between stance shank and ground, zero without one [N m].
        power: (K,) that the torques give to the robot [W].
        absolute_power: (K,) sum of the absolute powers of all torques, whose integral is J_e [W].
        energy: (K,) J_e since the beginning [J].
        points: places of the robot's points in the world by name, (K, 2) each [m].
        hip_velocity: (K, 2) [m/s].
        trunk: (K,) angle of the trunk, pi/2 upright [rad].
        trunk_rate: (K,) [rad/s].
        forces: under each foot, by leg.
        hamiltonian: (K,) H of each phase.
        closure_gap: (K,) distance that the loop stays open, zero in single support [m].
        clearance: (K,) least height of the swinging sole or tip above the ground, obstacles not counted, NaN in
            double support [m].
    """

    t: Reals
    phase: NDArray[np.int64]
    joints: tuple[str, ...]
    angles: Reals
    rates: Reals
    torques: Reals
    ground_torque: Reals
    power: Reals
    absolute_power: Reals
    energy: Reals
    points: dict[str, Reals]
    hip_velocity: Reals
    trunk: Reals
    trunk_rate: Reals
    forces: dict[str, LegForces]
    hamiltonian: Reals
    closure_gap: Reals
    clearance: Reals

    @property
    def zero_moment_point(self) -> Reals:
        """(K,) place along X of the resultant of all normal forces, NaN where nothing presses [m].

        On level ground it is the zero moment point; on stairs the mean of the feet's centres of pressure, weighted by
        their loads.
        """
        total, moment = np.zeros_like(self.t), np.zeros_like(self.t)
        for foot in self.forces.values():
            total += foot.total
            moment += np.where(foot.total > 0.0, foot.total * np.nan_to_num(foot.pressure), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(total > 0.0, moment / total, np.nan)

    def columns(self) -> dict[str, Reals]:
        """Every series as a column (K,) by name; SI units and radians."""
        found: dict[str, Reals] = {"t": self.t, "phase": self.phase.astype(float) + 1.0}
        for j, name in enumerate(self.joints):
            found[f"angle.{name}"], found[f"rate.{name}"] = self.angles[:, j], self.rates[:, j]
            found[f"torque.{name}"] = self.torques[:, j]
        found["torque.ground"] = self.ground_torque
        found["power"], found["absolute_power"], found["energy"] = self.power, self.absolute_power, self.energy
        for name, place in self.points.items():
            found[f"x.{name}"], found[f"y.{name}"] = place.T
        found["vx.hip"], found["vy.hip"] = self.hip_velocity.T
        found["trunk"], found["trunk_rate"] = self.trunk, self.trunk_rate
        for leg, foot in self.forces.items():
            for name, normal in zip(foot.places, foot.normal.T, strict=True):
                found[f"force.{leg}.{name}"] = normal
            found[f"force.{leg}.tangential"], found[f"pressure.{leg}"] = foot.tangential, foot.pressure
        found["zero_moment_point"], found["hamiltonian"] = self.zero_moment_point, self.hamiltonian
        found["closure_gap"], found["clearance"] = self.closure_gap, self.clearance
        return found


def leg_roles(plan: GaitPlan, index: int) -> dict[str, str]:
    """Return which leg is which in a phase: "rear" and "front", or "stance" and "swing", to "left" and "right".

    Front becomes stance and rear swing; stance becomes rear and swing front: every double support, of one phase or of
    two, has the legs changed places when it is over.
    """
    phases = plan.phases[: index + 1]
    changes = sum(1 for phase, after in itertools.pairwise(phases) if phase.double and not after.double)
    bearing, other = LEGS if changes % 2 == 0 else LEGS[::-1]
    if plan.phases[index].double:
        return {"rear": bearing, "front": other}
    return {"stance": bearing, "swing": other}


def gait_series(gait: GaitSolution) -> GaitSeries:
    """Return series of a gait at its phases' own samples."""
    plan = gait.plan
    feet = plan.walker.foot_length > 0.0
    places = ("heel", "toe") if feet else ("tip",)
    parts = [_phase_part(gait, index, places) for index in range(len(gait.phases))]
    joints = tuple(sorted(parts[0]["joints"], key=_joint_order))

    def joined(name: str) -> Reals:
        return np.concatenate([part[name] for part in parts])

    def by_joint(name: str) -> Reals:
        return np.concatenate([part[name][:, [part["joints"].index(joint) for joint in joints]] for part in parts])

    absolute = joined("absolute_power")
    energies = np.concatenate([[0.0], np.cumsum([solution.energies.total for solution in gait.phases])])
    energy = np.concatenate([energies[k] + part["energy"] for k, part in enumerate(parts)])
    return GaitSeries(
        t=joined("t"),
        phase=np.concatenate([np.full(len(part["t"]), k) for k, part in enumerate(parts)]),
        joints=joints,
        angles=by_joint("angles"),
        rates=by_joint("rates"),
        torques=by_joint("torques"),
        ground_torque=joined("ground_torque"),
        power=joined("power"),
        absolute_power=absolute,
        energy=energy,
        points={name: np.concatenate([part["points"][name] for part in parts]) for name in parts[0]["points"]},
        hip_velocity=joined("hip_velocity"),
        trunk=joined("trunk"),
        trunk_rate=joined("trunk_rate"),
        forces={
            leg: LegForces(
                np.concatenate([part["forces"][leg].normal for part in parts]),
                places,
                np.concatenate([part["forces"][leg].tangential for part in parts]),
                np.concatenate([part["forces"][leg].pressure for part in parts]),
                np.concatenate([part["forces"][leg].ground for part in parts]),
            )
            for leg in LEGS
        },
        hamiltonian=joined("hamiltonian"),
        closure_gap=joined("closure_gap"),
        clearance=joined("clearance"),
    )


def _joint_order(name: str) -> tuple[int, int]:
    leg, kind = name.split("_", 1)
    kinds = ("hip", "knee", "ankle")
    return LEGS.index(leg), kinds.index(kind) if kind in kinds else len(kinds)


def _phase_part(gait: GaitSolution, index: int, places: tuple[str, ...]) -> dict[str, Any]:
    """Return series of one phase."""
    plan, solution = gait.plan, gait.phases[index]
    planned, model = plan.phases[index], solution.problem.scaled_model
    roles, count = leg_roles(plan, index), len(solution.t)
    t, q, v, u = solution.t, solution.q, solution.v, solution.u
    known = {(joint.child, joint.parent): j for j, joint in enumerate(model.joints)}
    own = [k for k, torque in enumerate(model.torques) if (torque.on, torque.by) in known]
    others = [k for k in range(model.torque_count) if k not in own]
    signs = np.array([float(joint.sign) for joint in model.joints])
    torques = np.zeros((count, len(model.joints)))
    for k in own:
        j = known[model.torques[k].on, model.torques[k].by]
        torques[:, j] = signs[j] * u[:, k]
    powers = u[:, : model.torque_count] * model.torque_rates(v)
    absolute = np.abs(powers).sum(axis=1)
    steps = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(t) * (absolute[1:] + absolute[:-1]))])
    # The audit's J_e is by Simpson's rule: the running sum is stretched to it, so that phases add up to the report.
    energy = steps * (solution.energies.total / steps[-1] if steps[-1] > 0.0 else 1.0)
    offset = plan.offsets[index]
    points = {
        _by_leg(name, roles): point.position(q) + offset
        for name, point in model.points.items()
        if name not in model.obstacle_points
    }
    if not planned.double:
        stance = roles["stance"]
        still = {"heel": np.array([-plan.walker.foot_length, 0.0]), "toe": np.zeros(2)} if len(places) == 2 else {}
        points |= {f"{stance}_{name}": np.tile(place + offset, (count, 1)) for name, place in still.items()}
    trunk = model.tree.index("trunk")
    hip = model.points["hip"]
    clearance = np.full(count, np.nan)
    if not planned.double:
        sole = _along([points[f"{roles['swing']}_{place}"] for place in places])
        clearance = (sole[..., 1] - ground_profile(plan).height(sole[..., 0])).min(axis=0)
    return {
        "t": t + gait.starts[index],
        "joints": [_by_leg(name, roles) for name in model.joint_names],
        "angles": model.robot_angles(q),
        "rates": model.robot_rates(v),
        "torques": torques,
        "ground_torque": u[:, others].sum(axis=1),
        "power": powers.sum(axis=1),
        "absolute_power": absolute,
        "energy": energy,
        "points": points,
        "hip_velocity": (hip.jacobian(q) @ v[..., None])[..., 0],
        "trunk": q[:, trunk],
        "trunk_rate": v[:, trunk],
        "forces": _leg_forces(solution.forces, roles, places, plan, index, count),
        "hamiltonian": solution.hamiltonian,
        "closure_gap": solution.closure_gap,
        "clearance": clearance,
    }


def _along(ends: list[Reals]) -> Reals:
    """(L, K, 2) places on the way from heel to toe; the one place of a tip."""
    if len(ends) == 1:
        return ends[0][None]
    shares = np.linspace(0.0, 1.0, _SOLE_SAMPLES)[:, None, None]
    return np.asarray((1.0 - shares) * ends[0] + shares * ends[1])


def _leg_forces(
    forces: Mapping[str, FootSeries],
    roles: Mapping[str, str],
    places: tuple[str, ...],
    plan: GaitPlan,
    index: int,
    count: int,
) -> dict[str, LegForces]:
    """Return forces by leg; a rear foot with one force presses at its toe, a front foot at its heel."""
    offset, step = plan.offsets[index], plan.phases[index].spec.own
    nothing = np.full(count, np.nan)
    found = {leg: LegForces(np.zeros((count, len(places))), places, np.zeros(count), nothing, nothing) for leg in LEGS}
    for name, series in forces.items():
        role = name.split("_", 1)[0]
        normal = np.zeros((count, len(places)))
        bearing = series.normal.shape[1]
        normal[:, slice(bearing) if role == "front" else slice(-bearing, None)] = series.normal
        height = offset[1] + (step.step_height if role == "front" and step is not None else 0.0)
        found[roles[role]] = LegForces(
            normal, places, series.tangential, series.centre_of_pressure + offset[0], np.full(count, height)
        )
    return found


def _by_leg(name: str, roles: Mapping[str, str]) -> str:
    role, _, rest = name.partition("_")
    return f"{roles[role]}_{rest}" if role in roles else name
