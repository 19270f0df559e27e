# SPDX-License-Identifier: Apache-2.0
"""Acceptance tests F080 to F088 of specification 000 §29.4: bounce, rest, slide, chain, drift, order in contact."""

import numpy as np
import pytest
from fixtures.integration_problems import BallInAir, BlockAcross, advance, measured_order
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_studies.integration.analytic_systems import FallingBall, PlanarBox, SlidingBlock, SpringChain
from humanoid_studies.integration.catalogue import find_integrator

G = 9.8


def bounce(name: str, restitution: float, dt: float, count: int, **options: float) -> list[float]:
    """Heights of the highest points after each bounce of a ball that falls from 1 m."""
    system, integrator = FallingBall(restitution=restitution), find_integrator(name, **options)
    q, v = np.array([1.0]), np.zeros(1)
    peaks: list[float] = []
    while len(peaks) < count:
        q_new, v_new, _ = integrator.step(system, q, v, dt)
        if v[0] > 0.0 >= v_new[0]:
            peaks.append(float(max(q[0], q_new[0])))
        q, v = q_new, v_new
    return peaks


@pytest.mark.feature("000-F080")
def test_moreau_bounces_as_oracle_n17() -> None:
    assert [f"{peak:.4f}" for peak in bounce("moreau", 0.8, 1e-4, 3)] == ["0.6399", "0.4095", "0.2620"]


@pytest.mark.feature("000-F080")
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_moreau_unites_elastic_and_inelastic_impacts(restitution: float) -> None:
    """Speeds just after the first impact."""
    system, integrator = FallingBall(restitution=restitution), find_integrator("moreau")
    q, v = np.array([1.0]), np.zeros(1)
    while True:
        q, v_new, forces = integrator.step(system, q, v, 1e-4)
        if len(forces.contacts):
            break
        v = v_new
    assert v_new[0] == pytest.approx(-restitution * v[0], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "heights"),
    [
        ("potra_trapezoid", [0.64, 0.4096]),
        ("gavrea", [0.64, 0.4096]),
        ("event_driven", [0.64, 0.4096]),
    ],
)
def test_located_bounces_are_exact(name: str, heights: list[float]) -> None:
    """A parabola is no error for schemes of order 2: peaks differ by what lies between two samples."""
    dt = 2e-3
    assert_allclose(bounce(name, 0.8, dt, 2), heights, atol=0.5 * G * dt**2)


@pytest.mark.parametrize(
    "name",
    [
        "explicit_euler",
        "verlet",
        "rk4",
        "theta",
        "implicit_euler",
        "anitescu_potra_1997",
        "anitescu_potra_2002",
        "studer_ggl",
    ],
)
def test_bounces_of_order_one(name: str) -> None:
    assert_allclose(bounce(name, 0.8, 1e-3, 2), [0.64, 0.4096], atol=1e-2)


@pytest.mark.feature("000-F081")
@pytest.mark.parametrize("theta", [0.6, 0.75, 1.0])
def test_jean_closes_the_gap_exactly(theta: float) -> None:
    """The constraint agrees with the position update; with theta below 1 the velocity overshoots by (1-theta)/theta."""
    q, v, _ = find_integrator("jean", theta=theta).step(FallingBall(), np.array([3e-3]), np.array([-4.0]), 1e-3)
    assert q[0] == pytest.approx(0.0, abs=1e-15)
    assert v[0] == pytest.approx(-(3.0 - (1 - theta) * 4.0) / theta)


@pytest.mark.feature("000-F084")
@pytest.mark.parametrize("name", ["foerg", "moreau", "stewart_trinkle", "anitescu_potra_1997", "anitescu_hart"])
def test_impedance_is_taken_at_the_end_of_the_step(name: str) -> None:
    """Springs and dampers act with the position and velocity that the step ends with, wherever M and B are taken."""
    system, dt = SpringChain(3, 1e6, 300.0), 2e-3
    rng = np.random.default_rng(0)
    q, v = 1.0 + 0.01 * rng.normal(size=3), rng.normal(size=3)
    v_new = find_integrator(name).step(system, q, v, dt).v
    stiffness, damping = system.impedance(0.0, q, v)
    assert_allclose((v_new - v) / dt, -G - stiffness @ (q + dt * v_new) - damping @ v_new, rtol=1e-9)


@pytest.mark.feature("000-F081", "000-F082")
@pytest.mark.parametrize("name", ["jean", "foerg", "stewart_trinkle", "anitescu_hart", "potra_trapezoid"])
def test_resting_box_does_not_drift(name: str) -> None:
    """On a slope of 90 % of its cone, for one second."""
    slope = np.arctan(0.36)
    start = np.array([0.0, 0.05, 0.0])
    q, v = advance(find_integrator(name), PlanarBox(slope=slope), start, np.zeros(3), 0.5, 500)
    assert_allclose(q, start, atol=1e-10)
    assert_allclose(v, 0.0, atol=1e-9)


@pytest.mark.feature("000-F082", "000-F085")
@pytest.mark.parametrize("name", ["jean", "foerg", "stewart_trinkle", "anitescu_hart"])
def test_position_constraints_take_penetration_back(name: str) -> None:
    """Dropped turning on a corner, the box lies on the floor in the end and never went in beyond second order."""
    system, integrator = PlanarBox(), find_integrator(name)
    q, v, dt = np.array([0.0, 0.3, 0.4]), np.array([0.5, 0.0, 1.0]), 2e-3
    deepest = 0.0
    for k in range(600):
        q, v, _ = integrator.step(system, q, v, dt, k * dt)
        deepest = min(deepest, float(system.contacts(q, v, dt).gaps.min()))
    assert deepest > -2e-4
    assert_allclose(np.sort(system.contacts(q, v, dt).gaps)[:2], 0.0, atol=1e-9)


def test_velocity_constraints_keep_penetration() -> None:
    """Moreau's scheme leaves the box where it sank in, as the thesis remarks."""
    system = PlanarBox()
    q, v = advance(find_integrator("moreau"), system, np.array([0.0, 0.3, 0.4]), np.array([0.5, 0.0, 1.0]), 1.2, 600)
    assert -5e-3 < np.sort(system.contacts(q, v, 0.0).gaps)[1] < -1e-6
    assert_allclose(v, 0.0, atol=1e-9)


@pytest.mark.feature("000-F083")
def test_stewart_trinkle_slides_and_sticks_as_coulomb_says() -> None:
    """25 degrees: g (sin - mu cos) to rounding; 15 degrees: nothing moves."""
    start = np.zeros(3), np.zeros(3)
    _, v = advance(find_integrator("stewart_trinkle"), SlidingBlock(np.radians(25.0)), *start, 0.2, 200)
    assert_allclose(v, [0.2 * 0.5889324, 0.0, 0.0], atol=1e-8)
    q, v = advance(find_integrator("stewart_trinkle"), SlidingBlock(np.radians(15.0)), *start, 0.2, 200)
    assert_allclose(np.concatenate([q, v]), 0.0, atol=1e-12)


@pytest.mark.feature("000-F083")
def test_stewart_trinkle_tolerates_epsilon() -> None:
    """A penetration within epsilon stays, a deeper one is taken back to epsilon."""
    integrator = find_integrator("stewart_trinkle", epsilon=1e-4)
    q, v, _ = integrator.step(FallingBall(), np.array([-2e-4]), np.zeros(1), 1e-3)
    assert q[0] == pytest.approx(-1e-4, abs=1e-12)
    assert v[0] == pytest.approx(0.1)  # what lifts it in one step is its velocity from then on
    q, _ = advance(integrator, FallingBall(), np.array([-0.5e-4]), np.zeros(1), 1e-3, 1)
    assert q[0] == pytest.approx(-0.5e-4 - G * 1e-6, abs=1e-12)
    q, _ = advance(integrator, FallingBall(), np.array([0.01]), np.zeros(1), 0.2, 200)
    assert q[0] == pytest.approx(-1e-4, abs=1e-12)


@pytest.mark.feature("000-F085")
def test_anitescu_hart_sees_what_is_near_only() -> None:
    """Slower than epsilon per step nothing gets in; faster, it gets in and is taken out again."""
    system, dt = FallingBall(), 1e-3
    for speed, enters in ((5.0, False), (50.0, True)):
        q, v, integrator = np.array([0.0251]), np.array([-speed]), find_integrator("anitescu_hart", epsilon=0.01)
        deepest = 0.0
        for k in range(20):
            q, v, _ = integrator.step(system, q, v, dt, k * dt)
            deepest = min(deepest, float(q[0]))
        assert (deepest < -1e-3) is enters
        assert enters or deepest > -1e-12


@pytest.mark.feature("000-F084")
@pytest.mark.parametrize(
    ("name", "stiffness", "damping", "dt"),
    [("anitescu_potra_1997", 2e3, 200.0, 1e-3), ("anitescu_potra_2002", 1e6, 200.0, 2e-3)],
)
def test_inelastic_chain(name: str, stiffness: float, damping: float, dt: float) -> None:
    """Five masses on springs fall on the floor: the lowest stays there, the springs carry what is above.

    The second scheme is for stiff ones: they turn by 2 rad and more per step.
    """
    links = 5
    system, integrator = SpringChain(links, stiffness, damping), find_integrator(name)
    q, v = np.full(links, 0.02), np.zeros(links)
    landed = False
    for k in range(1500):
        before = system.energy(q, v)
        q, v, forces = integrator.step(system, q, v, dt, k * dt)
        if landed and name == "anitescu_potra_2002":
            assert system.energy(q, v) <= before + 1e-9
        landed = landed or len(forces.contacts) > 0
        assert q[0] > -1e-9
    carried = np.cumsum(np.arange(links - 1, 0, -1)) * G / stiffness
    assert forces.forces[0, 0] == pytest.approx(links * G, rel=1e-3)
    assert_allclose(q - q[0], np.concatenate([[0.0], -carried]), rtol=1e-3, atol=1e-9)
    assert q[0] == pytest.approx(0.0, abs=1e-7)


def in_air(name: str, options: dict[str, float], steps: int) -> float:
    """Error of a ball with drag after one bounce."""
    duration, e = 0.75, 0.8
    q, v = advance(
        find_integrator(name, **options), BallInAir(restitution=e), np.array([1.0]), np.zeros(1), duration, steps
    )
    return float(np.abs(np.concatenate([q, v]) - BallInAir.reference(1.0, e, duration)).max())


@pytest.mark.feature("000-F084", "000-F086")
@pytest.mark.parametrize(
    ("name", "options", "order"),
    [
        ("potra_trapezoid", {}, 2),
        ("gavrea", {"zeta": 0.5}, 2),
        ("gavrea", {"zeta": 0.75}, 1),
        ("gavrea", {"zeta": 1.0}, 1),
        ("event_driven", {}, 4),
    ],
)
def test_order_through_a_bounce(name: str, options: dict[str, float], order: int) -> None:
    counts = (20, 40, 80) if order == 4 else (50, 100, 200, 400)
    assert measured_order(lambda n: in_air(name, options, n), counts) == pytest.approx(order, abs=0.1)


@pytest.mark.feature("000-F087")
@pytest.mark.parametrize(
    ("name", "options", "order"),
    [
        ("potra_trapezoid", {}, 2),
        ("gavrea", {"zeta": 0.5}, 2),
        ("gavrea", {"zeta": 1.0}, 1),
        ("foerg", {}, 1),
        ("event_driven", {}, 4),
    ],
)
def test_order_while_sliding_in_a_curve(name: str, options: dict[str, float], order: int) -> None:
    reference = BlockAcross.reference(0.4)

    def error(steps: int) -> float:
        q, v = advance(find_integrator(name, **options), BlockAcross(), *BlockAcross.start, 0.4, steps)
        return float(np.abs(np.concatenate([q[:2], v[:2]]) - reference).max())

    counts = (10, 20, 40) if order == 4 else (20, 40, 80)
    assert measured_order(error, counts) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("name", ["potra_trapezoid", "gavrea"])
def test_a_block_that_stops_stays_without_swinging(name: str) -> None:
    """The mean velocity is constrained while it slides, the end velocity once it sticks."""
    q, v = advance(find_integrator(name), SlidingBlock(), np.zeros(3), np.array([1.0, 0.0, 0.0]), 0.4, 400)
    assert q[0] == pytest.approx(1.0 / (2 * 0.4 * G), abs=1e-5)
    assert_allclose(v, 0.0, atol=1e-12)


def test_potra_does_not_sink_in() -> None:
    """Collisions are located: whatever the step, the box is never below the floor by more than rounding."""
    system, integrator = PlanarBox(restitution=0.4), find_integrator("potra_trapezoid")
    q, v, dt = np.array([0.0, 0.3, 0.4]), np.array([0.5, 0.0, 1.0]), 5e-3
    for k in range(160):
        q, v, _ = integrator.step(system, q, v, dt, k * dt)
        assert system.contacts(q, v, dt).gaps.min() > -2e-4


@pytest.mark.feature("000-F088")
def test_studer_rests_within_its_tolerance() -> None:
    integrator = find_integrator("studer_ggl", epsilon=1e-5)
    q, v = advance(integrator, FallingBall(restitution=0.5), np.array([0.1]), np.zeros(1), 1.0, 1000)
    assert -1e-5 - 1e-12 <= q[0] <= 1e-6
    assert abs(v[0]) < 1e-2


@pytest.mark.feature("000-F088")
def test_preconditioned_studer_rests_on_the_floor_at_any_step() -> None:
    """Steps over five powers of ten: nothing in the scheme is divided by a small one."""
    for dt in (1e-1, 1e-3, 1e-6):
        integrator = find_integrator("studer_preconditioned")
        q, v = np.array([0.4 * dt]), np.array([-1.0])
        for _ in range(3):
            q, v, forces = integrator.step(FallingBall(mass=3.0), q, v, dt)
        assert q[0] == pytest.approx(0.0, abs=1e-16)
        assert v[0] == pytest.approx(0.0, abs=1e-12)
        assert forces.forces[0, 0] == pytest.approx(3.0 * G, rel=1e-9)


@pytest.mark.feature("000-F088")
def test_studers_multiplier_of_the_position_gives_no_velocity() -> None:
    """A ball that sank in by 1 mm is lifted to the tolerated depth in one step and lies there without a speed.

    Schemes with one multiplier make a velocity of what they take back, 1 mm in a step of 1 ms: 1 m/s.
    """
    integrator = find_integrator("studer_ggl", epsilon=1e-5)
    q, v, forces = integrator.step(FallingBall(mass=3.0), np.array([-1e-3]), np.zeros(1), 1e-3)
    assert q[0] == pytest.approx(-1e-5, abs=1e-15)
    assert v[0] == pytest.approx(0.0, abs=1e-15)
    assert forces.forces[0, 0] == pytest.approx(3.0 * G, rel=1e-12)
    _, v, _ = find_integrator("studer_preconditioned").step(FallingBall(), np.array([-1e-3]), np.zeros(1), 1e-3)
    assert v[0] == pytest.approx(1.0)


@pytest.mark.feature("000-F088")
def test_studers_preconditioning_keeps_what_a_small_step_leaves() -> None:
    """At 1e-160 s the forces' unit, kg m/s^2 times its square, is below the least number; travel and impulse are not.

    A problem posed with the operator times the step squared would have lost it; this one lands as at any other step.
    """
    dt = 1e-160
    q, v, _ = find_integrator("studer_preconditioned").step(FallingBall(), np.array([0.4 * dt]), np.array([-1.0]), dt)
    assert q[0] == pytest.approx(0.0, abs=1e-3 * dt)
    assert v[0] == pytest.approx(-0.4, rel=1e-9)


@pytest.mark.parametrize("name", ["studer_ggl", "studer_preconditioned"])
def test_studer_is_for_one_coordinate(name: str) -> None:
    with pytest.raises(InputError, match="one coordinate and one contact, not 3 and 4"):
        find_integrator(name).step(PlanarBox(), np.array([0.0, 0.05, 0.0]), np.zeros(3), 1e-3)


@pytest.mark.parametrize("name", ["anitescu_potra_2002", "potra_trapezoid", "event_driven"])
def test_bounces_that_pile_up_end_within_a_step(name: str) -> None:
    """From 1 mm with e = 0.5 the ball has infinitely many bounces in 43 ms; a step of 100 ms sees the end of them.

    What rises by less than a nanometre counts as closed, and may keep that speed to the next step.
    """
    q, v, _ = find_integrator(name).step(FallingBall(restitution=0.5), np.array([1e-3]), np.zeros(1), 0.1)
    assert q[0] == pytest.approx(0.0, abs=1e-8)
    assert abs(v[0]) < np.sqrt(2 * G * 1e-9) + 1e-6


def test_ten_elastic_bounces_in_one_step_are_enough() -> None:
    """Without loss they would never end: from the eleventh on they are inelastic."""
    integrator, ball = find_integrator("potra_trapezoid"), FallingBall(restitution=1.0)
    q, v, _ = integrator.step(ball, np.array([1e-4]), np.zeros(1), 0.06)
    assert 0.5 * v[0] ** 2 + G * q[0] == pytest.approx(G * 1e-4)
    q, v, _ = integrator.step(ball, np.array([1e-4]), np.zeros(1), 0.3)
    assert_allclose([q[0], v[0]], 0.0, atol=1e-9)
