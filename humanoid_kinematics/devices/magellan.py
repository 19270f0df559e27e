# SPDX-License-Identifier: Apache-2.0
"""A Logitech Magellan (Space Mouse) on a serial port, the device of the thesis (specification §4.2).

Protocol: 9600 baud, 8 bits, 2 stop bits; messages end with a carriage return. ``d`` and six words say how far the cap
is deflected, ``k`` which buttons are pressed. A character carries four bits, in its low half; the high half makes the
parity even. As Linux' driver (drivers/input/joystick/magellan.c) and X.Org's read it.
"""

from __future__ import annotations

import contextlib
import os
import termios
from pathlib import Path

import numpy as np

from humanoid_kinematics.devices.device import Increment, RateDevice, Response

NIBBLES = b"0AB3D56GH9:K<MN?"
FULL = 360.0
"""Count at full deflection, as Linux' driver has it."""
_RETRY = 1.0
_LONGEST = 64


class MagellanDevice(RateDevice):
    """Reads a serial port whenever it is read itself; one that isn't there, or is pulled, is tried again each second.

    Attributes:
        port: of the device.
        buttons: whether each of its nine buttons is pressed, ``*`` first.
        trouble: why the port can't be read; empty while it can.
    """

    def __init__(
        self, name: str, port: str | Path, translation: int = 3, rotation: int = 3, response: Response | None = None
    ) -> None:
        """Describe the device; the port is opened when it is read."""
        super().__init__(name, translation, rotation, response)
        self.port = Path(port)
        self.buttons: tuple[bool, ...] = (False,) * 9
        self.trouble = "not read yet"
        self._file: int | None = None
        self._since = np.inf
        self._begun = b""

    def close(self) -> None:
        """Close the port."""
        if self._file is not None:
            os.close(self._file)
        self._file = None

    def _read(self, seconds: float) -> Increment:
        self._since += seconds
        if self._file is None and self._since >= _RETRY:
            self._since = 0.0
            self._open()
        if self._file is not None:
            self._take()
        return super()._read(seconds)

    def _open(self) -> None:
        try:
            self._file = os.open(self.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            settings = termios.tcgetattr(self._file)
            settings[0] = settings[1] = settings[3] = 0  # bytes as they are
            settings[2] = termios.CS8 | termios.CSTOPB | termios.CREAD | termios.CLOCAL
            settings[4] = settings[5] = termios.B9600
            settings[6][termios.VMIN] = 1
            termios.tcsetattr(self._file, termios.TCSANOW, settings)
            os.write(self._file, b"z\rm3\r")  # here is zero; translations and rotations
            self.trouble, self._begun = "", b""
        except (OSError, termios.error) as problem:
            self.close()
            self.trouble = f"{self.port}: {problem.args[-1]}"

    def _take(self) -> None:
        assert self._file is not None
        try:
            with contextlib.suppress(BlockingIOError):
                while True:
                    if not (piece := os.read(self._file, 4096)):
                        raise OSError("the device hung up")
                    self._begun += piece
        except OSError as problem:
            self.close()
            self.release()
            self.trouble = f"{self.port}: {problem.args[-1]}"
        *messages, self._begun = self._begun.split(b"\r")
        self._begun = self._begun[-_LONGEST:]
        for message in messages:
            self._hear(message)

    def _hear(self, message: bytes) -> None:
        """Take one message; one that is cut or disturbed is left out."""
        body = message[1:]
        if any(byte not in NIBBLES for byte in body):
            return
        if message[:1] == b"d" and len(body) == 24:
            words = np.array([NIBBLES.index(byte) for byte in body]).reshape(6, 4) @ [4096, 256, 16, 1]
            self.post(np.clip((words - 32768.0) / FULL, -1.0, 1.0))
        elif message[:1] == b"k" and len(body) == 3:
            first, second, star = (NIBBLES.index(byte) for byte in body)
            pressed = first << 1 | second << 5 | star
            self.buttons = tuple(bool(pressed >> k & 1) for k in range(9))
