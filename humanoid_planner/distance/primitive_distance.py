# SPDX-License-Identifier: Apache-2.0
"""Distances between the surfaces that volumes are made of: spheres and tori (specification 001 section 5.6).

A sphere is its centre and its radius; a torus the circle of the centres of its tube (centre I, unit axis e, radius
R' of the circle) and the tube's radius. The distance of two bodies is the greatest over unit vectors n, from the second
body to the first, of the gap between their supporting planes across n. Between two of these surfaces, with radii taken
off, the gap is

    gap(n) = D . n + sum over the tori of R' sqrt(1 - (n . e)^2)

with D from the second centre to the first: the projections on n of the farthest points of the circles. Its greatest
value is the distance of the two farthest points of centres and circles, as (S.2) requires; minus the radii of spheres
and tubes, it is the signed distance. The maximising n is the normal, also where the surfaces touch or overlap.
"""

from __future__ import annotations

import math

from humanoid_planner.distance.frame_change import Vector
from humanoid_planner.distance.kernel import kernel

_SMALLEST = 1e-200
_STEP = 1e-10
"""Newton's steps [rad] below this are the last ones: the next would be its square."""


@kernel
def sphere_sphere(d: Vector) -> tuple[float, Vector, bool]:
    """Return the distance of two spheres' centres.

    Args:
        d: from the second centre to the first [m].

    Returns:
        Distance of the centres [m]; unit vector from the second to the first; False when the centres coincide, which
        leaves no direction.
    """
    d0, d1, d2 = d
    length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if length < _SMALLEST:
        return 0.0, (0.0, 0.0, 0.0), False
    return length, (d0 / length, d1 / length, d2 / length), True


@kernel
def sphere_torus(d: Vector, e: Vector, radius: float) -> tuple[float, Vector, bool]:
    """Greatest distance of a sphere's centre from a torus' circle.

    Args:
        d: from the second body's centre to the first's, whichever of the two is the torus [m].
        e: unit axis of the circle.
        radius: of the circle [m].

    Returns:
        Distance [m]; unit vector n; False when the sphere's centre is on the axis, where all points of the
        circle are equally far.
    """
    d0, d1, d2 = d
    e0, e1, e2 = e
    along = d0 * e0 + d1 * e1 + d2 * e2
    x0, x1, x2 = d0 - along * e0, d1 - along * e1, d2 - along * e2
    across = math.sqrt(x0 * x0 + x1 * x1 + x2 * x2)
    if across < _SMALLEST:
        return 0.0, (0.0, 0.0, 0.0), False
    length = math.sqrt(along * along + (across + radius) ** 2)
    scale = (across + radius) / (across * length)
    along /= length
    return length, (scale * x0 + along * e0, scale * x1 + along * e1, scale * x2 + along * e2), True


@kernel
def _gap(d: Vector, e: Vector, radius_e: float, f: Vector, radius_f: float, n: Vector) -> float:
    d0, d1, d2 = d
    e0, e1, e2 = e
    f0, f1, f2 = f
    n0, n1, n2 = n
    s = n0 * e0 + n1 * e1 + n2 * e2
    t = n0 * f0 + n1 * f1 + n2 * f2
    return (
        d0 * n0
        + d1 * n1
        + d2 * n2
        + radius_e * math.sqrt(max(1.0 - s * s, 0.0))
        + radius_f * math.sqrt(max(1.0 - t * t, 0.0))
    )


@kernel
def torus_torus(
    d: Vector, e: Vector, radius_e: float, f: Vector, radius_f: float, n: Vector
) -> tuple[float, Vector, bool]:
    """Local maximum of the distance of two circles' points: Newton's method over n, never downhill.

    There is no closed form. Where the arcs of two separate volumes are concerned the local maximum is the only one.

    Args:
        d: from the second circle's centre to the first's [m].
        e: unit axis of the first circle.
        radius_e: of the first circle [m].
        f: unit axis of the second circle.
        radius_f: of the second circle [m].
        n: unit vector to start from.

    Returns:
        Distance [m]; unit vector n; whether it is a maximum (it isn't in deep penetration, or when n got stuck on a
        circle's axis).
    """
    d0, d1, d2 = d
    e0, e1, e2 = e
    f0, f1, f2 = f
    n0, n1, n2 = n
    value = _gap(d, e, radius_e, f, radius_f, n)
    for _ in range(8):  # near the answer it takes three or four; farther off, others supply a better start
        s = n0 * e0 + n1 * e1 + n2 * e2
        t = n0 * f0 + n1 * f1 + n2 * f2
        p = 1.0 - s * s
        q = 1.0 - t * t
        if p < 1e-12 or q < 1e-12:
            return value, (n0, n1, n2), False
        p = radius_e / math.sqrt(p)
        q = radius_f / math.sqrt(q)
        g0 = d0 - p * s * e0 - q * t * f0
        g1 = d1 - p * s * e1 - q * t * f1
        g2 = d2 - p * s * e2 - q * t * f2
        tension = g0 * n0 + g1 * n1 + g2 * n2
        # Tangent plane of the sphere of directions (J. R. Frisvad 2012's basis, in the sign-safe form).
        sign = math.copysign(1.0, n2)
        a = -1.0 / (sign + n2)
        b = n0 * n1 * a
        u0, u1, u2 = 1.0 + sign * n0 * n0 * a, sign * b, -sign * n0
        v0, v1, v2 = b, sign + n1 * n1 * a, -n1
        eu, ev = e0 * u0 + e1 * u1 + e2 * u2, e0 * v0 + e1 * v1 + e2 * v2
        fu, fv = f0 * u0 + f1 * u1 + f2 * u2, f0 * v0 + f1 * v1 + f2 * v2
        gu, gv = g0 * u0 + g1 * u1 + g2 * u2, g0 * v0 + g1 * v1 + g2 * v2
        p /= 1.0 - s * s
        q /= 1.0 - t * t
        # Minus the second derivative; where that isn't positive definite, a larger one that keeps the step uphill.
        h_uu = p * eu * eu + q * fu * fu + tension
        h_uv = p * eu * ev + q * fu * fv
        h_vv = p * ev * ev + q * fv * fv + tension
        determinant = h_uu * h_vv - h_uv * h_uv
        is_maximum = h_uu + h_vv > 0.0 and determinant > 0.0
        if not is_maximum:
            h_uu += abs(tension) - tension
            h_vv += abs(tension) - tension
            determinant = h_uu * h_vv - h_uv * h_uv
            if not determinant > 0.0:
                return value, (n0, n1, n2), False
        du = (h_vv * gu - h_uv * gv) / determinant
        dv = (h_uu * gv - h_uv * gu) / determinant
        size = math.sqrt(du * du + dv * dv)
        if size <= _STEP:
            n0, n1, n2 = n0 + du * u0 + dv * v0, n1 + du * u1 + dv * v1, n2 + du * u2 + dv * v2
            length = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
            n0, n1, n2 = n0 / length, n1 / length, n2 / length
            value = _gap(d, e, radius_e, f, radius_f, (n0, n1, n2))
            return value, (n0, n1, n2), is_maximum
        if size > 1.0:
            du, dv = du / size, dv / size
        scale = 1.0
        while True:
            m0 = n0 + scale * (du * u0 + dv * v0)
            m1 = n1 + scale * (du * u1 + dv * v1)
            m2 = n2 + scale * (du * u2 + dv * v2)
            length = math.sqrt(m0 * m0 + m1 * m1 + m2 * m2)
            m0, m1, m2 = m0 / length, m1 / length, m2 / length
            reached = _gap(d, e, radius_e, f, radius_f, (m0, m1, m2))
            if reached >= value - 1e-15 * (radius_e + radius_f):
                break
            scale *= 0.5
            if scale < 1e-8:
                return value, (n0, n1, n2), False
        n0, n1, n2, value = m0, m1, m2, reached
    return value, (n0, n1, n2), False
