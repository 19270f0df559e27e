# SPDX-License-Identifier: Apache-2.0
"""Self-collision at a compound joint as one smooth function of its positions (specification 001 section 4.8, F076).

A compound joint is revolute joints in a row whose axes meet in a point, such as a shoulder or a hip.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from humanoid_model.checks import check_number
from humanoid_model.description import Joint, RobotDescription
from humanoid_model.robot import Robot
from humanoid_model.self_overlap import own_postures
from humanoid_planner.distance.convex_parts import convex_parts
from humanoid_planner.distance.volume_mesh import convex_geometry

_MEETING = 1e-6
"""Axes nearer to each other than this [m] meet."""
_MOST = 3
"""Joints of a compound joint: three concurrent axes already give every orientation."""


@dataclass(frozen=True)
class CompoundJoint:
    """Two or three revolute joints in a row with concurrent axes (specification 001 section 4.8).

    Attributes:
        joints: their names, from the root outwards.
        links: the link that carries the first one, and the links that each of them moves.
        lower: lowest positions, shape (k,) [rad].
        upper: highest positions.
    """

    joints: tuple[str, ...]
    links: tuple[str, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def name(self) -> str:
        """The joints' names, joined."""
        return "+".join(self.joints)

    def placements(
        self, description: RobotDescription, q: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return placements of the links in the frame of the first one.

        Args:
            description: of the robot.
            q: positions of the joints, shape (n, k) [rad].

        Returns:
            Rotations (n, k + 1, 3, 3) and origins (n, k + 1, 3) [m].
        """
        rotations = np.broadcast_to(np.eye(3), (len(q), len(self.links), 3, 3)).copy()
        origins = np.zeros((len(q), len(self.links), 3))
        for index, name in enumerate(self.joints):
            joint = description.joints[name]
            across = pin.skew(joint.axis)
            sine, cosine = np.sin(q[:, index])[:, None, None], np.cos(q[:, index])[:, None, None]
            turned = np.eye(3) + sine * across + (1.0 - cosine) * (across @ across)
            before = rotations[:, index]
            rotations[:, index + 1] = before @ joint.placement.rotation @ turned
            origins[:, index + 1] = origins[:, index] + before @ joint.placement.translation
        return rotations, origins


def compound_joints(description: RobotDescription) -> list[CompoundJoint]:
    """Return the compound joints of a robot, in the order of its joints.

    Joints that follow others or have no limits don't belong to one; a row of more than three is cut after the third.

    Args:
        description: of the robot.
    """
    found, used = [], set()
    for first in description.joints.values():
        if first.name in used or not _fits(first):
            continue
        row = [first]
        while len(row) < _MOST:
            following = [joint for joint in description.child_joints[row[-1].child] if _fits(joint)]
            if len(following) != 1 or len(description.child_joints[row[-1].child]) != 1:
                break
            if not _meets([*row, following[0]]):
                break
            row.append(following[0])
        if len(row) > 1:
            used |= {joint.name for joint in row}
            limits = [joint.limit for joint in row if joint.limit is not None]
            found.append(
                CompoundJoint(
                    joints=tuple(joint.name for joint in row),
                    links=(row[0].parent, *(joint.child for joint in row)),
                    lower=np.array([limit.lower for limit in limits]),
                    upper=np.array([limit.upper for limit in limits]),
                )
            )
    return found


def _fits(joint: Joint) -> bool:
    limit = joint.limit
    return (
        joint.type == "revolute"
        and joint.mimic is None
        and limit is not None
        and bool(np.isfinite([limit.lower, limit.upper]).all())
        and limit.upper > limit.lower
    )


def _meets(row: Sequence[Joint]) -> bool:
    """Return whether the axes of joints in a row go through one point, and no two next to each other are parallel."""
    placement, rows, sides, axes = pin.SE3.Identity(), [], [], []
    for index, joint in enumerate(row):
        if index:
            placement = placement * joint.placement
        axis = placement.rotation @ joint.axis
        across = np.eye(3) - np.outer(axis, axis)  # distance of a point p to the axis: |across (p - origin)|
        rows.append(across)
        sides.append(across @ placement.translation)
        axes.append(axis)
    if any(np.linalg.norm(np.cross(one, other)) < 1e-6 for one, other in itertools.pairwise(axes)):
        return False
    A, b = np.vstack(rows), np.concatenate(sides)
    point = np.linalg.lstsq(A, b, rcond=None)[0]
    return bool(np.abs(A @ point - b).max() <= _MEETING)


_SAFETY = 0.003
"""By how much more than asked shapes have to be apart for a sample to count as free [m]: covers what is between."""
_SPACING = {2: (0.2, 0.1, 0.05, 0.025), 3: (0.35, 0.175, 0.0875)}
"""Spacing of samples [rad] everywhere, then ever nearer to where collisions begin, by number of joints."""
_DEGREE = {2: 6, 3: 4}
"""Degree of the polynomial."""
_DEPTH = 0.05
"""Depth of collision, or gap, at which the function is about a third [m]."""
_SLOPE = 0.3
"""Share of the depth, in units of the above, that the function reaches at least."""
_BAND = 0.4
"""Gap, in units of the above, up to which it reaches that at free samples too."""
_WORKING = 800
"""Samples in the first linear program."""
_ROUNDS = 8
"""Linear programs at most, each with the worst samples of the one before added."""


@njit(cache=True)
def _polynomial(x: np.ndarray, exponents: np.ndarray, coefficients: np.ndarray, gradient: np.ndarray) -> float:
    """Return the value of a polynomial at x, shape (k,); its gradient (k,) is written."""
    size = x.shape[0]
    most = 0
    for i in range(exponents.shape[0]):
        for k in range(size):
            most = max(most, exponents[i, k])
    powers = np.ones((size, most + 1))
    for k in range(size):
        for e in range(1, most + 1):
            powers[k, e] = powers[k, e - 1] * x[k]
    gradient[:] = 0.0
    value = 0.0
    for i in range(exponents.shape[0]):
        term = coefficients[i]
        for k in range(size):
            term *= powers[k, exponents[i, k]]
        value += term
        for k in range(size):
            if exponents[i, k] > 0:
                slope = coefficients[i] * exponents[i, k]
                for other in range(size):
                    slope *= powers[other, exponents[i, other] - (other == k)]
                gradient[k] += slope
    return value


@dataclass(frozen=True)
class CompoundLimit:
    """A polynomial h of a compound joint's positions, above 0 wherever its links collide.

    h is conservative: it is above 0 in some postures without collision too, a share ``lost`` of them.

    Attributes:
        joint: the compound joint.
        pairs: links that it keeps apart.
        exponents: of the monomials in the scaled positions, shape (n, k).
        coefficients: of the monomials, shape (n,).
        colliding: share of the box of joint limits in which links collide.
        lost: share of the rest in which h is above 0 nevertheless.
    """

    joint: CompoundJoint
    pairs: tuple[tuple[str, str], ...]
    exponents: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    colliding: float
    lost: float

    def value(self, q: Sequence[float] | NDArray[np.float64]) -> float:
        """Return the function at positions (k,) [rad] of the joints; it has to be 0 or less."""
        return self.evaluate(q)[0]

    def gradient(self, q: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Its derivatives, shape (k,) [1/rad]."""
        return self.evaluate(q)[1]

    def evaluate(self, q: Sequence[float] | NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the function and its derivatives together."""
        gradient = np.empty(len(self.joint.joints))
        value = _polynomial(self._scaled(q), self.exponents, self.coefficients, gradient)
        return value, gradient * 2.0 / (self.joint.upper - self.joint.lower)

    def monomials(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the monomials at positions (n, k) [rad], shape (n, terms)."""
        return np.asarray((self._scaled(q)[:, None] ** self.exponents[None]).prod(axis=2))

    def _scaled(self, q: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions with the limits at -1 and 1."""
        lower, upper = self.joint.lower, self.joint.upper
        return np.asarray((2.0 * np.asarray(q, dtype=np.float64) - lower - upper) / (upper - lower))


@dataclass(frozen=True)
class CompoundReport:
    """What is to be said of a compound joint.

    Attributes:
        joint: the compound joint.
        limit: None when none of its links can collide within the joint limits.
        by_construction: pairs of links with parts that are in each other whatever the joints do, which no function can
            forbid.
        allowed: by pair of links, how much nearer than asked they are in the robot's own postures, which therefore
            counts as free [m].
    """

    joint: CompoundJoint
    limit: CompoundLimit | None
    by_construction: tuple[tuple[str, str], ...]
    allowed: Mapping[tuple[str, str], float]


def compound_reports(robot: Robot, clearance: float = 0.01) -> list[CompoundReport]:
    """Return functions that keep the links around each compound joint of a robot apart.

    Links are as near as the convex parts of their collision shapes. Two parts collide where they are nearer than
    ``clearance``, or nearer than in any of the robot's own postures where those are nearer, since these are taken to be
    possible; parts that are in each other in every position are one housing. On samples of the box of joint limits,
    closest where collisions begin, the function is fitted by linear programs that put all colliding samples on its
    positive side and as many free ones as possible on the other.

    Args:
        robot: the robot.
        clearance: distance to keep [m].

    Returns:
        One report for each compound joint, in the order of the robot's joints.

    Raises:
        InputError: a mesh can't be read, or the clearance isn't a length.
    """
    check_number(clearance, "clearance")
    return [_report(robot, joint, clearance) for joint in compound_joints(robot.description)]


class _Links:
    """The shapes around a compound joint, and how near they come.

    Attributes:
        owners: link of each shape, by its place in the row.
        reach: how far from the frame of its link a moved shape reaches [m].
    """

    def __init__(self, robot: Robot, joint: CompoundJoint) -> None:
        self._description = robot.description
        self._joint = joint
        parts = [convex_parts(robot.description.links[link].collisions) for link in joint.links]
        self.owners = [link for link, own in enumerate(parts) for _ in own]
        self._shapes = [convex_geometry(part.outline) for own in parts for part in own]
        self.reach = max(
            (float(np.linalg.norm(part.outline, axis=1).max()) for own in parts[1:] for part in own), default=0.0
        )

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Shapes of different links."""
        shapes = range(len(self.owners))
        return [(i, j) for i, j in itertools.combinations(shapes, 2) if self.owners[i] < self.owners[j]]

    def gaps(self, samples: NDArray[np.float64], pairs: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
        """Distances of pairs of shapes at positions (n, k), shape (n, len(pairs)) [m]."""
        rotations, origins = self._joint.placements(self._description, samples)
        gaps = np.empty((len(samples), len(pairs)))
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        wanted = sorted({self.owners[shape] for pair in pairs for shape in pair})
        for row in range(len(samples)):
            places = {link: coal.Transform3s(rotations[row, link], origins[row, link]) for link in wanted}
            for column, (i, j) in enumerate(pairs):
                result.clear()
                gaps[row, column] = coal.distance(
                    self._shapes[i], places[self.owners[i]], self._shapes[j], places[self.owners[j]], request, result
                )
        return gaps


def _report(robot: Robot, joint: CompoundJoint, clearance: float) -> CompoundReport:
    links = _Links(robot, joint)
    indices = links.pairs
    own = np.array([[q[robot.index_q(name)] for name in joint.joints] for q in own_postures(robot).values()])
    own = np.unique(np.clip(own, joint.lower, joint.upper), axis=0)
    coarse = _lattice(joint, _SPACING[len(joint.joints)][0])
    gaps = links.gaps(coarse, indices)
    always = [pair for pair, column in zip(indices, gaps.T, strict=True) if column.max() <= 0.0]
    nearest_own = dict(zip(indices, links.gaps(own, indices).min(axis=0), strict=True))
    thresholds = {
        pair: min(clearance + _SAFETY, nearest_own[pair] - _SAFETY) for pair in indices if pair not in always
    }
    apart = [pair for pair in thresholds if links.owners[pair[1]] - links.owners[pair[0]] > 1]
    nearest = dict(zip(indices, zip(gaps.min(axis=0), gaps.max(axis=0), strict=True), strict=True))
    concerned = [pair for pair in apart if nearest[pair][0] < thresholds[pair] < nearest[pair][1]]

    def names(pair: tuple[int, int]) -> tuple[str, str]:
        return joint.links[links.owners[pair[0]]], joint.links[links.owners[pair[1]]]

    limit = None
    if concerned:
        kept = tuple(dict.fromkeys(map(names, concerned)))
        limit = _fit(joint, links, concerned, np.array([thresholds[pair] for pair in concerned]), own, kept)
    allowed: dict[tuple[str, str], float] = {}
    for pair in apart:
        if nearest_own[pair] < clearance:
            allowed[names(pair)] = max(allowed.get(names(pair), 0.0), float(clearance - nearest_own[pair]))
    return CompoundReport(joint, limit, tuple(dict.fromkeys(map(names, always))), allowed)


def _lattice(joint: CompoundJoint, spacing: float) -> NDArray[np.float64]:
    """Positions (n, k) spread evenly over the box of joint limits, its faces included, at most a spacing apart."""
    axes = [
        np.linspace(lower, upper, math.ceil((upper - lower) / spacing) + 1)
        for lower, upper in zip(joint.lower, joint.upper, strict=True)
    ]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _explore(
    joint: CompoundJoint, links: _Links, pairs: list[tuple[int, int]], thresholds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Positions (n, k), depths of collision there (n,) [m], and how many of the first are spread evenly over the box.

    The evenly spread ones are followed by others where collisions begin: a point of a link moves by no more than its
    distance from the joint's centre times the turned angles, so that nothing begins farther than that from a sample.
    """
    size = len(joint.joints)
    spacings = _SPACING[size]
    found = _lattice(joint, spacings[0])
    even = len(found)
    steps = (joint.upper - joint.lower) / np.ceil((joint.upper - joint.lower) / spacings[0])
    depths = (thresholds - links.gaps(found, pairs)).max(axis=1)
    last, last_depths = found, depths
    offsets = np.array(list(itertools.product((-1, 0, 1), repeat=size)))
    for _ in spacings[1:]:
        near = last[np.abs(last_depths) <= 0.5 * links.reach * steps.sum()]
        steps = 0.5 * steps
        around = (near[:, None] + offsets[None] * steps).reshape(-1, size)
        places = np.unique(np.round((around - joint.lower) / steps).astype(np.int64), axis=0)
        last = joint.lower + places * steps
        last = last[((last >= joint.lower - 1e-9) & (last <= joint.upper + 1e-9)).all(axis=1)]
        last_depths = (thresholds - links.gaps(last, pairs)).max(axis=1)
        found, depths = np.vstack([found, last]), np.concatenate([depths, last_depths])
    return found, depths, even


def _fit(
    joint: CompoundJoint,
    links: _Links,
    pairs: list[tuple[int, int]],
    thresholds: NDArray[np.float64],
    own: NDArray[np.float64],
    names: tuple[tuple[str, str], ...],
) -> CompoundLimit:
    degree, size = _DEGREE[len(joint.joints)], len(joint.joints)
    exponents = np.array(
        [e for e in itertools.product(range(degree + 1), repeat=size) if sum(e) <= degree], dtype=np.int64
    )
    samples, depths, even = _explore(joint, links, pairs, thresholds)
    limit = CompoundLimit(joint, names, exponents, np.zeros(len(exponents)), 0.0, 0.0)
    monomials = limit.monomials(samples)
    coefficients = _separate(monomials, np.clip(depths / _DEPTH, -1.0, 1.0), limit.monomials(own))
    values, collides = monomials[:even] @ coefficients, depths[:even] > 0.0
    return dataclasses.replace(
        limit,
        coefficients=coefficients,
        colliding=float(collides.mean()),
        lost=float((values[~collides] > 0.0).mean()),
    )


def _separate(
    monomials: NDArray[np.float64], g: NDArray[np.float64], own: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return coefficients of an h above 0 at colliding samples, and at as few free ones as possible.

    Minimises the sum of max(0, h - s g) over free samples, subject to h >= s g at colliding ones and at free ones near
    the boundary; g is the scaled depth, s the slope. That bounds h between samples to second order in their spacing,
    which a bound on its sign at colliding ones would not. The robot's own postures count as a thousand free samples
    each. Samples enter the linear program as they turn out to be needed.
    """
    bound, free = np.flatnonzero(g > -_BAND), np.flatnonzero(g <= 0.0)
    random = np.random.default_rng(0)
    chosen = random.choice(bound, min(_WORKING, len(bound)), replace=False)
    soft = random.choice(free, min(_WORKING, len(free)), replace=False)
    penalised = np.vstack([monomials[soft], own])
    goal = np.concatenate([_SLOPE * g[soft], np.full(len(own), -1e-3)])
    count, terms = len(penalised), monomials.shape[1]
    cost = np.concatenate([np.zeros(terms), np.ones(len(soft)) / count, np.full(len(own), 1000.0 / count)])
    below = sparse.hstack([sparse.csr_matrix(penalised), -sparse.eye(count)], format="csr")
    for _ in range(_ROUNDS):
        above = sparse.hstack([sparse.csr_matrix(-monomials[chosen]), sparse.csr_matrix((len(chosen), count))])
        solution = linprog(
            cost,
            A_ub=sparse.vstack([above, below], format="csr"),
            b_ub=np.concatenate([-_SLOPE * g[chosen], goal]),
            bounds=[(-30.0, 30.0)] * terms + [(0.0, None)] * count,
            method="highs",
        )
        if solution.x is None:
            raise RuntimeError(f"linear program of a compound joint: {solution.message}")
        coefficients = np.array(solution.x[:terms])
        short = _SLOPE * g[bound] - monomials[bound] @ coefficients
        worst = bound[np.argsort(-short)[: _WORKING // 4]]
        missing = worst[short[np.argsort(-short)[: _WORKING // 4]] > 1e-3]
        if not len(missing):
            break
        chosen = np.union1d(chosen, missing)
    coefficients[0] += max(0.0, float(short.max()))  # the constant term: the exponents begin with zeros
    return coefficients
