# SPDX-License-Identifier: Apache-2.0
"""Calls of other threads wait for the executor, and those that come meanwhile are made as well."""

from __future__ import annotations

import threading

from humanoid_ros.viewer.later import Later


def test_calls_are_made_by_who_takes_them_in_their_order() -> None:
    later, made = Later(), []

    def note(name: str, value: int = 0) -> None:
        made.append((name, value, threading.current_thread()))
        if name == "first":
            later(note, "meanwhile")

    caller = threading.Thread(target=lambda: (later(note, "first", 1), later(note, "second", 2)))
    caller.start()
    caller.join()
    assert made == []
    names = []
    for call in later.due():
        names.append(call.func.__name__)
        call()
    here = threading.current_thread()
    assert made == [("first", 1, here), ("second", 2, here), ("meanwhile", 0, here)]
    assert names == ["note"] * 3
    assert not list(later.due())
