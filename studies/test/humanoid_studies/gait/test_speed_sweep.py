# SPDX-License-Identifier: Apache-2.0
import csv
import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from fixtures.gait_models import BIP, RABBIT

from humanoid_model.errors import InputError
from humanoid_studies.gait.speed_sweep import SweepPoint, sweep_figure, sweep_speeds, write_sweep
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_step
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

COARSE = GlobalSettings(double_intervals=8, single_intervals=12)
WALKER = RabbitWalker(RABBIT)


def test_neighbours_lead_to_steps_as_good_as_from_nothing(tmp_path):
    speeds = (1.0, 0.8)
    with ThreadPoolExecutor(2) as executor:
        cold = sweep_speeds(WALKER, speeds, COARSE, executor)
    warm = sweep_speeds(WALKER, speeds, COARSE, warm_start=True)
    assert [point.speed for point in warm] == [1.0, 0.8]
    for one, other in zip(cold, warm, strict=True):
        assert one.converged
        assert other.converged
        assert other.cost_per_metre < one.cost_per_metre * (1.0 + 1e-4)  # RABBIT has more than one local minimum
        assert other.double_support + other.single_support == pytest.approx(other.step_length / other.speed, rel=1e-6)
    write_sweep(warm, tmp_path / "sweep.csv")
    with open(tmp_path / "sweep.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["speed"]) for line in lines] == [1.0, 0.8]
    assert float(lines[1]["cost_of_transport"]) == warm[1].cost_of_transport
    figure = sweep_figure(warm, "RABBIT")
    assert len(figure.axes) == 6
    assert [len(axes.lines) for axes in figure.axes] == [1, 1, 1, 2, 1, 2]  # no ankles
    drawn = figure.axes[0].lines[0].get_ydata()
    assert list(drawn) == [point.cost_of_transport for point in warm]


@pytest.mark.filterwarnings("error")
def test_what_did_not_converge_says_so_and_is_not_drawn():
    points = sweep_speeds(WALKER, [0.8], COARSE.replace(max_iterations=3))
    assert not points[0].converged
    assert "Maximum_Iterations" in points[0].message
    assert not sweep_figure(points).axes[0].lines


@pytest.mark.parametrize("speeds", [[], [0.5, -0.1], [math.nan]])
def test_bad_speeds_are_refused(speeds):
    with pytest.raises(InputError, match="speeds"):
        sweep_speeds(WALKER, speeds)


@pytest.mark.slow
def test_bip_walks_from_03_to_12_metres_per_second():
    """Cost of transport in the range of such machines, effort rising with speed, steps longer (section 8.7)."""
    points = sweep_speeds(BipWalker(BIP), [0.3, 0.5, 0.7, 0.9, 1.2], warm_start=True)
    assert all(point.converged for point in points)
    effort, length = [p.cost_per_metre for p in points], [p.step_length for p in points]
    assert effort == sorted(effort)
    assert length == sorted(length)
    assert all(0.05 < point.cost_of_transport < 0.6 for point in points)
    assert all(point.friction <= 0.601 for point in points)


def test_figures_of_a_point_are_the_gaits():
    found = optimize_step(WALKER, 0.8, 0.4, COARSE, prove=False)
    point = SweepPoint.of(0.8, found)
    assert max(point.ankle_torque, point.knee_torque, point.hip_torque) == found.peak_torque
    assert point.ankle_torque == 0.0
    assert point.friction == found.friction_required
