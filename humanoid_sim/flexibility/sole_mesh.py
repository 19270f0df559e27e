# SPDX-License-Identifier: Apache-2.0
"""Meshes of the shapes that soles come in (specification 000 §19, thesis figs. 4.4, 4.13 and 4.15)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.sole import BlockSole, MeshSole, RoundedSole, Sole, SoleShape, TwoPadSole
from humanoid_sim.flexibility.deformable_sole import DeformableSole
from humanoid_sim.flexibility.mesh_file import read_mesh
from humanoid_sim.flexibility.structured_mesh import block_mesh, grid_mesh
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh


def sole_mesh(shape: SoleShape) -> TetrahedralMesh:
    """Return the mesh of a sole, glued at z = 0.

    Raises:
        InputError: sizes that make no sense, or a file that can't be used.
    """
    if isinstance(shape, BlockSole):
        return block_mesh(shape.size, shape.cells)
    if isinstance(shape, RoundedSole):
        return _rounded(shape)
    if isinstance(shape, TwoPadSole):
        return _two_pads(shape)
    assert isinstance(shape, MeshSole)
    return read_mesh(shape.path, fixed=shape.fixed, scale=shape.scale)


def build_sole(sole: Sole) -> DeformableSole:
    """Return a robot's sole, condensed, in the frame of its link.

    Raises:
        InputError: see :func:`sole_mesh` and :class:`DeformableSole`.
    """
    return DeformableSole(sole_mesh(sole.shape), sole.materials, sole.placement_link_mesh)


def _rounded(shape: RoundedSole) -> TetrahedralMesh:
    """Return the block, its layers pressed together towards the ends so that the lowest follows two quarter circles."""
    x, _, z = shape.size
    if not 0.0 < shape.radius < min(z, 0.5 * x):
        raise InputError(
            f"radius is {shape.radius:g}", element="radius", remedy="Give less than the height and half of the length"
        )
    block = block_mesh(shape.size, shape.cells)
    nodes = block.nodes.copy()
    past = np.maximum(np.abs(nodes[:, 0]) - (0.5 * x - shape.radius), 0.0)  # into the rounding
    raised = shape.radius - np.sqrt(np.maximum(shape.radius**2 - past**2, 0.0))
    nodes[:, 2] *= (z - raised) / z
    return TetrahedralMesh(nodes, block.tetrahedra, block.fixed)


def _two_pads(shape: TwoPadSole) -> TetrahedralMesh:
    x, y, z = shape.size
    gap = x - shape.heel - shape.toe
    if not gap >= 0.0:
        raise InputError(
            f"heel and toe are {shape.heel + shape.toe:g} m together",
            element="heel",
            remedy=f"Give no more than the length, {x:g}",
        )
    n_x, n_y, n_layer, n_pad = shape.cells
    lengths = [length for length in (shape.heel, gap, shape.toe) if length > 1e-12 * x]
    xs = _planes(-0.5 * x, lengths, n_x)
    zs = np.concatenate([np.linspace(-z - shape.pad_height, -z, n_pad + 1)[:-1], np.linspace(-z, 0.0, n_layer + 1)])
    middles = 0.5 * (xs[:-1] + xs[1:])
    padded = (middles < -0.5 * x + shape.heel) | (middles > 0.5 * x - shape.toe)
    parts = np.zeros((len(middles), n_y, n_pad + n_layer), dtype=np.int64)
    parts[:, :, :n_pad] = np.where(padded, 1, -1)[:, None, None]
    return grid_mesh(xs, np.linspace(-0.5 * y, 0.5 * y, n_y + 1), zs, parts, ("layer", "pads"))


def _planes(start: float, lengths: Sequence[float], cells: int) -> NDArray[np.float64]:
    """About ``cells`` cells of like length over several stretches, with a plane between any two."""
    total = sum(lengths)
    planes = [np.array([start])]
    for length in lengths:
        count = max(round(cells * length / total), 1)
        planes.append(np.linspace(start, start + length, count + 1)[1:])
        start += length
    return np.concatenate(planes)
