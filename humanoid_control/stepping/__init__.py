# SPDX-License-Identifier: Apache-2.0
"""Walking with feedback: where and when the next foot is set down, how it gets there, and who keeps the balance."""

from humanoid_control.stepping.walker import Walker, WalkMode
from humanoid_control.stepping.walker_settings import WalkerSettings

__all__ = ["WalkMode", "Walker", "WalkerSettings"]
