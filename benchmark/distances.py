# SPDX-License-Identifier: Apache-2.0
"""Smooth distances beside coal's of the same polyhedra, in one run: warm and cold, over sizes, and in batches.

Two geodesic spheres of radius 20 cm, r = 1 cm, R = 10 m, pass each other over a range of 40 cm that ends in light
penetration (Figures 4.15 and 4.16 of the thesis): small motions of 2 degrees and 2 mm between calls, large ones of 20
degrees and 2 cm. Our times are those of a kernel that goes through the placements, value, points and normal included,
which are the gradient. Coal's are those of a loop in Python, less the same loop with an empty call of the wheel;
"cold" starts from nothing, "warm" from the last answer (coal: from its cached guess). Contestants take turns; medians.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import coal
import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

from humanoid_planner.distance.distance_pairs import DistancePairs
from humanoid_planner.distance.frames import Frames, kernel
from humanoid_planner.distance.narrow_phase import volume_distance
from humanoid_planner.distance.placed_volumes import PlacedVolume
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_table import Pair, VolumeTable, Workspace, volume_table, workspace

CALLS = 2000
"""Placements of a block."""


@kernel
def run(
    table: VolumeTable, frames: Frames, cold: bool, rows: np.ndarray, n: np.ndarray, points: np.ndarray, work: Workspace
) -> float:
    total = 0.0
    for k in range(len(frames.rotations) // 2):
        if cold:
            rows[0] = -1
        total += volume_distance(table, frames, Pair(0, 1, 2 * k, 2 * k + 1), rows, n, points, work)
    return total


def geodesic_sphere(vertices: int) -> np.ndarray:
    """Return points of a uniform mesh of a sphere of radius 20 cm: 10 k^2 + 2 of them."""
    k = round(((vertices - 2) / 10) ** 0.5)
    base = trimesh.creation.icosahedron()
    corners = base.vertices[base.faces]
    weights = np.array([(i, j, k - i - j) for i in range(k + 1) for j in range(k + 1 - i)]) / k
    points = np.einsum("wc,fcx->fwx", weights, corners).reshape(-1, 3)
    points /= np.linalg.norm(points, axis=1)[:, None]
    return 0.2 * np.asarray(points[np.unique(np.round(points, 9), axis=0, return_index=True)[1]])


def hull(points: np.ndarray) -> coal.ConvexBase:
    vector = coal.StdVec_Vec3s()
    for point in points:
        vector.append(point)
    return coal.ConvexBase.convexHull(vector, False, "")


def motion(rng: np.random.Generator, angle: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return placements of two spheres, one of which wanders around the other, from 1 cm of overlap to 39 cm apart."""
    rotations, origins = np.empty((2 * CALLS, 3, 3)), np.zeros((2 * CALLS, 3))
    turned = Rotation.random(2, random_state=rng)
    position = np.array([0.6, 0.0, 0.0])
    for k in range(CALLS):
        turned = Rotation.from_rotvec(np.radians(angle) * rng.normal(size=(2, 3)) / np.sqrt(3.0)) * turned
        position = position + step * rng.normal(size=3)
        apart = np.linalg.norm(position)
        position *= np.clip(apart, 0.411, 0.81) / apart
        rotations[2 * k : 2 * k + 2] = turned.as_matrix()
        origins[2 * k] = position
    return rotations, origins


class CoalPair:
    """Coal's distance over the same placements."""

    def __init__(self, points: np.ndarray, rotations: np.ndarray, origins: np.ndarray) -> None:
        self.hulls = hull(points), hull(points)  # coal keeps no reference
        self.distance = coal.ComputeDistance(*self.hulls)
        frames = [coal.Transform3s(R, o) for R, o in zip(rotations, origins, strict=True)]
        self.frames = list(zip(frames[::2], frames[1::2], strict=True))
        self.result = coal.DistanceResult()

    def run(self, cached: bool) -> None:
        """All placements."""
        request, result, distance = coal.DistanceRequest(), self.result, self.distance
        if cached:
            request.gjk_initial_guess = coal.GJKInitialGuess.CachedGuess
        for a, b in self.frames:
            result.clear()
            distance(a, b, request, result)
            if cached:
                request.updateGuess(result)

    def empty(self, cached: bool) -> None:
        """As many loops without distances."""
        request, result = coal.DistanceRequest(), self.result
        for _ in self.frames:
            result.clear()
            request.updateGuess(result)
            if cached:
                request.updateGuess(result)


def medians(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return seconds of each contestant's block, in turns."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for name in contestants:
        contestants[name]()
    for _ in range(rounds):
        for name, block in contestants.items():
            start = time.perf_counter()
            block()
            times[name].append(time.perf_counter() - start)
    return {name: float(np.median(values)) for name, values in times.items()}


def sizes(counts: list[int], rounds: int) -> dict[tuple[str, int], dict[str, float]]:
    rows: dict[tuple[str, int], dict[str, float]] = {}
    print(f"{'vertices':>8} {'motion':>7} {'ours warm':>10} {'ours cold':>10} {'coal warm':>10} {'coal cold':>10}"
          f" {'warm ratio':>10} {'cold ratio':>10}   (ns per call)")  # fmt: skip
    for count in counts:
        points = geodesic_sphere(count)
        table = volume_table([SphereTorusVolume.from_points(points, 0.01, 10.0)] * 2)
        for name, angle, step in (("small", 2.0, 0.002), ("large", 20.0, 0.02)):
            rotations, origins = motion(np.random.default_rng(count), angle, step)
            frames = Frames(rotations, origins)
            peer = CoalPair(points, rotations, origins)
            state = np.full(2, -1, dtype=np.int64), np.zeros(3), np.zeros((2, 3)), workspace()
            seconds = medians(
                {
                    "warm": lambda: run(table, frames, False, *state),  # noqa: B023
                    "cold": lambda: run(table, frames, True, *state),  # noqa: B023
                    "coal warm": lambda: peer.run(True),  # noqa: B023
                    "coal cold": lambda: peer.run(False),  # noqa: B023
                    "empty warm": lambda: peer.empty(True),  # noqa: B023
                    "empty cold": lambda: peer.empty(False),  # noqa: B023
                },
                rounds,
            )
            ns = {key: 1e9 * value / CALLS for key, value in seconds.items()}
            row = {"warm": ns["warm"], "cold": ns["cold"], "coal warm": ns["coal warm"] - ns["empty warm"],
                   "coal cold": ns["coal cold"] - ns["empty cold"]}  # fmt: skip
            rows[name, len(points)] = row
            print(f"{len(points):8d} {name:>7} {row['warm']:10.0f} {row['cold']:10.0f} {row['coal warm']:10.0f}"
                  f" {row['coal cold']:10.0f} {row['warm'] / row['coal warm']:10.2f}"
                  f" {row['cold'] / row['coal cold']:10.2f}")  # fmt: skip
    return rows


def batch(rounds: int) -> None:
    """150 pairs of 30 bodies around each other, as of a humanoid's, per evaluation from Python."""
    rng = np.random.default_rng(0)
    bodies = 30
    shapes = [
        SphereTorusVolume.from_points(rng.normal(size=(30, 3)) * [0.04, 0.04, 0.1], 0.01, 20.0) for _ in range(bodies)
    ]
    all_pairs = np.array([(i, j) for i in range(bodies) for j in range(i + 1, bodies)])
    pairs = all_pairs[np.sort(rng.permutation(len(all_pairs))[:150])]
    volumes = [PlacedVolume(str(i), i, shape) for i, shape in enumerate(shapes)]
    exact, near = DistancePairs(volumes, pairs), DistancePairs(volumes, pairs, cutoff=0.2)
    rotations = [Rotation.random(bodies, random_state=rng).as_matrix()]
    grid = 0.45 * np.array([(x, y, z) for x in range(4) for y in range(4) for z in range(2)])[:bodies]
    origins = [grid + 0.02 * rng.normal(size=(bodies, 3))]
    for _ in range(200):
        turn = Rotation.from_rotvec(np.radians(1.0) * rng.normal(size=(bodies, 3))).as_matrix()
        rotations.append(turn @ rotations[-1])
        origins.append(origins[-1] + 5e-4 * rng.normal(size=(bodies, 3)))

    def evaluate(distances: DistancePairs, cold: bool) -> Callable[[], None]:
        def block() -> None:
            for R, o in zip(rotations, origins, strict=True):
                if cold:
                    distances.forget()
                distances.evaluate(R, o)

        return block

    seconds = medians(
        {"warm": evaluate(exact, False), "cold": evaluate(exact, True), "warm, cutoff 0.2 m": evaluate(near, False)},
        rounds,
    )
    exact.evaluate(rotations[-1], origins[-1])
    print(f"\n150 pairs of 30 bodies with 30 points each, value, points, normal; {np.sum(exact.values < 0)} overlap")
    for name, value in seconds.items():
        print(f"  {name:20} {1e6 * value / len(rotations):8.1f} µs per evaluation,"
              f" {1e9 * value / len(rotations) / len(pairs):6.0f} ns per pair")  # fmt: skip


def plot(rows: dict[tuple[str, int], dict[str, float]], path: Path) -> None:
    """Draw times over numbers of vertices, a panel for each kind of motion."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axis, name in zip(axes, ("small", "large"), strict=True):
        counts = sorted(count for kind, count in rows if kind == name)
        for series in ("warm", "cold", "coal warm", "coal cold"):
            axis.plot(counts, [rows[name, count][series] for count in counts], marker="o", label=series)
        axis.set_title(f"{name} motions")
        axis.set_xlabel("vertices")
    axes[0].set_ylabel("ns per call")
    axes[0].set_ylim(bottom=0)
    axes[0].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    print(f"\n{path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7, help="blocks of each contestant")
    parser.add_argument("--vertices", type=int, nargs="+", default=[12, 42, 92, 162, 252, 362, 492, 642, 812, 1002])
    parser.add_argument("--plot", type=Path, nargs="?", const=Path("out/distances.png"), help="write a picture")
    arguments = parser.parse_args()
    rows = sizes(arguments.vertices, arguments.rounds)
    batch(arguments.rounds)
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
