# SPDX-License-Identifier: Apache-2.0
"""A Magellan on a serial port, played by a pseudo-terminal that says what Linux' driver documents."""

import os
import pty

import numpy as np
import pytest

from humanoid_kinematics.devices.device import Response
from humanoid_kinematics.devices.magellan import FULL, MagellanDevice
from humanoid_kinematics.devices.selection import make_device
from humanoid_kinematics.mad.syntax import MadSensor

#: The protocol's alphabet: each character has the value of its low four bits, and even parity.
LETTERS = {byte & 15: bytes([byte]) for byte in range(0x30, 0x50) if bin(byte).count("1") % 2 == 0}


def word(value):
    return b"".join(LETTERS[(value + 0x8000) >> shift & 15] for shift in (12, 8, 4, 0))


def axes(*values):
    return b"d" + b"".join(word(value) for value in values) + b"\r"


@pytest.fixture
def port():
    """Open a pseudo-terminal: our end, and the name of the device's port."""
    master, slave = pty.openpty()
    yield master, os.ttyname(slave)
    os.close(slave)
    os.close(master)


@pytest.mark.feature("002-F103")
def test_deflections_of_the_port_are_speeds_and_buttons(port):
    master, name = port
    mouse = MagellanDevice("mouse", name, response=Response(1.0, 2.0, dead_band=0.0))
    assert not mouse.read(0.01).linear.any()
    assert os.read(master, 100) == b"z\rm3\r"
    os.write(master, axes(180, -90, 0, 0, 360, -36))
    read = mouse.read(0.01)
    np.testing.assert_allclose(read.linear, [0.005, -0.0025, 0.0])
    np.testing.assert_allclose(read.angular, [0.0, 0.02, -0.002])
    os.write(master, b"k" + LETTERS[0b0101] + LETTERS[0b1000] + LETTERS[0] + b"\r")
    mouse.read(0.01)
    assert [k for k, pressed in enumerate(mouse.buttons) if pressed] == [1, 3, 8]
    os.write(master, axes(*[int(3 * FULL)] * 6))
    assert mouse.read(0.01).linear[0] == pytest.approx(0.01)  # no further than full deflection
    mouse.close()


@pytest.mark.feature("002-F103")
def test_messages_may_come_in_pieces_and_disturbed_ones_are_left_out(port):
    master, name = port
    mouse = MagellanDevice("mouse", name, response=Response(1.0, dead_band=0.0))
    mouse.read(0.01)
    whole = axes(90, 0, 0, 0, 0, 0)
    os.write(master, whole[:11])
    assert not mouse.read(0.01).linear.any()
    os.write(master, whole[11:] + b"d0000\r" + b"dxxxx" + whole[5:] + b"v nonsense\r\r" + b"d")
    assert mouse.read(0.01).linear[0] == pytest.approx(0.0025)
    mouse.close()


@pytest.mark.feature("002-F103")
def test_a_port_that_is_not_there_moves_nothing_and_is_found_when_it_comes(tmp_path, port):
    master, name = port
    link = tmp_path / "ttyUSB7"
    mouse = make_device(MadSensor(1, port=str(link), type="spaceball"))
    mouse.response = Response(1.0, dead_band=0.0)
    for _ in range(5):
        assert not mouse.read(0.1).linear.any()
    assert "No such file" in mouse.trouble
    link.symlink_to(name)
    for _ in range(11):
        mouse.read(0.1)
    assert mouse.trouble == ""
    os.write(master, axes(360, 0, 0, 0, 0, 0))
    assert mouse.read(0.01).linear[0] == pytest.approx(0.01)
    mouse.close()


@pytest.mark.feature("002-F103")
def test_a_device_that_is_pulled_stops_and_is_told_of(tmp_path):
    master, slave = pty.openpty()
    mouse = MagellanDevice("mouse", os.ttyname(slave), response=Response(1.0, dead_band=0.0, silence=10.0))
    mouse.read(0.01)
    os.write(master, axes(360, 0, 0, 0, 0, 0))
    assert mouse.read(0.01).linear[0] > 0.0
    os.close(slave)
    os.close(master)
    assert not mouse.read(0.01).linear.any()
    assert mouse.trouble
    (tmp_path / "file").write_text("d")
    plain = MagellanDevice("mouse", tmp_path / "file")
    plain.read(0.01)
    assert "ioctl" in plain.trouble  # no terminal
