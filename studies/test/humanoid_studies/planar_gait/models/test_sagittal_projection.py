# SPDX-License-Identifier: Apache-2.0
"""Sagittal projections of HRP-2, BIP2000 and the planar BIP: Pinocchio with the other joints locked tells the same."""

import dataclasses
import math
import re

import numpy as np
import pinocchio as pin
import pytest
from fixtures.gait_models import BIP, CYCLIC, FIVE_BAR

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_studies.planar_gait.optimal_control.foot_series import foot_series
from humanoid_studies.planar_gait.optimal_control.stance_foot import stance_forces
from humanoid_studies.planar_gait.specification import seven_link


def odd_biped(folder, floating):
    """The planar BIP with its trunk's frame off the hips and its knees counted the other way round."""
    text = find_resource("urdf/bip_planar.urdf").read_text()
    for side in ("rear", "front"):
        knee = text.index(f'<joint name="{side}_knee"')
        end = text.index("</joint>", knee)
        flipped = text[knee:end].replace("0 1 0", "0 -1 0").replace('lower="0" upper="2.2"', 'lower="-2.2" upper="0"')
        text = text[:knee] + flipped + text[end:]
        hip = text.index(f'<joint name="{side}_hip"')
        end = text.index("</joint>", hip)
        text = text[:hip] + text[hip:end].replace("0 0 0", "0.03 0 -0.2") + text[end:]
    settings = find_resource("urdf/bip_planar.yaml").read_text()
    if floating:
        start, end = text.index('  <link name="world"/>'), text.index('  <link name="trunk">')
        text = text[:start] + text[end:]
        settings = settings.replace("floating_base: false", "floating_base: true")
        settings = re.sub(r"    base_z: .*\n", "", settings)
    settings = settings.replace("knee: 0.5", "knee: -0.5")
    path = folder / f"odd_{floating}.urdf"
    path.write_text(text)
    path.with_suffix(".yaml").write_text(settings)
    return load_robot(path)


@pytest.fixture(scope="module")
def projections(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    odd = {f"odd_{floating}": project_to_sagittal_plane(odd_biped(folder, floating)) for floating in (False, True)}
    return {**PROJECTIONS, **odd}


PROJECTIONS = {name: project_to_sagittal_plane(load_robot(name)) for name in ("hrp2", "bip", "bip_planar")}
ALL = (*PROJECTIONS, "odd_False", "odd_True")


@pytest.mark.feature("003-F025")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("support", ["double", "single"])
def test_energies_momenta_and_points(projections, name, support):
    projection = projections[name]
    model = projection.bip.double_support(0.4) if support == "double" else projection.bip.single_support()
    robot = projection.robot.model
    data = robot.createData()
    rng = np.random.default_rng(1)
    still = projection.bip.segments["rear_foot"].mass if support == "single" else 0.0
    base = 0.0 if support == "double" else math.nan
    for _ in range(4):
        q, v = rng.uniform(-3.0, 3.0, model.n), rng.normal(size=model.n)
        posture, velocity = projection.state(model, q, v, offset=0.7)
        kinetic = 0.5 * model.tree.momentum(q, v) @ v
        inertia = np.triu(pin.crba(robot, data, posture))  # with the rotors
        whole = 0.5 * velocity @ (inertia + np.triu(inertia, 1).T) @ velocity
        assert whole == pytest.approx(kinetic, rel=1e-9)
        potential = pin.computePotentialEnergy(robot, data, posture) - model.tree.potential(q)
        if support == "double":
            assert potential == pytest.approx(0.0, abs=1e-8)
        elif math.isnan(base):
            base = potential  # that of the stance foot, which stays
        else:
            assert potential == pytest.approx(base, abs=1e-8)
        pin.centerOfMass(robot, data, posture, velocity)
        momentum = model.tree.mass * model.tree.centre.jacobian(q) @ v
        total = data.mass[0] * data.vcom[0]
        np.testing.assert_allclose(total, [momentum[0], 0.0, momentum[1]], atol=1e-9)
        assert data.mass[0] == pytest.approx(model.tree.mass + still, abs=1e-9)
        check_soles(projection, model, posture, q, support)


def check_soles(projection, model, posture, q, support):
    robot = projection.robot
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, posture)
    for leg, side in ((projection.rear, "rear"), (projection.front, "front" if support == "double" else "swing")):
        if support == "single" and side == "rear":
            continue
        ankle = data.oMi[robot.model.getJointId(leg.joints[2])].translation
        planar = model.points[f"{side}_ankle"].position(q)
        np.testing.assert_allclose(ankle[[0, 2]], planar + np.array([0.7, 0.0]), atol=1e-12)
        contact = next(c for c in robot.contacts.values() if c.support and c.link in sole_links(robot, leg.joints[2]))
        link = robot.parts.links[contact.link]
        corners = [
            (data.oMi[link.joint_id] * link.placement_joint_link).act(vertex) for vertex in contact.vertices_link
        ]
        for end in ("heel", "toe"):
            place = model.points[f"{side}_{end}"].position(q) + np.array([0.7, 0.0])
            nearest = min(np.linalg.norm(corner[[0, 2]] - place) for corner in corners)
            assert nearest < 1e-12, (side, end)


def sole_links(robot, ankle):
    joint = robot.model.getJointId(ankle)
    links = set()
    for name, link in robot.parts.links.items():
        carrier = link.joint_id
        while carrier not in (0, joint):
            carrier = robot.model.parents[carrier]
        if carrier == joint:
            links.add(name)
    return links


@pytest.mark.parametrize("name", ALL)
def test_joint_efforts_are_pinocchios(projections, name):
    """Inverse dynamics of the whole robot along a motion of double support yields the planar controls."""
    projection = projections[name]
    model = projection.bip.double_support(0.4)
    robot = projection.robot.model
    data = robot.createData()
    rng = np.random.default_rng(2)
    q, v, u = rng.uniform(-3, 3, 7), rng.normal(size=7), 20.0 * rng.normal(size=9)
    acceleration = model.acceleration(q, v, u)
    step = 1e-5
    posture, velocity = projection.state(model, q, v)
    rates = []
    for sign in (1.0, -1.0):
        ahead = q + sign * step * v + 0.5 * step**2 * acceleration
        rates.append(projection.state(model, ahead, v + sign * step * acceleration)[1])
    change = (rates[0] - rates[1]) / (2.0 * step)
    torque = pin.rnea(robot, data, posture, velocity, change)
    # Front-foot forces enter through the sole's points.
    pin.computeJointJacobians(robot, data, posture)
    ankle = robot.getJointId(projection.front.joints[2])
    for point, force in (("front_heel", (u[8], u[6])), ("front_toe", (0.0, u[7]))):
        place = model.points[point].position(q)
        local = data.oMi[ankle].actInv(np.array([place[0], 0.0, place[1]]))
        local[1] = 0.0
        jacobian = pin.getJointJacobian(robot, data, ankle, pin.LOCAL_WORLD_ALIGNED)
        arm = np.array([place[0], 0.0, place[1]]) - data.oMi[ankle].translation
        linear = jacobian[:3] - pin.skew(arm) @ jacobian[3:]
        torque -= linear.T @ np.array([force[0], 0.0, force[1]])
    # The rear toe's force acts on the pivot, which holds still: subtract what it does to the legs.
    total = model.tree.mass * (
        model.tree.centre.jacobian(q) @ acceleration + model.tree.centre.bias(q, v) + [0.0, model.tree.gravity]
    )
    rear = total - [u[8], u[6] + u[7]]
    ankle = robot.getJointId(projection.rear.joints[2])
    jacobian = pin.getJointJacobian(robot, data, ankle, pin.LOCAL_WORLD_ALIGNED)
    linear = jacobian[:3] - pin.skew(-data.oMi[ankle].translation * [1, 0, 1]) @ jacobian[3:]
    torque -= linear.T @ np.array([rear[0], 0.0, rear[1]])
    expected = projection.torques(model, u)
    for leg in (projection.rear, projection.front):
        for joint in leg.joints:
            index = projection.robot.index_v(joint)
            assert torque[index] == pytest.approx(expected[index], abs=2e-4 * np.abs(u).max())


@pytest.mark.parametrize("name", ["hrp2", "bip", "bip_planar"])
def test_stance_foot_feels_what_pinocchio_tells(name):
    """Heel, toe and tangential force are the wrench that the whole robot needs; rotors push no foot (III.22)."""
    projection = PROJECTIONS[name]
    robot, bip = projection.robot, projection.bip
    model, data = bip.single_support(), projection.robot.model.createData()
    assert (bip.joints["ankle"].rotor > 0.0) == (name != "bip_planar")
    rng = np.random.default_rng(4)
    q, v, u = np.array([1.3, 1.9, -1.2, -1.9, -0.7, 1.57]), rng.normal(size=6), 30.0 * rng.normal(size=6)
    foot = stance_forces(bip, model)
    series = foot_series(model, foot, foot.places, q[None], v[None], u[None])
    acceleration, step = model.acceleration(q, v, u), 1e-5
    posture, velocity = projection.state(model, q, v)
    ends = [
        projection.state(model, q + s * v + 0.5 * s**2 * acceleration, v + s * acceleration)[1] for s in (step, -step)
    ]
    efforts = pin.rnea(robot.model, data, posture, velocity, (ends[0] - ends[1]) / (2.0 * step))
    pin.forwardKinematics(robot.model, data, posture)
    if robot.base_joint is not None:
        wrench = data.oMi[robot.base_joint].act(pin.Force(efforts[:6]))  # about the origin of the world
        along, up, turning = wrench.linear[0], wrench.linear[2], wrench.angular[1]
    else:
        base = data.oMi[3].translation
        along, up = efforts[:2]
        turning = efforts[2] + base[2] * along - base[0] * up
    heel = series.places[0, 0]
    toe_force = -(turning + heel * up) / bip.foot.length
    tolerance = 2e-4 * np.abs(u).max() + 1e-6 * abs(up)
    assert series.normal[0].sum() == pytest.approx(up, abs=tolerance)
    assert series.normal[0, 1] == pytest.approx(toe_force, abs=tolerance)
    assert series.tangential[0] == pytest.approx(along, abs=tolerance)
    controls = projection.torques(model, u)
    driven = [robot.index_v(joint) for leg in (projection.rear, projection.front) for joint in leg.joints]
    stance = [robot.index_v(joint) for joint in projection.rear.joints]
    swing = [index for index in driven if index not in stance]
    np.testing.assert_allclose(efforts[swing], controls[swing], atol=tolerance)


def test_planar_bip_is_the_table_of_the_thesis():
    projected = PROJECTIONS["bip_planar"].bip
    for name, segment in BIP.segments.items():
        found = projected.segments[name]
        assert found.mass == pytest.approx(segment.mass)
        assert found.centre == pytest.approx(segment.centre, abs=1e-8)
        assert found.inertia == pytest.approx(segment.inertia, abs=1e-7)
        if name not in ("front_foot", "trunk"):
            assert found.length == pytest.approx(segment.length, abs=1e-8)
    assert dataclasses.astuple(projected.foot) == pytest.approx(dataclasses.astuple(BIP.foot), abs=1e-8)
    for kind, joint in BIP.joints.items():
        assert (projected.joints[kind].lower, projected.joints[kind].upper) == pytest.approx((joint.lower, joint.upper))
    leg = PROJECTIONS["bip_planar"].rear
    assert leg.joints == ("rear_hip", "rear_knee", "rear_ankle")
    assert leg.shifts == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)  # the models count as the URDF does


def test_odd_counts_are_seen_through(projections):
    odd = projections["odd_True"]
    assert odd.rear.signs == (1, -1, 1)
    for kind in ("hip", "knee", "ankle"):
        mine, plain = odd.bip.joints[kind], PROJECTIONS["bip_planar"].bip.joints[kind]
        assert (mine.lower, mine.upper) == pytest.approx((plain.lower, plain.upper))


def test_wound_up_angles_are_the_same_posture():
    projection = PROJECTIONS["hrp2"]
    model = projection.bip.single_support()
    q = np.array([1.3, 1.9, -1.2, -1.9, -0.7, 1.57])
    posture = projection.configuration(model, q)
    turns = 2.0 * math.pi * np.array([0, 0, -1, -1, 1, 0])
    np.testing.assert_allclose(projection.configuration(model, q + turns), posture, atol=1e-12)


def test_published_foot_bears_the_table():
    """The published sole of BIP2000 has the ankle-toe distance of Table III-3 but for rounding: 0.189 m, 0.188 m."""
    foot = PROJECTIONS["bip"].bip.foot
    assert foot.length == pytest.approx(0.29)
    assert foot.ankle_height == pytest.approx(0.083)
    assert foot.ankle_toe == pytest.approx(0.188, rel=0.007)
    assert PROJECTIONS["bip"].bip.mass == pytest.approx(104.81)


def test_robots_can_take_steps():
    for name, scale in (("hrp2", 0.68), ("bip", 0.98)):
        projection = PROJECTIONS[name]
        step = CYCLIC.step.replace(
            step_length=0.4 * scale, initial_hip=scale * (0.05 + 0.845j), final_hip=scale * (0.15 + 0.83j)
        )
        for state in (
            seven_link.double_support_start(projection.bip, step),
            seven_link.double_support_end(projection.bip, step),
        ):
            model = projection.bip.double_support(step.step_length)
            assert np.abs(model.closure(state.q)).max() < 1e-12
            posture = projection.configuration(model, state.q)
            swapped = projection.configuration(model, state.q, swap_legs=True)
            for leg in (projection.rear, projection.front):
                for joint in leg.joints:
                    index = projection.robot.index_q(joint)
                    assert (
                        projection.robot.limits.lower[index] <= posture[index] <= projection.robot.limits.upper[index]
                    )
            index = [projection.robot.index_q(joint) for joint in projection.rear.joints]
            other = [projection.robot.index_q(joint) for joint in projection.front.joints]
            np.testing.assert_allclose(posture[index], swapped[other], atol=1e-12)


def test_what_is_refused():
    hrp2 = load_robot("hrp2")
    with pytest.raises(InputError, match="no posture 'sleeping'"):
        project_to_sagittal_plane(hrp2, "sleeping")
    with pytest.raises(InputError, match="posture of shape"):
        project_to_sagittal_plane(hrp2, np.zeros(3))
    with pytest.raises(InputError, match=re.escape("legs right_leg, tail. Name two of its limbs")):
        project_to_sagittal_plane(hrp2, legs=("right_leg", "tail"))
    with pytest.raises(InputError, match="limb 'right_arm': has"):
        project_to_sagittal_plane(hrp2, legs=("right_arm", "left_leg"))
    with pytest.raises(InputError, match=re.escape("its base can't move in the sagittal plane")):
        project_to_sagittal_plane(load_robot("hrp2", floating_base=False))
    with pytest.raises(InputError, match="legs none"):
        project_to_sagittal_plane(load_robot("tree4"))
    turned = hrp2.postures["zero"].copy()
    turned[hrp2.index_q("RLEG_JOINT0")] = 0.4  # yaw: the leg's axes are no longer lateral
    with pytest.raises(InputError, match="limb 'right_leg': has 0 joints about the lateral axis"):
        project_to_sagittal_plane(hrp2, turned)
    bent = hrp2.postures["zero"].copy()
    bent[hrp2.index_q("LLEG_JOINT4")] = 0.3
    with pytest.raises(InputError, match="isn't level"):
        project_to_sagittal_plane(hrp2, bent)
    other = PROJECTIONS["hrp2"]
    with pytest.raises(InputError, match="joint 'O1' is none of a seven-link biped"):
        other.configuration(FIVE_BAR.phase(), np.zeros(4))
