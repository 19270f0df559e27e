# SPDX-License-Identifier: Apache-2.0
import csv
import json
import math

import numpy as np
import pytest
from fixtures.gait_oracles import ORACLES
from fixtures.gait_problems import oracle_problem, stance

from humanoid_studies.planar_gait import synthesize_phase
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.report.phase_figure import phase_figure, stick_segments, write_figure
from humanoid_studies.planar_gait.report.phase_files import phase_series, write_csv, write_json
from humanoid_studies.planar_gait.report.phase_report import phase_report


@pytest.fixture(scope="module")
def solution():
    problem = oracle_problem("bip_ssp_stop")
    return synthesize_phase(problem.replace(feet=(stance(problem),)))


def test_numbers_are_those_of_the_reference(solution):
    oracle, report = ORACLES["bip_ssp_stop"], phase_report(solution)
    assert report.cost == pytest.approx(oracle["J_pmp"], rel=1e-4)
    assert report.energy == pytest.approx(oracle["E_abs"], rel=1e-3)
    assert report.energy == pytest.approx(report.energy_positive - report.energy_negative, rel=1e-4)
    assert report.energy == pytest.approx(sum(item.energy for item in report.controls))
    assert report.mean_power == pytest.approx(report.energy / 0.5)
    for j, control in enumerate(report.controls):
        assert control.least == pytest.approx(oracle["u_min"][j], abs=0.3)
        assert control.greatest == pytest.approx(oracle["u_max"][j], abs=0.3)
    (foot,) = report.feet
    assert foot.min_normal == pytest.approx((oracle["NB1"][0], oracle["NB2"][0]), rel=5e-3)
    assert foot.max_normal == pytest.approx((oracle["NB1"][1], oracle["NB2"][1]), rel=5e-3)
    assert -0.29 < foot.pressure_range[0] < foot.pressure_range[1] < 0.0
    assert report.clearance["swing_toe"] == pytest.approx(oracle["toe"][0], abs=2e-5)
    text = report.text()
    assert "converged (pontryagin)" in text
    assert "C01" in text
    assert "friction needed" in text


@pytest.mark.feature("003-F102")
def test_files_hold_every_series(solution, tmp_path):
    write_csv(solution, tmp_path / "phase.csv")
    with (tmp_path / "phase.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(solution.t)
    np.testing.assert_array_equal([float(row["u.C01"]) for row in rows], solution.u[:, 0])
    assert set(rows[0]) == set(phase_series(solution))
    # Knee and ankle: angles between the links, and rates that are what the angles change by.
    t = np.array([float(row["t"]) for row in rows])
    for name, (child, parent) in {
        "stance_knee": ("stance_thigh", "stance_shank"), "swing_ankle": ("swing_foot", "swing_shank")
    }.items():  # fmt: skip
        links = [np.array([float(row[f"q.{link}"]) for row in rows]) for link in (child, parent)]
        angle, rate = (np.array([float(row[f"{kind}.{name}"]) for row in rows]) for kind in ("angle", "rate"))
        np.testing.assert_allclose(angle, links[0] - links[1], atol=1e-12)
        np.testing.assert_allclose(rate[1:-1], np.gradient(angle, t)[1:-1], atol=0.02 * np.abs(rate).max())
    write_json(solution, tmp_path / "phase.json")
    content = json.loads((tmp_path / "phase.json").read_text())
    assert content["report"]["status"] == "converged"
    assert content["series"]["hamiltonian"] == pytest.approx(solution.hamiltonian.tolist())
    assert content["report"]["controls"][0]["upper"] is None


@pytest.mark.feature("003-F103", "003-F110")
def test_files_and_picture_hold_the_forces_of_each_foot(solution, tmp_path):
    """Heel and toe carry the robot, 104.81 kg with the foot that stands still: Newton's law on the motion."""
    write_csv(solution, tmp_path / "phase.csv")
    with (tmp_path / "phase.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = ("force.stance.stance heel", "force.stance.stance toe", "force.stance.tangential")
    heel, toe, tangential = (np.array([float(row[name]) for row in rows]) for name in names)
    tree, t = solution.problem.model.tree, np.array([float(row["t"]) for row in rows])
    velocity = np.einsum("kij,kj->ki", tree.centre.jacobian(solution.q), solution.v)
    needed = tree.mass * np.gradient(velocity, t, axis=0, edge_order=2) + [0.0, 104.81 * 9.81]
    inner = slice(3, -3)
    np.testing.assert_allclose((heel + toe)[inner], needed[inner, 1], atol=3.0)
    np.testing.assert_allclose(tangential[inner], needed[inner, 0], atol=3.0)
    assert heel.max() - heel.min() > 100.0
    needs = float((np.abs(tangential) / (heel + toe)).max())
    assert needs > 0.2
    (foot,) = phase_report(solution).feet
    assert foot.friction_required == pytest.approx(needs)
    assert f"friction needed {needs:.3f}" in phase_report(solution).text()
    panel = next(panel for panel in phase_figure(solution).axes if panel.get_title() == "forces of contacts and cuts")
    drawn = {line.get_label(): line.get_ydata() for line in panel.lines}
    np.testing.assert_array_equal(drawn["stance heel"], heel)
    np.testing.assert_array_equal(drawn["stance toe"], toe)
    assert len(drawn) == 3


@pytest.mark.feature("003-F101")
def test_closure_is_told_in_millimetres():
    """RABBIT's front tip is 0.116 mm off its place at most: in the report, in its text and in the picture."""
    solution = synthesize_phase(oracle_problem("rabbit_dsp"))
    model = solution.problem.model
    (closure,) = model.point_closures
    off = model.points[closure.point].position(solution.q) - [closure.target.real, closure.target.imag]
    gap_mm = 1e3 * np.hypot(*off.T)
    assert gap_mm.max() == pytest.approx(ORACLES["rabbit_dsp"]["gap_mm"], rel=0.01)
    report = phase_report(solution)
    assert report.closure_mm == pytest.approx(gap_mm.max())
    assert f"closure {gap_mm.max():.3f} mm" in report.text()
    lines = [line for panel in phase_figure(solution).axes for line in panel.lines]
    (drawn,) = [line for line in lines if line.get_label() == "closure [mm]"]
    np.testing.assert_allclose(drawn.get_ydata(), gap_mm, atol=1e-12)
    np.testing.assert_allclose(phase_series(solution)["closure_gap"], 1e-3 * gap_mm, atol=1e-15)


def test_stick_figure_has_the_lengths_of_the_robot(solution):
    lines = stick_segments(solution.problem.model, solution.q[0])
    lengths = sorted(float(np.linalg.norm(line[1] - line[0])) for line in lines)
    robot = [0.41, 0.41, 0.41, 0.41, 0.66, 0.188, math.hypot(0.29 - 0.1592, 0.1)]
    assert lengths == pytest.approx(sorted(robot), abs=1e-4)


def test_picture_shows_what_it_says(solution, tmp_path):
    figure = phase_figure(solution)
    titles = [panel.get_title() for panel in figure.axes]
    assert any(title.startswith("H - ") for title in titles)
    torques = next(panel for panel in figure.axes if panel.get_title() == "torques")
    assert len(torques.lines) == 6
    write_figure(solution, tmp_path / "phase.png")
    assert (tmp_path / "phase.png").stat().st_size > 20_000


def test_refusal_has_a_report_too():
    problem = oracle_problem("5bar_A")
    refused = synthesize_phase(problem.replace(end=EndState(problem.end.q + 0.2, problem.end.v)))
    report = phase_report(refused)
    assert report.status == "unreachable"
    assert "loop open" in report.text()
    assert report.as_dict()["cost"] is None
