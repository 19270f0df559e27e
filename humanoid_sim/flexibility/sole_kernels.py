# SPDX-License-Identifier: Apache-2.0
r"""What a step does with a deformable sole, in compiled loops on flat arrays (specification 000 §§17.6 and 18).

A sole's vertices are its free surface nodes first, then the fixed ones. A contact of a sole is a point of a surface
triangle: three vertices and their barycentric weights; a contact at a node has the weights (1, 0, 0).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.closest_point import closest_on_triangle
from humanoid_model.compiling import counted
from humanoid_sim.stepping.rows_and_forces import TOUCHING_GAP


class FoundContacts(NamedTuple):
    """Room for the contacts that are found of soles.

    Attributes:
        positions: in the world, on the sole [m], shape (capacity, 3).
        normals: unit, into the sole, shape (capacity, 3).
        gaps: signed distances of the deformed sole [m], shape (capacity,).
        vertices: three vertices of the sole, shape (capacity, 3).
        weights: barycentric weights of the contact among them, shape (capacity, 3).
        other: what of the other body is touched: ball or triangle, shape (capacity,).
    """

    positions: NDArray[np.float64]
    normals: NDArray[np.float64]
    gaps: NDArray[np.float64]
    vertices: NDArray[np.int64]
    weights: NDArray[np.float64]
    other: NDArray[np.int64]

    @classmethod
    def of_size(cls, capacity: int) -> FoundContacts:
        """Room for so many."""
        return cls(
            np.empty((capacity, 3)), np.empty((capacity, 3)), np.empty(capacity),
            np.zeros((capacity, 3), dtype=np.int64), np.zeros((capacity, 3)), np.zeros(capacity, dtype=np.int64),
        )  # fmt: skip


class ContactsOfSole(NamedTuple):
    """Contacts of one sole in a contact problem.

    Attributes:
        numbers: which of all contacts of the step they are, shape (c,).
        rows: row of the normal of each of them in the problem, shape (c,).
        signs: 1 where the sole's body is body a of the contact, -1 where it is body b, shape (c,).
        vertices: three vertices of each, shape (c, 3).
        weights: barycentric weights of each among them, shape (c, 3).
        frames: frames (n, t1, t2) of all contacts of the step as rows, shape (m or more, 3, 3).
    """

    numbers: NDArray[np.int64]
    rows: NDArray[np.int64]
    signs: NDArray[np.float64]
    vertices: NDArray[np.int64]
    weights: NDArray[np.float64]
    frames: NDArray[np.float64]


@counted()
def place_vertices(R: np.ndarray, p: np.ndarray, rest: np.ndarray, U: np.ndarray, world: np.ndarray) -> None:
    """Compute vertices of the deformed sole in the world.

    Args:
        R: rotation of the frame that the sole is glued to, shape (3, 3).
        p: its origin [m], shape (3,).
        rest: vertices at rest in that frame [m], shape (k, 3).
        U: displacements of the first, free ones in that frame [m], flat, shape (3 free,).
        world: receives the positions [m], shape (k, 3).
    """
    free = U.size // 3
    for i in range(rest.shape[0]):
        x, y, z = rest[i, 0], rest[i, 1], rest[i, 2]
        if i < free:
            x += U[3 * i]
            y += U[3 * i + 1]
            z += U[3 * i + 2]
        for r in range(3):
            world[i, r] = p[r] + R[r, 0] * x + R[r, 1] * y + R[r, 2] * z


@counted()
def half_space_nodes(
    R: np.ndarray,
    world: np.ndarray,
    U: np.ndarray,
    normal: np.ndarray,
    offset: float,
    reach: float,
    count: int,
    found: FoundContacts,
) -> int:
    """Free nodes that touch a half-space, deformed or at rest: the flat-floor test of the thesis (§4.5).

    A node that is pushed in lies on the plane; at rest it would lie behind it.

    Args:
        R: rotation of the sole's frame, shape (3, 3).
        world: vertices of the deformed sole [m], shape (k, 3).
        U: displacements in the sole's frame [m], shape (3 free,).
        normal: outward unit normal of the half-space, shape (3,).
        offset: the plane is where ``normal @ x == offset`` [m].
        reach: nodes up to this far above count too [m].
        count: number of contacts found before.
        found: receives the contacts, but for what is touched.

    Returns:
        Number of contacts, those before included.
    """
    positions, normals, gaps = found.positions, found.normals, found.gaps
    vertices, weights = found.vertices, found.weights
    # normal in the sole's frame, to take the displacement along it off again
    n_0 = R[0, 0] * normal[0] + R[1, 0] * normal[1] + R[2, 0] * normal[2]
    n_1 = R[0, 1] * normal[0] + R[1, 1] * normal[1] + R[2, 1] * normal[2]
    n_2 = R[0, 2] * normal[0] + R[1, 2] * normal[1] + R[2, 2] * normal[2]
    for i in range(U.size // 3):
        gap = normal[0] * world[i, 0] + normal[1] * world[i, 1] + normal[2] * world[i, 2] - offset
        at_rest = gap - (n_0 * U[3 * i] + n_1 * U[3 * i + 1] + n_2 * U[3 * i + 2])
        if min(gap, at_rest) > reach:
            continue
        gaps[count] = gap
        for r in range(3):
            positions[count, r] = world[i, r]
            normals[count, r] = normal[r]
            vertices[count, r] = i
            weights[count, r] = 0.0
        weights[count, 0] = 1.0
        count += 1
    return count


@counted()
def bounds(world: np.ndarray, lowest: np.ndarray, highest: np.ndarray) -> None:
    """Smallest and largest coordinates of points, shape (k, 3), into two vectors of shape (3,)."""
    for r in range(3):
        lowest[r] = world[0, r]
        highest[r] = world[0, r]
    for i in range(1, world.shape[0]):
        for r in range(3):
            lowest[r] = min(lowest[r], world[i, r])
            highest[r] = max(highest[r], world[i, r])


@counted()
def speed_bounds(world: np.ndarray, twist: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """Bounds on how fast points of a body move.

    Args:
        world: the points [m], shape (k, 3).
        twist: of the body at the world's origin, linear first, shape (6,).
        direction: unit vector, shape (3,).

    Returns:
        No point is faster than the first; none moves along the direction faster than the second, which is 0 or
        more [m/s].
    """
    lowest, highest = np.empty(3), np.empty(3)
    bounds(world, lowest, highest)
    speed = 0.0
    along = 0.0
    radius = 0.0
    spin = 0.0
    for r in range(3):
        c1 = (r + 1) % 3
        c2 = (r + 2) % 3
        y = 0.5 * (lowest[c1] + highest[c1])
        z = 0.5 * (lowest[c2] + highest[c2])
        v = twist[r] + twist[3 + c1] * z - twist[3 + c2] * y
        speed += v * v
        along += v * direction[r]
        radius += 0.25 * (highest[r] - lowest[r]) ** 2
        spin += twist[3 + r] ** 2
    turning = math.sqrt(radius * spin)
    return math.sqrt(speed) + turning, max(along + turning, 0.0)


@counted()
def ball_contacts(
    world: np.ndarray,
    triangles: np.ndarray,
    centres: np.ndarray,
    radii: np.ndarray,
    reach: float,
    depth: float,
    count: int,
    found: FoundContacts,
) -> int:
    """Balls (grains, or with radius zero the peaks of rough ground) against the triangles of a sole.

    Each ball touches at most once, where it is closest to the surface.

    Args:
        world: vertices of the deformed sole [m], shape (k, 3).
        triangles: of the sole's surface, counter-clockwise from outside, shape (s, 3).
        centres: of the balls in the world [m], shape (b, 3).
        radii: of the balls, 0 or more [m], shape (b,).
        reach: balls up to this far away count too [m].
        depth: centres that are deeper inside the sole than this are taken to be on its other side [m].
        count: number of contacts found before.
        found: receives the contacts.

    Returns:
        Number of contacts, those before included.
    """
    positions, normals, gaps = found.positions, found.normals, found.gaps
    vertices, weights, other = found.vertices, found.weights, found.other
    lowest, highest, w, best = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    m, normal = np.empty(3), np.empty(3)
    bounds(world, lowest, highest)
    for ball in range(radii.size):
        near = radii[ball] + reach
        x = centres[ball]
        outside = False
        for r in range(3):
            outside = outside or x[r] < lowest[r] - near or x[r] > highest[r] + near
        if outside:
            continue
        least = max(near, depth) ** 2
        nearest = -1
        side = -np.inf
        for t in range(triangles.shape[0]):
            a, b, c = world[triangles[t, 0]], world[triangles[t, 1]], world[triangles[t, 2]]
            squared = closest_on_triangle(a, b, c, x, w)
            if squared > least * (1.0 + 1e-12):
                continue
            area = 0.0
            for r in range(3):
                c1 = (r + 1) % 3
                c2 = (r + 2) % 3
                m[r] = (b[c1] - a[c1]) * (c[c2] - a[c2]) - (b[c2] - a[c2]) * (c[c1] - a[c1])
                area += m[r] * m[r]
            area = math.sqrt(area)
            height = 0.0
            for r in range(3):
                height += m[r] / area * (x[r] - a[r])
            # At a shared edge or corner, the triangle that the ball stands off most tells inside from outside.
            if squared >= least * (1.0 - 1e-12) and nearest >= 0 and abs(height) <= abs(side):
                continue
            least = min(squared, least)
            nearest = t
            side = height
            for r in range(3):
                best[r] = w[r]
                normal[r] = -m[r] / area
        if nearest < 0:
            continue
        distance = math.sqrt(least)
        gap = (distance if side >= 0.0 else -distance) - radii[ball]
        if gap > reach:
            continue
        for r in range(3):
            positions[count, r] = 0.0
            for j in range(3):
                positions[count, r] += best[j] * world[triangles[nearest, j], r]
        if side >= 0.0 and distance > 1e-9:  # also right at edges, where no triangle's normal is
            for r in range(3):
                normal[r] = (positions[count, r] - x[r]) / distance
        gaps[count] = gap
        for r in range(3):
            normals[count, r] = normal[r]
            vertices[count, r] = triangles[nearest, r]
            weights[count, r] = best[r]
        other[count] = ball
        count += 1
    return count


@counted()
def triangle_nodes(
    world: np.ndarray,
    free: int,
    corners: np.ndarray,
    reach: float,
    depth: float,
    count: int,
    found: FoundContacts,
) -> int:
    """Free nodes of a sole that touch a ground of triangles from outside.

    A node touches the triangle it is straight above or below of, the one that it is least deep under. Together with
    :func:`ball_contacts` for the ground's peaks this finds where rough ground carries; edges that cross edges
    are left out, so the mesh of the sole must be fine against the ground.

    Args:
        world: vertices of the deformed sole [m], shape (k, 3).
        free: number of free nodes, the first vertices.
        corners: corners of the ground's triangles, counter-clockwise from outside [m], shape (t, 3, 3).
        reach: nodes up to this far above count too [m].
        depth: nodes deeper below a triangle than this don't belong to it [m].
        count: number of contacts found before.
        found: receives the contacts.

    Returns:
        Number of contacts, those before included.
    """
    positions, normals, gaps = found.positions, found.normals, found.gaps
    vertices, weights, other = found.vertices, found.weights, found.other
    lowest, highest, m, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    bounds(world, lowest, highest)
    first = count
    touched = np.full(free, -1)
    for t in range(corners.shape[0]):
        a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
        outside = False
        for r in range(3):
            least = min(a[r], b[r], c[r])
            most = max(a[r], b[r], c[r])
            outside = outside or least > highest[r] + depth or most < lowest[r] - max(reach, 0.0)
        if outside:
            continue
        area = 0.0
        for r in range(3):
            c1 = (r + 1) % 3
            c2 = (r + 2) % 3
            m[r] = (b[c1] - a[c1]) * (c[c2] - a[c2]) - (b[c2] - a[c2]) * (c[c1] - a[c1])
            area += m[r] * m[r]
        area = math.sqrt(area)
        for i in range(free):
            gap = 0.0
            for r in range(3):
                gap += m[r] / area * (world[i, r] - a[r])
            if gap > reach or gap < -depth:
                continue
            # straight above or below: the closest point is the foot of the perpendicular
            if closest_on_triangle(a, b, c, world[i], w) > gap * gap + 1e-12 * area:
                continue
            k = touched[i]
            if k < 0:
                k = count
                count += 1
                touched[i] = k
            elif gap <= gaps[k]:
                continue
            gaps[k] = gap
            other[k] = t
            for r in range(3):
                positions[k, r] = world[i, r]
                normals[k, r] = m[r] / area
                vertices[k, r] = i
                weights[k, r] = 1.0 if r == 0 else 0.0
    return max(count, first)


@counted()
def add_compliance(
    R: np.ndarray,
    S: np.ndarray,
    U: np.ndarray,
    contacts: ContactsOfSole,
    dt: float,
    W: np.ndarray,
    v_free: np.ndarray,
) -> None:
    r"""Add a sole to the contact problem: :math:`P S P^T/\delta t` and :math:`-P U/\delta t` (thesis 4.21, 4.32).

    Args:
        R: rotation of the sole's frame, shape (3, 3).
        S: compliance of the free nodes in that frame [m/N], shape (3 free, 3 free).
        U: their displacements [m], shape (3 free,).
        contacts: the sole's contacts.
        dt: time step [s].
        W: Delassus operator with the rigid bodies in it, added to, shape (rows, rows).
        v_free: free velocities, added to, shape (rows,).
    """
    free = U.size // 3
    numbers, rows, signs, frames = contacts.numbers, contacts.rows, contacts.signs, contacts.frames
    vertices, weights = contacts.vertices, contacts.weights
    count = numbers.size
    A = np.empty((count, 3, 3))  # contact frame from the sole's, times the sign
    for c in range(count):
        for r in range(3):
            for s in range(3):
                value = 0.0
                for q in range(3):
                    value += frames[numbers[c], r, q] * R[q, s]
                A[c, r, s] = signs[c] * value
    moved = np.empty((3, U.size))  # velocity of all nodes in the contact's frame, per unit force on it
    for c in range(count):
        row = rows[c]
        moved[:] = 0.0
        for j in range(3):
            a = vertices[c, j]
            if a >= free or weights[c, j] == 0.0:
                continue
            for r in range(3):
                out = moved[r]
                for s in range(3):
                    factor = weights[c, j] * A[c, r, s] / dt
                    v_free[row + r] -= factor * U[3 * a + s]
                    compliance = S[3 * a + s]
                    for k in range(out.size):
                        out[k] += factor * compliance[k]
        for d in range(c + 1):
            column = rows[d]
            turn = A[d]
            for j in range(3):
                b = vertices[d, j]
                if b >= free or weights[d, j] == 0.0:
                    continue
                for r in range(3):
                    m_0, m_1, m_2 = moved[r, 3 * b], moved[r, 3 * b + 1], moved[r, 3 * b + 2]
                    for s in range(3):
                        value = weights[d, j] * (m_0 * turn[s, 0] + m_1 * turn[s, 1] + m_2 * turn[s, 2])
                        W[row + r, column + s] += value
                        if c != d:
                            W[column + s, row + r] += value


@counted()
def deform(
    R: np.ndarray,
    S: np.ndarray,
    contacts: ContactsOfSole,
    forces: np.ndarray,
    U: np.ndarray,
) -> None:
    r"""Compute displacements of all surface nodes under the contact forces, :math:`U = S P^T f` (thesis equation 4.22).

    Args:
        R: as in :func:`add_compliance`, also for the rest.
        S: same.
        contacts: same.
        forces: solution of the problem, (n, t1, t2) from each row on [N], shape (rows,).
        U: receives the displacements [m], shape (3 free,).
    """
    free = U.size // 3
    numbers, rows, signs, frames = contacts.numbers, contacts.rows, contacts.signs, contacts.frames
    vertices, weights = contacts.vertices, contacts.weights
    F = np.zeros(U.size)
    for c in range(numbers.size):
        k = numbers[c]
        for s in range(3):
            value = 0.0  # force on the sole along axis s of its frame
            for q in range(3):
                world = 0.0
                for r in range(3):
                    world += frames[k, r, q] * forces[rows[c] + r]
                value += R[q, s] * world
            for j in range(3):
                if vertices[c, j] < free:
                    F[3 * vertices[c, j] + s] += signs[c] * weights[c, j] * value
    U[:] = 0.0
    for a in range(U.size):  # S is symmetric: adding its rows runs along contiguous memory
        if F[a] != 0.0:
            for b in range(U.size):
                U[b] += S[a, b] * F[a]


@counted()
def add_body_motion(
    operator: np.ndarray,
    bodies: np.ndarray,
    arms: np.ndarray,
    frames: np.ndarray,
    dt: float,
    W: np.ndarray,
) -> None:
    r"""Add :math:`\delta t\,X_i \Omega_{ab} X_j^T` for many contacts on few bodies.

    With about a hundred contacts on two feet this is cheaper than rows of :math:`J M^{-1} J^T`: the robot enters with
    one 6x6 block per pair of bodies.

    Args:
        operator: body-level Delassus operator :math:`\Omega = J M^{-1} J^T` of the bodies' twists (linear, angular,
            world axes, each at the body's reference point) [1/kg and so on], shape (b, b, 6, 6).
        bodies: body of each contact, shape (m,).
        arms: from the body's reference point to each contact, world axes [m], shape (m, 3).
        frames: contact frames (n, t1, t2) as rows, shape (m, 3, 3).
        dt: time step [s].
        W: Delassus operator, added to, shape (3m, 3m).
    """
    m = bodies.size
    X = np.empty((6, 3 * m))  # columns are wrenches of unit forces: the inner loops run along contiguous memory
    for i in range(m):
        for r in range(3):
            for s in range(3):
                c1 = (s + 1) % 3
                c2 = (s + 2) % 3
                X[s, 3 * i + r] = frames[i, r, s]
                X[3 + s, 3 * i + r] = arms[i, c1] * frames[i, r, c2] - arms[i, c2] * frames[i, r, c1]
    y = np.empty(6)
    for row in range(3 * m):
        a = bodies[row // 3]
        first = 0
        while first < m:  # a stretch of contacts of one body
            b = bodies[first]
            end = first + 1
            while end < m and bodies[end] == b:
                end += 1
            for s in range(6):
                y[s] = 0.0
                for q in range(6):
                    y[s] += X[q, row] * operator[a, b, q, s]
                y[s] *= dt
            y_0, y_1, y_2, y_3, y_4, y_5 = y[0], y[1], y[2], y[3], y[4], y[5]
            columns = X[:, 3 * first : 3 * end]
            x_0, x_1, x_2, x_3, x_4, x_5 = columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
            out = W[row, 3 * first : 3 * end]
            for c in range(out.size):
                out[c] += y_0 * x_0[c] + y_1 * x_1[c] + y_2 * x_2[c] + y_3 * x_3[c] + y_4 * x_4[c] + y_5 * x_5[c]
            first = end


@counted()
def ask_exact_positions(gaps: np.ndarray, told: np.ndarray, rows: np.ndarray, dt: float, v_free: np.ndarray) -> None:
    r"""Shift free normal velocities so that they ask for :math:`v_n + \phi/\delta t \ge 0`, also inside.

    Where rigid bodies let a penetration be, since pushing it out would make them jump, a deformable node may be put on
    the ground within one step: it has no mass.

    Args:
        gaps: signed distances of the sole's contacts [m], shape (c,).
        told: those that ``v_free`` has been shifted for already, as
            :func:`~humanoid_sim.stepping.rows_and_forces.shift_normal_velocities` does without restitution, shape (c,).
        rows: rows of the normals, shape (c,).
        dt: time step [s].
        v_free: free velocities, shifted in place, shape (rows,).
    """
    for c in range(gaps.size):
        v_free[rows[c]] += (gaps[c] - max(told[c] - TOUCHING_GAP, 0.0)) / dt


@counted()
def contact_rows(
    points: np.ndarray,
    starts: np.ndarray,
    group_blocks: np.ndarray,
    groups: int,
    rows: np.ndarray,
    group_of: np.ndarray,
) -> None:
    """Compute where contacts are in a step whose constraints are sorted into groups.

    Args:
        points: contact of each block of rows, negative for other constraints; a contact's own block comes before the
            blocks of its torques, shape (blocks,).
        starts: first row of each block, shape (blocks,).
        group_blocks: first block of each group, and one past the last block, shape (groups + 1,).
        groups: number of groups.
        rows: receives the row of the normal of each contact, counted from the first row of its group, shape (m,).
        group_of: receives the group of each contact, -1 where it has no block, shape (m,).
    """
    group_of[:] = -1
    for g in range(groups):
        begin = starts[group_blocks[g]]
        for block in range(group_blocks[g], group_blocks[g + 1]):
            i = points[block]
            if i >= 0 and group_of[i] < 0:
                group_of[i] = g
                rows[i] = starts[block] - begin
