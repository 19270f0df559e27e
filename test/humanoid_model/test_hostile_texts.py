# SPDX-License-Identifier: Apache-2.0
"""Whatever a text asks for: its reader returns a model or an InputError, in bounded time and memory."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.feature("000-F008")

TEST = Path(__file__).parents[1]
SECONDS = 60.0
"""For a reading: none took more than 6 s on a machine with nothing else to do."""
MESSAGE = 8_000
"""Characters of an error: four parts of 2000 at most."""
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from fixtures.read_hostile import main; main(*map(int, sys.argv[2:]))"
)


def readings(first: int, last: int, timeout: float) -> list[list[str]]:
    """What the process tells of each reading: seconds, how it ended, reader, length of the message, file."""
    command = [sys.executable, "-c", PROGRAM, str(TEST), str(first), str(last)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]} ended the process: {done.returncode} {done.stderr[-2000:]}"
    return [line.split("\t") for line in lines if not line.startswith("#")]


def check(rows: list[list[str]]) -> None:
    assert [row for row in rows if row[1] not in ("model", "refused")] == []
    assert [row for row in rows if float(row[0]) > SECONDS] == []
    assert [row for row in rows if int(row[3]) > MESSAGE] == []
    assert {row[1] for row in rows} == {"model", "refused"}  # it draws both


@pytest.mark.timeout(300)
def test_texts_end_as_a_model_or_an_input_error() -> None:
    check(readings(0, 1, 290.0))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_texts_end_as_a_model_or_an_input_error() -> None:
    check(readings(1, 80, 3590.0))
