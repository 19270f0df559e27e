# SPDX-License-Identifier: Apache-2.0
"""What happens while kernels compile."""

import gc
import io
import sys
import time
from contextlib import contextmanager

import pytest
from numba import njit

from humanoid_model import compiling

pytestmark = pytest.mark.feature("000-F028")


@pytest.fixture
def compilation(monkeypatch):
    """As in a process whose user has no patience, and that compiles nothing else."""
    finish()
    monkeypatch.setattr(compiling, "_PATIENCE", -1.0)
    monkeypatch.setattr(compiling, "_PAUSE", 0.2)
    yield compiling.follower
    finish()


def finish():
    """Wait until nobody is told any more."""
    teller = compiling.follower._teller
    if teller is not None:
        teller.join()


def _compile():
    @njit
    def f(x):
        return x + 1

    return f(1)


class Slow(compiling.event.Listener):
    """Makes each kernel take a while."""

    def __init__(self, seconds):
        self.seconds = seconds

    def on_start(self, event):
        time.sleep(self.seconds)

    def on_end(self, event):
        pass


@contextmanager
def slow_compiler(seconds):
    compiling.event.register("numba:compile", listener := Slow(seconds))
    try:
        yield
    finally:
        compiling.event.unregister("numba:compile", listener)


def test_whoever_waits_for_kernels_is_told_and_not_on_the_standard_output(compilation, capfd):
    before = compilation.count
    _compile()
    _compile()
    finish()
    out, err = capfd.readouterr()
    assert out == ""
    assert compilation.count == before + 2
    assert err.count("compiling kernels, once for this machine: ") == 1  # a line says enough for a while


def test_one_kernel_that_takes_long_is_told_of_again_and_again(compilation, monkeypatch, capfd):
    monkeypatch.setattr(compiling, "_NEWS", 0.2)
    monkeypatch.setattr(compiling, "_USUAL", {"test_compiling": 10**6, "test": 10**6})
    with slow_compiler(1.5):
        _compile()
    finish()
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(line.endswith(f"{compilation.count} of about {10**6}") for line in lines)


def test_more_kernels_than_usual_are_told_without_a_number_that_would_be_wrong(compilation, monkeypatch, capfd):
    monkeypatch.setattr(compiling, "_USUAL", {"test_compiling": 1, "test": 1})
    with slow_compiler(1.5):
        _compile()
    finish()
    assert capfd.readouterr().err.splitlines()[-1].endswith(f"for this machine: {compilation.count}")


def test_on_a_terminal_it_is_a_bar_that_goes_when_all_is_done(compilation, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(compiling, "_USUAL", {"test_compiling": 10**6, "test": 10**6})
    with slow_compiler(0.5):
        _compile()
    finish()
    shown = terminal.getvalue()
    assert f"{compilation.count} of about 1000000 |" in shown
    assert shown.rstrip(" ").endswith("\r")  # wiped


def test_a_short_compilation_is_not_worth_a_word(compilation, monkeypatch, capfd):
    monkeypatch.setattr(compiling, "_PATIENCE", 1e9)
    _compile()
    finish()
    assert capfd.readouterr().err == ""


def test_the_garbage_collector_waits_meanwhile_and_goes_on_as_it_was(compilation):
    seen = []

    class Look(compiling.event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    compiling.event.register("numba:compile", look := Look())
    try:
        for enabled in (True, False):
            (gc.enable if enabled else gc.disable)()
            _compile()
            assert gc.isenabled() is enabled
    finally:
        gc.enable()
        compiling.event.unregister("numba:compile", look)
    assert seen
    assert not any(seen)


def test_the_kernel_that_is_compiled_is_named_meanwhile(compilation):
    seen = []

    class Look(compiling.event.Listener):
        def on_start(self, event):
            seen.append(compiling.follower.kernel)

        def on_end(self, event):
            pass

    compiling.event.register("numba:compile", look := Look())
    try:
        _compile()
    finally:
        compiling.event.unregister("numba:compile", look)
    assert seen == ["f"]
    assert compiling.follower.kernel == ""
