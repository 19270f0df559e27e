# SPDX-License-Identifier: Apache-2.0
import numpy as np
from fixtures.gait_models import BIP, CYCLIC

from humanoid_studies.planar_gait.specification.gait_plan import plan_gait
from humanoid_studies.planar_gait.specification.ground_profile import ground_profile
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk
from humanoid_studies.planar_gait.specification.step_data import load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker


def profile(walk, cycles=2):
    return ground_profile(plan_gait(BipWalker(BIP), cyclic_walk(walk, cycles)))


def test_level_ground_has_no_edge():
    ground = profile(CYCLIC)
    assert len(ground.edges) == 0
    np.testing.assert_array_equal(ground.height([-5.0, 0.0, 5.0]), 0.0)
    np.testing.assert_array_equal(ground.outline(-1.0, 2.0), [[-1.0, 0.0], [2.0, 0.0]])


def test_stairs_up_have_their_edges_at_the_heels_above():
    ground = profile(load_walk("bip_stairs_up"))  # toes at 0, 0.42, 0.84, 1.26; 8 cm each
    np.testing.assert_allclose(ground.edges, [0.42 - 0.29, 0.84 - 0.29, 1.26 - 0.29])
    np.testing.assert_allclose(ground.heights, [0.0, 0.08, 0.16, 0.24], atol=1e-12)
    np.testing.assert_allclose(ground.height([0.0, 0.129, 0.131, 0.42]), [0.0, 0.0, 0.08, 0.08])


def test_stairs_down_have_their_edges_at_the_toes_above():
    ground = profile(load_walk("bip_stairs_down"))
    np.testing.assert_allclose(ground.edges, [0.0, 0.42, 0.84], atol=1e-12)
    np.testing.assert_allclose(ground.heights, [0.0, -0.06, -0.12, -0.18], atol=1e-12)


def test_outline_turns_at_each_edge():
    ground = profile(load_walk("bip_stairs_up"), 1)
    outline = ground.outline(0.0, 0.5)
    np.testing.assert_allclose(outline, [[0.0, 0.0], [0.13, 0.0], [0.13, 0.08], [0.5, 0.08]], atol=1e-12)
