# SPDX-License-Identifier: Apache-2.0
"""Classes of messages by the names of their types."""

from __future__ import annotations

from importlib import import_module

from humanoid_model.errors import InputError


def message_type(name: str) -> type:
    """Return the class of a message type such as ``std_msgs/msg/String``.

    Raises:
        InputError: it isn't installed.
    """
    try:
        package, folder, kind = name.split("/")
        found: type = getattr(import_module(f"{package}.{folder}"), kind)
    except (ValueError, ImportError, AttributeError) as error:
        raise InputError(f"the message type '{name}' isn't installed", remedy="Install its package") from error
    return found
