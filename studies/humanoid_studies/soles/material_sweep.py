# SPDX-License-Identifier: Apache-2.0
"""One experiment for many materials of a sole, on as many processes as wished (specification 000 §27, E12)."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from humanoid_model.errors import InputError
from humanoid_model.sole import Material


@dataclass(frozen=True, eq=False)
class SweepTable:
    """What an experiment gave for each pair of Young's modulus and Poisson's ratio.

    Attributes:
        young_moduli: rows [Pa], shape (e,).
        poisson_ratios: columns, shape (n,).
        results: by name, shape (e, n).
    """

    young_moduli: NDArray[np.float64]
    poisson_ratios: NDArray[np.float64]
    results: Mapping[str, NDArray[np.float64]]

    def pareto(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Return materials that no other one beats in all of some results, smaller being better, shape (e, n).

        Materials with a result that is not a number are beaten by all that have one.

        Raises:
            InputError: there is no result of a name.
        """
        columns = np.stack([self._result(name).reshape(-1) for name in names], axis=1)
        columns = np.where(np.isnan(columns), np.inf, columns)
        no_worse = (columns[:, None, :] <= columns[None, :, :]).all(axis=2)
        better = (columns[:, None, :] < columns[None, :, :]).any(axis=2)
        return ~(no_worse & better).any(axis=0).reshape(self.young_moduli.size, self.poisson_ratios.size)

    def write_csv(self, path: str | Path) -> None:
        """Write one line per material: constants in SI units, then the results."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["young_modulus", "poisson_ratio", *self.results])
            for i, j in itertools.product(range(self.young_moduli.size), range(self.poisson_ratios.size)):
                values = [result[i, j] for result in self.results.values()]
                writer.writerow([self.young_moduli[i], self.poisson_ratios[j], *values])

    def plot(self, path: str | Path) -> None:
        """Draw each result over Young's modulus, one line per Poisson's ratio, as the thesis' figs. 4.5 and 4.6."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5.0 * len(self.results), 4.0), layout="constrained")
        panels = figure.subplots(1, len(self.results), squeeze=False)[0]
        for panel, (name, values) in zip(panels, self.results.items(), strict=True):
            for j, nu in enumerate(self.poisson_ratios):
                panel.plot(self.young_moduli / 1e6, values[:, j], marker="o", label=f"ν = {nu:g}")
            panel.set_xlabel("Young's modulus [MPa]")
            panel.set_ylabel(name)
            panel.set_xscale("log")
            panel.grid(True)
        panels[0].legend()
        figure.savefig(path)

    def _result(self, name: str) -> NDArray[np.float64]:
        if name not in self.results:
            raise InputError(
                f"there is no result '{name}'", element="names", remedy=f"There are {', '.join(self.results)}"
            )
        return self.results[name]


def sweep_materials(
    experiment: Callable[[Material], Mapping[str, float]],
    young_moduli: Iterable[float],
    poisson_ratios: Iterable[float],
    executor: Executor | None = None,
    *,
    progress: bool = False,
) -> SweepTable:
    """Do an experiment with every pair of elastic constants.

    Args:
        experiment: takes a material and returns results by name; for a pool of processes it must be picklable.
        young_moduli: [Pa].
        poisson_ratios: each above -1 and below 0.5.
        executor: of any kind; one material after the other here if not given.
        progress: shows a progress bar.

    Raises:
        InputError: nothing to do, an impossible material, or experiments whose results have different names. What an
            experiment raises is raised here, the remaining ones are cancelled.
    """
    E, nu = (np.array(list(values), dtype=float) for values in (young_moduli, poisson_ratios))
    if E.size == 0 or nu.size == 0:
        raise InputError("there is no material to try", element="young_moduli", remedy="Give one or more of each")
    materials = [Material(float(e), float(n)) for e, n in itertools.product(E, nu)]
    rows: list[Mapping[str, float] | None] = [None] * len(materials)
    with tqdm(total=len(materials), unit="material", disable=not progress) as bar:
        if executor is None:
            for i, material in enumerate(materials):
                rows[i] = experiment(material)
                bar.update()
        else:
            futures: dict[Future, int] = {executor.submit(experiment, m): i for i, m in enumerate(materials)}
            try:
                for future in as_completed(futures):
                    rows[futures[future]] = future.result()
                    bar.update()
            finally:
                for future in futures:
                    future.cancel()
    done = [row for row in rows if row is not None]
    names = list(done[0])
    for material, row in zip(materials, done, strict=True):
        if set(row) != set(names):
            raise InputError(
                f"the experiment with {material} gave {', '.join(row) or 'nothing'}, others {', '.join(names)}",
                element="experiment",
                remedy="Return the same results for each material",
            )
    return SweepTable(
        E, nu, {name: np.array([float(row[name]) for row in done]).reshape(E.size, nu.size) for name in names}
    )
