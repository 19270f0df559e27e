# SPDX-License-Identifier: Apache-2.0
"""The modules of a simulation: which there are, and what they save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from humanoid_model.errors import InputError


class Acting(Protocol):
    """What a simulation needs of a module; :class:`~humanoid_sim.module.Module` has it all, and says what it means."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def requires(self) -> tuple[str, ...]: ...  # noqa: D102
    def attach(self, simulation: Any) -> None: ...  # noqa: D102
    def before_step(self, simulation: Any) -> None: ...  # noqa: D102
    def after_step(self, simulation: Any) -> None: ...  # noqa: D102
    def save(self) -> object: ...  # noqa: D102
    def restore(self, state: object) -> None: ...  # noqa: D102
    def detach(self, simulation: Any) -> None: ...  # noqa: D102


class Modules(dict[str, Acting]):
    """The modules of a simulation by name, in the order in which they act."""

    def add(self, module: Acting, simulation: object) -> None:
        """Let a module act after those that are there already.

        Raises:
            InputError: another module has its name, one that it requires is missing, or it doesn't fit the scene.
        """
        if module.name in self:
            raise InputError(
                f"there is a module '{module.name}' already",
                element="module",
                remedy="Remove it first, or give the new one another name",
            )
        for name in module.requires:
            if name not in self:
                raise InputError(
                    f"the module '{module.name}' requires the module '{name}', which is not there",
                    element="module",
                    remedy=f"Add '{name}' first",
                )
        module.attach(simulation)
        self[module.name] = module

    def remove(self, name: str, simulation: object) -> None:
        """Let a module act no longer.

        Raises:
            InputError: there is none of that name, or another one requires it.
        """
        if name not in self:
            raise InputError(
                f"there is no module '{name}'", element="module", remedy=f"There are {', '.join(self) or 'none'}"
            )
        for other in self.values():
            if name in other.requires:
                raise InputError(
                    f"the module '{other.name}' requires the module '{name}'",
                    element="module",
                    remedy=f"Remove '{other.name}' first",
                )
        self.pop(name).detach(simulation)

    def save(self) -> dict[str, object]:
        """Return what each module saves, by name."""
        return {name: module.save() for name, module in self.items()}

    def restore(self, states: Mapping[str, object]) -> None:
        """Let each module go back to what it saved, if it did."""
        for name, module in self.items():
            if name in states:
                module.restore(states[name])
