# SPDX-License-Identifier: Apache-2.0
r"""How many operations each way to the Delassus operator takes (thesis tables 3.1-3.3), and which way to take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import plain_arguments, uncounted
from humanoid_model.tree.kinematic_tree import FREE_FLYER, SPHERICAL, TRANSLATION, KinematicTree


@dataclass(frozen=True)
class OperationCount:
    """Arithmetic of one computation of the operator.

    Attributes:
        multiplications: and divisions.
        additions: and subtractions.
    """

    multiplications: int
    additions: int

    @property
    def total(self) -> int:
        """All operations."""
        return self.multiplications + self.additions


@dataclass(frozen=True)
class ContactTopology:
    r"""What the counts depend on.

    Attributes:
        contacts: number m of contact points.
        bodies: number C of bodies in contact.
        branch: number s of bodies on the branches from the base to them, each counted once.
        contact_depths: :math:`\beta_m`, sum over the contact points of the joints to the base.
        body_depths: :math:`\beta_C`, the same over the bodies in contact.
        body_distances: :math:`\alpha_C`, sum over pairs of bodies in contact of the joints between them.
    """

    contacts: int
    bodies: int
    branch: int
    contact_depths: int
    body_depths: int
    body_distances: int


def _triangle(m: int) -> int:
    """Return operations of the projection of the upper triangle: 27 m (m + 1) / 2."""
    return 27 * m * (m + 1) // 2


def unit_forces_count(t: ContactTopology) -> OperationCount:
    """Return the initial method, table 3.1."""
    m, s = t.contacts, t.branch
    return OperationCount(
        144 * m + 39 * s * m + 36 * t.contact_depths + _triangle(m),
        99 * m + 36 * s * m + 21 * t.contact_depths + _triangle(m),
    )


def chang_khatib_count(t: ContactTopology) -> OperationCount:
    """Return recursions of Chang and Khatib, table 3.2."""
    m, s, bodies = t.contacts, t.branch, t.bodies
    return OperationCount(
        286 + 153 * s + 72 * t.body_distances + 54 * bodies * m + _triangle(m),
        235 + 179 * s + 66 * t.body_distances + 54 * bodies * m + _triangle(m),
    )


def unit_wrenches_count(t: ContactTopology) -> OperationCount:
    """Return the thesis' method, table 3.3."""
    m, s, bodies = t.contacts, t.branch, t.bodies
    return OperationCount(
        252 * bodies + 78 * bodies * s + 72 * t.body_depths + 54 * bodies * m + _triangle(m),
        180 * bodies + 72 * bodies * s + 42 * t.body_depths + 54 * bodies * m + _triangle(m),
    )


def topology(parents: np.ndarray, contact_joints: list[int]) -> ContactTopology:
    """Return numbers of a set of contacts of one tree with the world.

    Args:
        parents: parent joint of each joint, 0 at the base, shape (njoints,). The base's own joint counts as the base.
        contact_joints: joint of the body of each contact point.
    """

    def ancestors(joint: int) -> list[int]:
        """Joints from the body to below the base."""
        chain = []
        while joint > 0 and parents[joint] > 0:
            chain.append(joint)
            joint = int(parents[joint])
        return chain

    bodies = sorted(set(contact_joints))
    chains = {joint: ancestors(joint) for joint in bodies}
    distances = 0
    for i, a in enumerate(bodies):
        for b in bodies[:i]:
            distances += len(set(chains[a]) ^ set(chains[b]))
    return ContactTopology(
        contacts=len(contact_joints),
        bodies=len(bodies),
        branch=len(set().union(*chains.values())) if chains else 0,
        contact_depths=sum(len(chains[joint]) for joint in contact_joints),
        body_depths=sum(len(chain) for chain in chains.values()),
        body_distances=distances,
    )


@plain_arguments
@uncounted()
def chang_khatib_is_cheaper(bodies: int, branch: int, body_depths: int, body_distances: int) -> bool:
    """Return whether table 3.2 promises less than table 3.3; what the projection takes is the same for both."""
    recursions = 286 + 235 + (153 + 179) * branch + (72 + 66) * body_distances
    wrenches = (252 + 180 + (78 + 72) * branch) * bodies + (72 + 42) * body_depths
    return recursions < wrenches


@apart(error_model="numpy", _nrt=False)
def prefers_chang_khatib(model: KinematicTree, bodies: np.ndarray, branch: np.ndarray, depth: np.ndarray) -> bool:
    """Return what the tables say about bodies of one tree, in joints of one degree of freedom.

    The coordinates of a floating base, in one joint or split into two, are no joints of theirs: what it takes to pass
    the base is in the constant terms.

    Args:
        model: the tree.
        bodies: joints of the bodies that constraints act on, shape (C,).
        branch: coordinates that move any of them, ascending, shape (s,).
        depth: work space, shape (nv,).
    """
    parents, kinds, dof_parent = model.joints["parent"], model.joints["kind"], model.dof_parent
    joints = 0
    for k in branch:
        joint = model.dof_joint[k]
        above, kind = parents[joint], kinds[joint]
        if above == 0:
            base = kind in (FREE_FLYER, TRANSLATION)
        else:
            base = kind == SPHERICAL and parents[above] == 0 and kinds[above] == TRANSLATION
        own = 0 if base else 1
        joints += own
        depth[k] = own + (depth[dof_parent[k]] if dof_parent[k] >= 0 else 0)
    depths = 0
    distances = 0
    for i in range(bodies.size):
        depths += depth[model.joints[bodies[i]].last_dof]
        for j in range(i):
            a, b = model.joints[bodies[i]].last_dof, model.joints[bodies[j]].last_dof
            while a != b:  # parents have lower numbers
                distances += 1
                if a > b:
                    a = dof_parent[a]
                else:
                    b = dof_parent[b]
    return bool(chang_khatib_is_cheaper(bodies.size, joints, depths, distances))
