# SPDX-License-Identifier: Apache-2.0
"""What there is to say of a mechanism, in words and numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_kinematics.analysis.dexterity import Mobility, dexterity, following, mobility, singularity
from humanoid_kinematics.solver.assembly_modes import assembly_modes
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import InputError
from humanoid_model.arrays import Array


def report(solver: MechanismSolver, driven: Sequence[str] | None = None, *, modes: int = 0) -> str:
    """Describe a mechanism where it is: joints, loops, mobility, tools, singularities, drives, assembly modes.

    Args:
        solver: the mechanism.
        driven: joints with motors; None takes the mechanism's.
        modes: random starts of a search for assembly modes with the drives where they are; 0 for none.
    """
    mechanism = solver.mechanism
    drives = tuple(driven) if driven is not None else mechanism.driven
    counted = mobility(solver)
    parts = [
        f"mechanism {mechanism.name}: {len(mechanism.robot.parts.links)} links, {len(mechanism.robot.joint_names)} "
        f"joints, {len(mechanism.loops)} loops, {len(mechanism.couplings)} couplings, {len(mechanism.tools)} tools",
        f"characteristic length {solver.length:.6g} m",
        _joints(solver, drives or (), counted),
        _loops(solver),
        _mobility(counted, drives),
        *(_tool(solver, tool.name, drives, counted) for tool in mechanism.tools),
    ]
    if drives:
        parts.append(_drives(solver, drives))
    if modes and drives:
        parts.append(_modes(solver, drives, modes))
    return "\n\n".join(parts)


def _joints(solver: MechanismSolver, driven: Sequence[str], counted: Mobility) -> str:
    robot, model = solver.mechanism.robot, solver.mechanism.model
    lines = [f"{'joint':<20} {'moves':<8} {'position':>12} {'lowest':>12} {'highest':>12}"]
    for name in robot.joint_names:
        joint = model.joints[robot.parts.joint_ids[name]]
        words = [word for word, said in (
            ("driven", name in driven), ("locked", name in solver.locked), ("idle", name in counted.idle),
        ) if said]  # fmt: skip
        if joint.nq != 1:
            lines.append(f"{name:<20} {joint.shortname().removeprefix('JointModel')}  {' '.join(words)}".rstrip())
            continue
        turns = bool(solver.angles[joint.idx_v])
        shown = [solver.q[joint.idx_q], solver.lower[joint.idx_v], solver.upper[joint.idx_v]]
        if turns:
            shown = [float(np.degrees(value)) for value in shown]
        numbers = " ".join(f"{0.0 if abs(value) < 1e-9 else value:>12.6g}" for value in shown)
        lines.append(f"{name:<20} {'turns °' if turns else 'slides m':<8} {numbers}  {' '.join(words)}".rstrip())
    return "\n".join(lines)


def _loops(solver: MechanismSolver) -> str:
    closing = solver.closing
    if not solver.mechanism.loops:
        return "no loops"
    state = f"closed in {closing.iterations} iterations" if closing.closed else "NOT CLOSED"
    lines = [f"loops {state}, largest gap {closing.gap:.3g} (scaled)"]
    gaps = closing.gaps
    for loop in solver.mechanism.loops:
        held = " ".join(loop.rows)
        if not solver.holds(loop.name):
            lines.append(f"  {loop.name}: {loop.link_a} to {loop.link_b}, let go")
            continue
        distance, angle = gaps.get(loop.name, (0.0, 0.0))
        lines.append(
            f"  {loop.name}: {loop.link_a} to {loop.link_b}, holds {held}; open by {distance:.3g} m, {angle:.3g} rad"
        )
    return "\n".join(lines)


def _mobility(counted: Mobility, driven: Sequence[str] | None) -> str:
    lines = [
        f"mobility {counted.generic}: {counted.joints} joint velocities, rank of the loops {counted.rank}; "
        f"counting gives {counted.gruebler}, so {counted.over_constrained} rows of loops follow from the others"
    ]
    if counted.singular:
        lines.append(f"SINGULAR here: {counted.mobility} freedoms to first order, {counted.generic} nearby")
    if driven is not None:
        free = counted.generic - len(driven)
        said = "as many as freedoms" if free == 0 else f"{abs(free)} {'fewer' if free > 0 else 'more'} than freedoms"
        lines.append(f"{len(driven)} drives, {said}")
    return "\n".join(lines)


def _tool(solver: MechanismSolver, tool: str, driven: Sequence[str] | None, counted: Mobility) -> str:
    placement = solver.placement(tool)
    x, y, z = np.where(np.abs(placement.translation) < 1e-12, 0.0, placement.translation)
    lines = [f"tool {tool} at ({x:.6g}, {y:.6g}, {z:.6g}) m"]
    used = driven if driven is not None and len(driven) == counted.generic else None
    try:
        found = dexterity(solver, tool, used)
    except InputError:  # the drives don't hold the mechanism here: by its free motions, then
        found, used = dexterity(solver, tool), None
    lines.append(
        f"  singular values [m, rad] {_numbers(found.sigma)} by {'the drives' if used else 'the free motions'}: "
        f"rank {found.rank}, dexterity (largest by smallest) {found.condition:.6g}, "
        f"manipulability {found.manipulability:.4g}"
    )
    axes, directions = found.velocity_ellipsoid()
    for length, direction in zip(axes, directions.T, strict=True):
        lines.append(f"  velocity ellipsoid: {length:.4g} m along {_numbers(direction)}")
    near = singularity(solver, tool, driven, counted.joints - counted.generic)
    loops = "" if np.isinf(near.loops) else f"loops {near.loops:.4g}, "
    drives = "" if near.drives is None else f"drives {near.drives:.4g}, "
    lines.append(f"  distance from singularities (scaled, 0 at one): {loops}{drives}tool {near.tool:.4g}")
    return "\n".join(lines)


def _drives(solver: MechanismSolver, driven: Sequence[str]) -> str:
    try:
        D = following(solver, driven)
    except InputError as problem:
        return f"drives: {problem}"
    robot, model = solver.mechanism.robot, solver.mechanism.model
    lines = ["velocities of joints by those of " + ", ".join(driven)]
    for name in robot.joint_names:
        joint = model.joints[robot.parts.joint_ids[name]]
        if name not in driven and joint.nv == 1:
            lines.append(f"  {name:<18} {_numbers(D[joint.idx_v])}")
    return "\n".join(lines)


def _modes(solver: MechanismSolver, driven: Sequence[str], starts: int) -> str:
    try:
        found = assembly_modes(solver, driven, starts=starts)
    except InputError as problem:
        return f"assembly modes: {problem}"
    lines = [f"{len(found)} assembly modes with the drives where they are, of {starts} random starts"]
    for mode in found:
        lines.append(f"  found {mode.found} times, {mode.margin:.3g} from singular: q = {_numbers(mode.q)}")
    return "\n".join(lines)


def _numbers(values: Array) -> str:
    return "(" + ", ".join(f"{value + 0.0:.4g}" for value in np.where(np.abs(values) < 1e-12, 0.0, values)) + ")"
