# SPDX-License-Identifier: Apache-2.0
"""The space of stances with a posture each: its sons are one contact away (specification 001 Alg. 2-5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.contact import Stance
from humanoid_model.errors import InputError
from humanoid_planner.contacts.posture_caller import PostureCaller
from humanoid_planner.contacts.potentials.stance_terms import StanceTerm
from humanoid_planner.contacts.search.best_first import ExpansionInterruptedError, Node, SearchSpace
from humanoid_planner.contacts.stances.bounded_contact import bounds_task, hold_at, light_contact
from humanoid_planner.contacts.stances.candidates import Candidates, Place, SearchVolumes
from humanoid_planner.contacts.stances.couples import Couples
from humanoid_planner.contacts.stances.planned_stance import Hold, PlannedStance, Role
from humanoid_planner.contacts.stances.search_volume import SearchVolume
from humanoid_planner.contacts.stances.stance_set import StanceMetric, StanceSet
from humanoid_planner.posture import Criterion, Task
from humanoid_planner.posture.problem.force_model import ForceModel
from humanoid_planner.posture.problem.state import PostureState

#: Distance of a pre-contact above its surface (specification 001 Appendix B) [m].
PRE_CONTACT = 0.02


METHODS = ("bfp", "vbfp")


@dataclass(frozen=True, eq=False)
class StancePosture:
    """A stance and its witness.

    Attributes:
        stance: contacts with their roles.
        q: (nq,) posture that shows that the stance, and the way to it from its father, exist.
        at_goal: whether the goal's tasks are fulfilled: the end of a plan.
        born: volume that the posture generator chose the new contact's place in, for VBFP.
    """

    stance: PlannedStance
    q: NDArray[np.float64]
    at_goal: bool = False
    born: SearchVolume | None = None


@dataclass
class SonCounts:
    """What became of the stances that a search looked at.

    Attributes:
        tried: stances that a posture was sought for, or proved to have none.
        known: equal to one tried before.
        unreachable: proved to be out of reach.
        unbalanced: proved to have no equilibrium.
        refused: couples whose pre-contact has no posture.
        disconnected: left out by the test of the way from the father.
    """

    tried: int = 0
    known: int = 0
    unreachable: int = 0
    unbalanced: int = 0
    refused: int = 0
    disconnected: int = 0


@dataclass
class ContactSpace(SearchSpace[StancePosture]):
    """Stances of couples, with the sons of the thesis' Alg. 3 (BFP) or 7 to 9 (VBFP).

    VBFP gives the best son of each couple only, and with it the next best ones of the expanded node's own couple. That
    the posture generator finds the best is so when its criterion is the potential; VBFP asks for search volumes.

    Attributes:
        couples: what may hold on what.
        caller: of the posture generator.
        candidates: where couples may hold.
        posture_term: U_T, potential of the posture; None for zero.
        terms: U_S, bonus and malus of the stance.
        goal: tasks T_final.
        metric: equality of stances.
        method: "bfp" or "vbfp".
        seed: of random candidates.
        pre_contact: ask first whether a couple's location comes near its surface at all.
        reach: leave out stances whose contacts are proved to be too far apart.
        balance: leave out stances whose bearing contacts are proved not to carry the robot.
        goal_below: U_T at and above which a node isn't tried for the goal.
        way_exists: whether there is a way from a father's posture to its son's (trajectoryExists).
        goal_way_exists: likewise for the way to the goal posture.
        goal_holds: couples that hold at the end.
    """

    couples: Couples
    caller: PostureCaller
    candidates: Candidates | SearchVolumes
    posture_term: Criterion | None
    terms: Sequence[StanceTerm]
    goal: Sequence[Task]
    metric: StanceMetric
    method: str = "bfp"
    seed: int = 0
    pre_contact: bool = False
    reach: bool = True
    balance: bool = True
    goal_below: float = np.inf
    way_exists: Callable[[StancePosture, StancePosture], bool] | None = None
    goal_way_exists: Callable[[StancePosture, StancePosture], bool] | None = None
    goal_holds: frozenset[int] = frozenset()
    counts: SonCounts = field(default_factory=SonCounts)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError(f"is '{self.method}'", element="method", remedy=f"Give one of {', '.join(METHODS)}")
        if self.method == "vbfp" and not isinstance(self.candidates, SearchVolumes):
            raise InputError(
                f"are {type(self.candidates).__name__}", element="candidates of vbfp", remedy="Give SearchVolumes"
            )
        self._known = StanceSet(self.metric)
        bodies = {body.name: body.placement_world_body for body in self.caller.scene.bodies}
        self._surfaces: list[pin.SE3] = [
            bodies[surface.body] * surface.placement_body_surface for surface in self.couples.surfaces
        ]

    # What the search asks -------------------------------------------------------------------------------------

    def potential(self, state: StancePosture) -> float:
        """U(s, q) = U_T(q) + U_S(s)."""
        return self.posture_potential(state.q) + sum(term.value(state.stance, self.couples) for term in self.terms)

    def posture_potential(self, q: NDArray[np.float64]) -> float:
        """U_T of a posture (nq,)."""
        if self.posture_term is None:
            return 0.0
        kinematics = self.caller.kinematics
        self.posture_term.bind(kinematics)
        state = PostureState(kinematics, ForceModel(kinematics, (), (), np.asarray(self.caller.scene.gravity, float)))
        state.set(kinematics.coordinates(q))
        return self.posture_term.value(state)

    def add(self, state: StancePosture) -> bool:
        """Remembers a stance."""
        return self._known.add(state.stance)

    def finish(self, node: Node[StancePosture]) -> StancePosture | None:
        """Return the goal posture of a node's stance (allowsToReachGoal); None where there is none.

        The new contact bears in it and the released one is gone: the way from the node's posture leads through stances
        that ask for no more than that.
        """
        settled = node.state.stance.settled()
        if not self.goal_holds <= set(settled.couples) or self.posture_potential(node.state.q) >= self.goal_below:
            return None
        stance = settled.stance(self.couples)
        if self.reach and self.caller.impossible(stance, self.goal):
            return None
        result = self.caller.call("goal", stance, node.state.q, self.goal)
        if not result.success:
            return None
        end = StancePosture(settled, result.q, at_goal=True)
        if self.goal_way_exists is not None and not self.goal_way_exists(node.state, end):
            return None
        return end

    def expand(
        self, node: Node[StancePosture], nodes: list[Node[StancePosture]], stop: Callable[[], bool]
    ) -> Iterable[tuple[int, StancePosture]]:
        """Stances with one contact less or one more, each with its posture; VBFP: and brothers."""
        families = [(node, self._sons(node, stop))]
        if self.method == "vbfp" and node.father is not None:
            families.append((nodes[node.father], self._next_brothers(node.state, stop)))
        for father, sons in families:
            for son in sons:
                if self.way_exists is not None and not self.way_exists(father.state, son):
                    self.counts.disconnected += 1
                    continue
                yield father.index, son

    # Sons -------------------------------------------------------------------------------------------------------

    def _sons(self, node: Node[StancePosture], stop: Callable[[], bool]) -> Iterator[StancePosture]:
        base, q = node.state.stance.settled(), node.state.q
        if len(base.holds) >= 2:
            for hold in base.holds:
                _go_on(stop)
                yield from self._try("remove", base.releasing(hold.couple), q)
        used = {self.couples.location(couple).link for couple in base.couples}
        for couple in self.couples.allowed:
            if self.couples.location(couple).link not in used:
                yield from self._new_contacts(node, base, couple, stop)

    def _new_contacts(
        self, node: Node[StancePosture], base: PlannedStance, couple: int, stop: Callable[[], bool]
    ) -> Iterator[StancePosture]:
        """Sons by contacts of one couple (Alg. 4, 5)."""
        q = node.state.q
        surface = self._surfaces[couple % len(self.couples.surfaces)]
        rng = np.random.default_rng((self.seed, node.index, couple))
        pelvis = self.caller.robot.placement_base(q).translation
        place = Place(surface, pelvis, rng)
        volumes: list[SearchVolume] = []
        holds: list[Hold] = []
        if isinstance(self.candidates, SearchVolumes):
            whole = self.candidates.volume(self.couples, couple, place)
            volumes = [] if whole is None else [whole]
        else:
            holds = self.candidates.holds(self.couples, couple, place)
        if not volumes and not holds:
            return
        if self.pre_contact:
            _go_on(stop)
            near = self._pre_contact(base, couple, place, q)
            if near is None:
                self.counts.refused += 1
                return
            q = near
        for hold in holds:
            _go_on(stop)
            yield from self._try("add", base.adding(hold), q)
        if isinstance(self.candidates, SearchVolumes) and volumes:
            slid = self._best_contact if self.method == "vbfp" else self._slid_contacts
            yield from slid(self.candidates, base, couple, volumes[0], q, stop)

    def _slid_contacts(
        self,
        candidates: SearchVolumes,
        base: PlannedStance,
        couple: int,
        volume: SearchVolume,
        q: NDArray[np.float64],
        stop: Callable[[], bool],
    ) -> Iterator[StancePosture]:
        """Sons whose new contact the posture generator places, until nothing is left of the volume (Alg. 5)."""
        volumes = volume.halves()
        while volumes:
            volume = volumes.pop(0)
            _go_on(stop)
            son = self._slide(base, couple, volume, q)
            if son is None:
                continue
            volumes += [half for rest in candidates.beside(volume, _newborn(son)) for half in rest.halves()]
            # Here the duplicate is known only when its posture is.
            if self.add(son):
                yield son
            else:
                self.counts.known += 1

    def _best_contact(
        self,
        candidates: SearchVolumes,
        base: PlannedStance,
        couple: int,
        volume: SearchVolume,
        q: NDArray[np.float64],
        stop: Callable[[], bool],
    ) -> Iterator[StancePosture]:
        """Yield the son that the posture generator finds in a volume; where it is known, its next brothers (Alg. 8)."""
        for part in volume.halves():
            _go_on(stop)
            son = self._slide(base, couple, part, q)
            if son is None:
                continue
            if self.add(son):
                yield son
            else:
                self.counts.known += 1
                yield from self._next_brothers(son, stop)

    def _next_brothers(self, state: StancePosture, stop: Callable[[], bool]) -> Iterator[StancePosture]:
        """Yield the best in each part of the volume around a state's new contact (Alg. 9); none without a volume."""
        if state.born is None:
            return
        assert isinstance(self.candidates, SearchVolumes)
        hold = _newborn(state)
        base = PlannedStance(tuple(other for other in state.stance.holds if other is not hold))
        for rest in self.candidates.beside(state.born, hold):
            yield from self._best_contact(self.candidates, base, hold.couple, rest, state.q, stop)

    def _try(self, purpose: str, stance: PlannedStance, q: NDArray[np.float64]) -> Iterator[StancePosture]:
        """Yield the stance with a posture, if it is new and has one."""
        if not self._known.add(stance):
            self.counts.known += 1
            return
        self.counts.tried += 1
        son = self.posture_of(stance, q, purpose)
        if son is not None:
            yield son

    def posture_of(
        self, stance: PlannedStance, q: NDArray[np.float64], purpose: str = "shorten"
    ) -> StancePosture | None:
        """Return a stance with a posture that holds it, sought from another one (nq,); None where there is none."""
        contacts = stance.stance(self.couples)
        if self.balance and not self.caller.balances(contacts):
            self.counts.unbalanced += 1
        elif self.reach and self.caller.impossible(contacts):
            self.counts.unreachable += 1
        else:
            result = self.caller.call(purpose, contacts, q)
            if result.success:
                return StancePosture(stance, result.q)
        return None

    def _slide(
        self, base: PlannedStance, couple: int, volume: SearchVolume, q: NDArray[np.float64]
    ) -> StancePosture | None:
        """Return a stance with a contact of a couple somewhere in a volume, where a posture holds it."""
        kinematics, location = self.caller.kinematics, self.couples.location(couple)
        whole = self.couples.surface(couple)
        contact = light_contact(location, whole, volume)
        bounds = bounds_task(contact, whole, volume, kinematics, self.caller.scene)
        stance = base.stance(self.couples).adding(contact)
        self.counts.tried += 1
        result = self.caller.call("slide", stance, q, [] if bounds is None else [bounds])
        if not result.success:
            return None
        kinematics.set(kinematics.coordinates(result.q))
        hold = hold_at(couple, location, self._surfaces[couple % len(self.couples.surfaces)], kinematics)
        return StancePosture(base.adding(hold), result.q, born=volume)

    def _pre_contact(
        self, base: PlannedStance, couple: int, place: Place, q: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """(nq,) posture that brings a location near a surface (testPreContact); a start for the contact itself."""
        location, surface = self.couples.location(couple), self.couples.surface(couple)
        whole = SearchVolumes().volume(self.couples, couple, place)
        if whole is None:
            return None
        contact = light_contact(location, surface, whole, PRE_CONTACT)
        result = self.caller.call("pre-contact", base.stance(self.couples).adding(contact), q)
        return result.q if result.success else None

    def stance_of(self, state: StancePosture) -> Stance:
        """Return contacts of a state."""
        return state.stance.stance(self.couples)

    # Files ------------------------------------------------------------------------------------------------------

    def encode(self, state: StancePosture) -> Any:
        """Contacts, posture and volume."""
        born = state.born and [state.born.polygon.tolist(), state.born.low, state.born.high]
        return [_encode(state.stance), state.q.tolist(), state.at_goal, born]

    def decode(self, data: Any) -> StancePosture:
        """Return a state of what :meth:`encode` made."""
        holds, q, at_goal, born = data
        volume = None if born is None else SearchVolume(np.array(born[0], dtype=float), float(born[1]), float(born[2]))
        return StancePosture(_decode(holds), np.array(q, dtype=float), bool(at_goal), volume)

    def memory(self) -> Any:
        """All stances that were tried."""
        return [_encode(stance) for stance in self._known.stances()]

    def recall(self, data: Any) -> None:
        """Take stances that were tried, in place of those known so far."""
        self._known = StanceSet(self.metric)
        for holds in data:
            self._known.add(_decode(holds))


def _encode(stance: PlannedStance) -> Any:
    return [[hold.couple, hold.x, hold.y, hold.theta, int(hold.role)] for hold in stance.holds]


def _decode(holds: Any) -> PlannedStance:
    return PlannedStance(tuple(Hold(int(c), float(x), float(y), float(t), Role(role)) for c, x, y, t, role in holds))


def _newborn(state: StancePosture) -> Hold:
    """Return the contact that a state's father doesn't have."""
    return next(hold for hold in state.stance.holds if hold.role is Role.NEW)


def _go_on(stop: Callable[[], bool]) -> None:
    if stop():
        raise ExpansionInterruptedError
