# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from fixtures.gait_models import BIP

from humanoid_model.errors import InputError
from humanoid_studies.gait.trunk_mass_study import study_trunk_mass
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings


@pytest.mark.parametrize("masses", [[], [0.0], [math.nan], [50.0, -1.0]])
def test_bad_masses_are_refused(masses):
    with pytest.raises(InputError, match="masses"):
        study_trunk_mass(BIP, masses)


@pytest.mark.feature("003-F098")
@pytest.mark.slow
def test_a_lighter_trunk_costs_less_and_is_no_harder():
    """L-08, F-098: of a person's mass about half is trunk, head and arms; of BIP's two thirds is trunk."""
    settings = GlobalSettings(double_intervals=10, single_intervals=20)
    heavy, light = study_trunk_mass(BIP, [66.11, 40.0], 0.75, settings)
    assert heavy.total_mass - light.total_mass == pytest.approx(26.11)
    for point in (heavy, light):
        assert point.converged
        assert point.continued
    assert light.cost_per_metre < 0.8 * heavy.cost_per_metre
    assert light.continuation_steps <= heavy.continuation_steps
