# SPDX-License-Identifier: Apache-2.0
"""The command that serves the page, and a person who drags a point on it in a browser (000-F158)."""

from __future__ import annotations

import re
import socket
import threading
from pathlib import Path

import numpy as np
import pytest
from fixtures.lift_page import ELBOW, POINT, elbow_height
from fixtures.lifting import straight_lift
from fixtures.page_client import wait_for

from humanoid_ros.demo.headless_browser import HeadlessBrowser, find_browser
from humanoid_studies.lift_editor.curve_board import LEFT, RIGHT
from humanoid_studies.lift_editor.edit_lift import main
from humanoid_studies.lift_editor.lift_studio import VIEW
from humanoid_studies.lifting.lift_files import read_lift, write_lift
from humanoid_studies.simulator.weight_lifting import OBJECT


def test_what_can_not_be_edited_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing.yaml"), "--port", "0"]) == 2
    assert "nothing.yaml: can't be read: No such file" in capsys.readouterr().err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["--straight", "--port", str(taken.getsockname()[1])]) == 2
    assert "can't listen on 127.0.0.1" in capsys.readouterr().err
    for port in ("-1", "65536"):
        assert main(["--straight", "--port", port]) == 2
        assert f"port is {port}. Give 0 to 65535" in capsys.readouterr().err


@pytest.mark.feature("000-F158")
@pytest.mark.skipif(find_browser() is None, reason="needs a browser: apt install chromium")
def test_a_person_drags_a_point_in_a_browser(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command with a saved lift; the pointer goes down over a control point, and up elsewhere."""
    width, across = 1200, 800
    path, stop, told = tmp_path / "lift.yaml", threading.Event(), []
    write_lift(OBJECT, straight_lift(), path)
    thread = threading.Thread(target=lambda: told.append(main([str(path), "--port", "0"], stop)))
    thread.start()
    try:
        seen: list[str] = []

        def address() -> str | None:
            seen.append(capsys.readouterr().out)
            found = re.search(r"http://\S+(?=;)", "".join(seen))
            return found and found.group()

        url = wait_for(address, "the page is served")
        with HeadlessBrowser(width, across) as browser:
            browser.open(url)
            browser.wait_for("document.body.innerText.includes('easible')")
            browser.settled_screenshot()
            angle = straight_lift().points[POINT, ELBOW]
            x = LEFT + (RIGHT - LEFT) * straight_lift().times[POINT] / 1.2
            ends = np.array([[x, 0.0, elbow_height(angle)], [x, 0.0, elbow_height(-2.0)]])
            browser.drag(*VIEW.project(ends, width, across)[:, :2])
            browser.wait_for("document.body.innerText.includes('The robot tips backwards')")
            save = "[...document.querySelectorAll('button')].find(button => button.innerText == 'Save').click()"
            browser.evaluate(save)
            browser.wait_for("document.body.innerText.includes('is there already')")
            path.unlink()
            browser.evaluate(save)
            browser.wait_for("document.body.innerText.includes('Saved: ')")
    finally:
        stop.set()
        thread.join(20.0)
    assert told == [0]
    dragged = read_lift(path)[1].points
    assert dragged[POINT, ELBOW] == pytest.approx(-2.0, abs=0.05)
    others = np.ones(dragged.shape, dtype=bool)
    others[POINT, ELBOW] = False
    np.testing.assert_array_equal(dragged[others], straight_lift().points[others])
