# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from matplotlib.figure import Figure

from humanoid_model.errors import InputError
from humanoid_model.files import save_picture
from humanoid_studies.planar_gait.report.gait_figure import PANELS, gait_figure


def panels(figure):
    return {axes.get_title(): axes for axes in figure.axes if axes.get_title()}


def test_picture_shows_what_it_says(bip_gait):
    found = panels(gait_figure(bip_gait, figures=5))
    assert len(found) == 1 + sum(len(row) for row in PANELS)
    for title in ("joint angles", "joint rates", "torques"):
        axes = found[title]
        assert len(axes.lines) - 4 == 6 * 4  # six joints in four phases, beside the lines at the phases' beginnings
        assert axes.get_xlim() == pytest.approx((0.0, bip_gait.duration))
    names = {text.get_text() for text in found["torques"].get_legend().get_texts()}
    assert names == {f"{leg}_{joint}" for leg in ("left", "right") for joint in ("hip", "knee", "ankle")}
    levels = found["H of each phase, constant along an extremal"].lines[0].get_ydata()
    np.testing.assert_array_equal(levels, bip_gait.phases[0].hamiltonian)
    sticks = next(axes for title, axes in found.items() if title.startswith("postures"))
    assert len([line for line in sticks.lines if line.get_linewidth() == 1.8]) == 2 * 5  # two legs each
    assert len(sticks.texts) >= 5


@pytest.mark.feature("003-F103")
def test_picture_shows_the_forces_of_each_foot(bip_gait):
    """Heel, toe, sum and tangential of the foot that bears alone in the second phase; nothing of the other one."""
    found = panels(gait_figure(bip_gait))
    forces = bip_gait.phases[1].forces["stance"]
    start, end = bip_gait.starts[1:3]
    for leg, bears in (("right", True), ("left", False)):
        axes = next(axes for title, axes in found.items() if title.startswith(f"forces on the {leg} foot"))
        phase = [line for line in axes.lines if len(line.get_xdata()) > 2 and line.get_xdata()[0] == start]
        assert len(phase) == 4
        drawn = [line.get_ydata() for line in phase if line.get_xdata()[-1] == pytest.approx(end)]
        if bears:
            wanted = [*forces.normal.T, forces.tangential, forces.total_normal]
            np.testing.assert_allclose(drawn, wanted, atol=1e-9)
        else:
            assert np.isnan(drawn).all()


def test_robot_without_feet(rabbit_gait, stopped_gait):
    found = panels(gait_figure(rabbit_gait))
    assert "stance foot on ground" in {text.get_text() for text in found["torques"].get_legend().get_texts()}
    assert "NOT CONVERGED" in gait_figure(stopped_gait).get_suptitle()


def test_bad_input(rabbit_gait, tmp_path):
    with pytest.raises(InputError, match="figures: is 0"):
        gait_figure(rabbit_gait, figures=0)
    with pytest.raises(InputError, match="can't be written"):
        save_picture(Figure(), tmp_path / "missing" / "gait.png")
    with pytest.raises(InputError, match="can't be written"):
        save_picture(Figure(), tmp_path / "gait.nonsense")
