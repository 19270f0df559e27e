# SPDX-License-Identifier: Apache-2.0
"""Models that are kept: which ones, how many, until when."""

from __future__ import annotations

from humanoid_codegen.model_cache import ModelCache

DOWN = (0.0, 0.0, -9.81)
NOWHERE = (0.0, 0.0, 0.0)


def test_a_model_is_made_once() -> None:
    cache = ModelCache(2)
    model = cache.model("robot_2r_a", DOWN)
    assert cache.model("robot_2r_a", DOWN) is model
    assert cache.model("robot_2r_a", NOWHERE) is not model
    assert cache.model("robot_2r_a", NOWHERE).robot is model.robot


def test_the_robot_not_asked_for_longest_goes_first() -> None:
    cache = ModelCache(2)
    first, second = cache.model("robot_2r_a", DOWN), cache.model("robot_2r_b", DOWN)
    assert cache.model("robot_2r_a", DOWN) is first
    cache.model("tree4", DOWN)
    assert cache.model("robot_2r_a", DOWN) is first
    assert cache.model("robot_2r_b", DOWN) is not second


def test_models_of_one_robot_are_bounded_too() -> None:
    cache = ModelCache(2)
    models = [cache.model("robot_2r_a", (0.0, 0.0, -float(i))) for i in range(3)]
    assert cache.model("robot_2r_a", (0.0, 0.0, -2.0)) is models[2]
    assert cache.model("robot_2r_a", (0.0, 0.0, 0.0)) is not models[0]


def test_loaded_links_make_models_of_their_own() -> None:
    model = ModelCache(2).model("tree4", DOWN, ("tool",))
    assert model.function("inverse_dynamics").arguments[-1].shape == (1, 6)
