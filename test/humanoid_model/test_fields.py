# SPDX-License-Identifier: Apache-2.0
import argparse
import math
from dataclasses import dataclass

import pytest

from humanoid_model.errors import InputError
from humanoid_model.fields import Described, add_options, choice, count, descriptions, flag, number, text


@dataclass(frozen=True)
class Walk(Described):
    """How to walk."""

    speed: float = number(0.5, "mean speed", "m/s", low=0.0, above=True, high=2.0)
    tilt: float = number(0.0, "of the trunk", "rad")
    limit: float = number(math.inf, "of each foot's force", "N", low=0.0)
    steps: int | None = count(None, "steps to take", low=1)
    gait: str = choice("level", {"level": "LEVEL_WALK", "run": "RUNNING"}, "what feet do")
    arms: bool = flag(True, "swing the arms")
    robot: str = text("hrp2", "who walks")
    start: object = None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"speed": 0.0}, "speed: is 0. Give a finite number above 0, at most 2 [m/s]."),
        ({"speed": 2.5}, "speed: is 2.5. Give a finite number above 0, at most 2 [m/s]."),
        ({"speed": math.nan}, "speed: is nan. Give a finite number above 0, at most 2 [m/s]."),
        ({"speed": "fast"}, "speed: is 'fast'. Give a finite number above 0, at most 2 [m/s]."),
        ({"tilt": math.inf}, "tilt: is inf. Give a finite number [rad]."),
        ({"tilt": 1e5}, "tilt: is 100000. Give a finite number at most 10000 [rad]."),
        ({"tilt": -1e5}, "tilt: is -100000. Give a finite number of -10000 or more [rad]."),
        ({"limit": -1.0}, "limit: is -1. Give a finite number of 0 or more [N]."),
        ({"limit": -math.inf}, "limit: is -inf. Give a finite number of 0 or more [N]."),
        ({"steps": 0}, "steps: is 0. Give a whole number, 1 or more."),
        ({"steps": 1.5}, "steps: is 1.5. Give a whole number, 1 or more."),
        ({"steps": True}, "steps: is 1. Give a whole number, 1 or more."),
        ({"gait": "crawl"}, "gait: is 'crawl'. Give one of level, run."),
    ],
)
def test_what_can_not_be_used_is_named_with_what_would_be_right(given, message):
    with pytest.raises(InputError) as error:
        Walk(**given)
    assert str(error.value) == message


def test_what_is_left_open_is_no_fault():
    assert Walk(limit=math.inf, steps=None) == Walk()
    assert Walk(speed=2.0, tilt=-1e4, limit=0.0, steps=1).steps == 1


def test_messages_leave_open_by_zero_what_may_be():
    described = descriptions(Walk)
    assert described["limit"].read(0.0) == math.inf
    assert described["limit"].read(3.0) == 3.0
    assert described["steps"].read(0) is None
    assert described["speed"].read(0.0) == 0.0
    assert "start" not in described


def test_the_docstring_tells_the_fields():
    assert "speed: mean speed [m/s]; above 0, at most 2." in Walk.__doc__
    assert "gait: what feet do: level, run." in Walk.__doc__
    assert "arms: swing the arms." in Walk.__doc__
    assert "start" not in Walk.__doc__


def test_a_command_line_takes_fields_and_leaves_open_what_is_not_given(capsys):
    parser = argparse.ArgumentParser()
    add_options(parser, Walk, ["speed", "steps", "gait"])
    taken = vars(parser.parse_args(["--speed", "1.5", "--steps", "3"]))
    assert taken == {"speed": 1.5, "steps": 3, "gait": None}
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    assert "mean speed [m/s]; above 0, at most 2" in capsys.readouterr().out
