# SPDX-License-Identifier: Apache-2.0
"""Self-collision at a compound joint as one smooth function of its positions (specification 001 section 4.8, F076)."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import coal
import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_planner.distance.compound_joint import CompoundJoint, compound_joints
from humanoid_planner.distance.convex_parts import convex_parts
from humanoid_planner.distance.volume_geometry import convex_geometry

_SAFETY = 0.003
"""By how much more than asked shapes have to be apart for a sample to count as free [m]: covers what is between."""
_COARSE = {2: 15, 3: 9}
"""Samples along each joint in a first look, by number of joints."""
_FINE = {2: 61, 3: 25}
"""Samples along each joint on which the function is checked."""
_DEPTH = 0.05
"""Depth of collision, or gap, at which the function is about one [m]."""
_DEGREE = {2: 8, 3: 6}
"""Degree of the polynomial."""


@njit(cache=True)
def _polynomial(x: np.ndarray, exponents: np.ndarray, coefficients: np.ndarray, gradient: np.ndarray) -> float:
    """Value of a polynomial at x, shape (k,); its gradient (k,) is written."""
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
        """The function at positions (k,) [rad] of the joints; it has to be 0 or less."""
        return self.evaluate(q)[0]

    def gradient(self, q: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Its derivatives, shape (k,) [1/rad]."""
        return self.evaluate(q)[1]

    def evaluate(self, q: Sequence[float] | NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The function and its derivatives together."""
        gradient = np.empty(len(self.joint.joints))
        value = _polynomial(self._scaled(q), self.exponents, self.coefficients, gradient)
        return value, gradient * 2.0 / (self.joint.upper - self.joint.lower)

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
        by_construction: pairs of links that are in each other whatever the joints do, which no function can forbid.
        allowed: by pair of links, how much nearer than asked they are in the robot's own postures, which therefore
            counts as free [m].
    """

    joint: CompoundJoint
    limit: CompoundLimit | None
    by_construction: tuple[tuple[str, str], ...]
    allowed: Mapping[tuple[str, str], float]


def compound_reports(robot: Robot, clearance: float = 0.01) -> list[CompoundReport]:
    """Functions that keep the links around each compound joint of a robot apart.

    Links are as near as the convex parts of their collision shapes. They collide where they are nearer than
    ``clearance``, or nearer than in any of the robot's own postures where those are nearer, since these are taken to be
    possible. On a grid over the box of joint limits the function is fitted by a linear program that puts all colliding
    samples on its positive side and as many free ones as possible on the other, and raised where a finer grid asks.

    Args:
        robot: the robot.
        clearance: distance to keep [m].

    Returns:
        One report for each compound joint, in the order of the robot's joints.

    Raises:
        InputError: a mesh can't be read, or the clearance isn't a length.
    """
    if not (math.isfinite(clearance) and clearance >= 0.0):
        raise InputError(f"is {clearance}", element="clearance", remedy="Give a finite length, 0 or more, in metres")
    return [_report(robot, joint, clearance) for joint in compound_joints(robot.description)]


class _Links:
    """The shapes around a compound joint, and how near they come."""

    def __init__(self, robot: Robot, joint: CompoundJoint) -> None:
        self._description = robot.description
        self._joint = joint
        self._shapes = [
            [convex_geometry(part.outline) for part in convex_parts(robot.description.links[link].collisions)]
            for link in joint.links
        ]

    def gaps(self, samples: NDArray[np.float64], pairs: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
        """Distances of pairs of links at positions (n, k), shape (n, len(pairs)); infinite for links without shape."""
        gaps = np.full((len(samples), len(pairs)), np.inf)
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        for row, q in enumerate(samples):
            placements = [
                coal.Transform3s(placement.rotation, placement.translation)
                for placement in self._joint.placements(self._description, q)
            ]
            for column, (i, j) in enumerate(pairs):
                for one, other in itertools.product(self._shapes[i], self._shapes[j]):
                    result.clear()
                    gap = coal.distance(one, placements[i], other, placements[j], request, result)
                    gaps[row, column] = min(gaps[row, column], gap)
        return gaps


def _report(robot: Robot, joint: CompoundJoint, clearance: float) -> CompoundReport:
    links = _Links(robot, joint)
    indices = list(itertools.combinations(range(len(joint.links)), 2))
    names = {pair: (joint.links[pair[0]], joint.links[pair[1]]) for pair in indices}
    own = np.array([[q[robot.index_q(name)] for name in joint.joints] for q in robot.postures.values()])
    own = np.unique(np.clip(own, joint.lower, joint.upper), axis=0)
    coarse = _grid(joint, _COARSE[len(joint.joints)])
    gaps = links.gaps(coarse, indices)
    always = [pair for pair, column in zip(indices, gaps.T, strict=True) if column.max() <= 0.0]
    nearest_own = dict(zip(indices, links.gaps(own, indices).min(axis=0), strict=True))
    thresholds = {
        pair: min(clearance + _SAFETY, nearest_own[pair] - _SAFETY) for pair in indices if pair not in always
    }
    concerned = [
        pair
        for pair, column in zip(indices, gaps.T, strict=True)
        if pair[1] - pair[0] > 1 and pair in thresholds and column.min() < thresholds[pair] < column.max()
    ]
    limit = None
    if concerned:
        limit = _fit(joint, links, concerned, np.array([thresholds[pair] for pair in concerned]), own, names)
    return CompoundReport(
        joint=joint,
        limit=limit,
        by_construction=tuple(names[pair] for pair in always),
        allowed={
            names[pair]: float(clearance - gap)
            for pair, gap in nearest_own.items()
            if pair in thresholds and pair[1] - pair[0] > 1 and gap < clearance
        },
    )


def _grid(joint: CompoundJoint, count: int) -> NDArray[np.float64]:
    """Positions (count^k, k) spread evenly over the box of joint limits, its faces included."""
    axes = [np.linspace(lower, upper, count) for lower, upper in zip(joint.lower, joint.upper, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _fit(
    joint: CompoundJoint,
    links: _Links,
    pairs: list[tuple[int, int]],
    thresholds: NDArray[np.float64],
    own: NDArray[np.float64],
    names: Mapping[tuple[int, int], tuple[str, str]],
) -> CompoundLimit:
    size = len(joint.joints)
    samples = _grid(joint, _FINE[size])
    depths = (thresholds - links.gaps(samples, pairs)).max(axis=1)
    collides = depths > 0.0
    exponents = np.array(
        [e for e in itertools.product(range(_DEGREE[size] + 1), repeat=size) if sum(e) <= _DEGREE[size]], dtype=np.int64
    )
    limit = CompoundLimit(
        joint, tuple(names[pair] for pair in pairs), exponents, np.zeros(len(exponents)), float(collides.mean()), 0.0
    )
    monomials = (limit._scaled(samples)[:, None] ** exponents[None]).prod(axis=2)
    boundary = _near_boundary(collides.reshape((_FINE[size],) * size)).reshape(-1)
    chosen = boundary | (np.arange(len(samples)) % 7 == 0)
    own_monomials = (limit._scaled(own)[:, None] ** exponents[None]).prod(axis=2)
    coefficients = _separate(monomials[chosen], depths[chosen], own_monomials)
    values = monomials @ coefficients
    coefficients[0] += max(0.0, -float(values[collides].min()) + 1e-6)  # the constant: exponents begin with zeros
    values = monomials @ coefficients
    return dataclasses.replace(limit, coefficients=coefficients, lost=float((values[~collides] > 0.0).mean()))


def _near_boundary(collides: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Samples of a grid with a neighbour of the other kind."""
    near = np.zeros_like(collides)
    for axis in range(collides.ndim):
        here = np.swapaxes(collides, 0, axis)
        found = np.swapaxes(near, 0, axis)
        differs = here[1:] != here[:-1]
        found[1:] |= differs
        found[:-1] |= differs
    return near


def _separate(
    monomials: NDArray[np.float64], depths: NDArray[np.float64], own: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Coefficients that put colliding samples above 0, and as few free ones as possible beside them.

    With the depth g, cut off at 5 cm either way: minimises the sum of max(0, h - g / 2) over free samples subject to
    h >= g / 10 at colliding ones, all in units of 5 cm. The robot's own postures count as a thousand free samples each.
    """
    g = np.clip(depths / _DEPTH, -1.0, 1.0)
    collides = g > 0.0
    inside, outside = monomials[collides], np.vstack([monomials[~collides], own])
    count, terms = len(outside), monomials.shape[1]
    weights = np.concatenate([np.ones(count - len(own)), np.full(len(own), 1000.0)]) / count
    slack = sparse.eye(count, format="csr")
    A = sparse.bmat([[sparse.csr_matrix(-inside), None], [sparse.csr_matrix(outside), -slack]], format="csr")
    b = np.concatenate([-0.1 * g[collides], 0.5 * g[~collides], np.full(len(own), -1e-3)])
    solution = linprog(
        np.concatenate([np.zeros(terms), weights]),
        A_ub=A,
        b_ub=b,
        bounds=[(-30.0, 30.0)] * terms + [(0.0, None)] * count,
        method="highs",
    )
    if solution.x is None:
        raise RuntimeError(f"linear program of a compound joint: {solution.message}")
    return np.asarray(solution.x[:terms])
