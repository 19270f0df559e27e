# SPDX-License-Identifier: Apache-2.0
import pytest

from humanoid_model import load_robot
from humanoid_studies.humod.coordinates import (
    COLUMNS,
    JOINTS,
    POSITION_JOINTS,
    POSITION_LABELS,
    first_joint,
    joint_name,
    to_joint_order,
)


def test_every_column_moves_a_joint_of_the_3p33r_robot() -> None:
    assert len(COLUMNS) == 36
    assert sorted(JOINTS) == sorted(load_robot("syn3p33r").joint_names)


@pytest.mark.parametrize(
    ("column", "joint"),
    [("pBJY", "WJ_py"), ("rBJZ", "WJ_z"), ("rSJX_R", "SJ_R_x"), ("rEJZ_L", "EJ_L_z"), ("rLLJZ", "LLJ_z")],
)
def test_columns_are_matched_by_name(column: str, joint: str) -> None:
    assert joint_name(column) == joint


def test_columns_are_in_the_order_of_the_files() -> None:
    # Specification 004 section 3.3 (a), counted from 1 there.
    assert [COLUMNS.index(name) for name in ("rLNJX", "rEJZ_R", "rULJX", "rLLJZ", "rKJZ_L", "rAJZ_R")] == [
        6, 16, 17, 21, 28, 35,
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["SJX", "rSJW", "rsjx", "rSJX_M", ""])
def test_a_strange_column_is_refused(column: str) -> None:
    with pytest.raises(ValueError, match="not a coordinate"):
        joint_name(column)


def test_a_model_order_picks_its_columns() -> None:
    names = load_robot("syn3p33r").joint_names
    assert tuple(JOINTS[column] for column in to_joint_order(names)) == names


def test_a_group_lies_where_its_first_joint_does() -> None:
    names = ("EJ_R_z", "LNJ_z", "LNJ_y", "LNJ_x")
    assert first_joint("LNJ", names) == 3
    assert first_joint("EJ_R", names) == 0


def test_positions_are_published_of_thirteen_joints() -> None:
    assert sorted(POSITION_JOINTS) == sorted(POSITION_LABELS)
    assert len(set(POSITION_LABELS)) == 13
