# SPDX-License-Identifier: Apache-2.0
"""A page that each drawing test draws on; nobody looks at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from humanoid_ros.viewer.page import Page


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page(port=0)
    yield page
    page.close()


TWO_LINKS = """
<robot name="two_links">
  <link name="base">
    <inertial><origin xyz="0 0 0.1"/><mass value="3"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.1"/><geometry><box size="0.1 0.2 0.3"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual>
    <visual><geometry><sphere radius="0.05"/></geometry></visual>
  </link>
  <link name="arm">
    <inertial><origin xyz="0 0 0.5"/><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><cylinder radius="0.02" length="1"/></geometry></visual>
  </link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
  <joint name="wrist" type="fixed"><parent link="arm"/><child link="tool"/></joint>
</robot>
"""


@pytest.fixture
def urdf() -> str:
    """Two links with shapes (three in all) and one without."""
    return TWO_LINKS
