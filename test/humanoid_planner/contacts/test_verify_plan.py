# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, Stance, load_robot, load_scene
from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_planner.contacts import plan_contacts, verify_plan
from humanoid_planner.contacts.verify_plan import PlanLimits
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at

pytestmark = pytest.mark.feature("001-F233")


@pytest.fixture(scope="module")
def walk(stairs):
    """Stances and postures of a few steps on the floor, clear of collisions."""
    goal = [centre_of_mass_at([0.05, 0.0, 0.72], 0.12)]
    plan = plan_contacts(stairs.but(goal=goal, collisions=True, seed=1).problem, max_nodes=60)
    assert plan.success
    assert len(plan) >= 4
    return list(plan.stances), [q.copy() for q in plan.postures]


def kinds(stairs, stances, postures, **changes):
    verdict = verify_plan(changes.get("robot", stairs.robot), changes.get("scene", stairs.scene), stances, postures)
    assert verdict.success is not bool(verdict.violations)
    return {violation.kind for violation in verdict.violations}


def changed(stance, name, **fields):
    contact = stance.find(name)
    return stance.removing(name).adding(dataclasses.replace(contact, **fields))


@pytest.mark.feature("001-F021")
def test_a_plan_made_with_collisions_holds(stairs, walk):
    verdict = verify_plan(stairs.robot, stairs.scene, *walk)
    assert verdict.violations == ()
    assert verdict.success
    assert verdict.postures == len(walk[0])
    assert verdict.drift < 1e-5
    assert verdict.torque < 1.0


def test_a_check_that_is_cancelled_is_no_success(stairs, walk, monkeypatch):
    monkeypatch.setattr("humanoid_model.progress._EVERY", 0.0)
    verdict = verify_plan(stairs.robot, stairs.scene, *walk, progress=lambda told: told.part == 2)
    assert not verdict.success
    assert verdict.violations == ()
    assert verdict.postures == 2
    assert verdict.ended == "it was cancelled"
    assert verify_plan(stairs.robot, stairs.scene, *walk, time_limit=0.0).postures == 0


def test_the_margin_is_that_of_the_support_polygon(stairs, walk):
    stances, postures = [walk[0][0]], [walk[1][0]]
    com = pin.centerOfMass(stairs.robot.model, stairs.robot.model.createData(), postures[0])
    corners = np.array(
        [contact.location.patch @ np.eye(2) + [contact.x, contact.y] for contact in stances[0].contacts]
    ).reshape(-1, 2)
    # Two soles side by side: the hull is a rectangle.
    low, high = corners.min(axis=0), corners.max(axis=0)
    expected = min(*(com[:2] - low), *(high - com[:2]))
    assert verify_plan(stairs.robot, stairs.scene, stances, postures).margin == pytest.approx(expected, abs=1e-6)


def test_a_centre_of_mass_a_hair_outside_needs_no_other_torque_than_one_inside(stairs, walk):
    """What searches find within their tolerance."""
    held, q = walk[0][0], walk[1][0]
    ahead = pin.centerOfMass(stairs.robot.model, stairs.robot.model.createData(), q)[0]

    def verdict(inside):
        """With soles that end so far ahead of the centre of mass [m]."""
        stance = held
        for contact in held.contacts:
            patch = contact.location.patch.copy()
            patch[:, 0] = np.minimum(patch[:, 0], ahead + inside - contact.x)
            location = dataclasses.replace(contact.location, patch=patch)
            stance = changed(stance, location.name, location=location)
        return verify_plan(stairs.robot, stairs.scene, [stance], [q], limits)

    limits = PlanLimits()
    out, within, far = verdict(-5e-5), verdict(5e-5), verdict(-2e-4)
    assert out.violations == within.violations == ()
    assert (out.margin, within.margin) == (pytest.approx(-5e-5, abs=1e-6), pytest.approx(5e-5, abs=1e-6))
    assert out.torque == pytest.approx(within.torque, rel=0.01)
    limits = PlanLimits(margin=0.01)
    for strict in (far, verdict(-5e-5)):
        assert {violation.kind for violation in strict.violations} == {"balance"}


def bend(stairs, q, joint, value):
    bent = q.copy()
    bent[stairs.robot.index_q(joint)] = value
    return bent


def test_postures_that_cannot_be_are_caught(stairs, walk):
    stances, postures = walk

    def caught(q):
        return kinds(stairs, stances, [*postures[:2], q, *postures[3:]])

    assert "joint limit" in caught(bend(stairs, postures[2], "RARM_JOINT3", 0.5))
    assert "number" in caught(bend(stairs, postures[2], "RARM_JOINT4", np.nan))
    assert "number" in caught(np.concatenate([postures[2][:3], 1.1 * postures[2][3:7], postures[2][7:]]))
    assert "number" in caught(postures[2][:-1])
    assert "drift" in caught(postures[2] + np.concatenate([[0.005], np.zeros(len(postures[2]) - 1)]))


def test_a_hand_in_the_body_is_caught(stairs, walk):
    stances, postures = walk
    lower, upper = stairs.robot.limits.lower, stairs.robot.limits.upper
    shoulder, elbow = stairs.robot.index_q("RARM_JOINT2"), stairs.robot.index_q("RARM_JOINT3")
    found = set()
    for turn in np.linspace(lower[shoulder], upper[shoulder], 3):
        for bow in np.linspace(lower[elbow], upper[elbow], 3):
            q = bend(stairs, bend(stairs, postures[0], "RARM_JOINT2", turn), "RARM_JOINT3", bow)
            q[stairs.robot.index_q("RARM_JOINT1")] = upper[stairs.robot.index_q("RARM_JOINT1")]
            found |= kinds(stairs, stances[:1], [q])
    assert found >= {"collision"}
    assert found <= {"collision", "balance"}


def test_a_thigh_in_the_pelvis_is_caught_by_its_own_shapes(stairs, walk):
    """A leg that is stretched back goes into the block behind it; none of the robot's own postures does."""
    q = walk[1][0].copy()
    q[stairs.robot.index_q("LLEG_JOINT2")] = 0.7
    verdict = verify_plan(stairs.robot, stairs.scene, [walk[0][0]], [q])
    told = [violation.what for violation in verdict.violations if violation.kind == "collision"]
    assert any(what.startswith("WAIST/") and "LLEG_LINK2/" in what for what in told)


def test_a_box_in_the_way_is_caught(stairs, walk):
    place = pin.SE3(np.eye(3), walk[1][2][:3])
    bodies = tuple(
        dataclasses.replace(body, placement_world_body=place) if body.name == "step_5" else body
        for body in stairs.scene.bodies
    )
    assert "collision" in kinds(stairs, *walk, scene=dataclasses.replace(stairs.scene, bodies=bodies))


def test_contacts_elsewhere_are_caught(stairs, walk):
    stances, postures = walk
    moved = [changed(stance, "left_sole", x=stance.find("left_sole").x + 0.01) for stance in stances]
    assert "drift" in kinds(stairs, moved, postures)
    outside = [changed(stances[0], "left_sole", x=0.9)]
    assert "drift" in kinds(stairs, outside, postures[:1])
    turned = [changed(stances[0], "left_sole", theta=0.05)]
    assert "drift" in kinds(stairs, turned, postures[:1])


@pytest.mark.feature("001-F021")
def test_a_foot_that_is_lifted_too_early_is_caught(stairs, walk):
    stances, postures = walk
    lifted = changed(stances[0], "left_sole", kind=ContactKind.RELEASED)
    assert kinds(stairs, [lifted], postures[:1]) == {"balance"}
    nothing = changed(lifted, "right_sole", kind=ContactKind.RELEASED)
    assert kinds(stairs, [nothing], postures[:1]) == {"balance"}


@pytest.mark.feature("001-F020", "001-F021")
def test_stances_out_of_order_are_caught(stairs, walk):
    stances, postures = walk
    left_out = verify_plan(stairs.robot, stairs.scene, [stances[0], stances[3]], [postures[0], postures[3]])
    assert any("change at once" in violation.what for violation in left_out.violations)
    new = next(i for i in range(1, len(stances)) if len(_new(stances, i)) == 1)
    early = changed(stances[new], _new(stances, new)[0], kind=ContactKind.FIXED)
    assert "order" in kinds(stairs, [stances[new - 1], early], postures[new - 1 : new + 1])


def _new(stances, i):
    before = {(c.location.name, c.surface.name, c.x, c.y) for c in stances[i - 1].contacts}
    return [c.location.name for c in stances[i].contacts if (c.location.name, c.surface.name, c.x, c.y) not in before]


def test_weak_motors_are_caught(stairs, walk):
    limits = dataclasses.replace(stairs.robot.limits, effort=0.05 * stairs.robot.limits.effort)
    assert kinds(stairs, *walk, robot=dataclasses.replace(stairs.robot, limits=limits)) == {"torque"}


def test_a_jump_in_a_motion_is_caught_and_small_steps_are_not(stairs, walk):
    stance, q = walk[0][0], walk[1][0]
    index = stairs.robot.index_q("HEAD_JOINT1")
    turns = q + np.outer(np.linspace(0, 0.08, 11), np.eye(len(q))[index])
    assert kinds(stairs, [stance], [turns]) == set()
    assert kinds(stairs, [stance], [turns[[0, 1, 4, 5]]]) == {"step"}


def test_bad_plans_are_named(stairs, walk):
    with pytest.raises(InputError, match="motion: has 1 parts for 2 stances"):
        verify_plan(stairs.robot, stairs.scene, walk[0][:2], walk[1][:1])
    lost = dataclasses.replace(stairs.scene, bodies=())
    with pytest.raises(InputError, match="'floor' is no body of scene"):
        verify_plan(stairs.robot, lost, *walk)


BALL = "<collision><geometry><sphere radius='0.01'/></geometry></collision>"


@pytest.mark.parametrize(("neck", "told"), [("", []), (BALL, ["torso/0 is 0.03 m in head/0"])], ids=["bare", "not"])
def test_links_with_a_bare_one_between_them_are_neighbours(tmp_path, neck, told):
    """Joint limits keep neighbours apart, as the planner takes it; Romeo's torso and head meet across a bare neck."""
    box = "<collision><geometry><box size='0.2 0.2 0.2'/></geometry></collision>"
    links = "".join(
        f"<link name='{name}'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.01' ixy='0' ixz='0' "
        f"iyz='0'/></inertial>{shape}</link>"
        for name, shape in (("torso", box), ("neck", neck), ("head", box))
    )
    joints = "".join(
        f"<joint name='{child}' type='prismatic'><parent link='{parent}'/><child link='{child}'/>"
        f"<origin xyz='0 0 0.11'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='99' velocity='1'/></joint>"
        for parent, child in (("torso", "neck"), ("neck", "head"))
    )
    (tmp_path / "two.urdf").write_text(f"<robot name='two'>{links}{joints}</robot>")
    square = "[[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]"
    (tmp_path / "two.yaml").write_text(f"contacts: {{seat: {{link: torso, xyz: [0, 0, -0.1], patch: {square}}}}}")
    robot, scene = load_robot(tmp_path / "two.urdf"), load_scene("stand")
    floor = next(surface for surface in scene.surfaces if surface.name == "floor")
    q = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0, 0.0, -0.05])
    verdict = verify_plan(robot, scene, [Stance((Contact(robot.contacts["seat"], floor, 0.0, 0.0, 0.0),))], [q])
    assert [item.what for item in verdict.violations if item.kind == "collision"] == told
