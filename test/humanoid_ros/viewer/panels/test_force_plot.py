# SPDX-License-Identifier: Apache-2.0
"""History of forces over simulated time, and the chart that shows it."""

import numpy as np

from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.panels.force_plot import SAMPLES, ForceHistory, ForcePlot


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
