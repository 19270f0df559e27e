# SPDX-License-Identifier: Apache-2.0
import itertools
import time

import numpy as np
import pytest

from humanoid_planner.contacts.search.best_first import BestFirstSearch, End, ExpansionInterruptedError, SearchSpace
from humanoid_planner.contacts.search.grid import Grid


class Halving(SearchSpace[int]):
    """Numbers that lead to their doubles and to one more; expansions take time and can be interrupted."""

    def __init__(self, goal, pause=0.0):
        self.goal, self.pause, self.known, self.asked = goal, pause, set(), []

    def potential(self, state):
        return abs(self.goal - state)

    def add(self, state):
        new = state not in self.known
        self.known.add(state)
        return new

    def expand(self, node, nodes, stop):
        children = (2 * node.state, node.state + 1, node.state - 1)
        for _ in children:
            if stop():
                raise ExpansionInterruptedError
            time.sleep(self.pause)
        return [(node.index, child) for child in children if self.add(child)]

    def finish(self, node, stop):
        self.asked.append(node.index)
        return -1 if node.state == self.goal else None


def test_the_goal_state_closes_the_path():
    search = BestFirstSearch(Halving(100), 3)
    assert search.run() is End.GOAL
    states = [node.state for node in search.path()]
    assert states[0] == 3
    assert states[-2:] == [100, -1]
    assert all(b in (2 * a, a + 1, a - 1) for a, b in itertools.pairwise(states[:-1]))
    assert len(search.space.asked) == search.expanded + 1
    assert search.goal.parent == search.path()[-2].index


@pytest.mark.feature("001-F159")
def test_the_node_of_least_potential_and_delay_is_next():
    class Tiring(Halving):
        """The more states of a decade were expanded, the later are the others of it."""

        tired = None

        def delay(self, state):
            return 7.0 * self.tired.count(state // 10)

        def expand(self, node, nodes, stop):
            waits = [other for other in nodes if not other.expanded]
            assert node.potential + self.delay(node.state) == min(n.potential + self.delay(n.state) for n in waits)
            self.tired.append(node.state // 10)
            return super().expand(node, nodes, stop)

    space = Tiring(1000)
    space.tired = []
    search = BestFirstSearch(space, 3)
    assert search.run() is End.GOAL
    plain = BestFirstSearch(Halving(1000), 3)
    plain.run()
    assert [node.state for node in search.nodes] != [node.state for node in plain.nodes]


class Hasty(Halving):
    """Gives the best new child at a time. From the start one leads on and on to nothing, the other to the goal."""

    def __init__(self):
        super().__init__(0)
        self.cut = set()
        self.children = {10: (7, 9), 7: (6, 8), 6: (5,), 9: (3, 4), 4: (0,)}

    def expand(self, node, nodes, stop):
        self.cut.discard(node.index)
        left = [child for child in self.children.get(node.state, ()) if child not in self.known]
        if len(left) > 1:
            self.cut.add(node.index)
        return [(node.index, child) for child in left[:1] if self.add(child)]

    def cut_short(self):
        return self.cut

    def encode(self, state):
        return state

    def decode(self, data):
        return data

    def memory(self):
        return [sorted(self.known), sorted(self.cut)]

    def recall(self, data):
        self.known, self.cut = set(data[0]), set(data[1])


@pytest.mark.feature("001-F170")
def test_what_was_left_out_is_looked_at_when_nothing_else_waits():
    search = BestFirstSearch(Hasty(), 10)
    assert search.run() is End.GOAL
    order = [node.state for node in search.nodes]
    assert order == [10, 7, 6, 5, 8, 9, 3, 4, 0, -1]
    assert search.expanded == 8
    assert len(search.space.asked) == 9  # once each
    for count in range(2, 10):
        halted = BestFirstSearch(Hasty(), 10)
        assert halted.run(max_nodes=count) is End.NODES
        resumed = BestFirstSearch.from_data(Hasty(), halted.to_data())
        assert resumed.run() is End.GOAL
        assert [node.state for node in resumed.nodes] == order
    dead = Hasty()
    dead.goal = 99
    assert BestFirstSearch(dead, 10).run() is End.EMPTY
    assert not dead.cut


@pytest.mark.feature("001-F208")
def test_a_node_budget_ends_the_search_with_the_nearest_state():
    search = BestFirstSearch(Halving(10**6), 1)
    assert search.run(max_nodes=20) is End.NODES
    assert 20 <= len(search.nodes) <= 23
    assert search.best.potential == min(node.potential for node in search.nodes)
    assert search.path()[-1] is search.best


def test_a_time_limit_ends_it_within_an_expansion():
    search = BestFirstSearch(Halving(10**6, pause=0.05), 1)
    assert search.run(time_limit=0.02) is End.TIME
    assert len(search.nodes) == 1
    assert not search.nodes[0].expanded
    assert search.run(max_nodes=2) is End.NODES
    assert search.nodes[0].expanded


def test_progress_cancels_within_an_expansion_and_the_search_goes_on_as_if_nothing_was():
    seen = []

    def watch(progress):
        seen.append(progress)
        return len(seen) == 12

    search, straight = BestFirstSearch(Halving(1000), 1), BestFirstSearch(Halving(1000), 1)
    assert search.run(progress=watch) is End.CANCELLED
    assert len(seen) == 12
    assert [p.nodes for p in seen] == sorted(p.nodes for p in seen)
    assert search.run() is straight.run() is End.GOAL
    assert [n.state for n in search.path()] == [n.state for n in straight.path()]


def test_what_a_watch_raises_is_passed_on_and_nothing_is_lost():
    def watch(progress):
        if progress.nodes > 5:
            raise RuntimeError("display is gone")

    search = BestFirstSearch(Grid([0, 0], 1.0, lambda p: float(np.linalg.norm(p - 9)), (9, 9)), (0, 0))
    with pytest.raises(RuntimeError, match="display"):
        search.run(progress=watch)
    assert search.run() is End.GOAL


def test_states_of_undefined_potential_are_left_out():
    grid = Grid([0, 0], 1.0, lambda p: np.nan if p[0] == 2 and p[1] < 3 else float(np.linalg.norm(p - [4, 0])), (4, 0))
    search = BestFirstSearch(grid, (0, 0))
    assert search.run() is End.GOAL
    assert all(np.isfinite(node.potential) for node in search.nodes)


def test_an_empty_space_is_told():
    class Lone(Halving):
        def expand(self, node, nodes, stop):
            return ()

    assert BestFirstSearch(Lone(5), 1).run() is End.EMPTY
