# SPDX-License-Identifier: Apache-2.0
"""What the whole stack takes in memory when nobody asks it for anything, by process.

A minute after the start, and without a page that is open. Proportional set sizes share what is mapped from files among
all processes that do, other programs of the machine too; so what a process has of its own is printed beside, and in the
end what the stack takes where it is alone: all of that, and each file's pages once.

    scripts/run python benchmark/idle_memory.py
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

STACK = ("stack", "bridge=hrp2", "kinematics=fourbar", "port=0")
"""Every node: bring-up's arguments."""


def sizes(pid: int) -> tuple[int, int, dict[tuple[str, str], int]]:
    """Return the proportional set size of a process, what it has of its own, and of files by inode and offset [kB]."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = {key: int(size) for key, size in re.findall(r"^(\w+): +(\d+) kB", rollup, re.MULTILINE)}
    files: dict[tuple[str, str], int] = {}
    place = "", "0"
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if re.match(r"[0-9a-f]+-[0-9a-f]+$", words[0]):
            place = words[2], words[4]
        elif place[1] != "0" and words[0] in ("Rss:", "Anonymous:"):
            sign = 1 if words[0] == "Rss:" else -1
            files[place] = files.get(place, 0) + sign * int(words[1])
    return found["Pss"], found["Anonymous"], files


def descendants(pid: int) -> list[int]:
    """Return a process and all that it started, by any of its threads."""
    found = [pid]
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            found += descendants(int(child))
    return [own for own in found if Path(f"/proc/{own}/cmdline").read_text()]  # without those that have just ended


def name(pid: int) -> str:
    """Return what a process is called here: its program, or the module that it runs."""
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    if "-m" in words:
        module = words[words.index("-m") + 1]
        return f"{module.rpartition('.')[2]} of {words[-2].rpartition('.')[2]}" if "worker" in module else module
    return Path(words[1]).name


def main() -> None:
    """Start the stack, wait, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wait", type=float, default=60.0, help="time from the start to the look [s]")
    wait = parser.parse_args().wait
    bringup = subprocess.Popen(
        [sys.executable, "-m", "humanoid_ros.bringup", *STACK], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    try:
        time.sleep(wait)
        found = [(name(pid), *sizes(pid)) for pid in descendants(bringup.pid)]
    finally:
        bringup.terminate()
        bringup.wait()
    print(f"{'':40} proportional  of its own")
    for what, proportional, own, _ in sorted(found, key=lambda it: -it[1]):
        print(f"{what:40} {proportional / 1000:9.0f} MB {own / 1000:8.0f} MB")
    together, alone = sum(it[1] for it in found), sum(it[2] for it in found)
    places = {place for it in found for place in it[3]}
    once = sum(max(it[3].get(place, 0) for it in found) for place in places)
    print(f"{'together':40} {together / 1000:9.0f} MB {alone / 1000:8.0f} MB")
    print(f"alone on a machine, with files of {once / 1000:.0f} MB: {(alone + once) / 1000:.0f} MB")


if __name__ == "__main__":
    main()
