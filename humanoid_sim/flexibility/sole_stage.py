# SPDX-License-Identifier: Apache-2.0
"""Deformable soles between the stages of a simulation step whose constraints are sorted into groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.flexibility.deformable_sole import DeformableSole
from humanoid_sim.flexibility.sole_contacts import SoleContacts
from humanoid_sim.flexibility.sole_kernels import contact_rows
from humanoid_sim.world.world import World


class Blocks(Protocol):
    """Constraints of the step: what soles need of them.

    Attributes:
        starts: first row of each block, and one behind the last row.
        points: contact point of a block, negative for other constraints.
        v_free: free velocities with their shifts [m/s].
        forces: the solution [N].
    """

    @property
    def starts(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def points(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def v_free(self) -> NDArray[np.float64]: ...  # noqa: D102
    @property
    def forces(self) -> NDArray[np.float64]: ...  # noqa: D102


class Groups(Protocol):
    """Groups of constraints: what soles need of them.

    Attributes:
        blocks: first block of each group, and one behind the last block.
        offsets: where the operator of each group begins in ``W``.
        W: operators of all groups one after the other.
        counts: the number of groups first.
    """

    @property
    def blocks(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def offsets(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def W(self) -> NDArray[np.float64]: ...  # noqa: D102
    @property
    def counts(self) -> NDArray[np.int64]: ...  # noqa: D102


class SoleStage:
    """All soles of a world, called once after each of four stages of a step.

    Attributes:
        contacts: the soles and what they touch.
    """

    def __init__(self, world: World, soles: Mapping[str, DeformableSole]) -> None:
        """Find what the soles of a world may touch.

        Args:
            world: the world.
            soles: by name of the body that they are glued to, in its frame.

        Raises:
            InputError: unknown body, or a mesh file that can't be read.
        """
        self.contacts = SoleContacts(world, soles)
        self._rows: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._groups: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    @property
    def slot_count(self) -> int:
        """Number of contact slots that the soles need."""
        return self.contacts.slot_count

    def detect(
        self,
        R: NDArray[np.float64],
        p: NDArray[np.float64],
        twists: NDArray[np.float64],
        dt: float,
        points: ContactPoints,
        first_slot: int,
    ) -> ContactPoints:
        """After the detection of rigid contacts, see :meth:`SoleContacts.detect`."""
        return self.contacts.detect(R, p, twists, dt, points, first_slot)

    def locate(self, blocks: Blocks, groups: Groups, m: int) -> None:
        """After the constraints of ``m`` contact points are written: look up where those of the soles are."""
        if len(self._rows) < m:
            self._rows, self._groups = np.zeros(2 * m, dtype=np.int64), np.zeros(2 * m, dtype=np.int64)
        contact_rows(blocks.points, blocks.starts, groups.blocks, groups.counts[0], self._rows, self._groups)

    def pose(self, frames: NDArray[np.float64], blocks: Blocks, groups: Groups, dt: float) -> None:
        """After the problems of the rigid bodies are posed: add the soles.

        Args:
            frames: contact frames of the step (n, t1, t2) as rows, shape (m or more, 3, 3).
            blocks: constraints of the step.
            groups: their groups.
            dt: time step [s].
        """
        for sole, (start, end) in enumerate(self.contacts.places):
            if start == end:
                continue
            group, begin, n = self._problem(blocks, groups, start)
            W = groups.W[groups.offsets[group] : groups.offsets[group] + n * n].reshape(n, n)
            v_free = blocks.v_free[begin : begin + n]
            self.contacts.add_to_problem(sole, frames, self._rows[start:end], dt, W, v_free)

    def deform(self, frames: NDArray[np.float64], blocks: Blocks, groups: Groups) -> None:
        """After the step has succeeded: deform the soles under the forces.

        Args:
            frames: as in :meth:`pose`.
            blocks: same.
            groups: same.
        """
        for sole, (start, end) in enumerate(self.contacts.places):
            begin, n = self._problem(blocks, groups, start)[1:] if start < end else (0, 0)
            self.contacts.update(sole, frames, self._rows[start:end], blocks.forces[begin : begin + n])

    def _problem(self, blocks: Blocks, groups: Groups, contact: int) -> tuple[int, int, int]:
        """Return the group of a contact, its first row and its number of rows; a sole is all in one group."""
        group = int(self._groups[contact])
        begin, end = blocks.starts[groups.blocks[group]], blocks.starts[groups.blocks[group + 1]]
        return group, int(begin), int(end - begin)
