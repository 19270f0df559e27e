# SPDX-License-Identifier: Apache-2.0
"""The space of stances with a posture each: its children are one contact away (specification 001 Alg. 2-5)."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.scene import Scene
from humanoid_planner.contacts.best_first import ExpansionInterruptedError, Node, SearchSpace
from humanoid_planner.contacts.candidates import Candidates, Place, SearchVolumes
from humanoid_planner.contacts.contact_problem import ContactProblem
from humanoid_planner.contacts.posture_caller import PostureAnswer, PostureCaller, PostureQuestion, PostureWorkers
from humanoid_planner.contacts.refused_steps import RefusedSteps
from humanoid_planner.contacts.search_volume import SearchVolume, StancePosture, bounds_task, hold_at, light_contact
from humanoid_planner.contacts.stance import Couples, Hold, PlannedStance, Role, StanceSet
from humanoid_planner.posture import PostureResult
from humanoid_planner.posture.tasks.state import ForceModel, PostureState

#: Distance of a pre-contact above its surface (specification 001 Appendix B) [m].
PRE_CONTACT = 0.02


#: Time between two looks at whether to stop, within a posture [s].
_LOOK = 0.1

#: Asks for one posture after the other, and comes to children.
_Asking = Generator[PostureQuestion, PostureResult, "list[StancePosture]"]


@dataclass
class ChildCounts:
    """What became of the stances that a search looked at.

    Attributes:
        tried: stances that a posture was sought for, or proved to have none.
        known: equal to one tried before.
        unreachable: proved to be out of reach.
        unbalanced: proved to have no equilibrium.
        refused: couples whose pre-contact has no posture.
        disconnected: left out by the test of the way from the parent.
        blocked: left for later, as paths of the body that comes are blocked by the scene.
    """

    tried: int = 0
    known: int = 0
    unreachable: int = 0
    unbalanced: int = 0
    refused: int = 0
    disconnected: int = 0
    blocked: int = 0


@dataclass
class ContactSpace(SearchSpace[StancePosture]):
    """Stances of couples, with the children of the thesis' Alg. 3 (BFP) or 7 to 9 (VBFP).

    VBFP gives the best child of each couple only, and with it the next best ones of the expanded node's own couple.
    That the posture generator finds the best is so when its criterion is the potential; VBFP asks for search volumes.

    Attributes:
        couples: what may hold on what.
        caller: of the posture generator.
        problem: what is asked for.
        goal_holds: couples that hold at the end.
        clear: tells whether a body that comes into contact has a path clear of the scene; None for always.
        counts: what became of the stances that were looked at.
        workers: that answer a node's questions at a time; None answers them here, one after the other.
    """

    couples: Couples
    caller: PostureCaller
    problem: ContactProblem
    goal_holds: frozenset[int]
    clear: Callable[[StancePosture, PlannedStance], bool] | None = None
    counts: ChildCounts = field(default_factory=ChildCounts)
    workers: PostureWorkers | None = None

    def __post_init__(self) -> None:
        self.candidates = self.problem.candidates
        self._no_forces = ForceModel(self.caller.kinematics, (), (), np.asarray(self.caller.scene.gravity, float))
        self._known = StanceSet(self.problem.metric)
        self._added: list[PlannedStance] = []
        self._answered: dict[tuple[int, int], PostureResult] = {}
        self._failures: Counter[tuple[int, ...]] = Counter()
        #: Nodes whose children were left out: for others that promised more, or as a body has no clear path to them;
        #: and those of the latter that were expanded again.
        self._cut: set[int] = set()
        self._doubtful: set[int] = set()
        self._trusted: set[int] = set()
        self._node: Node[StancePosture] | None = None
        self._pause = _Pause(lambda: False)
        self._refused = RefusedSteps(self.problem.metric)
        #: What kept nodes from the goal, by index.
        self.far_from_goal: dict[int, str] = {}
        #: How often what kept the robot from holding on a surface, by its name.
        self.refusals: Counter[tuple[str, str]] = Counter()
        self._surfaces = _placements(self.couples, self.caller.scene)

    # What the search asks -------------------------------------------------------------------------------------

    def potential(self, state: StancePosture) -> float:
        """U(s, q) = U_T(q) + U_S(s)."""
        return self.posture_potential(state.q) + self._stance_potential(state.stance)

    def _stance_potential(self, stance: PlannedStance) -> float:
        """U_S of a stance."""
        return sum(term.value(stance, self.couples) for term in self.problem.terms)

    def posture_potential(self, q: NDArray[np.float64]) -> float:
        """U_T of a posture (nq,)."""
        if self.problem.potential is None:
            return 0.0
        kinematics = self.caller.kinematics
        self.problem.potential.bind(kinematics)
        state = PostureState(kinematics, self._no_forces)
        state.set(kinematics.coordinates(q))
        return self.problem.potential.value(state)

    def delay(self, node: Node[StancePosture], nodes: list[Node[StancePosture]]) -> float:
        """Return the penalty of what failed among children of stances of the same couples, wherever these hold.

        A step like one that has no way, here or on the way here, costs a share of what the best node has gained.
        """
        failed = self.problem.failure_penalty * self._failures[node.state.stance.couples]
        return failed + self._refused.delay(node, nodes)

    def add(self, state: StancePosture) -> bool:
        """Remembers a stance."""
        return self._add(state.stance)

    def _add(self, stance: PlannedStance) -> bool:
        new = self._known.add(stance)
        if new:
            self._added.append(stance)
        return new

    def finish(self, node: Node[StancePosture], stop: Callable[[], bool]) -> StancePosture | None:
        """Return the goal posture of a node's stance (allowsToReachGoal); None where there is none.

        The new contact bears in it and the released one is gone: the way from the node's posture leads through stances
        that ask for no more than that.
        """
        settled = node.state.stance.settled()
        missing = sorted(self.couples.names(couple) for couple in self.goal_holds - set(settled.couples))
        if missing:
            names = ", ".join(f"{location} on {surface}" for location, surface in missing)
            self.far_from_goal[node.index] = f"it asks for contacts that are missing: {names}"
            return None
        far = not self.posture_potential(node.state.q) < self.problem.goal_potential
        if far or self._refused.goal(node.index):
            return None
        stance = settled.stance(self.couples)
        apart = self.caller.impossible(stance, self.problem.goal) if self.problem.reach else ""
        if apart:
            self.far_from_goal[node.index] = apart
            return None
        [result] = self._answers(node, -1, [PostureQuestion("goal", stance, node.state.q, self.problem.goal)], stop)
        if not result.success:
            self.far_from_goal[node.index] = "; ".join(str(violation) for violation in result.violations[:2])
            return None
        end = StancePosture(settled, result.q, at_goal=True)
        if self.problem.goal_way_exists is not None and not self.problem.goal_way_exists(node.state, end):
            self.far_from_goal[node.index] = "the way to the goal posture was refused"
            return None
        return end

    def expand(
        self, node: Node[StancePosture], nodes: list[Node[StancePosture]], stop: Callable[[], bool]
    ) -> Iterable[tuple[int, StancePosture]]:
        """Stances with one contact less or one more, each with its posture; VBFP: and siblings.

        Each couple's children ask for postures in turn; what all couples ask at a time is answered at a time.
        The children come in the order of the couples, whoever answers first.
        """
        self._pause, self._node = _Pause(stop), node
        families = [(node, asking) for asking in self._children(node)]
        if self.problem.method == "vbfp" and node.parent is not None:
            families.append((nodes[node.parent], self._next_siblings(node.state)))
        counts, refusals, self._added = dataclasses.replace(self.counts), self.refusals.copy(), []
        cut, doubtful = self._cut.copy(), self._doubtful.copy()
        self._cut.discard(node.index)
        failures = self._failures.copy()
        try:
            found = self._converse(node, [asking for _, asking in families], stop)
            children = [
                (parent.index, child)
                for (parent, _), some in zip(families, found, strict=True)
                for child in some
                if self._way(parent, child)
            ]
        except BaseException:
            # As if nothing had been: the same questions are asked again, in the same order.
            for stance in self._added:
                self._known.remove(stance)
            self.counts, self.refusals, self._failures = counts, refusals, failures
            self._cut, self._doubtful = cut, doubtful
            raise
        self._answered.clear()
        return children

    def _way(self, parent: Node[StancePosture], child: StancePosture) -> bool:
        """Return whether nothing says that there is no way from a node to a child."""
        exists = not self._refused.step(parent.index, child.stance)
        if not exists:
            self._known.discard(child.stance)
        elif self.problem.way_exists is not None:
            exists = self.problem.way_exists(parent.state, child)
        self.counts.disconnected += not exists
        return exists

    def forget(
        self, node: Node[StancePosture], cut: Iterable[Node[StancePosture]], nodes: list[Node[StancePosture]]
    ) -> list[int]:
        """Take a way for none: steps like it are put off, what was behind it is sought from elsewhere."""
        self._refused.add(node, nodes)
        self._failures[node.state.stance.couples] += 1
        stances = [one.state.stance for one in cut if not one.state.at_goal]
        for stance in stances:
            self._known.discard(stance)
        before = [stance.before() for stance in stances]
        first = 0 if node.state.at_goal else 1
        return [
            one.index
            for one in nodes
            if one.expanded and not one.closed
            for bases in [before[first:] if one.index == node.parent else before]
            if any(self.problem.metric.equal(one.state.stance.settled(), base) for base in bases)
        ]

    def remember(self, node: Node[StancePosture], cut: Iterable[Node[StancePosture]]) -> None:
        """Take a way for one after all."""
        self._refused.remove(node)
        for one in cut:
            if not one.state.at_goal:
                self._known.add(one.state.stance)

    def _converse(
        self, node: Node[StancePosture], families: Sequence[_Asking], stop: Callable[[], bool]
    ) -> list[list[StancePosture]]:
        """Return what families come to; each asks one question at a time."""
        found: list[list[StancePosture]] = [[] for _ in families]
        replies: dict[int, PostureResult | None] = dict.fromkeys(range(len(families)))
        asked = 0
        while replies:
            open_: dict[int, PostureQuestion] = {}
            for index, reply in replies.items():
                try:
                    open_[index] = families[index].send(reply)  # type: ignore[arg-type]  # None starts a generator
                except StopIteration as end:
                    found[index] = end.value
            results = self._answers(node, asked, list(open_.values()), stop)
            asked += len(open_)
            self._failures[node.state.stance.couples] += sum(not result.success for result in results)
            replies = dict(zip(open_, results, strict=True))
        return found

    def _answers(
        self, node: Node[StancePosture], first: int, questions: Sequence[PostureQuestion], stop: Callable[[], bool]
    ) -> list[PostureResult]:
        """Return answers to a node's questions, the first of which has a number.

        Those of an expansion that was interrupted are kept until it is done.
        """
        keys = [(node.index, first + place) for place in range(len(questions))]
        missing = [place for place, key in enumerate(keys) if key not in self._answered]
        answers: dict[int, PostureAnswer] = {}
        try:
            if self.workers is not None and len(missing) > 1:
                whole = self.workers.answer([questions[place] for place in missing], stop, answers)
            else:
                whole = self._answer_here([questions[place] for place in missing], stop, answers)
        finally:
            for place, answer in sorted(answers.items()):
                self._answered[keys[missing[place]]] = answer.result
                self.caller.calls.append(answer.call)
        if not whole:
            raise ExpansionInterruptedError
        return [self._answered[key] for key in keys]

    def _answer_here(
        self, questions: Sequence[PostureQuestion], stop: Callable[[], bool], answers: dict[int, PostureAnswer]
    ) -> bool:
        for place, question in enumerate(questions):
            if stop():
                return False
            pause = _Pause(stop)
            answer = self.caller.answer(question, pause)
            if pause.over:
                return False
            answers[place] = answer
        return True

    # Children -------------------------------------------------------------------------------------------------------

    def _children(self, node: Node[StancePosture]) -> Iterator[_Asking]:
        base, q = node.state.stance.settled(), node.state.q
        if len(base.holds) >= 2:
            for hold in base.holds:
                yield self._try("remove", base.releasing(hold.couple), q)
        used = {self.couples.location(couple).link for couple in base.couples}
        free = [couple for couple in self.couples.allowed if self.couples.location(couple).link not in used]
        if self.problem.children is None:
            for couple in free:
                yield from self._new_contacts(node, base, couple)
        else:
            yield from self._promising_contacts(node, base, free, self.problem.children)

    def _look(self) -> None:
        """Raise where an expansion has to stop; what asks many questions of its own asks this too."""
        if self._pause():
            raise ExpansionInterruptedError

    def _place(self, node: Node[StancePosture], couple: int) -> Place:
        surface = self._surfaces[couple % len(self.couples.surfaces)]
        rng = np.random.default_rng((self.problem.seed, node.index, couple))
        return Place(surface, self.caller.robot.placement_base(node.state.q).translation, rng, self._look)

    def _promising_contacts(
        self, node: Node[StancePosture], base: PlannedStance, couples: Sequence[int], count: int
    ) -> Iterator[_Asking]:
        """Return few children by contacts of each link, on whatever surface: the first of those that promise most."""
        assert isinstance(self.candidates, Candidates)
        of_link: dict[str, list[PlannedStance]] = {}
        for couple in couples:
            holds = self.candidates.holds(self.couples, couple, self._place(node, couple))
            of_link.setdefault(self.couples.location(couple).link, []).extend(base.adding(hold) for hold in holds)
        for stances in of_link.values():
            yield self._first_of(node, sorted(stances, key=lambda stance: self._promise(node, stance)), count)

    def _first_of(self, node: Node[StancePosture], stances: Sequence[PlannedStance], count: int) -> _Asking:
        """Return the first ones that have a posture, of those that weren't tried; the others wait for another time."""
        children: list[StancePosture] = []
        for stance in stances:
            if len(children) == count:
                self._cut.add(node.index)
                break
            children += yield from self._try("add", stance, node.state.q)
        return children

    def cut_short(self) -> Collection[int]:
        """Return the nodes of which only the most promising children were sought; then those with doubtful ones."""
        if self._cut or not self._doubtful:
            return self._cut
        self._trusted |= self._doubtful
        again, self._doubtful = self._doubtful, set()
        return again

    def _promise(self, node: Node[StancePosture], stance: PlannedStance) -> float:
        """Return the potential that a child may have: the parent's posture goes with the middle of the contacts."""
        self._look()
        robot, q = self.caller.robot, node.state.q
        places = [
            self._surfaces[one.couple % len(self.couples.surfaces)].act(
                self.couples.surface(one.couple).place(one.x, one.y, one.theta).translation
            )
            for one in sorted(stance.holds, key=lambda hold: hold.role)
        ]
        base = robot.placement_base(q)
        base.translation += np.mean(places, axis=0) - np.mean(places[:-1], axis=0)  # the new contact is the last
        moved = robot.place_base(q, base)
        return self.posture_potential(moved) + self._stance_potential(stance)

    def _new_contacts(self, node: Node[StancePosture], base: PlannedStance, couple: int) -> Iterator[_Asking]:
        """Children by contacts of one couple (Alg. 4, 5)."""
        q, place = node.state.q, self._place(node, couple)
        if isinstance(self.candidates, SearchVolumes):
            whole = self.candidates.volume(self.couples, couple, place)
            if whole is not None:
                slid = self._best_contact if self.problem.method == "vbfp" else self._slid_contacts
                yield self._after_pre_contact(base, couple, place, q, lambda start: slid(base, couple, whole, start))
            return
        holds = self.candidates.holds(self.couples, couple, place)
        if holds and self.problem.asks_pre_contact:
            yield self._after_pre_contact(base, couple, place, q, lambda start: self._try_all(base, holds, start))
        elif holds:
            for hold in holds:
                yield self._try("add", base.adding(hold), q)

    def _after_pre_contact(
        self, base: PlannedStance, couple: int, place: Place, q: NDArray[np.float64],
        children: Callable[[NDArray[np.float64]], _Asking],
    ) -> _Asking:  # fmt: skip
        """Children from where a location is near its surface, which is asked first (testPreContact)."""
        if self.problem.asks_pre_contact:
            question = _pre_contact(self.couples, base, couple, place, q)
            result = None if question is None else (yield question)
            if result is None or not result.success:
                self.counts.refused += 1
                self._count_refusal(couple, result)
                return []
            q = result.q
        return (yield from children(q))

    def _try_all(self, base: PlannedStance, holds: Sequence[Hold], q: NDArray[np.float64]) -> _Asking:
        children: list[StancePosture] = []
        for hold in holds:
            children += yield from self._try("add", base.adding(hold), q)
        return children

    def _slid_contacts(self, base: PlannedStance, couple: int, volume: SearchVolume, q: NDArray[np.float64]) -> _Asking:
        """Children whose new contact the posture generator places, until nothing is left of the volume (Alg. 5)."""
        assert isinstance(self.candidates, SearchVolumes)
        volumes, children = volume.halves(), []
        while volumes:
            volume = volumes.pop(0)
            child = yield from self._slide(base, couple, volume, q)
            if child is None:
                continue
            volumes += [half for rest in self.candidates.beside(volume, _newborn(child)) for half in rest.halves()]
            # Here the duplicate is known only when its posture is.
            if self.add(child):
                children.append(child)
            else:
                self.counts.known += 1
        return children

    def _best_contact(self, base: PlannedStance, couple: int, volume: SearchVolume, q: NDArray[np.float64]) -> _Asking:
        """Return the child that is found in a volume; where it is known, its next siblings (Alg. 8)."""
        children: list[StancePosture] = []
        for part in volume.halves():
            child = yield from self._slide(base, couple, part, q)
            if child is None:
                continue
            if self.add(child):
                children.append(child)
            else:
                self.counts.known += 1
                children += yield from self._next_siblings(child)
        return children

    def _next_siblings(self, state: StancePosture) -> _Asking:
        """Return the best in each part of the volume around a state's new contact (Alg. 9); none without a volume."""
        children: list[StancePosture] = []
        if state.born is None:
            return children
        assert isinstance(self.candidates, SearchVolumes)
        hold = _newborn(state)
        base = PlannedStance(tuple(other for other in state.stance.holds if other is not hold))
        for rest in self.candidates.beside(state.born, hold):
            children += yield from self._best_contact(base, hold.couple, rest, state.q)
        return children

    def _try(self, purpose: str, stance: PlannedStance, q: NDArray[np.float64]) -> _Asking:
        """Return the stance with a posture, if it is new and has one."""
        if stance in self._known:
            self.counts.known += 1
            return []
        node = self._node
        if self.clear is not None and node is not None and node.index not in self._trusted:
            self._look()
            if not self.clear(node.state, stance):
                self.counts.blocked += 1
                self._doubtful.add(node.index)
                return []
        self._add(stance)
        self.counts.tried += 1
        if self._hopeless(stance):
            return []
        result = yield PostureQuestion(purpose, stance.stance(self.couples), q)
        if not result.success:
            self._count_refusal(stance.changed.couple, result)
            return []
        return [StancePosture(stance, result.q)]

    def _hopeless(self, stance: PlannedStance) -> bool:
        """Whether it is proved that no posture holds a stance."""
        self._look()
        contacts = stance.stance(self.couples)
        if self.problem.balance and not self.caller.balances(contacts):
            self.counts.unbalanced += 1
            surface = self.couples.surface(stance.changed.couple).name
            self.refusals[surface, "contacts that can't carry the robot"] += 1
        elif self.problem.reach and self.caller.impossible(contacts):
            self.counts.unreachable += 1
            self._count_refusal(stance.changed.couple, None)
        else:
            return False
        return True

    def _count_refusal(self, couple: int, result: PostureResult | None) -> None:
        """Count what keeps a couple from its surface; without a result it is out of reach."""
        why = "out of reach" if result is None else result.violations[0].constraint
        self.refusals[self.couples.surface(couple).name, why] += 1

    def posture_of(
        self, stance: PlannedStance, q: NDArray[np.float64], stop: Callable[[], bool] | None = None
    ) -> StancePosture | None:
        """Return a stance with a posture that holds it, sought from another one (nq,); None where there is none."""
        if self._hopeless(stance):
            return None
        result = self.caller.call("shorten", stance.stance(self.couples), q, (), stop)
        return StancePosture(stance, result.q) if result.success else None

    def _slide(
        self, base: PlannedStance, couple: int, volume: SearchVolume, q: NDArray[np.float64]
    ) -> Generator[PostureQuestion, PostureResult, StancePosture | None]:
        """Return a stance with a contact of a couple somewhere in a volume, where a posture holds it."""
        kinematics, location = self.caller.kinematics, self.couples.location(couple)
        whole = self.couples.surface(couple)
        contact = light_contact(location, whole, volume)
        bounds = bounds_task(contact, whole, volume, kinematics, self.caller.scene)
        stance = base.stance(self.couples).adding(contact)
        self.counts.tried += 1
        result = yield PostureQuestion("slide", stance, q, [] if bounds is None else [bounds])
        if not result.success:
            self._count_refusal(couple, result)
            return None
        kinematics.set(kinematics.coordinates(result.q))
        hold = hold_at(couple, location, whole, self._surfaces[couple % len(self.couples.surfaces)], kinematics)
        return StancePosture(base.adding(hold), result.q, born=volume)

    def encode(self, state: StancePosture) -> Any:
        """Contacts, posture and volume."""
        return state.plain()

    def decode(self, data: Any) -> StancePosture:
        """Return a state of what :meth:`encode` made."""
        return StancePosture.of_plain(data)

    def memory(self) -> Any:
        """All stances tried, failed calls by couples, nodes whose children were left out, ways that there aren't."""
        stances = [stance.plain() for stance in self._known.stances()]
        failures = [[list(couples), n] for couples, n in self._failures.items()]
        return {
            "stances": stances,
            "failures": failures,
            "cut": sorted(self._cut),
            "doubtful": sorted(self._doubtful),
            "trusted": sorted(self._trusted),
            "refused": self._refused.memory(),
        }

    def recall(self, data: Any) -> None:
        """Take what :meth:`memory` gave, in place of what is known so far."""
        self._known = StanceSet(self.problem.metric)
        for holds in data["stances"]:
            self._known.add(PlannedStance.of_plain(holds))
        self._failures = Counter({tuple(couples): int(n) for couples, n in data["failures"]})
        self._cut = {int(index) for index in data["cut"]}
        self._doubtful = {int(index) for index in data["doubtful"]}
        self._trusted = {int(index) for index in data["trusted"]}
        self._refused.recall(data["refused"])


def _pre_contact(
    couples: Couples, base: PlannedStance, couple: int, place: Place, q: NDArray[np.float64]
) -> PostureQuestion | None:
    """Return the question for a posture that brings a location near a surface; a start for the contact itself."""
    location, surface = couples.location(couple), couples.surface(couple)
    whole = SearchVolumes().volume(couples, couple, place)
    if whole is None:
        return None
    contact = light_contact(location, surface, whole, PRE_CONTACT)
    return PostureQuestion("pre-contact", base.stance(couples).adding(contact), q)


def _placements(couples: Couples, scene: Scene) -> list[pin.SE3]:
    """Return the surfaces' frames in the world."""
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    return [bodies[surface.body] * surface.placement_body_surface for surface in couples.surfaces]


def _newborn(state: StancePosture) -> Hold:
    """Return the contact that a state's parent doesn't have."""
    return next(hold for hold in state.stance.holds if hold.role is Role.NEW)


class _Pause:
    """Asks now and then whether to stop, and remembers that it was so.

    Attributes:
        over: whether to stop.
    """

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop, self._next, self.over = stop, time.perf_counter() + _LOOK, False

    def __call__(self) -> bool:
        if not self.over and time.perf_counter() >= self._next:
            self.over = self._stop()
            self._next = time.perf_counter() + _LOOK
        return self.over
