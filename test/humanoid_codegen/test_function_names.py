# SPDX-License-Identifier: Apache-2.0
"""Names of functions, short and full."""

import pytest

from humanoid_codegen.dynamic_model import DynamicModel
from humanoid_codegen.function_names import FUNCTION_ALIASES, function_names
from humanoid_model.errors import InputError


def test_short_names_in_any_spelling():
    assert function_names(["idm", "Mass", "direct-dynamics", " gravity"]) == (
        "inverse_dynamics", "mass_matrix", "direct_dynamics", "gravity",
    )  # fmt: skip


def test_each_function_once():
    assert function_names(["idm", "rnea", "inverse_dynamics"]) == ("inverse_dynamics",)


def test_no_alias_means_two_functions():
    names = [name for full, aliases in FUNCTION_ALIASES.items() for name in (full, *aliases)]
    assert len(names) == len(set(names))


def test_every_function_of_a_model_has_its_name_here():
    assert set(DynamicModel("robot_2r_a").builders) <= set(FUNCTION_ALIASES)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match=r"functions: unknown function 'speed'\. Choose from inverse_dynamics, "):
        function_names(["idm", "speed"])
