# SPDX-License-Identifier: Apache-2.0
"""``bag``: record and play by the recorder's and the replay's nodes, info."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from humanoid_model.errors import InputError
from humanoid_ros.command_line.session import add_verb
from humanoid_ros.messages.message_log import RecordedRun


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the group."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    own = add_verb(verbs, "record", record, "write topics into a file until Ctrl-C")
    own.add_argument("topics", nargs="*", help="all but hidden ones where there are none")
    own.add_argument("--topics", nargs="+", dest="more", default=[], metavar="TOPIC", help="the same")
    own.add_argument("-a", "--all", action="store_true", help="all topics but hidden ones")
    own.add_argument("-o", "--output", metavar="FILE", help="that ends in .mcap")
    own.add_argument("-s", "--storage", choices=("mcap",), default="mcap", help="the only one")

    own = add_verb(verbs, "play", play, "say on topics what a file holds")
    own.add_argument("path", help="of an MCAP file")
    own.add_argument("-r", "--rate", type=float, default=1.0, help="recorded seconds per second")
    own.add_argument("-l", "--loop", action="store_true", help="begin again at the end")
    own.add_argument("--topics", nargs="+", metavar="TOPIC", help="to play; what moves a robot isn't unless named")

    own = add_verb(verbs, "info", tell, "what a file holds")
    own.add_argument("path", help="of an MCAP file")


def record(asked: argparse.Namespace) -> None:
    """Be the recorder."""
    path = Path(asked.output or f"rosbag2_{datetime.now():%Y_%m_%d-%H_%M_%S}.mcap")
    if path.exists():
        raise InputError(f"{path} is there already", element="--output", remedy="Name a new file")
    topics = [f"/{topic.lstrip('/')}" for topic in (*asked.topics, *asked.more)]
    if asked.all and topics:
        raise InputError(f"are {' '.join(topics)}", element="topics", remedy="Name topics, or all with -a")
    from humanoid_ros.recorder import main

    _give(path=str(path), **({"topics": topics} if topics else {}))
    print(f"Recording to {path}. Press Ctrl-C to end.", flush=True)
    main()


def play(asked: argparse.Namespace) -> None:
    """Be the replay."""
    from humanoid_ros.replay import main

    # The node knows topics by their last words.
    topics = {"topics": [topic.rsplit("/", 1)[-1] for topic in asked.topics]} if asked.topics else {}
    _give(path=asked.path, speed=asked.rate, loop=asked.loop, **topics)
    main()


def tell(asked: argparse.Namespace) -> None:
    """Print topics, their types and messages."""
    run = RecordedRun(asked.path)
    counts: Counter[tuple[str, str]] = Counter()
    begin, end = float("inf"), -float("inf")
    for message in run.messages():
        counts[message.topic, message.kind] += 1
        begin, end = min(begin, message.time), max(end, message.time)
    print(f"Files:             {run.path}\nBag size:          {run.path.stat().st_size / 2**20:.1f} MiB")
    print(f"Storage id:        mcap\nDuration:          {(end - begin) * 1e-9:.3f} s")
    for what, moment in (("Start", begin), ("End", end)):
        print(f"{f'{what}:':18} {datetime.fromtimestamp(moment * 1e-9)}")
    print(f"Messages:          {sum(counts.values())}\nTopic information:")
    for (topic, kind), count in sorted(counts.items()):
        print(f"  Topic: {topic} | Type: {kind} | Count: {count} | Serialization Format: cdr")
    if run.broken:
        print(run.broken)


def _give(**parameters: Any) -> None:
    """Give the node that this process becomes its parameters, as its command line would."""
    given: Mapping[str, Any] = parameters
    words = [word for name, value in given.items() for word in ("-p", f"{name}:={json.dumps(value)}")]
    sys.argv = [sys.argv[0], "--ros-args", *words]
