# SPDX-License-Identifier: Apache-2.0
"""A guide by a probabilistic roadmap of stable configurations near contacts (specification 001 Alg. 10 and 11)."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_model.optional_library import optional_library
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_planner.contacts.guides.guide_space import GuideSpace
from humanoid_planner.contacts.guides.sampling import GuideSampler
from humanoid_planner.posture.motion.guide import RADIAN

#: Steps of a direct way, and how far its projection may be from the straight line (specification 001 Appendix B).
RESOLUTION, ASIDE = 0.1, 0.3
_NEIGHBOURS = 10


@dataclass(frozen=True, eq=False)
class AutomaticGuide:
    """What the roadmap found.

    Attributes:
        success: whether start and end are joined.
        postures: (nq,) each, key postures from the start to the end; empty without success.
        samples: configurations that were drawn.
        nodes: of the roadmap.
        time: [s].
    """

    success: bool
    postures: tuple[NDArray[np.float64], ...]
    samples: int
    nodes: int
    time: float


def find_guide(
    space: GuideSpace,
    sampler: GuideSampler,
    start: ArrayLike,
    end: ArrayLike,
    *,
    seed: int = 0,
    max_samples: int = 2000,
    reach: float = 2.0,
    progress: ProgressCallback | None = None,
) -> AutomaticGuide:
    """Join two configurations by stable ones near contacts.

    Samples are projected to the space and joined to the nearest nodes by straight ways, whose points are projected
    too: the thesis asks that they lie in the layer as they are, which a leg that bends hardly does. Those that join
    nothing stay, as usual with roadmaps. The first way ends the search; its shortest is the guide.

    Args:
        space: of configurations.
        sampler: of them.
        start: (nq,) of the guide.
        end: (nq,) likewise.
        seed: the guide is the same for a seed.
        max_samples: to draw.
        reach: longest direct way; a radian counts as ``RADIAN`` metres [m].
        progress: told before each sample; returns True to cancel, which gives a guide without success.

    Raises:
        InputError: start or end isn't near the space.
    """
    networkx = optional_library("networkx", "planner")
    began, rng = time.perf_counter(), np.random.default_rng(seed)
    graph, nodes = networkx.Graph(), []
    for name, q in (("start", start), ("end", end)):
        nodes.append(_end_of(space, name, np.asarray(q, dtype=float)))
        graph.add_node(len(nodes) - 1)
    drawn = 0
    _join(space, graph, nodes, 1, reach)
    while not networkx.has_path(graph, 0, 1) and drawn < max_samples:
        stage = f"{drawn} samples, {len(nodes)} nodes"
        if progress is not None and progress(Progress(stage, drawn / max_samples, nodes=len(nodes))):
            break
        drawn += 1
        # Whether the sample itself is free, as Alg. 11 asks, says little about its projection.
        projected = space.project(sampler.draw(rng))
        if projected is None or not space.free(projected):
            continue
        nodes.append(projected)
        graph.add_node(len(nodes) - 1)
        _join(space, graph, nodes, len(nodes) - 1, reach)
    if not networkx.has_path(graph, 0, 1):
        return AutomaticGuide(False, (), drawn, len(nodes), time.perf_counter() - began)
    way = networkx.shortest_path(graph, 0, 1, weight="length")
    postures = [nodes[0]]
    for one, other in itertools.pairwise(way):
        between = graph.edges[one, other]["between"]
        postures += between if graph.edges[one, other]["first"] == one else between[::-1]
        postures.append(nodes[other])
    return AutomaticGuide(True, tuple(postures), drawn, len(nodes), time.perf_counter() - began)


def distance(space: GuideSpace, one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the length of the straight line between configurations (nq,), radians as ``RADIAN`` metres."""
    change = space.kinematics.coordinates(other) - space.kinematics.coordinates(one)
    change[3:] *= RADIAN
    return float(np.linalg.norm(change))


def _end_of(space: GuideSpace, name: str, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a start or an end in the space: what touches its surfaces is lifted into the layer above them."""
    projected = q if space.contains(q) else space.project(q)
    if projected is None or distance(space, q, projected) > ASIDE or not space.contains(projected):
        why = "in a body" if not space.free(q) else "not stable on what is near surfaces"
        raise InputError(f"is {why}", element=f"{name} of the guide", remedy="Give one that stands")
    return projected


def _join(space: GuideSpace, graph: object, nodes: list[NDArray[np.float64]], new: int, reach: float) -> None:
    """Add the ways from a new node to the nearest ones."""
    lengths = sorted((distance(space, nodes[new], q), index) for index, q in enumerate(nodes[:new]))
    for length, index in lengths[:_NEIGHBOURS]:
        if length > reach:
            break
        between = _way(space, nodes[index], nodes[new], length)
        if between is not None:
            graph.add_edge(index, new, length=length, between=between, first=index)  # type: ignore[attr-defined]


def _way(
    space: GuideSpace, one: NDArray[np.float64], other: NDArray[np.float64], length: float
) -> list[NDArray[np.float64]] | None:
    """Return projected points of the straight line between two configurations; None where one isn't in the space."""
    kinematics = space.kinematics
    a, b = kinematics.coordinates(one), kinematics.coordinates(other)
    found = []
    for part in np.linspace(0.0, 1.0, max(int(np.ceil(length / RESOLUTION)), 1) + 1)[1:-1]:
        straight = kinematics.configuration((1 - part) * a + part * b)
        q = straight if space.stable(straight) else space.project(straight)
        if q is None or distance(space, straight, q) > ASIDE or not space.free(q):
            return None
        found.append(q)
    return found
