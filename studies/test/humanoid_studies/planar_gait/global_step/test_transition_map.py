# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from fixtures.gait_models import BIP, RABBIT

from humanoid_studies.planar_gait.global_step.transition_map import TransitionMap
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

WALKERS = {"bip": (BipWalker(BIP), 7), "rabbit": (RabbitWalker(RABBIT), 5)}


@pytest.mark.parametrize("name", WALKERS)
@pytest.mark.parametrize("transition", ["single_from_double", "single_from_touch_down"])
def test_the_map_is_the_walkers_own(name, transition):
    walker, n = WALKERS[name]
    function = getattr(walker, transition)
    rng = np.random.default_rng(3)
    found = TransitionMap.of(function, n)
    for _ in range(5):
        q, v = rng.normal(size=(2, n))
        there = function(BoundaryState(q, v))
        np.testing.assert_allclose(found.angles(q), there.q, atol=1e-12)
        np.testing.assert_allclose(found.matrix @ v, there.v, atol=1e-12)


def test_single_support_knows_nothing_of_the_feet_that_are_flat_there():
    walker, n = WALKERS["bip"]
    assert TransitionMap.of(walker.single_from_touch_down, n).dropped.tolist() == [0]  # rear foot
    assert TransitionMap.of(walker.single_from_double, n).dropped.tolist() == [5]  # front foot
    walker, n = WALKERS["rabbit"]
    assert not TransitionMap.of(walker.single_from_double, n).dropped.size


def test_what_is_no_such_map_is_refused():
    with pytest.raises(ValueError, match="affine"):
        TransitionMap.of(lambda state: BoundaryState(state.q**2, state.v), 3)
    with pytest.raises(ValueError, match="affine"):
        TransitionMap.of(lambda state: BoundaryState(state.q, 2.0 * state.v), 3)
