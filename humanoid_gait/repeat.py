# SPDX-License-Identifier: Apache-2.0
"""A cycle's motion, repeated: step after step, on alternate sides where the cycle is mirrored."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_gait.hold import Hold
from humanoid_gait.mirror import Mirror
from humanoid_gait.mirrored_name import mirrored_name
from humanoid_gait.problem import Cycle
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory

_SAME = 1e-9
"""Times that are nearer than this are one [s]."""
_FLIP = np.array([1.0, -1.0, 1.0])


def repeated(motion: WholeBodyTrajectory, cycle: Cycle, times: int) -> WholeBodyTrajectory:
    """Return the motion so many times in a row.

    Args:
        motion: of one cycle of a robot with a floating base.
        cycle: that it closes.
        times: 1 or more.

    Raises:
        InputError: fewer than one, or a robot whose base doesn't float.
    """
    if times < 1:
        raise InputError(f"is {times}", element="times", remedy="Give one or more")
    if motion.robot.base_joint is None:
        raise InputError("has no floating base", element=f"robot '{motion.robot.name}'", remedy="Use one that has")
    parts = [motion]
    for _ in range(times - 1):
        parts.append(_next(parts[-1], cycle))
    return joined(parts)


def moved(motion: WholeBodyTrajectory, cycle: Cycle, times: int) -> WholeBodyTrajectory:
    """Return a motion where so many cycles take it, left and right changed as often as they do."""
    for _ in range(times):
        motion = _next(motion, cycle)
    return motion


def joined(motions: Sequence[WholeBodyTrajectory]) -> WholeBodyTrajectory:
    """Return motions of one robot in a row, each of which begins where the one before it ends."""
    begins = np.cumsum([0.0, *(part.duration for part in motions)])
    spans: list[ContactSpan] = []
    for begin, part in zip(begins, motions, strict=False):
        shift = begin - float(part.times[0])
        for span in part.contacts:
            spans = _with(spans, replace(span, start=span.start + shift, end=span.end + shift))
    rows = {name: np.concatenate([getattr(part, name) for part in motions]) for name in ("q", "v", "a", "tau")}
    # Parts meet to the solver's tolerance; players want no jump.
    ends = np.cumsum([len(part.times) for part in motions])[:-1]
    rows["q"][ends - 1] = rows["q"][ends]
    impacts = [
        own._replace(time=own.time - float(part.times[0]) + float(begin))
        for begin, part in zip(begins, motions, strict=False) for own in part.impacts
    ]  # fmt: skip
    ends = ends[[all(abs(own.time - begin) > _SAME for own in impacts) for begin in begins[1:-1]]]
    rows["v"][ends - 1] = rows["v"][ends]
    moments = [part.zero_moment_point for part in motions if part.zero_moment_point is not None]
    times = [part.times - part.times[0] + begin for begin, part in zip(begins, motions, strict=False)]
    for before, after in itertools.pairwise(times):
        before[-1] = after[0]
    every = np.concatenate(times)
    spans = [replace(span, start=_sample(every, span.start), end=_sample(every, span.end)) for span in spans]
    return WholeBodyTrajectory(
        motions[0].robot, every, rows["q"], rows["v"], rows["a"], spans, tau=rows["tau"],
        forces=[sample for part in motions for sample in part.forces],
        zero_moment_point=np.concatenate(moments) if len(moments) == len(motions) else None,
    ).with_impacts([own._replace(time=_sample(every, own.time)) for own in impacts])  # fmt: skip


def _next(motion: WholeBodyTrajectory, cycle: Cycle) -> WholeBodyTrajectory:
    robot, step = motion.robot, cycle.step
    mirror = Mirror.of(robot) if cycle.mirrored else Mirror.none(robot.model.nv)
    flip = _FLIP if cycle.mirrored else np.ones(3)
    base = robot.model.joints[robot.base_joint]
    v = slice(base.idx_v, base.idx_v + 6)
    twist = np.concatenate([flip, flip[1] * flip])  # turns are mirrored with their sign changed

    def image(rows: Array) -> Array:
        found = mirror.sign * rows[:, mirror.source]
        found[:, v] = twist * rows[:, v]
        return np.asarray(found)

    q = np.array([_configuration(robot.model, base, row, mirror, step, flip) for row in motion.q])

    def place(point: Array) -> Array:
        return np.asarray(step.act(flip * point))

    def image_of(sample: Sequence[PlannedForce]) -> tuple[PlannedForce, ...]:
        return tuple(_force(force, step, flip, cycle.mirrored) for force in sample)

    forces = [image_of(sample) for sample in motion.forces]
    spans = []
    for span in motion.contacts:
        hold = Hold(span.contact, span.part)
        moved = (hold.mirrored(robot) if cycle.mirrored else hold).moved(step)
        spans.append(replace(span, contact=moved.contact))
    zmp = motion.zero_moment_point
    return WholeBodyTrajectory(
        robot, motion.times, q, image(motion.v), image(motion.a), spans, tau=image(motion.tau), forces=forces,
        zero_moment_point=None if zmp is None else np.array([place(row) for row in zmp]),
    ).with_impacts([own._replace(impulses=image_of(own.impulses)) for own in motion.impacts])  # fmt: skip


def _configuration(
    model: pin.Model, base: pin.JointModel, q: Array, mirror: Mirror, step: pin.SE3, flip: Array
) -> Array:
    found = q.copy()
    for joint in list(model.joints)[1:]:
        if joint.nq == 1:
            other = int(mirror.source[joint.idx_v])
            found[joint.idx_q] = mirror.sign[joint.idx_v] * q[_place_q(model, other)]
    own = slice(base.idx_q, base.idx_q + 7)
    place = pin.XYZQUATToSE3(q[own])
    image = step * pin.SE3(np.diag(flip) @ place.rotation @ np.diag(flip), flip * place.translation)
    found[own] = pin.SE3ToXYZQUAT(image)
    return np.asarray(found)


def _place_q(model: pin.Model, v: int) -> int:
    return int(next(joint.idx_q for joint in list(model.joints)[1:] if joint.idx_v == v))


def _force(force: PlannedForce, step: pin.SE3, flip: Array, mirrored: bool) -> PlannedForce:
    R = step.rotation
    name = mirrored_name(force.location) if mirrored else force.location
    return replace(
        force, location=name, place=step.act(flip * force.place), normal=R @ (flip * force.normal),
        force=R @ (flip * force.force),
    )  # fmt: skip


def _sample(times: Array, time: float) -> float:
    """Return the sample's time that a sum of durations stands for."""
    near = float(times[np.abs(times - time).argmin()])
    return near if abs(near - time) < _SAME else time


def _with(spans: list[ContactSpan], new: ContactSpan) -> list[ContactSpan]:
    """Add a span; one that goes on with the last of its location becomes one with it."""
    for index, span in enumerate(spans):
        if span.location == new.location and span.part == new.part and abs(span.end - new.start) < _SAME:
            return [*spans[:index], replace(span, end=new.end), *spans[index + 1 :]]
    return [*spans, new]
