# SPDX-License-Identifier: Apache-2.0
"""Experiment E12: which material HRP-2's soles should be made of (specification 000 §27, F137, thesis Fig. 4.5).

Two trials that want opposite things: a drop, and a torso that leans forward. The third one of the thesis, walking, is
not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_model.robot import Robot, load_robot
from humanoid_model.scene import SceneRobot, place_robot
from humanoid_model.sole import Material
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.made_scene import made_scene
from humanoid_studies.soles.drop import drop_on_spring
from humanoid_studies.soles.material_sweep import SweepTable, sweep_materials
from humanoid_studies.soles.sole_stabiliser import SoleStabiliser

YOUNG_MODULI = (0.03e6, 0.1e6, 0.3e6, 1e6, 3e6, 10e6)
"""Pa; the thesis' 1 to 10 MPa, and softer ones, on which it says that the robot falls."""
POISSON_RATIOS = (0.01, 0.2, 0.4, 0.49)
"""Of the thesis' range."""
CHOSEN = (3e6, 0.4)
"""The thesis' choice."""
DROP_HEIGHT = 0.01
"""m."""
LEAN = np.deg2rad(15.3)
"""Of the torso from the vertical [rad]."""
PEAK, ERROR = "peak acceleration [m/s^2]", "torso error [deg]"
"""Names of both results."""
_UPRIGHT, _LEANING, _SETTLING = 0.5, 1.0, 0.5
"""How long the trial stands, leans and waits; it then looks as long as it waited [s]."""
_FALLEN = 0.5
"""A robot whose waist leans further has fallen [rad]."""
_STIFFNESSES = {5e6: 103.0922, 15e6: 155.7129, 50e6: 218.9003}
"""N/m and m/s^2: peaks of a mass on a spring (4.21), computed for the specification (N11)."""


@dataclass(frozen=True)
class StandingTrial:
    """HRP-2 with all joints at zero, on soles of a material or on its rigid feet.

    Attributes:
        dt: time step [s].
        stabilised: whether ankles right it (F141).
    """

    dt: float = 1e-3
    stabilised: bool = False

    def __call__(self, material: Material) -> Mapping[str, float]:
        """Both trials with soles of one material."""
        return self.both(soled(material))

    def both(self, robot: Robot) -> Mapping[str, float]:
        """Both trials with a robot."""
        return {PEAK: self.peak(robot), ERROR: self.torso_error(robot)}

    def peak(self, robot: Robot) -> float:
        """Largest vertical acceleration of the hips' centre after a drop of 1 cm [m/s^2]."""
        simulation = self._simulation(robot, DROP_HEIGHT)
        waist = simulation.robots["hrp2"]
        fall = float(np.sqrt(2.0 * DROP_HEIGHT / 9.8))
        speed, peak = 0.0, 0.0
        for _ in range(round((fall + 0.08) / self.dt)):
            simulation.step()
            before, speed = speed, float((waist.placement_world_base.rotation @ waist.twist_base[:3])[2])
            peak = max(peak, abs(speed - before) / self.dt)
        return peak

    def torso_error(self, robot: Robot) -> float:
        """How far the torso is from 15.3 degrees when it leans forward, legs straight [deg]; not a number for a fall.

        How the robot leans upright, its centre of mass being behind the middle of its soles, is not part of it.
        """
        simulation = self._simulation(robot, 0.0)
        leaning = simulation.robots["hrp2"]
        upright = self._mean_lean(simulation, _UPRIGHT)
        for step in range(round((_LEANING + _SETTLING) / self.dt)):
            share = min(step * self.dt / _LEANING, 1.0)
            angle = LEAN * share**2 * (3.0 - 2.0 * share)
            rate = LEAN * 6.0 * share * (1.0 - share) / _LEANING
            leaning.set_position_target([angle], [rate], joints=["CHEST_JOINT1"])
            simulation.step()
            if abs(_pitch(leaning.placement_world_base)) > _FALLEN:
                return float("nan")
        return float(np.rad2deg(abs(self._mean_lean(simulation, _SETTLING) - upright - LEAN)))

    def _mean_lean(self, simulation: Simulation, duration: float) -> float:
        """Mean lean of the torso over a duration, since soft soles sway for long [rad]."""
        leans: list[float] = []
        torso = simulation.robots["hrp2"]
        simulation.run(duration, lambda _: leans.append(_pitch(torso.placement("CHEST_LINK1"))))
        return float(np.mean(leans))

    def _simulation(self, robot: Robot, above: float) -> Simulation:
        at = pin.SE3(np.eye(3), np.array([0.0, 0.0, above]))
        placed = SceneRobot("hrp2", robot, "zero", at, place_robot(robot, "zero", at))
        simulation = Simulation(made_scene("soles", (), robots=(placed,), friction=0.8), self.dt)
        if self.stabilised:
            simulation.add_module(SoleStabiliser("hrp2"))
        return simulation


def soled(material: Material) -> Robot:
    """HRP-2 on the thesis' simple soles, blocks of 22 x 13 x 2 cm, of a material."""
    robot = load_robot("hrp2_soles")
    soles = {
        name: replace(sole, materials=dict.fromkeys(sole.materials, material)) for name, sole in robot.soles.items()
    }
    return replace(robot, soles=soles)


def _pitch(placement: pin.SE3) -> float:
    """Forward lean of a link's z axis [rad]."""
    axis = placement.rotation[:, 2]
    return float(np.arctan2(axis[0], axis[2]))


def run(
    young_moduli: Sequence[float] = YOUNG_MODULI,
    poisson_ratios: Sequence[float] = POISSON_RATIOS,
    executor: Executor | None = None,
    *,
    progress: bool = False,
) -> ExperimentResult:
    """Try every pair of elastic constants, and rigid feet.

    Args:
        young_moduli: Pa; 3 MPa among them, ascending.
        poisson_ratios: 0.4 among them, ascending.
        executor: where the trials are done, of any kind; one after the other here if not given.
        progress: shows a bar.
    """
    trial = StandingTrial()
    table = sweep_materials(trial, young_moduli, poisson_ratios, executor, progress=progress)
    rigid = trial.both(load_robot("hrp2"))
    stabilised = StandingTrial(stabilised=True)
    righted = {E: stabilised.torso_error(soled(Material(E, 0.01))) for E in (young_moduli[0], CHOSEN[0])}
    return _result(table, rigid, righted)


def _result(table: SweepTable, rigid: Mapping[str, float], righted: Mapping[float, float]) -> ExperimentResult:
    E, nu = table.young_moduli, table.poisson_ratios
    peak, error = table.results[PEAK], table.results[ERROR]
    i, j = int(np.argmin(np.abs(E - CHOSEN[0]))), int(np.argmin(np.abs(nu - CHOSEN[1])))
    stands = np.isfinite(error)
    rows = [
        Row(f"spring of {k / 1e6:g} MN/m under 58 kg: peak", f"{peak_:g}", p := _spring_peak(k), "m/s²",
            abs(p - peak_) < 1e-3)
        for k, peak_ in _STIFFNESSES.items()
    ]  # fmt: skip
    grows = bool((np.diff(peak, axis=0) > 0.0).all())
    falls = bool((np.diff(np.where(stands, error, 1e9), axis=0)[stands[1:]] < 0.0).all())
    front = table.pareto([PEAK, ERROR])
    soft = ~stands[E < 1e6, 0]
    rows += [
        Row("rigid feet: peak of the drop", "highest", rigid[PEAK], "m/s²", bool((peak < rigid[PEAK]).all())),
        Row("3 MPa, 0.4: peak of the drop", "", float(peak[i, j]), "m/s²"),
        Row("rigid feet: error of the torso", "", rigid[ERROR], "°"),
        Row("3 MPa, 0.4: error of the torso", "", float(error[i, j]), "°"),
        Row("peak grows with E (1: everywhere)", "1", int(grows), "", grows),
        Row("error falls with E (1: everywhere)", "1", int(falls), "", falls),
        Row("3 MPa, 0.4 on the Pareto front (1)", "1", int(front[i, j]), "", bool(front[i, j])),
        Row("softest E at ν = 0.01 on which it stands", "falls below 1", float(E[stands[:, 0]].min()) / 1e6, "MPa",
            bool(soft.all()) if soft.size else None),
        *(Row(f"{modulus / 1e6:g} MPa, 0.01, ankles right it: error of the torso", "stands", value, "°",
              bool(np.isfinite(value)))
          for modulus, value in righted.items()),
    ]  # fmt: skip
    colours = [f"C{k}" for k in range(nu.size)]
    panels = []
    for name, values, wanted in ((PEAK, peak, rigid[PEAK]), (ERROR, error, rigid[ERROR])):
        curves = [
            curve(E / 1e6, values[:, k], f"ν = {nu[k]:g}", "line and points", colours[k]) for k in range(nu.size)
        ]
        curves.append(curve([E[0] / 1e6, E[-1] / 1e6], [wanted, wanted], "rigid feet", "dashed", "grey"))
        panels.append(Panel("Young's modulus [MPa]", name, tuple(curves), x_log=True, y_log=True))
    points = tuple(curve(peak[:, k], error[:, k], f"ν = {nu[k]:g}", "points", colours[k]) for k in range(nu.size))
    best = curve([peak[i, j]], [error[i, j]], "3 MPa, 0.4", "points", "black")
    panels.append(Panel(PEAK, ERROR, (*points, best), "both are wanted small", y_log=True))
    return ExperimentResult("E12", "Which material soles should be made of", tuple(rows), tuple(panels))


def _spring_peak(stiffness: float) -> float:
    """Largest acceleration of 58 kg that fall 1 cm onto a spring [m/s^2]."""
    return float(np.abs(drop_on_spring(58.0, stiffness, DROP_HEIGHT, steps=200).acceleration).max())
