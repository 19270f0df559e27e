# SPDX-License-Identifier: Apache-2.0
"""What calls of the posture generator cost, by how they ended (specification 001 section 11.7: Tab. 7.1, Fig. 7.15)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_model.errors import InputError
from humanoid_model.files import require_file
from humanoid_planner.contacts.posture_caller import PostureCall
from humanoid_planner.optimisation.program import ReturnCode
from humanoid_planner.posture.posture_result import PostureResult


@dataclass(frozen=True)
class Generation:
    """One call of the posture generator.

    Attributes:
        code: how it ended.
        time: wall-clock time [s].
        iterations: of the solver.
        evaluations: of the constraints.
        distance_evaluations: of pairs of bodies.
        distance_gradients: likewise.
        label: what the call was for, for example the scenario.
    """

    code: ReturnCode
    time: float
    iterations: int
    evaluations: int
    distance_evaluations: int = 0
    distance_gradients: int = 0
    label: str = ""


@dataclass(frozen=True)
class CodeStatistics:
    """A row of Tab. 7.1.

    Attributes:
        code: how the calls ended; None for all of them.
        count: number of calls.
        total: their time [s].
    """

    code: ReturnCode | None
    count: int
    total: float

    @property
    def mean(self) -> float:
        """Mean time of a call [s]; NaN without calls."""
        return self.total / self.count if self.count else float("nan")


#: Tab. 7.1 of the thesis: calls and total times [s] by code, 2.5 million calls in two years of planning.
THESIS = (
    CodeStatistics(ReturnCode.SUCCESS, 763_037, 255_282),
    CodeStatistics(ReturnCode.INEQUALITIES_INFEASIBLE, 1_134_141, 156_981),
    CodeStatistics(ReturnCode.MAX_ITERATIONS, 310_502, 1_061_100),
    CodeStatistics(ReturnCode.STEP_SEARCH_FAILED, 142_217, 140_332),
    CodeStatistics(ReturnCode.DIRECTION_FAILED, 50_357, 112_800),
    CodeStatistics(ReturnCode.STALLED, 83_767, 75_010),
    CodeStatistics(ReturnCode.EQUALITIES_UNSATISFIED, 14_238, 47_634),
)

_MEANINGS = {
    ReturnCode.SUCCESS: "success",
    ReturnCode.LINEAR_INFEASIBLE: "linear constraints",
    ReturnCode.INEQUALITIES_INFEASIBLE: "inequalities",
    ReturnCode.MAX_ITERATIONS: "max iterations",
    ReturnCode.STEP_SEARCH_FAILED: "step search",
    ReturnCode.DIRECTION_FAILED: "direction",
    ReturnCode.STALLED: "same iterate",
    ReturnCode.EQUALITIES_UNSATISFIED: "equalities",
    ReturnCode.TIME_LIMIT: "time limit",
}


class GenerationLog:
    """Calls of the posture generator, one after the other.

    Attributes:
        generations: in the order of the calls.
    """

    def __init__(self, generations: Iterable[Generation] = ()) -> None:
        self.generations = list(generations)

    def add(self, result: PostureResult, label: str = "") -> None:
        """Take in a call's result."""
        self.generations.append(
            Generation(
                result.status,
                result.time,
                result.iterations,
                result.evaluations,
                result.distance_evaluations,
                result.distance_gradients,
                label,
            )
        )

    @classmethod
    def of_plan(cls, calls: Iterable[PostureCall]) -> GenerationLog:
        """Return the calls of a contact plan's search, ``plan.statistics.calls``, each labelled by its purpose.

        A plan keeps iterations and times alone: evaluations are zero.
        """
        return cls(
            Generation(call.status, call.building + call.solving, call.iterations, 0, label=call.purpose)
            for call in calls
        )

    def statistics(self) -> tuple[CodeStatistics, ...]:
        """Call and times by code, codes that never came left out."""
        rows = []
        for code in ReturnCode:
            times = [generation.time for generation in self.generations if generation.code == code]
            if times:
                rows.append(CodeStatistics(code, len(times), float(sum(times))))
        return tuple(rows)

    def table(self) -> str:
        """Tab. 7.1 of these calls beside the thesis'."""
        return format_table(self.statistics())

    def save(self, path: str | Path) -> None:
        """Write one line of comma-separated values per call, the codes as numbers."""
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(Generation))
            for generation in self.generations:
                code, *others = astuple(generation)
                writer.writerow([int(code), *others])

    @classmethod
    def load(cls, path: str | Path) -> GenerationLog:
        """Read what :meth:`save` wrote.

        Raises:
            InputError: a line that can't be read; it names file, line and field.
        """
        names = [field.name for field in fields(Generation)]
        log = cls()
        require_file(path, remedy="Give a saved log of generations")
        with Path(path).open(newline="", encoding="utf-8") as file:
            for number, row in enumerate(csv.reader(file), start=1):
                if number == 1:
                    if row != names:
                        raise InputError(
                            f"columns are {','.join(row)}", source=path, line=1, remedy=f"Give {','.join(names)}"
                        )
                    continue
                log.generations.append(_read(row, names, path, number))
        return log

    def plot(self, path: str | Path) -> None:
        """Draw Fig. 7.15, the number of calls over their time for each code; needs matplotlib.

        Raises:
            InputError: there are no calls.
        """
        if not self.generations:
            raise InputError("holds no calls", element="log of generations", remedy="Add results before plotting")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        times = np.array([max(generation.time, 1e-6) for generation in self.generations])
        codes = np.array([generation.code for generation in self.generations])
        # Times spread over decades: equal bins of their logarithm, the same for all codes.
        first, last = np.floor(10 * np.log10(times.min())) / 10, np.ceil(10 * np.log10(times.max())) / 10
        edges = np.logspace(first, max(last, first + 0.1), max(round(10 * (last - first)), 1) + 1)
        figure = Figure(figsize=(8, 5), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for row in self.statistics():
            assert row.code is not None
            counts, _ = np.histogram(times[codes == row.code], edges)
            axes.stairs(counts, edges, label=f"{int(row.code)} {_MEANINGS[row.code]} ({row.count})", linewidth=1.5)
        axes.set_xscale("log")
        axes.set_xlabel("time of a generation [s]")
        axes.set_ylabel("generations")
        axes.legend(title="return code")
        figure.savefig(Path(path))


def total(rows: Sequence[CodeStatistics]) -> CodeStatistics:
    """Return the bottom row of a table."""
    return CodeStatistics(None, sum(row.count for row in rows), float(sum(row.total for row in rows)))


def format_table(rows: Sequence[CodeStatistics]) -> str:
    """Tab. 7.1 of some calls, beside the thesis'; a dash where a code never came."""
    ours, theirs = ({row.code: row for row in table} for table in (rows, THESIS))
    lines = [
        f"{'':22}{'here':^48}{'thesis':^48}",
        f"{'code':22}" + 2 * f"{'calls':>10}{'mean s':>10}{'% calls':>9}{'% time':>9}{'':10}",
    ]
    codes: list[ReturnCode | None] = [code for code in ReturnCode if code in ours or code in theirs]
    for code in [*codes, None]:
        name = "total" if code is None else f"{int(code):2} {_MEANINGS[code]}"
        line = f"{name:22}"
        for table, whole in ((ours, total(rows)), (theirs, total(THESIS))):
            line += _cells(whole if code is None else table.get(code), whole)
        lines.append(line.rstrip())
    return "\n".join(lines)


def _cells(row: CodeStatistics | None, whole: CodeStatistics) -> str:
    if row is None or not row.count:
        return f"{'-':>10}{'-':>10}{'-':>9}{'-':>9}{'':10}"
    calls, time = 100 * row.count / whole.count, 100 * row.total / max(whole.total, 1e-300)
    return f"{row.count:10}{row.mean:10.4f}{calls:9.2f}{time:9.2f}{'':10}"


def _read(row: Sequence[str], names: Sequence[str], path: str | Path, line: int) -> Generation:
    if len(row) != len(names):
        raise InputError(f"has {len(row)} fields", source=path, line=line, remedy=f"Give {len(names)}")
    kinds: list[Any] = [lambda text: ReturnCode(int(text)), float, int, int, int, int, str]
    values: list[Any] = []
    for name, kind, text in zip(names, kinds, row, strict=True):
        try:
            values.append(kind(text))
        except ValueError as error:
            raise InputError(
                f"is '{text}'", source=path, line=line, element=name, remedy="Give what GenerationLog.save writes"
            ) from error
    return Generation(*values)
