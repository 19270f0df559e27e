# SPDX-License-Identifier: Apache-2.0
"""The panel of the simulation."""

from types import SimpleNamespace

import numpy as np
import pytest
from fixtures.asked_feature import Asked, at_once
from humanoid_stack.msg import SimulationStatus, SolverStatus

from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.panel import NO_LINK, SAMPLES, ForceHistory, ForcePlot, Panel, status_html
from humanoid_ros.viewer.simulator_calls import SimulatorCalls

SOLVER = SolverStatus(method="nsgs", status=SolverStatus.CONVERGED, iterations=12)


def status(**fields: object) -> SimulationStatus:
    told = {"scene": "stand", "time": 3.25, "real_time_factor": 0.987, "step_seconds": 3e-4, "solver": SOLVER}
    return SimulationStatus(**{**told, "kinetic_energy": 0.5, "potential_energy": 400.0, **fields})


@pytest.fixture
def panel(page: Page) -> tuple[Panel, Asked]:
    control, asked = Panel(page.server.gui, ["stand", "slope"], 10.0), Asked(SimulatorCalls)
    pick, show = (lambda *given: asked.append(("pick", *given))), (lambda *given: asked.append(("show", *given)))
    control.connect(asked, pick, show, at_once)
    return control, asked


def click(control: object, **values: object) -> None:
    """What viser does when a person uses a control."""
    for callback in control._impl.update_cb:  # type: ignore[attr-defined]
        callback(SimpleNamespace(target=SimpleNamespace(**values) if values else control))


def test_buttons_ask_the_simulator(panel: tuple[Panel, Asked]) -> None:
    control, asked = panel
    control.show_status(status(), 569.0, 569.0)
    click(control._pause)
    click(control._reset)
    control.show_status(status(paused=True), 569.0, 569.0)
    click(control._pause)
    click(control._step, value="10")
    assert asked == [("pause", True), ("reset",), ("pause", False), ("step", 10)]


def test_push_points_where_the_slider_says(panel: tuple[Panel, Asked]) -> None:
    control, asked = panel
    control.set_bodies(["WAIST", "CHEST_LINK1"], "CHEST_LINK1")
    control._direction.value, control._force.value, control._duration.value = 90, 120, 0.2
    click(control._push)
    ((name, body, force, duration),) = asked
    assert (name, body, duration) == ("push", "CHEST_LINK1", 0.2)
    np.testing.assert_allclose(force, [0.0, 120.0, 0.0], atol=1e-9)


def test_without_bodies_a_push_is_refused_on_the_page(panel: tuple[Panel, Asked]) -> None:
    control, asked = panel
    click(control._push)
    assert asked == []
    assert "no body" in control._message.content


def test_picking_and_hiding(panel: tuple[Panel, Asked]) -> None:
    control, asked = panel
    control.set_bodies(["WAIST"], None)
    control._pull_link.value = "WAIST"
    control._pull_link.value = NO_LINK
    control._boxes["cones"].value = False
    assert [call for call in asked if call != ("pick", "")] == [("pick", "WAIST"), ("show", "cones", False)]
    assert ("pick", "") in asked


def test_scene_is_loaded_by_name(panel: tuple[Panel, Asked]) -> None:
    control, asked = panel
    control._scene.value = "slope"
    click(control._load)
    assert asked == [("load_scene", "slope")]


def test_controls_wait_for_a_simulator(panel: tuple[Panel, Asked]) -> None:
    control, _ = panel
    control.show_status(None, 0.0, None)
    assert control._pause.disabled
    assert control._push.disabled
    assert not control._step.visible
    control.show_status(status(paused=True), 0.0, None)
    assert not control._pause.disabled
    assert control._step.visible
    assert control._pause.label == "Run"


def test_pushes_are_offered_where_somebody_takes_them_and_forces_shown_where_some_are_told(
    panel: tuple[Panel, Asked],
) -> None:
    control, _ = panel
    folders = control._pushing, control._pulling, control._forces
    assert [folder.visible for folder in folders] == [False, False, False]  # as beside a mechanism
    control.offer_pushes(True)
    assert [folder.visible for folder in folders] == [True, True, False]
    control.plot.history.append(0.0, {"foot": 300.0})
    control.offer_pushes(False)
    assert [folder.visible for folder in folders] == [False, False, True]


@pytest.mark.feature("000-F019")
def test_a_mechanism_alone_has_no_simulation(panel: tuple[Panel, Asked]) -> None:
    control, _ = panel
    about = control._html, control._pause, control._reset, control._loading
    control.offer_robots(False)
    assert not any(part.visible for part in about)
    control.offer_robots(True)
    assert all(part.visible for part in about)


def test_status_says_what_it_is_given() -> None:
    text = status_html(status(), 568.9, 569.0)
    for word in ("running", "stand", "3.25 s", "0.99", "300 µs", "568.9 N of 569.0 N", "0.500 + 400.0 J"):
        assert word in text
    assert ">nsgs: converged, 12 iterations<" in text
    failed = status_html(status(solver=SolverStatus(status=SolverStatus.FAILED, iterations=1)), 0.0, None)
    assert ">failed, 1 iteration</b>" in failed
    assert "no simulator" in status_html(None, 0.0, None)
    paused = status_html(status(paused=True, pause_reason="q is NaN"), 0.0, None)
    assert "paused" in paused
    assert "q is NaN" in paused


def test_texts_from_outside_are_escaped() -> None:
    evil = "<script>alert(1)</script>"
    text = status_html(status(scene=evil, solver=SolverStatus(method=evil), paused=True, pause_reason=evil), 0, 1)
    assert "<script>" not in text


def test_message_is_shown_and_taken_away(panel: tuple[Panel, Asked]) -> None:
    control, _ = panel
    control.say("apply_wrench: unknown body <x>")
    assert control._message.visible
    assert "&lt;x&gt;" in control._message.content
    control.say("")
    assert not control._message.visible


def test_history_keeps_the_window_and_bounds_the_samples() -> None:
    history = ForceHistory(2.0)
    for k in range(5001):
        history.append(1e-3 * k, {"left": float(k)})
    times, forces = history.table()
    assert 2.9 < times[0] < 3.1
    assert times[-1] > 4.98
    assert len(times) <= SAMPLES + 1
    np.testing.assert_allclose(forces["left"], 1e3 * times, atol=1e-6)


def test_body_that_lifts_off_counts_as_zero_and_leaves_after_the_window() -> None:
    history = ForceHistory(1.0)
    history.append(0.0, {"left": 10.0, "right": 20.0})
    history.append(0.5, {"right": 30.0})
    _, forces = history.table()
    np.testing.assert_array_equal(forces["left"], [10.0, 0.0])
    np.testing.assert_array_equal(forces["right"], [20.0, 30.0])
    history.append(1.4, {"right": 30.0})
    assert history.bodies == ["right"]


def test_reset_starts_a_new_history() -> None:
    history = ForceHistory(1.0)
    history.append(5.0, {"left": 1.0})
    history.append(0.0, {"left": 2.0})
    times, _ = history.table()
    np.testing.assert_array_equal(times, [0.0])


def test_chart_has_a_series_per_body_the_sum_and_the_weight(page: Page) -> None:
    plot = ForcePlot(page.server.gui, 10.0)
    plot.weight = 30.0
    for k in range(3):
        plot.history.append(float(k), {"r/left": 10.0 + k, "r/right": 20.0 - k})
    plot.refresh()
    chart = plot._chart
    assert chart is not None
    assert [series["label"] for series in chart.series] == [
        "t [s]",
        "left",
        "right",
        "sum",
        "weight",
    ]
    np.testing.assert_array_equal(chart.data[0], [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(chart.data[3], [30.0, 30.0, 30.0])
    np.testing.assert_array_equal(chart.data[4], [30.0, 30.0, 30.0])


def test_chart_is_updated_in_place_until_another_body_appears(page: Page) -> None:
    plot = ForcePlot(page.server.gui, 10.0)
    for k in range(3):
        plot.history.append(float(k), {"left": 1.0})
    plot.refresh()
    first = plot._chart
    plot.history.append(3.0, {"left": 2.0})
    plot.refresh()
    assert plot._chart is first
    assert len(first.data[0]) == 4
    plot.history.append(4.0, {"left": 2.0, "right": 1.0})
    plot.refresh()
    assert plot._chart is not first


def test_nothing_is_drawn_of_an_empty_history(page: Page) -> None:
    plot = ForcePlot(page.server.gui, 10.0)
    plot.refresh()
    assert plot._chart is None
