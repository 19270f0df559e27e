# SPDX-License-Identifier: Apache-2.0
"""The phase model of a mechanism whose loops are cut: tree, cut forces as controls, closures (sections 2.1 and 2.7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.loop_cut import choose_cuts
from humanoid_studies.planar_gait.mechanism.phase_model import CutForce, Joint, PhaseModel, PointClosure, Torque
from humanoid_studies.planar_gait.mechanism.planar_body import PlanarBody
from humanoid_studies.planar_gait.mechanism.planar_mechanism import GROUND, Pivot, PlanarMechanism
from humanoid_studies.planar_gait.mechanism.planar_point import PlanarPoint
from humanoid_studies.planar_gait.mechanism.planar_tree import GRAVITY, PlanarTree


def open_mechanism(
    mechanism: PlanarMechanism,
    cuts: Sequence[str] | None = None,
    gravity: float = GRAVITY,
    points: Mapping[str, tuple[str, complex]] | None = None,
) -> PhaseModel:
    """Cuts a mechanism open.

    The absolute angles of the links stay what they are whichever joints are cut, so motions and controls of the same
    mechanism can be held against each other.

    Args:
        mechanism: links and joints.
        cuts: joints to cut; by the rules of :func:`.loop_cut.choose_cuts` if left out.
        gravity: along -Y [m/s²]; zero in a horizontal plane.
        points: places of interest: link and place in its frame [m].

    Returns:
        The phase model: one coordinate for each link that isn't welded, after the place (x, y) of a floating root;
        torques in the order of the joints, then each cut's vertical force before its horizontal one.

    Raises:
        InputError: unknown joints, loops left, links that hang on nothing, or a weld that is cut.
    """
    cut = tuple(choose_cuts(mechanism) if cuts is None else cuts)
    for name in cut:
        if mechanism.pivot(name).weld:
            raise InputError("is a weld", element=name, remedy="Cut a joint that turns")
    bodies, entries, floating = _tree_bodies(mechanism, cut)
    tree = _with_rotors(mechanism, PlanarTree.from_bodies(bodies, gravity, floating))

    def place(link: str, offset: complex) -> PlanarPoint:
        return tree.point(link, offset - entries[link])

    named = {name: place(link, offset) for name, (link, offset) in (points or {}).items()}
    forces: list[CutForce] = []
    closures: list[PointClosure] = []
    for name in cut:
        pivot = mechanism.pivot(name)
        if pivot.parent == GROUND:
            named[name], target = place(pivot.child, pivot.at_child), complex(pivot.at_parent)
        elif pivot.child == GROUND:
            named[name], target = place(pivot.parent, pivot.at_parent), complex(pivot.at_child)
        else:
            named[name] = place(pivot.parent, pivot.at_parent).minus(place(pivot.child, pivot.at_child))
            target = 0j
        closures.append(PointClosure(name, target))
        along_x, along_y = pivot.forces or (f"F_{name}_x", f"F_{name}_y")
        lowest = 0.0 if pivot.contact else float("-inf")
        forces += [CutForce(along_y, name, 1j, lower=lowest), CutForce(along_x, name, 1.0 + 0j)]
    return PhaseModel(
        mechanism.name,
        tree,
        _torques(mechanism, tree),
        tuple(forces),
        named,
        tuple(closures),
        joints=tuple(
            Joint(
                pivot.name,
                _end(tree, pivot.child),
                _end(tree, pivot.parent),
                pivot.lower,
                pivot.upper,
                pivot.rate_limit,
                pivot.damping,
                pivot.sign,
                pivot.offset,
            )
            for pivot in mechanism.pivots
            if not pivot.weld and not pivot.contact
        ),
    )


def _tree_bodies(mechanism: PlanarMechanism, cut: Sequence[str]) -> tuple[list[PlanarBody], dict[str, complex], bool]:
    """Return bodies of the tree, where each is entered in its own frame, and whether the root floats."""
    links = {link.name: link for link in mechanism.links}
    left = [pivot for pivot in mechanism.pivots if pivot.name not in cut]
    floating = not any(GROUND in (pivot.parent, pivot.child) for pivot in left)
    root = mechanism.links[0].name if floating else GROUND
    entries: dict[str, complex] = {root: 0j}
    found: dict[str, PlanarBody] = {}
    if floating:
        link = links[root]
        found[root] = PlanarBody(root, None, 0j, link.mass, link.centre, link.inertia)
    queue = deque([root])
    used: set[str] = set()
    while queue:
        here = queue.popleft()
        for pivot in left:
            if pivot.name in used or here not in (pivot.parent, pivot.child):
                continue
            used.add(pivot.name)
            there = pivot.other(here)
            if there in entries:
                raise InputError(
                    f"a loop is left, through '{pivot.name}'",
                    element=mechanism.name,
                    remedy="Cut one more of its joints",
                )
            found[there], entries[there] = _body(links[there].name, mechanism, pivot, here, entries)
            queue.append(there)
    for name in links:
        if name not in found:
            raise InputError("hangs on nothing", element=name, remedy="Join it to the other links, or cut fewer joints")
    return [found[name] for name in links], entries, floating


def _body(
    name: str, mechanism: PlanarMechanism, pivot: Pivot, carrier: str, entries: Mapping[str, complex]
) -> tuple[PlanarBody, complex]:
    """Return a link as a body carried by another one, and where it is entered in its own frame."""
    link = next(item for item in mechanism.links if item.name == name)
    carried_at, entered_at = (
        (pivot.at_parent, pivot.at_child) if carrier == pivot.parent else (pivot.at_child, pivot.at_parent)
    )
    origin = carried_at - entries[carrier]
    parent = None if carrier == GROUND else carrier
    centre = link.centre - entered_at
    return PlanarBody(name, parent, origin, link.mass, centre, link.inertia, welded=pivot.weld), entered_at


def _with_rotors(mechanism: PlanarMechanism, tree: PlanarTree) -> PlanarTree:
    """Return the tree with rotors between the links that their joints join, cut ones included."""
    rotors = np.zeros((tree.n, tree.n))
    for pivot in mechanism.pivots:
        turned = np.zeros(tree.n)
        for link, sign in ((pivot.child, 1.0), (pivot.parent, -1.0)):
            if link != GROUND:
                turned[tree.coordinate_of(link)] += sign
        rotors += pivot.rotor * np.outer(turned, turned)
    return tree.with_rotors(rotors) if rotors.any() else tree


def _torques(mechanism: PlanarMechanism, tree: PlanarTree) -> tuple[Torque, ...]:
    """Return actuators of the joints, cut ones included."""
    return tuple(
        Torque(pivot.torque, _end(tree, pivot.child), _end(tree, pivot.parent))
        for pivot in mechanism.pivots
        if pivot.torque is not None
    )


def _end(tree: PlanarTree, link: str) -> str | None:
    """Return the coordinate that a link turns with; None for the ground."""
    return None if link == GROUND else tree.coordinates[tree.coordinate_of(link)]
