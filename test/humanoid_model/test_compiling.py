# SPDX-License-Identifier: Apache-2.0
"""What happens while kernels compile."""

import gc

import pytest
from numba import njit

from humanoid_model import compiling


@pytest.fixture
def compilation(monkeypatch):
    """As in a process that has compiled nothing yet and whose user has no patience."""
    follower = compiling.follower
    for name, value in (("_told", False), ("_seconds", 0.0)):
        monkeypatch.setattr(follower, name, value)
    monkeypatch.setattr(compiling, "_PATIENCE", -1.0)


def _compile():
    @njit
    def f(x):
        return x + 1

    return f(1)


def test_whoever_waits_for_kernels_is_told_once_and_not_on_the_standard_output(compilation, capfd):
    _compile()
    _compile()
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("compiling kernels") == 1


def test_a_short_compilation_is_not_worth_a_word(compilation, monkeypatch, capfd):
    monkeypatch.setattr(compiling, "_PATIENCE", 1e9)
    _compile()
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
