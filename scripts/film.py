# SPDX-License-Identifier: Apache-2.0
"""Films the page while HRP-2 walks: writes docs/images/demo.gif, the README's picture.

``scripts/run python scripts/film.py``; needs Chromium. Time stands still for each picture, so the film is the same on
any machine.
"""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_ros.bringup.node_list import list_nodes
from humanoid_ros.bringup.start_stack import processes
from humanoid_ros.bringup.supervisor import Supervisor
from humanoid_ros.client import HumanoidStack
from humanoid_ros.demo.demo_observer import wait_for
from humanoid_ros.demo.headless_browser import HeadlessBrowser
from humanoid_ros.demo.run_demo import FIRST_PORT, free_port
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.viewer.entrance import page_address, page_token

FILM = Path(__file__).parents[1] / "docs" / "images" / "demo.gif"
WIDTH, HEIGHT, SHOWN, COLOURS = 1280, 720, 720, 128
"""Size of the page and width of the film [px]; colours of a picture."""
STEPS, LENGTH = 4, 0.2
RATE, DURATION = 8.0, 7.5
"""Pictures a second, and how long it takes, in simulated time [s]."""


def main() -> None:
    """Walk, look, write."""
    port = free_port(FIRST_PORT)
    nodes = list_nodes("sim", {"scene": "walk", "port": str(port)})
    pictures = []
    with (
        Supervisor(processes(nodes)) as supervisor,
        HumanoidStack("hrp2", patience=300.0, check=supervisor.check) as stack,
        HeadlessBrowser(WIDTH, HEIGHT, timeout=300.0) as browser,
    ):
        robot = stack.robot
        walk = generate_walk(robot, plan_footsteps(robot, "half_sitting", steps=STEPS, length=LENGTH), "half_sitting")
        message = whole_body_message(walk.motion(robot), "world")
        stack.stand(message)
        stack.run(0.5)
        stack.pause()
        wait_for(lambda: stack.node.count_publishers("view"), "the page", 120.0, supervisor.check)
        browser.open(page_address("127.0.0.1", port, page_token()))
        browser.wait_for("document.body.innerText.includes('simulated time')")
        browser.evaluate(
            "document.querySelectorAll('.mantine-Notification-closeButton').forEach(button => button.click())"
        )
        browser.settled_screenshot(120.0)
        task = stack.begin_follow(message)
        for number in range(round(RATE * DURATION)):
            stack.step(round(1000.0 / RATE))
            browser.wait_for_frames(4)
            picture = Image.open(io.BytesIO(browser.screenshot())).convert("RGB")
            pictures.append(picture.resize((SHOWN, SHOWN * HEIGHT // WIDTH), Image.Resampling.LANCZOS))
            print(f"\r{number + 1} pictures", end="", flush=True)
        task.cancel()
    # One palette for all, so that what stands still stays the same and takes no room; thin arrows count as floors do.
    palette = pictures[len(pictures) // 2].quantize(COLOURS, Image.Quantize.FASTOCTREE)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    frames[0].save(
        FILM, save_all=True, append_images=frames[1:], duration=round(1000.0 / RATE), loop=0, optimize=True
    )
    print(f"\n{FILM}: {FILM.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
