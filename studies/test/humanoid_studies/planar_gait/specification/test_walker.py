# SPDX-License-Identifier: Apache-2.0
"""The feet of the walkers: forces at the root of both models."""

import numpy as np
import pytest
from fixtures.gait_models import BIP, CYCLIC, RABBIT, RABBIT_WALK
from fixtures.gait_oracles import ORACLES, samples

from humanoid_studies.planar_gait.optimal_control.foot_series import foot_series
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker


@pytest.mark.parametrize(
    ("walker", "step", "double", "single", "least"),
    [
        (BipWalker(BIP, min_toe_force=6.0), CYCLIC.step, "bip_dsp_cyclic", "bip_ssp_cyclic", ("NA2", "NB1")),
        (
            RabbitWalker(RABBIT, ankle_torque=True),
            RABBIT_WALK.step,
            "rabbit_dsp",
            "rabbit_ssp_5torques",
            ("R1y", "R_y"),
        ),
    ],
)
def test_forces_at_the_root(walker, step, double, single, least):
    for model, case, key in (
        (walker.double_support(step), double, least[0]),
        (walker.single_support(), single, least[1]),
    ):
        q, p, u = samples(case)
        forces = walker.root_forces(model)
        series = foot_series(model, forces, forces.places, q, model.tree.velocity(q, p), u)
        assert series.normal[:, 0].min() == pytest.approx(min(ORACLES[case][key]), rel=0.06)
        assert series.places.shape == series.normal.shape
        assert np.all(series.places <= 0.0)


def test_bounds_of_the_walker_reach_its_models():
    model = BipWalker(BIP, friction=0.4, min_toe_force=6.0).double_support(CYCLIC.step)
    assert model.contacts[0].friction == 0.4
    assert model.control_lower[7] == 6.0
    assert RabbitWalker(RABBIT, friction=0.3).double_support(RABBIT_WALK.step).contacts[0].friction == 0.3
