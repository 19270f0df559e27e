# SPDX-License-Identifier: Apache-2.0
"""Recordings that are whole, broken off, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_model.errors import InputError
from humanoid_ros.messages.message_log import RecordedRun
from humanoid_sim import Simulation
from humanoid_sim.recording import McapRecorder


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A standing robot for 2 s, its joints and contacts every 2 ms: some chunks."""
    path = tmp_path_factory.mktemp("recording") / "stand.mcap"
    simulation = Simulation("stand")
    recorder = McapRecorder(path, every=2, groups=("joints", "contacts", "bodies"))
    simulation.add_module(recorder)
    simulation.run(2.0)
    simulation.remove_module(recorder.name)
    return path


def test_all_that_was_written_comes_in_its_order(recording: Path) -> None:
    from mcap.reader import make_reader

    with recording.open("rb") as file:
        expected = [(c.topic, m.log_time, m.data) for _, c, m in make_reader(file).iter_messages()]
    run = RecordedRun(recording)
    told = list(run.messages())
    assert sorted((m.topic, m.time, m.data) for m in told) == sorted(expected)
    assert run.broken == ""
    assert {m.topic for m in told if "transient_local" in m.offered} == {"/robot_description"}


def test_what_is_before_the_break_is_there(recording: Path, tmp_path: Path) -> None:
    whole = recording.read_bytes()
    broken = tmp_path / "broken.mcap"
    broken.write_bytes(whole[: len(whole) // 2])
    run = RecordedRun(broken)
    before = list(run.messages())
    assert run.broken.startswith("it breaks off")
    everything = list(RecordedRun(recording).messages())
    assert 0 < len(before) < len(everything)
    assert before == everything[: len(before)]


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "No such file"), (b"words", "breaks off"), (b"", "breaks off")]
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "run.mcap"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=f"{path}: path: can't be replayed: .*{reason}.*Give an MCAP file"):
        RecordedRun(path)
