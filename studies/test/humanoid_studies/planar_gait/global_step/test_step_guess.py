# SPDX-License-Identifier: Apache-2.0
import pytest
from fixtures.gait_models import BIP, CYCLIC, RABBIT

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.global_step.step_guess import scaled_walk
from humanoid_studies.planar_gait.specification.gait_plan import plan_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker


def test_the_published_step_comes_back_as_it_is():
    walk = scaled_walk(BipWalker(BIP), CYCLIC.mean_speed, CYCLIC.step.step_length)
    assert walk.step.initial_hip == pytest.approx(CYCLIC.step.initial_hip)
    assert walk.step.final_hip_velocity == pytest.approx(CYCLIC.step.final_hip_velocity)
    assert walk.duration == pytest.approx(CYCLIC.duration)


@pytest.mark.parametrize("walker", [BipWalker(BIP), RabbitWalker(RABBIT)], ids=["bip", "rabbit"])
@pytest.mark.parametrize("speed", [0.3, 0.75, 1.2])
@pytest.mark.parametrize("height", [-0.06, 0.0, 0.08])
def test_scaled_steps_are_within_reach_and_join(walker, speed, height):
    walk = scaled_walk(walker, speed, 0.42 if height else None, height)
    assert walk.mean_speed == pytest.approx(speed)
    plan_gait(walker, cyclic_walk(walk, 2))


def test_what_is_out_of_reach_says_so():
    with pytest.raises(InputError, match="leg"):
        scaled_walk(BipWalker(BIP), 0.7, 2.5)
    with pytest.raises(InputError, match="no published walk"):
        scaled_walk(object())
