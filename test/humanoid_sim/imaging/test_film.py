# SPDX-License-Identifier: Apache-2.0
"""Films and windows show what the simulation's camera sees, at the times that were asked for."""

from __future__ import annotations

import io
import socket
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from humanoid_model import Scene, load_scene
from humanoid_model.errors import InputError
from humanoid_model.sensor import Camera
from humanoid_sim import Simulation
from humanoid_sim.imaging import window as windows
from humanoid_sim.imaging.film import Film
from humanoid_sim.imaging.window import Window

pytestmark = pytest.mark.feature("000-F012", "000-F019")

BALL = """
bodies:
  floor: {shapes: [{half_space: true}]}
  ball: {mass: 2, xyz: [0, 0, 1.1], shapes: [{sphere: 0.1, colour: [1, 0, 0, 1]}]}
pairs:
  - {between: [ball, floor], friction: 0.7}
"""
VIEW = Camera.looking_at((0.0, -4.0, 0.5), (0.0, 0.0, 0.5))
SIZE = (64, 48)


@pytest.fixture
def falling(tmp_path: Path) -> Simulation:
    (tmp_path / "ball.yaml").write_text(BALL)
    scene: Scene = load_scene(tmp_path / "ball.yaml")
    return Simulation(scene)


def height(picture: np.ndarray) -> float:
    """Of what is red in a picture of VIEW [m]."""
    picture = picture.astype(float)
    red = (picture[..., 0] > 1.5 * picture[..., 1]) & (picture[..., 0] > 60.0)
    rows = np.nonzero(red.any(axis=1))[0]
    metres = 8.0 * np.tan(0.5 * VIEW.field_of_view) / picture.shape[0]
    return float(0.5 + metres * (0.5 * picture.shape[0] - rows.mean() - 0.5))


@pytest.mark.parametrize("name", ["fall.gif", "fall.webp"])
def test_a_film_shows_the_fall_at_its_times(falling: Simulation, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with falling.film(path, rate=20.0, camera=VIEW, size=SIZE) as film:
        falling.run(0.4)
    assert film.count == 9
    assert falling.viewers == []
    with Image.open(path) as file:
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(file)]
        assert file.info["duration"] == 50
    times = 0.05 * np.arange(9)
    pixel = 8.0 * np.tan(0.5 * VIEW.field_of_view) / SIZE[1]
    np.testing.assert_allclose([height(frame) for frame in frames], 1.1 - 0.5 * 9.81 * times**2, atol=1.5 * pixel)


def test_slow_motion_takes_more_pictures_of_the_same(falling: Simulation, tmp_path: Path) -> None:
    with falling.film(tmp_path / "slow.gif", rate=25.0, pace=0.5, camera=VIEW, size=SIZE) as film:
        falling.run(0.1)
        falling.step(20)
    assert film.count == 1 + 6


def test_a_film_looks_on_beside_callbacks_and_modules_and_ends_by_itself_when_the_run_fails(
    falling: Simulation, tmp_path: Path
) -> None:
    path = tmp_path / "fall.gif"
    seen: list[float] = []

    def callback(simulation: Simulation) -> None:
        seen.append(simulation.time)
        if simulation.time > 0.0995:
            raise RuntimeError("as asked")

    with pytest.raises(RuntimeError, match="as asked"), falling.film(path, camera=VIEW, size=SIZE):
        falling.run(1.0, callback)
    assert len(seen) == 100
    with Image.open(path) as file:
        assert file.n_frames == 3  # 0, 0.04 and 0.08 s
    assert falling.viewers == []


def test_its_camera_stays_where_it_was_unless_a_body_carries_it(falling: Simulation, tmp_path: Path) -> None:
    with falling.film(tmp_path / "still.gif", rate=5.0, size=SIZE):
        falling.run(0.4)
    with Image.open(tmp_path / "still.gif") as file:
        first, *_, last = (np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(file))
    np.testing.assert_array_equal(first[-4:], last[-4:])  # the floor, which a camera that follows would move
    assert np.any(first != last)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"path": "fall.mp4"}, r"path.*is 'fall.mp4'.*\.gif"),
        ({"path": "nowhere/fall.gif"}, "nowhere/fall.gif.*can't be written"),
        ({"rate": 0.0}, "rate.*is 0.0"),
        ({"pace": -1.0}, "pace.*is -1.0"),
        ({"size": (0, 10)}, r"size is \(0, 10\)"),
        ({"body": "bal", "camera": VIEW}, "bal"),
    ],
)
def test_what_no_film_can_be_made_of_is_told_before_the_run(
    falling: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=problem):
        falling.film(**{"path": "fall.gif", **options})
    assert falling.viewers == []
    assert not (tmp_path / "fall.gif").exists()


def test_copies_are_not_looked_at(falling: Simulation, tmp_path: Path) -> None:
    import copy

    film: Film = falling.film(tmp_path / "fall.gif", camera=VIEW, size=SIZE)
    copy.copy(falling).run(0.2)
    assert film.count == 1
    film.close()
    film.close()


def get(window: Window, query: str) -> tuple[np.ndarray, float, int]:
    with urllib.request.urlopen(f"{window.address}picture?{query}") as answer:
        picture = np.asarray(Image.open(io.BytesIO(answer.read())))
        return picture, float(answer.headers["X-time"]), int(answer.headers["X-version"])


@pytest.fixture
def window(falling: Simulation) -> Window:
    with falling.show(pace=0.0, browser=False) as opened:
        yield opened


def test_a_window_shows_the_present_from_where_it_is_asked_to(falling: Simulation, window: Window) -> None:
    with urllib.request.urlopen(window.address) as answer:
        assert b'fetch("picture?"' in answer.read()
    first, now, version = get(window, "width=64&height=48")
    assert first.shape == (48, 64, 3)
    assert now == 0.0
    farther, _, _ = get(window, "width=64&height=48&away=2")
    falling.run(0.4)
    later, now, newer = get(window, "width=64&height=48")
    assert now == 0.4
    assert newer > version
    assert np.abs(first.astype(int) - later).max() > 50

    def red(picture: np.ndarray) -> int:
        return int(np.count_nonzero(picture[..., 0].astype(int) > picture[..., 1].astype(int) + 40))

    assert red(first) > 2 * red(farther) > 0
    from_above, _, _ = get(window, "width=64&height=48&rise=9")
    assert np.abs(from_above.astype(int) - later).max() > 50
    with pytest.raises(urllib.error.HTTPError, match="400"):
        get(window, "turn=much")


def test_who_has_seen_the_present_waits_for_news(
    falling: Simulation, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "NEWS", 60.0)
    _, _, version = get(window, "width=64&height=48")
    thread = threading.Thread(target=lambda: (time.sleep(0.3), falling.run(0.04)))
    thread.start()
    _, now, newer = get(window, f"width=64&height=48&seen={version}")
    thread.join()
    assert newer == version + 1
    assert now == 0.04


def test_who_does_not_know_the_address_sees_nothing(window: Window) -> None:
    root = window.address[: window.address.index("/", 8)]
    for path in ("/", "/picture", "/x/picture?width=64"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(root + path)


def test_a_window_keeps_the_pace_and_gives_it_back(falling: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock of the test's own, which goes on only while it is slept."""
    clock = [100.0]
    monkeypatch.setattr(windows.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(windows.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    window = falling.show(pace=0.5, browser=False)
    falling.run(0.2)
    falling.run(0.2)
    assert clock[0] - 100.0 == pytest.approx(0.8, abs=0.05)  # from the first look on
    clock[0] += 30.0  # a person thinks; what follows isn't hurried
    before = clock[0]
    falling.run(0.2)
    assert clock[0] - before == pytest.approx(0.4, abs=0.1)
    falling.reset()
    before = clock[0]
    falling.run(0.2)
    assert clock[0] - before == pytest.approx(0.4, abs=0.1)
    window.close()
    before = clock[0]
    falling.run(0.4)
    assert clock[0] == before


def test_closed_or_a_port_that_is_taken(falling: Simulation) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match=r"port.*can't be listened on"):
            falling.show(port=taken.getsockname()[1], browser=False)
    window = falling.show(browser=False)
    window.close()
    window.wait()
    window.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(window.address, timeout=10.0)
    assert falling.viewers == []


def test_a_browser_is_opened_where_there_is_a_screen_alone(
    falling: Simulation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(windows.webbrowser, "open", opened.append)
    monkeypatch.setattr(windows.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with falling.show() as window:
        assert opened == []
        assert window.address in capsys.readouterr().out
    monkeypatch.setenv("DISPLAY", ":0")
    with falling.show() as window:
        assert opened == [window.address]
