# SPDX-License-Identifier: Apache-2.0
"""Messages of a fixed layout whose numbers are written straight into their serialised form, and read from it.

rclpy reads every field of a message through Python and copies it twice before it is sent: some hundred microseconds for
the transforms of a humanoid. Where names and lengths stay, only the numbers change. Their places are found once, by
serialising the message with numbers that occur nowhere else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from humanoid_stack.msg import ContactForce, ContactForces
from numpy.typing import ArrayLike
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_model.arrays import Array
from humanoid_ros.messages.conversions import fill_vector, seconds

if TYPE_CHECKING:
    from humanoid_sim.stepping.contacts import Contacts


_HEADER = 4
"""Bytes in front of the body, in which a number lies at a multiple of its size (CDR)."""
_MARK = np.array([0x7E5A, 0x3C9D], dtype=np.uint64)
_SECONDS, _NANOSECONDS = 0x7A3C59E1, 0x1B2D4F6


class SerializedMessage:
    """A message with some times and some 64-bit numbers that change."""

    def __init__(self, message: Any, count: int, write: Callable[..., None], *, times: int = 1) -> None:
        """Find the places of the numbers.

        Args:
            message: all that stays.
            count: how many numbers change.
            write: takes the message, so many numbers and the times, and writes them into it: each number into one
                place, each time into any number of them.
            times: how many times change.

        Raises:
            RuntimeError: a number isn't found, because it isn't written or is none of 64 bits.
        """
        marks = ((_MARK[0] << np.uint64(48)) | (_MARK[1] << np.uint64(16)) | np.arange(count, dtype=np.uint64)).view(
            np.float64
        )
        stamps = [Time(sec=_SECONDS + i, nanosec=_NANOSECONDS) for i in range(times)]
        write(message, marks.tolist(), *stamps)
        data = self._marked = serialize_message(message)
        self._size = len(data)
        memory = np.zeros(-(-(_HEADER + self._size) // 8) * 8, dtype=np.uint8)
        memory[_HEADER : _HEADER + self._size] = np.frombuffer(data, dtype=np.uint8)
        self._memory, self._numbers, self._words = memory, memory.view(np.float64), memory.view(np.uint32)
        whole = memory.view(np.uint64)
        order = np.argsort(whole, kind="stable")
        found = order[np.searchsorted(whole, marks.view(np.uint64), sorter=order) % len(order)] if count else order[:0]
        if not np.array_equal(whole[found], marks.view(np.uint64)):
            missing = np.flatnonzero(whole[found] != marks.view(np.uint64)).tolist()
            raise RuntimeError(f"numbers {missing} of {type(message).__name__} are in no place of their own")
        self._places = found
        self._seconds = [
            np.flatnonzero((self._words[:-1] == stamp.sec) & (self._words[1:] == stamp.nanosec)) for stamp in stamps
        ]
        first = np.concatenate([2 * found, *self._seconds])  # each number and time has two words
        words = np.setdiff1d(np.arange(len(self._words)), np.concatenate([first, first + 1]))
        constant = (4 * words[:, None] + np.arange(4)).ravel()
        constant = constant[(constant >= _HEADER) & (constant < _HEADER + self._size)]
        self._constant, self._constants = constant, memory[constant]

    def filled(self, values: ArrayLike, *times: Time | Duration) -> bytes:
        """Return the serialised message with other numbers, shape (count,), and other times."""
        self._numbers[self._places] = values
        for places, time in zip(self._seconds, times, strict=True):
            self._words[places] = time.sec & 0xFFFFFFFF
            self._words[places + 1] = time.nanosec
        return self._memory[_HEADER : _HEADER + self._size].tobytes()

    def read(self, data: bytes) -> tuple[Array, list[float]] | None:
        """Return numbers, shape (count,), and times [s] of a serialised message; None: it differs in anything else.

        What reads doesn't write: :meth:`filled` isn't for the same object.
        """
        if len(data) != self._size:
            return None
        self._memory[_HEADER : _HEADER + self._size] = np.frombuffer(data, dtype=np.uint8)
        if not np.array_equal(self._memory[self._constant], self._constants):
            return None
        signed = self._words.view(np.int32)
        times = [float(signed[own[0]]) + 1e-9 * float(self._words[own[0] + 1]) for own in self._seconds]
        return self._numbers[self._places], times


    def learn_padding(self, data: bytes, kind: type) -> bool:
        """Whether a message that :meth:`read` didn't take differs in bytes alone that mean nothing.

        Bytes that align others hold what was in the sender's memory. Those that differ aren't looked at any more.

        Args:
            data: the serialised message.
            kind: of messages.
        """
        if len(data) != self._size:
            return False
        came = np.frombuffer(data, dtype=np.uint8)[self._constant - _HEADER]
        other, marked = came != self._constants, np.frombuffer(self._marked, dtype=np.uint8).copy()
        marked[self._constant - _HEADER] = came
        try:
            same = deserialize_message(marked.tobytes(), kind) == deserialize_message(self._marked, kind)
        except Exception:  # a length may be among what differs
            return False
        if same:
            self._constant, self._constants = self._constant[~other], self._constants[~other]
        return bool(same)


class NumberReader:
    """Reads messages that differ in numbers and stamp only straight from their serialised form.

    Where anything else has changed, a name, a length, a frame, the message is read through Python as any other; a few
    forms are remembered.
    """

    def __init__(self, kind: type, numbers: Callable[[Any], Sequence[float]], write: Callable[..., None]) -> None:
        """Begin without a form.

        Args:
            kind: of the messages; they have a header.
            numbers: returns the numbers of a message.
            write: takes a message, so many numbers and the stamp, and writes them into it; as of
                :class:`SerializedMessage`.
        """
        self._kind, self._count, self._write = kind, numbers, write
        self._forms: deque[tuple[SerializedMessage, Any]] = deque(maxlen=4)

    def read(self, data: bytes) -> tuple[Any, Array, float]:
        """Return a message of the same form, the numbers, shape (count,), and the stamp [s]."""
        for known in (True, False):
            for form, message in self._forms:
                found = form.read(data) if known or form.learn_padding(data, self._kind) else None
                if found is not None:
                    return message, found[0], found[1][0]
        message = deserialize_message(data, self._kind)
        own = np.array(self._count(message), dtype=float)
        time = seconds(message.header.stamp)
        self._forms.appendleft((SerializedMessage(message, len(own), self._write), message))
        return message, own, time


class SerializedMessages:
    """Messages whose layout changes now and then; those of the last layouts are kept."""

    def __init__(self, layout: Callable[..., Any], write: Callable[..., None]) -> None:
        """Begin without any.

        Args:
            layout: returns the message of a layout.
            write: as of :class:`SerializedMessage`.
        """
        self._of_layout = lru_cache(16)(lambda layout, count: SerializedMessage(self._new(*layout), count, write))
        self._new = layout

    def filled(self, layout: tuple[Any, ...], values: ArrayLike, time: Time) -> bytes:
        """Return the serialised message of a layout, arguments of the function that makes it, with its numbers."""
        flat = np.reshape(values, -1)
        return self._of_layout(layout, len(flat)).filled(flat, time)


class ContactMessages:
    """Makes the serialised message of each instant, vectors in the world frame."""

    def __init__(self, world: str) -> None:
        """Begin with the name of the world frame."""
        self._world = world
        self._messages = SerializedMessages(self._layout, _write)

    def update(self, contacts: Contacts, time: Time) -> bytes:
        """Return the serialised ContactForces of all contacts at a time."""
        numbers = (
            contacts.position, contacts.normal, contacts.force, contacts.torque,
            contacts.gap[:, None], contacts.friction[:, None],
        )  # fmt: skip
        return self._messages.filled((tuple(contacts.bodies), tuple(contacts.state.tolist())), np.hstack(numbers), time)

    def _layout(self, bodies: tuple[tuple[str, str], ...], states: tuple[int, ...]) -> ContactForces:
        message = ContactForces()
        message.header.frame_id = self._world
        message.contacts = [
            ContactForce(body_a=a, body_b=b, state=state) for (a, b), state in zip(bodies, states, strict=True)
        ]
        return message


def _write(message: ContactForces, values: list[float], time: Time) -> None:
    message.header.stamp = time
    for number, contact in enumerate(message.contacts):
        own = values[14 * number : 14 * number + 14]
        fill_vector(contact.position, own)
        fill_vector(contact.normal, own[3:])
        fill_vector(contact.force, own[6:])
        fill_vector(contact.torque, own[9:])
        contact.gap, contact.friction = own[12:]
