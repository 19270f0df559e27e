# SPDX-License-Identifier: Apache-2.0
"""Where to open the loops of a mechanism (specification 003 section 2.1; thesis I.2.3)."""

from __future__ import annotations

from humanoid_studies.planar_gait.mechanism.planar_mechanism import Loop, PlanarMechanism


def choose_cuts(mechanism: PlanarMechanism, release_all_contacts: bool = False) -> tuple[str, ...]:
    """Joints to cut so that a tree is left.

    Rule U: a loop that a unilateral contact closes is opened at the contact, so that the force there becomes a control
    with bounds of its own; of several contacts at the last one, which the walking models make the front foot's. Rule B:
    any other loop is opened at the joint farthest from the ground, which makes the two sides move without each other:
    the mass matrix falls into two blocks. Every loop of a mechanism with several is treated alike.

    Args:
        mechanism: whose loops are opened.
        release_all_contacts: open every contact, the one that would be the root included; the tree then floats.

    Returns:
        Names of the joints to cut, in the order of the mechanism.
    """
    cut: set[str] = set()
    if release_all_contacts:
        cut.update(pivot.name for pivot in mechanism.pivots if pivot.contact)
    while (loop := mechanism.shortest_loop(cut)) is not None:
        cut.add(_rule_u(mechanism, loop) if loop.unilateral else _rule_b(mechanism, loop))
    return tuple(pivot.name for pivot in mechanism.pivots if pivot.name in cut)


def _rule_u(mechanism: PlanarMechanism, loop: Loop) -> str:
    """Return the last contact of a loop, in the order of the mechanism."""
    return next(pivot.name for pivot in reversed(mechanism.pivots) if pivot.contact and pivot.name in loop.pivots)


def _rule_b(mechanism: PlanarMechanism, loop: Loop) -> str:
    """Return the joint farthest from the ground: both its links are; the first of equals."""
    steps = mechanism.distances()

    def remoteness(name: str) -> int:
        pivot = mechanism.pivot(name)
        return steps.get(pivot.parent, 0) + steps.get(pivot.child, 0)

    turning = [pivot.name for pivot in mechanism.pivots if pivot.name in loop.pivots and not pivot.weld]
    return max(turning or loop.pivots, key=remoteness)
