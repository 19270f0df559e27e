# SPDX-License-Identifier: Apache-2.0
"""Every entry of the function library: value by its definition, derivative by finite differences."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import finite_difference, random_variables
from fixtures.posture_problems import HRP2

from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.geometric_rows import (
    AIM,
    ALIGN,
    ANGLE,
    COM,
    COM_DISTANCE,
    DISTANCE,
    DOT,
    JOINT,
    POINT,
    ROTATION,
    TURN,
)  # fmt: skip
from humanoid_planner.posture.tasks.state import ForceModel, PostureState
from humanoid_planner.posture.tasks.task import GeometricTask, Row, RowTable

KINDS = {"POINT": POINT, "DOT": DOT, "COM": COM, "DISTANCE": DISTANCE, "ANGLE": ANGLE, "AIM": AIM, "TURN": TURN,
         "COM_DISTANCE": COM_DISTANCE, "JOINT": JOINT, "ROTATION": ROTATION, "ALIGN": ALIGN}  # fmt: skip


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def unit(rng: np.random.Generator) -> np.ndarray:
    v = rng.standard_normal(3)
    return v / np.linalg.norm(v)


def expected_value(row: Row, kinematics: RobotKinematics) -> float:
    Ra, pa = kinematics.rotations[row.a], kinematics.origins[row.a]
    Rb, pb = kinematics.rotations[row.b], kinematics.origins[row.b]
    P, Q, G = pa + Ra @ row.P, pb + Rb @ row.Q, kinematics.centre_of_mass()
    u, w = Ra @ row.u, Rb @ row.w
    relative = (Rb @ row.frame_b).T @ (Ra @ row.frame_a)
    sight = (Q - P) / np.linalg.norm(Q - P)
    return {
        POINT: w @ (P - Q),
        DOT: u @ w,
        COM: w @ (G - Q),
        DISTANCE: np.linalg.norm(P - Q),
        ANGLE: np.arccos(u @ w),
        AIM: np.arccos(u @ sight),
        TURN: np.arccos((np.trace(relative) - 1) / 2),
        COM_DISTANCE: np.linalg.norm(G - Q),
        JOINT: kinematics.x[row.a],
        # log3 gives the vector from b to a in b's own frame.
        ROTATION: (row.frame_b.T @ row.w) @ pin.log3(relative),
        ALIGN: np.arccos(u @ w) / np.sin(np.arccos(u @ w)) * (u @ (Rb @ row.Q)),
    }[row.kind]


@pytest.mark.feature("001-F067")
@pytest.mark.parametrize("ground", ["world", "another link"])
@pytest.mark.parametrize("kind", KINDS)
def test_value_and_derivative(kind: str, ground: str) -> None:
    rng = np.random.default_rng(sum(map(ord, kind + ground)))
    kinematics = RobotKinematics(HRP2)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    a = 20 if kind == "JOINT" else kinematics.body_of("RARM_LINK5")[0]
    b = 0 if ground == "world" else kinematics.body_of("LLEG_LINK4")[0]
    row = Row(
        KINDS[kind], "", 0.0, 1.0, a=a, b=b, P=rng.standard_normal(3), Q=rng.standard_normal(3), u=unit(rng),
        w=unit(rng), frame_a=random_rotation(rng), frame_b=random_rotation(rng),
    )  # fmt: skip
    task = GeometricTask("test", [row])
    x = random_variables(kinematics, rng)

    def value(y: np.ndarray) -> np.ndarray:
        state.set(y)
        return task.value(state).copy()

    expected = finite_difference(value, x)
    state.set(x)
    np.testing.assert_allclose(task.value(state), expected_value(row, kinematics), atol=1e-12)
    np.testing.assert_allclose(task.jacobian(state), expected, atol=5e-8)
    assert np.abs(expected).max() > 0.05


@pytest.mark.feature("001-F067")
@pytest.mark.parametrize("angle", [0.3, 1.5, 2.5, 3.1])
def test_turns_are_measured_the_short_way_about_any_axis(angle: float) -> None:
    kinematics = RobotKinematics(HRP2)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    state.set(np.zeros(kinematics.size))
    body, rng = kinematics.body_of("WAIST")[0], np.random.default_rng(0)
    for axis in (*np.eye(3), *-np.eye(3), *(unit(rng) for _ in range(20))):
        turned = pin.AngleAxis(angle, axis).toRotationMatrix()
        rows = [Row(ROTATION, "", 0.0, 1.0, a=body, w=w, frame_a=turned) for w in np.eye(3)]
        task = GeometricTask("test", [*rows, Row(TURN, "", 0.0, 1.0, a=body, frame_a=turned)])
        np.testing.assert_allclose(task.value(state), [*(angle * axis), angle], atol=1e-12)


def test_angles_at_zero_have_a_finite_gradient() -> None:
    kinematics = RobotKinematics(HRP2)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    up = np.array([0.0, 0.0, 1.0])
    body = kinematics.body_of("WAIST")[0]
    task = GeometricTask(
        "test",
        [
            Row(ANGLE, "", 0.0, 1.0, a=body, u=up, w=up),
            Row(TURN, "", 0.0, 1.0, a=body),
            Row(ROTATION, "", 0.0, 1.0, a=body, w=up),
            Row(ALIGN, "", 0.0, 1.0, a=body, u=up, w=up, Q=np.array([1.0, 0.0, 0.0])),
            Row(AIM, "", 0.0, 1.0, a=body, u=up, Q=up),
        ],
    )
    state.set(np.zeros(kinematics.size))
    np.testing.assert_allclose(task.value(state), 0.0, atol=1e-15)
    assert np.isfinite(task.jacobian(state)).all()


@pytest.mark.parametrize("kind", ["DISTANCE", "COM_DISTANCE"])
def test_curvature_of_a_length_under_translations_is_exact(kind: str) -> None:
    """Moving the base straight: the Hessian of |e| is (1 - n n^T) / |e|."""
    rng = np.random.default_rng(3)
    kinematics = RobotKinematics(HRP2)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    body = kinematics.body_of("RARM_LINK5")[0]
    table = RowTable.of([Row(KINDS[kind], "", 0.0, 1.0, a=body, P=rng.standard_normal(3), Q=rng.standard_normal(3))])
    state.set(random_variables(kinematics, rng))
    length = table.values(state)[0]
    J = np.zeros((1, state.size))
    table.jacobian(state, J)
    H = np.zeros((state.size, state.size))
    table.add_curvature(state, np.array([2.0]), J, H)
    n = J[0, :3]
    np.testing.assert_allclose(H[:3, :3], 2.0 * (np.eye(3) - np.outer(n, n)) / length, atol=1e-12)


@pytest.mark.parametrize("ground", ["world", "another link"])
@pytest.mark.parametrize("kind", ["DISTANCE", "COM_DISTANCE", "ANGLE", "AIM", "TURN"])
def test_curvature_is_that_of_small_lengths_and_angles(kind: str, ground: str) -> None:
    """Near zero |e| bends as its Gauss-Newton part does: the Hessian's error stays bounded while 1 / |e| grows."""
    rng = np.random.default_rng(5)
    kinematics = RobotKinematics(HRP2)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    a = kinematics.body_of("RARM_LINK5")[0]
    b = 0 if ground == "world" else kinematics.body_of("LLEG_LINK4")[0]
    x = random_variables(kinematics, rng)
    state.set(x)
    kinematics.place_bodies()
    Ra, pa, Rb, pb = kinematics.rotations[a], kinematics.origins[a], kinematics.rotations[b], kinematics.origins[b]
    u = unit(rng)
    P = rng.standard_normal(3)
    off = 0.01 * unit(rng)
    centre = kinematics.centre_of_mass().copy() if kind == "COM_DISTANCE" else pa + Ra @ P
    target = centre + (2.0 * Ra @ u + 2.0 * off if kind == "AIM" else off)
    w = Rb.T @ (Ra @ u + off)
    frame_b = Rb.T @ Ra @ pin.exp3(off)
    row = Row(
        KINDS[kind], "", 0.0, 1.0, a=a, b=b, P=P, Q=Rb.T @ (target - pb), u=u, w=w / np.linalg.norm(w), frame_b=frame_b
    )
    table = RowTable.of([row])

    def gradient(y: np.ndarray) -> np.ndarray:
        state.set(y)
        J = np.zeros((1, state.size))
        table.values(state)
        table.jacobian(state, J)
        return J[0]

    expected = finite_difference(gradient, x)
    state.set(x)
    size = table.values(state)[0]
    assert 0.002 < size < 0.02
    J = np.zeros((1, state.size))
    table.jacobian(state, J)
    H = np.zeros((state.size, state.size))
    table.add_curvature(state, np.array([1.0]), J, H)
    assert np.linalg.eigvalsh(H).min() > -1e-9 * np.abs(H).max()
    assert np.abs(H - expected).max() < 0.06 * np.abs(expected).max()
    untouched = np.zeros_like(H)
    table.add_curvature(state, np.array([-1.0]), J, untouched)
    assert not untouched.any()
