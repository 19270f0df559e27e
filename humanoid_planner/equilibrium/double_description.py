# SPDX-License-Identifier: Apache-2.0
"""Double description: the half-spaces of a cone given by generators, and the reverse (section 7.6.5 of 001).

Motzkin, Raiffa, Thompson and Thrall 1953, in the form of Fukuda and Prodon 1996: inequalities are taken one by one,
and the extreme rays of what they bound are kept, with the set of inequalities that each ray makes tight. New rays lie
where the boundary of the next inequality cuts a two-dimensional face, that is between two adjacent rays on either side.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError

TOLERANCE = 1e-9
"""Products of unit vectors below it count as zero."""


@njit(cache=True)
def _count(word: np.uint64) -> np.int64:
    """Return the number of bits set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _adjacent(tight: np.ndarray, count: int, a: int, b: int, least: int, common: np.ndarray) -> bool:
    """Return whether two rays span a face: enough inequalities are tight at both, and all of them at no third ray.

    Args:
        tight: (n, words) sets of tight inequalities, one per ray.
        count: number of rays.
        a: a ray.
        b: another one.
        least: number of inequalities that must be tight along a two-dimensional face.
        common: (words,) receives the inequalities tight at both.
    """
    words = tight.shape[1]
    total = np.int64(0)
    for w in range(words):
        common[w] = tight[a, w] & tight[b, w]
        total += _count(common[w])
    if total < least:
        return False
    for c in range(count):
        if c in (a, b):
            continue
        contained = True
        for w in range(words):
            if common[w] & ~tight[c, w] != np.uint64(0):
                contained = False
                break
        if contained:
            return False
    return True


@njit(cache=True)
def _extreme_rays(rows: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Extreme rays and lines of the cone ``rows @ x <= 0``.

    Args:
        rows: (g, d) of length 1, in the order in which they are taken.
        tolerance: see :data:`TOLERANCE`.

    Returns:
        Rays (n, d) and lines (l, d) of length 1, and the sets (n, words) of rows that are tight at each ray.
    """
    g, d = rows.shape
    words = max((g + 63) // 64, 1)
    one = np.uint64(1)
    lines = np.eye(d)
    free = d
    room = 64
    rays = np.empty((room, d))
    tight = np.zeros((room, words), np.uint64)
    values = np.empty(room)
    count = 0
    common = np.empty(words, np.uint64)
    for index in range(g):
        row = rows[index]
        word = index // 64
        bit = one << np.uint64(index % 64)
        # A line that the inequality cuts becomes a ray; everything else is moved along it into the boundary.
        chosen = -1
        largest = tolerance
        for i in range(free):
            product = abs(np.dot(lines[i], row))
            if product > largest:
                largest = product
                chosen = i
        if chosen >= 0:
            line = lines[chosen].copy()
            slope = np.dot(line, row)
            lines[chosen] = lines[free - 1]
            free -= 1
            for i in range(free):
                lines[i] -= (np.dot(lines[i], row) / slope) * line
                # Lines stay orthonormal, so that no product with a row is small by accident.
                for j in range(i):
                    lines[i] -= np.dot(lines[i], lines[j]) * lines[j]
                lines[i] /= np.sqrt(np.dot(lines[i], lines[i]))
            for i in range(count):
                rays[i] -= (np.dot(rays[i], row) / slope) * line
                rays[i] /= np.sqrt(np.dot(rays[i], rays[i]))
                tight[i, word] |= bit
            if count == room:
                rays, tight, values = _grow(rays, tight)
                room *= 2
            rays[count] = -line if slope > 0.0 else line
            for w in range(words):
                tight[count, w] = np.uint64(0)
            for i in range(index):  # lines lie in the boundaries of all rows before
                tight[count, i // 64] |= one << np.uint64(i % 64)
            count += 1
            continue
        outside = 0
        for i in range(count):
            values[i] = np.dot(rays[i], row)
            if abs(values[i]) <= tolerance:
                values[i] = 0.0
                tight[i, word] |= bit
            elif values[i] > 0.0:
                outside += 1
        if outside == 0:
            continue
        before = count
        for a in range(before):
            if values[a] <= 0.0:
                continue
            for b in range(before):
                if values[b] >= 0.0 or not _adjacent(tight, before, a, b, d - free - 2, common):
                    continue
                if count == room:
                    kept = values
                    rays, tight, values = _grow(rays, tight)
                    values[:room] = kept
                    room *= 2
                new = values[a] * rays[b] - values[b] * rays[a]
                rays[count] = new / np.sqrt(np.dot(new, new))
                tight[count] = common
                tight[count, word] |= bit
                values[count] = 0.0
                count += 1
        kept_count = 0
        for i in range(count):
            if values[i] <= 0.0:
                if i != kept_count:
                    rays[kept_count] = rays[i]
                    tight[kept_count] = tight[i]
                kept_count += 1
        count = kept_count
    return rays[:count].copy(), lines[:free].copy(), tight[:count].copy()


@njit(cache=True)
def _grow(rays: np.ndarray, tight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Twice the room for rays."""
    room = len(rays)
    more_rays = np.empty((2 * room, rays.shape[1]))
    more_rays[:room] = rays
    more_tight = np.zeros((2 * room, tight.shape[1]), np.uint64)
    more_tight[:room] = tight
    return more_rays, more_tight, np.empty(2 * room)


def _distinct_directions(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return unit vectors without repetition, in lexicographic order, which keeps the number of rays between small."""
    lengths = np.linalg.norm(vectors, axis=1)
    directions = vectors[lengths > 0.0] / lengths[lengths > 0.0, None]
    order = np.lexsort(directions.T[::-1].round(9))
    kept: list[int] = []
    for i in order:
        if not kept or np.abs(directions[i] - directions[kept[-1]]).max() > TOLERANCE:
            kept.append(int(i))
    return np.ascontiguousarray(directions[kept])


def extreme_rays(halfspaces: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return generators of the cone ``halfspaces @ x <= 0``.

    Args:
        halfspaces: (h, d), of any lengths; rows should have entries of comparable size.

    Returns:
        Extreme rays (n, d) of length 1, orthogonal to the lines, and an orthonormal basis (l, d) of the lines: the cone
        is all ``rays.T @ a + lines.T @ b`` with a >= 0.

    Raises:
        InputError: something isn't finite, or rows are so nearly dependent that the rays are not certain to 1e-6.
    """
    rows = np.array(halfspaces, dtype=float)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise InputError(
            f"shape {rows.shape}" if rows.ndim != 2 else "not finite",
            element="halfspaces",
            remedy="Give a finite array of shape (h, d)",
        )
    d = rows.shape[1]
    ordered = _distinct_directions(rows)
    if len(ordered) == 0:
        return np.zeros((0, d)), np.eye(d)
    random = np.random.default_rng(0)
    for _ in range(5):  # another order, where rounding has led astray
        rays, lines, tight = _extreme_rays(ordered, TOLERANCE)
        basis = np.linalg.qr(lines.T)[0].T if len(lines) else lines
        rays = _polished(rays - (rays @ basis.T) @ basis, ordered, basis, tight)
        if len(rays) == 0 or float((ordered @ rays.T).max()) < 1e-6:
            return rays, basis
        ordered = ordered[random.permutation(len(ordered))]
    raise InputError(
        "nearly dependent rows hide which rays are extreme",
        element="halfspaces",
        remedy="Remove rows that nearly repeat others",
    )


def _polished(
    rays: NDArray[np.float64], rows: NDArray[np.float64], lines: NDArray[np.float64], tight: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Rays computed anew from all rows that they make tight, once each; errors of their history drop out."""
    if len(rays) == 0:
        return rays
    d = rows.shape[1]
    numbers = np.arange(len(rows))
    sets = ((tight[:, numbers // 64] >> (numbers % 64).astype(np.uint64)) & np.uint64(1)).astype(float)
    grams = np.einsum("ng,gi,gj->nij", sets, rows, rows, optimize=True) + lines.T @ lines
    values, vectors = np.linalg.eigh(grams)
    polished = vectors[:, :, 0] * np.where(np.einsum("ni,ni->n", vectors[:, :, 0], rays) < 0.0, -1.0, 1.0)[:, None]
    certain = values[:, 1] > 1e-12 if d > 1 else np.ones(len(rays), dtype=bool)
    polished[~certain] = rays[~certain] / np.linalg.norm(rays[~certain], axis=1)[:, None]
    order = np.lexsort(polished.T[::-1].round(7))
    kept = [int(order[0])]
    for i in order[1:]:
        if np.abs(polished[i] - polished[kept[-1]]).max() > 1e-7:
            kept.append(int(i))
    return polished[kept]


def cone_halfspaces(generators: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Half-spaces of the cone that vectors generate: the extreme rays of its polar cone (Farkas' lemma).

    Args:
        generators: (g, d), of any lengths.

    Returns:
        (h, d) outward unit normals a of its facets, ``a @ x <= 0``, and (e, d) orthonormal normals of the subspace that
        contains it, ``n @ x = 0``; e is 0 when the cone has an inside.

    Raises:
        InputError: as :func:`extreme_rays`.
    """
    return extreme_rays(generators)


def polytope_halfspaces(
    points: ArrayLike, rays: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Half-spaces of the convex hull of points, extended along rays.

    Args:
        points: (n, d).
        rays: (r, d).

    Returns:
        A (h, d) of unit rows and b (h,) of ``A @ x <= b``, and C (e, d) and c (e,) of ``C @ x = c``.

    Raises:
        InputError: as :func:`extreme_rays`.
    """
    places = np.atleast_2d(np.asarray(points, dtype=float))
    d = places.shape[1]
    directions = np.zeros((0, d)) if rays is None else np.asarray(rays, dtype=float).reshape(-1, d)
    centre = places.mean(axis=0)
    scale = float(np.abs(places - centre).max()) or 1.0
    cone = np.vstack(
        [
            np.hstack([(places - centre) / scale, np.ones((len(places), 1))]),
            np.hstack([directions, np.zeros((len(directions), 1))]),
        ]
    )
    facets, equalities = cone_halfspaces(cone)
    facets = facets[np.linalg.norm(facets[:, :d], axis=1) > TOLERANCE]  # the others say 0 <= 1

    def back(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        lengths = np.linalg.norm(rows[:, :d], axis=1)
        normals = rows[:, :d] / lengths[:, None]
        return normals, normals @ centre - scale * rows[:, d] / lengths

    return (*back(facets), *back(equalities))
