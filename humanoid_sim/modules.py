# SPDX-License-Identifier: Apache-2.0
"""The modules of a simulation: which there are, and what they save."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import partial
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


_MEMBERS = ("requires", "attach", "before_step", "after_step", "save", "restore", "detach")
"""What a module must have, beside a name."""


class Modules(dict[str, Acting]):
    """The modules of a simulation by name, in the order in which they act."""

    def add(self, module: Acting, simulation: object) -> None:
        """Let a module act after those that are there already; one without a name is called after its class.

        Raises:
            InputError: it is no module, its name is no text or another one's, one that it requires is missing, or it
                doesn't fit the scene.
        """
        kind = type(module).__name__
        missing = [member for member in _MEMBERS if not hasattr(module, member)]
        if missing:
            raise InputError(
                f"a '{kind}' has no {', '.join(missing)}",
                element="module",
                remedy="Derive its class from humanoid_sim.Module, and give an instance",
            )
        if not hasattr(module, "name"):
            named: Any = module
            named.name = kind
        if not isinstance(module.name, str) or not module.name:
            raise InputError(
                f"the name of a '{kind}' is {module.name!r}", element="module", remedy="Give a text, or none"
            )
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

    def copies(self, names: Sequence[str], parts: Sequence[object], others: Sequence[object]) -> dict[str, Acting]:
        """Return copies of some modules for another simulation.

        Args:
            names: theirs.
            parts: of this simulation that modules may hold.
            others: the other simulation's, which the copies hold in their place.

        Raises:
            InputError: one can't be copied.
        """
        memo = {id(part): other for part, other in zip(parts, others, strict=True)}
        return {name: _copied(name, partial(copy.deepcopy, self[name], memo)) for name in names}

    def packed(self, names: Sequence[str], parts: Sequence[object]) -> bytes:
        """Return some modules for another process, where :meth:`unpacked` puts that simulation's parts in.

        Raises:
            InputError: one can't be copied.
        """
        places = {id(part): place for place, part in enumerate(parts)}

        class Packer(pickle.Pickler):
            def persistent_id(self, held: object) -> int | None:
                return places.get(id(held))

        def pack(chosen: Sequence[str]) -> bytes:
            file = io.BytesIO()
            Packer(file).dump({name: self[name] for name in chosen})
            return file.getvalue()

        for name in names:
            _copied(name, partial(pack, [name]))
        return pack(names)

    @staticmethod
    def unpacked(data: bytes, parts: Sequence[object]) -> dict[str, Acting]:
        """Return what :meth:`packed` was given, for the simulation with these parts."""

        class Unpacker(pickle.Unpickler):
            def persistent_load(self, place: int) -> object:
                return parts[place]

        modules: dict[str, Acting] = Unpacker(io.BytesIO(data)).load()
        return modules

    def replace_all(self, order: Sequence[str], added: Mapping[str, Acting]) -> None:
        """Keep those of an order of names, and put others in where they belong; none is attached or detached."""
        kept = {name: added[name] if name in added else self[name] for name in order}
        self.clear()
        self.update(kept)

    def save(self) -> dict[str, object]:
        """Return what each module saves, by name."""
        return {name: module.save() for name, module in self.items()}

    def restore(self, states: Mapping[str, object]) -> None:
        """Let each module go back to what it saved, if it did."""
        for name, module in self.items():
            if name in states:
                module.restore(states[name])


def _copied(name: str, make: Callable[[], Any]) -> Any:
    """Return a copy of a module; who made its class hears why there is none."""
    try:
        return make()
    except Exception as error:
        raise InputError(
            f"the module '{name}' can't be copied: {error}",
            element="modules",
            remedy="Remove it before and add one to the copy, or give its class __deepcopy__ and __reduce__",
        ) from error
