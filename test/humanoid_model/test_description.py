# SPDX-License-Identifier: Apache-2.0
"""Walking a robot description."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.description import Inertial, Joint, Link, RobotDescription


def link(name: str, mass: float | None = None) -> Link:
    return Link(name, None if mass is None else Inertial(mass, pin.SE3.Identity(), np.eye(3)))


def joint(name: str, kind: str, parent: str, child: str) -> Joint:
    return Joint(name, kind, parent, child, pin.SE3.Identity(), np.array([0.0, 0.0, 1.0]))


@pytest.fixture
def description() -> RobotDescription:
    links = [link("root"), link("a", 1.5), link("b", 2.0), link("c"), link("d", 0.25)]
    joints = [
        joint("to_c", "fixed", "a", "c"),
        joint("to_b", "revolute", "root", "b"),
        joint("to_a", "fixed", "root", "a"),
        joint("to_d", "revolute", "c", "d"),
    ]
    return RobotDescription("robot", {one.name: one for one in links}, {one.name: one for one in joints}, "root")


def test_child_joints_keep_declaration_order(description: RobotDescription) -> None:
    names = {key: [one.name for one in joints] for key, joints in description.child_joints.items()}
    assert names == {"root": ["to_b", "to_a"], "a": ["to_c"], "b": [], "c": ["to_d"], "d": []}


def test_parent_joint_of_all_but_the_root(description: RobotDescription) -> None:
    assert {key: one.name for key, one in description.parent_joint.items()} == {
        "a": "to_a", "b": "to_b", "c": "to_c", "d": "to_d",
    }  # fmt: skip


def test_rigid_group_goes_through_fixed_joints_only(description: RobotDescription) -> None:
    assert description.rigid_group("root") == ("root", "a", "c")
    assert description.rigid_group("b") == ("b",)


def test_total_mass_counts_links_without_inertia_as_nothing(description: RobotDescription) -> None:
    assert description.total_mass == 3.75


def test_descriptions_compare_by_value_but_not_by_source(description: RobotDescription) -> None:
    same = RobotDescription(
        description.name, dict(description.links), dict(description.joints), "root", source="elsewhere"
    )
    assert same == description
    heavier = dict(description.links) | {"a": link("a", 1.6)}
    assert RobotDescription("robot", heavier, description.joints, "root") != description
