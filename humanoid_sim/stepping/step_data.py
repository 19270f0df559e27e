# SPDX-License-Identifier: Apache-2.0
"""All arrays of a step as one object that compiled functions take at the price of a pointer; what all steps share.

A compiled function spends about a tenth of a microsecond on each array that it is handed: a step would lose as much
time on its arguments as on its work. Here the arrays are handed over once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.tree.articulated_body import ArticulatedInertia
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.world.borrowed_arrays import BorrowedRecord, BorrowedType, smallest


class StepSettings(NamedTuple):
    """Constants of a simulation's steps.

    Attributes:
        dt: time step [s].
        margin: shapes nearer than this are handed to the contact solver [m].
        delassus: way to the operators, a value of :data:`~humanoid_sim.stepping.operators.DELASSUS_METHODS`.
        impact_speed: approach speed from which on restitution applies [m/s], infinite where impacts are resolved apart.
        newton: whether block Gauss-Seidel is helped by Newton's method where there are contacts alone.
        tolerance: bound on the relative residual.
        max_iterations: bound on the iterations of a group.
        budget: seconds that the solves of a step may take all together, infinite for no limit.
        passes: a step is solved at most so many times with other actuators saturated.
    """

    dt: float
    margin: float
    delassus: int
    impact_speed: float
    newton: bool
    tolerance: float
    max_iterations: int
    budget: float
    passes: int


class SolverSettings(NamedTuple):
    """How the groups of a step are solved.

    Attributes:
        newton: whether contacts are handed to :func:`~humanoid_sim.contact.nsgs_newton.nsgs_newton`, with limits and
            dry friction beside them by :func:`~humanoid_sim.contact.scalar_active_set.scalar_active_set`.
        tolerance: bound on the relative residual.
        max_iterations: bound on the number of sweeps.
        deadline: time of :func:`~humanoid_sim.contact.clock.seconds` at which all is to be done but a first sweep.
        dt: time step [s].
    """

    newton: bool
    tolerance: float
    max_iterations: int
    deadline: float
    dt: float


class StateArrays(NamedTuple):
    """State of the world and what the step makes of it.

    Attributes:
        q: configuration at the start, shape (nq,).
        v: velocity at the start, shape (nv,).
        v_free: velocity at the end without constraint forces, shape (nv,).
        v_new: velocity at the end, shape (nv,).
        q_new: configuration at the end, shape (nq,).
        rate: work space, shape (nv,).
        wrenches: known external wrenches on the bodies, at the world origin, force first, shape (njoints, 6).
        reactions: wrenches of the constraints on the bodies, likewise, shape (njoints, 6).
        thrusts: efforts of the constraints on the coordinates, shape (nv,).
        saturated: which actuators were at their limits before the step, shape (nv,).
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    v_free: NDArray[np.float64]
    v_new: NDArray[np.float64]
    q_new: NDArray[np.float64]
    rate: NDArray[np.float64]
    wrenches: NDArray[np.float64]
    reactions: NDArray[np.float64]
    thrusts: NDArray[np.float64]
    saturated: NDArray[np.int64]

    @classmethod
    def of_size(cls, nq: int, nv: int, njoints: int) -> StateArrays:
        """Arrays for a model."""
        return cls(
            np.zeros(nq), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nq), np.zeros(nv),
            np.zeros((njoints, 6)), np.zeros((njoints, 6)), np.zeros(nv), np.zeros(nv, dtype=np.int64),
        )  # fmt: skip


class JointArrays(NamedTuple):
    """Drives, friction and limits of the coordinates.

    Attributes:
        q_target: target configuration, shape (nq,).
        v_target: target velocity, shape (nv,).
        stiffness: position gains in force, shape (nv,).
        damping: velocity gains in force, shape (nv,).
        passive_damping: viscous friction, shape (nv,).
        dry_friction: largest dry friction [N m or N], shape (nv,).
        feedforward: efforts given directly, shape (nv,).
        lowest: least effort of the actuator, shape (nv,).
        highest: largest effort, shape (nv,).
        saturated: -1, 0 or 1: the actuator gives the least effort, what the servo asks for, or the largest, shape
            (nv,).
        efforts: what the actuators give, shape (nv,).
        error: target minus position in the tangent space, shape (nv,).
        own_inertia: what a coordinate accelerates besides the bodies, servos taken implicitly, shape (nv,).
        loads: efforts that don't depend on the velocity at the end, shape (nv,).
        lower: lower limit of a coordinate of one number, -inf where there is none, shape (nv,).
        upper: upper limit, shape (nv,).
        idx_q: where the configuration has that coordinate, shape (nv,).
        mimics: places in the configuration of joints that follow another one, and of those that they follow, shape
            (mimics, 2).
        mimic_laws: factor and offset by which they follow, shape (mimics, 2).
    """

    q_target: NDArray[np.float64]
    v_target: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    damping: NDArray[np.float64]
    passive_damping: NDArray[np.float64]
    dry_friction: NDArray[np.float64]
    feedforward: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    saturated: NDArray[np.int64]
    efforts: NDArray[np.float64]
    error: NDArray[np.float64]
    own_inertia: NDArray[np.float64]
    loads: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    idx_q: NDArray[np.int64]
    mimics: NDArray[np.int64]
    mimic_laws: NDArray[np.float64]


class BlockArrays(NamedTuple):
    """Constraints of the step, ordered by the group of trees that they couple.

    Attributes:
        starts: first row of each block, and one behind the last row, shape (blocks + 1,).
        kinds: law of each block, see :mod:`humanoid_sim.contact.block_nsgs`, shape (blocks,).
        parameters: friction coefficient, bound or factor, shape (blocks,).
        parents: block of the contact that a SPIN, ROLL or DAMPER block belongs to, shape (blocks,).
        memory: where forces of the last step are remembered: slot of a contact, coordinate of a joint, shape (blocks,).
        points: contact point of a block, -1 for a joint's, shape (blocks,).
        compliance: added to the operator's diagonal [m/(s N)], shape (rows,).
        shifts: added to the free velocity before the law is applied [m/s], shape (rows,).
        v_free: free velocities with their shifts, shape (rows,).
        forces: shape (rows,).
        velocities: after the step, with the shifts, shape (rows,).
        diagonal: of the operators when they were last built, shape (rows,).
        built: what each block was when the operators were last built, 8 times its memory plus its kind, shape
            (blocks,).
    """

    starts: NDArray[np.int64]
    kinds: NDArray[np.int64]
    parameters: NDArray[np.float64]
    parents: NDArray[np.int64]
    memory: NDArray[np.int64]
    points: NDArray[np.int64]
    compliance: NDArray[np.float64]
    shifts: NDArray[np.float64]
    v_free: NDArray[np.float64]
    forces: NDArray[np.float64]
    velocities: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    built: NDArray[np.int64]

    @classmethod
    def of_size(cls, blocks: int, rows: int) -> BlockArrays:
        """Room for so many blocks and rows."""
        return cls(
            np.zeros(blocks + 1, dtype=np.int64), np.zeros(blocks, dtype=np.int64), np.zeros(blocks),
            np.zeros(blocks, dtype=np.int64), np.zeros(blocks, dtype=np.int64), np.zeros(blocks, dtype=np.int64),
            np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows),
            np.full(blocks, -1, dtype=np.int64),
        )  # fmt: skip


class GroupArrays(NamedTuple):
    """Groups of constraints that see each other (specification 000 §12), and their operators.

    Attributes:
        blocks: first block of each group, and one behind the last block, shape (groups + 1,).
        ends: one behind the last block of each group that is solved for, shape (groups,).
        offsets: where the operator of each group begins in ``W``, negative where it isn't there, ``FREE_BODIES`` for a
            group of contacts between free bodies, shape (groups + 1,).
        largest: groups of contacts alone have an operator in ``W`` up to so many rows, those of free bodies alone up to
            so many bodies, shape (2,).
        W: operators of all groups one after the other, each (n, n), shape (any,).
        residuals: of each group, shape (groups, 5).
        iterations: of each group, shape (groups,).
        leaders: work space for joining trees, shape (ntrees,).
        group_of_tree: work space, shape (ntrees,).
        mixed: work space, whether a group has other constraints than contacts, shape (ntrees,).
        members: work space, shape (ntrees,).
        free: whether a tree is a free body, shape (ntrees,).
        place: place of a joint among the bodies of its tree that constraints act on, -1 for others, shape (njoints,).
        bodies: those bodies, tree by tree, shape (njoints,).
        tree_bodies: first of them by tree, shape (ntrees + 1,).
        sizes: their number by tree, shape (ntrees,).
        omega_offsets: where the operator of a tree begins in ``omega``, shape (ntrees,).
        omega: operators between bodies, shape (any, 6, 6).
        branch: work space, shape (nv,).
        marks: work space, zero, shape (nv,).
        U: work space, shape (nv, 6).
        A: work space, shape (nv, 6, 6).
        reach: work space, shape (any, 6, 6).
        counts: groups, blocks, rows, numbers of entries of W and of blocks of omega, shape (5,).
        path: work space, shape (nv,).
        was_solved: number of blocks of the last step if its forces needed no iteration, -1 if they did, shape (1,).
        methods: way to the operator that each tree got when the operators were last built, of
            :data:`~humanoid_sim.stepping.operators.DELASSUS_METHODS`, ``AUTO`` where nothing acts on it, shape
            (ntrees,).
    """

    blocks: NDArray[np.int64]
    ends: NDArray[np.int64]
    offsets: NDArray[np.int64]
    largest: NDArray[np.int64]
    W: NDArray[np.float64]
    residuals: NDArray[np.float64]
    iterations: NDArray[np.int64]
    leaders: NDArray[np.int64]
    group_of_tree: NDArray[np.int64]
    mixed: NDArray[np.bool_]
    members: NDArray[np.int64]
    free: NDArray[np.bool_]
    place: NDArray[np.int64]
    bodies: NDArray[np.int64]
    tree_bodies: NDArray[np.int64]
    sizes: NDArray[np.int64]
    omega_offsets: NDArray[np.int64]
    omega: NDArray[np.float64]
    branch: NDArray[np.int64]
    marks: NDArray[np.int64]
    U: NDArray[np.float64]
    A: NDArray[np.float64]
    reach: NDArray[np.float64]
    counts: NDArray[np.int64]
    path: NDArray[np.int64]
    was_solved: NDArray[np.int64]
    methods: NDArray[np.int64]


class MemoryArrays(NamedTuple):
    """Forces of the last step, to start the next solve from, by what touches what.

    Attributes:
        contacts: normal, two tangential forces, spin and two rolling torques by contact slot, shape (slots, 6).
        joints: forces of the lower limit, the upper limit and dry friction by coordinate, shape (nv, 3).
        used: contact slots that hold a force, shape (slots,).
        used_count: how many they are, shape (1,).
    """

    contacts: NDArray[np.float64]
    joints: NDArray[np.float64]
    used: NDArray[np.int64]
    used_count: NDArray[np.int64]

    @classmethod
    def of_size(cls, slots: int, nv: int) -> MemoryArrays:
        """Nothing remembered."""
        return cls(
            np.zeros((slots, 6)), np.zeros((nv, 3)), np.zeros(slots, dtype=np.int64), np.zeros(1, dtype=np.int64)
        )


class ClosureArrays(NamedTuple):
    """Bilateral constraints between two bodies: loops that the tree leaves open.

    Attributes:
        joint_a: joint of the first body, shape (closures,).
        joint_b: joint of the second body, 0 for the world, shape (closures,).
        rotation_a: frame of the closure in the first joint's frame, shape (closures, 3, 3).
        origin_a: its origin [m], shape (closures, 3).
        rotation_b: frame of the closure in the second joint's frame, shape (closures, 3, 3).
        origin_b: its origin [m], shape (closures, 3).
        fixed: which of the three translations and three rotations along the first frame's axes are held, shape
            (closures, 6).
        memory: forces of the last step, shape (closures, 6).
    """

    joint_a: NDArray[np.int64]
    joint_b: NDArray[np.int64]
    rotation_a: NDArray[np.float64]
    origin_a: NDArray[np.float64]
    rotation_b: NDArray[np.float64]
    origin_b: NDArray[np.float64]
    fixed: NDArray[np.bool_]
    memory: NDArray[np.float64]


class PointArrays(NamedTuple):
    """Contact points of the step, see :class:`~humanoid_sim.detection.contact_points.ContactPoints`.

    Attributes:
        positions: in the world [m], shape (points, 3).
        normals: unit, from body b into body a, shape (points, 3).
        gaps: signed distances [m], shape (points,).
        joint_a: joint of body a, shape (points,).
        joint_b: joint of body b, shape (points,).
        body_a: body a, shape (points,).
        body_b: body b, shape (points,).
        slots: same number as long as the same features touch, shape (points,).
        corner: whether the point stays the same point of body a, shape (points,).
        restitution: Newton's coefficient, shape (points,).
        friction: coefficient that acted, written by the step, shape (points,).
        frames: contact frames (n, t1, t2) as rows, written by the step, shape (points, 3, 3).
        forces: contact forces (n, t1, t2), written by the step [N], shape (points, 3).
        torques: spin and rolling torques about (n, t1, t2) [N m], written by the step, shape (points, 3).
        velocities: contact velocities at the end of the step (n, t1, t2) [m/s], written by the step, shape (points, 3).
    """

    positions: NDArray[np.float64]
    normals: NDArray[np.float64]
    gaps: NDArray[np.float64]
    joint_a: NDArray[np.int64]
    joint_b: NDArray[np.int64]
    body_a: NDArray[np.int64]
    body_b: NDArray[np.int64]
    slots: NDArray[np.int64]
    corner: NDArray[np.bool_]
    restitution: NDArray[np.float64]
    friction: NDArray[np.float64]
    frames: NDArray[np.float64]
    forces: NDArray[np.float64]
    torques: NDArray[np.float64]
    velocities: NDArray[np.float64]


class PushArrays(NamedTuple):
    """Wrenches that a user lets act for a while, constant in the world, at points that move with their bodies.

    Attributes:
        joints: joint that moves the body, shape (pushes,).
        last_steps: number of the last step in which it acts, shape (pushes,).
        values: point in the joint frame [m], force [N] and torque [N m] in the world, shape (pushes, 9).
        counts: how many act in the next step, how many acted in the last one, number of the next step, shape (3,).
    """

    joints: NDArray[np.int64]
    last_steps: NDArray[np.int64]
    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of_size(cls, pushes: int) -> PushArrays:
        """Room for so many."""
        return cls(
            np.zeros(pushes, dtype=np.int64), np.zeros(pushes, dtype=np.int64), np.zeros((pushes, 9)),
            np.zeros(3, dtype=np.int64),
        )  # fmt: skip


class FlightArrays(NamedTuple):
    """What makes free motion of second order, see :mod:`humanoid_sim.stepping.second_order`.

    Attributes:
        bodies: ball joints of free bodies, shape (bodies,).
        joints: joints of all that isn't a free body, shape (any,).
        velocity: by which the configuration moves in the step where nothing touches, of free bodies, shape (nv,).
        pull: what the forces of loops changed in the velocity in the last step, zero where other constraints acted
            beside them, shape (nv,).
        mean: velocity that the gyroscopic forces of the step belong to, shape (nv,).
    """

    bodies: NDArray[np.int64]
    joints: NDArray[np.int64]
    velocity: NDArray[np.float64]
    pull: NDArray[np.float64]
    mean: NDArray[np.float64]


class LockArrays(NamedTuple):
    """Joints that are locked, see :mod:`humanoid_sim.stepping.joints`.

    Attributes:
        on: 1 while joints are locked, shape (1,).
        held: whether a coordinate is, shape (nv,).
        friction: dry friction of those that slide [N m or N], shape (nv,).
        inertia: what those that are held would accelerate besides the bodies, shape (nv,).
        efforts: what holds them, shape (nv,).
    """

    on: NDArray[np.int64]
    held: NDArray[np.bool_]
    friction: NDArray[np.float64]
    inertia: NDArray[np.float64]
    efforts: NDArray[np.float64]


class PairArrays(NamedTuple):
    """How bodies touch, by classes of bodies that all rules treat alike.

    Attributes:
        classes: class of each body, shape (bodies,).
        properties: static friction, dynamic friction, restitution, torsional friction [m], rolling friction [m],
            viscous friction [N s/m] and normal compliance [m/N] of two classes, shape (classes, classes, 6).
        has_torques: 1 where any pair has torsional, rolling or viscous friction, shape (1,).
    """

    classes: NDArray[np.int64]
    properties: NDArray[np.float64]
    has_torques: NDArray[np.int64]


class ClockArrays(NamedTuple):
    """What many steps in one call write down about themselves, see :func:`~humanoid_sim.stepping.run_steps.run_steps`.

    Attributes:
        work: work space of the clock, shape (2,).
        last: seconds of the last step by stage, shape (6,).
        sums: seconds of all steps by stage, shape (6,).
        longest: seconds of the longest step, shape (1,).
        contacts: number of contact points of the last step, shape (1,).
        unsolved: count, largest residual and its iterations of the steps whose contacts were not solved, shape (3,);
            written by :func:`~humanoid_sim.stepping.run_steps.note_unsolved` whatever way the steps are made.
    """

    work: NDArray[np.int64]
    last: NDArray[np.float64]
    sums: NDArray[np.float64]
    longest: NDArray[np.float64]
    contacts: NDArray[np.int64]
    unsolved: NDArray[np.float64]


class Step(BorrowedRecord):
    """The arrays of a step, as a compiled function takes them; made by :func:`make_step`."""

    model: KinematicTree
    motion: TreeMotion
    middle: TreeMotion
    articulated: ArticulatedInertia
    state: StateArrays
    joints: JointArrays
    rows: ConstraintRows
    blocks: BlockArrays
    groups: GroupArrays
    memory: MemoryArrays
    closures: ClosureArrays
    points: PointArrays
    pairs: PairArrays
    pushes: PushArrays
    flight: FlightArrays
    locks: LockArrays
    clock: ClockArrays


STEP_TYPE = BorrowedType(
    "Step",
    {
        "model": KinematicTree.from_pinocchio(pin.Model()),
        "motion": TreeMotion.of_size(1, 1),
        "middle": TreeMotion.of_size(1, 1),
        "articulated": ArticulatedInertia.of_size(1, 1),
        "state": StateArrays.of_size(1, 1, 1),
        "joints": smallest(JointArrays, mimics=2, mimic_laws=2),
        "rows": ConstraintRows.of_size(1),
        "blocks": BlockArrays.of_size(1, 1),
        "groups": smallest(GroupArrays, residuals=2, omega=3, U=2, A=3, reach=3),
        "memory": MemoryArrays.of_size(1, 1),
        "closures": smallest(
            ClosureArrays, rotation_a=3, origin_a=2, rotation_b=3, origin_b=2, fixed=2, memory=2
        ),
        "points": smallest(
            PointArrays, positions=2, normals=2, frames=3, forces=2, torques=2, velocities=2
        ),
        "pairs": smallest(PairArrays, properties=3),
        "pushes": PushArrays.of_size(1),
        "flight": smallest(FlightArrays),
        "locks": smallest(LockArrays),
        "clock": smallest(ClockArrays),
    },
)


def make_step(**records: tuple[Any, ...]) -> Step:
    """Put the records of a step together, by the names that :class:`Step` gives them.

    Their arrays are shared, not copied, and whoever calls must keep them.
    """
    return Step(STEP_TYPE, records)
