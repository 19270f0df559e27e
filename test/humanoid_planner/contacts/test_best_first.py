# SPDX-License-Identifier: Apache-2.0
import itertools
import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts.best_first import (
    BestFirstSearch,
    End,
    ExpansionInterruptedError,
    SearchSpace,
    load_tree,
    save_tree,
)
from humanoid_studies.potential_field.grid import Grid


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

        def delay(self, node, nodes):
            return 7.0 * self.tired.count(node.state // 10)

        def expand(self, node, nodes, stop):
            waits = [other for other in nodes if not other.expanded]
            assert node.potential + self.delay(node, nodes) == min(n.potential + self.delay(n, nodes) for n in waits)
            self.tired.append(node.state // 10)
            return super().expand(node, nodes, stop)

    space = Tiring(1000)
    space.tired = []
    search = BestFirstSearch(space, 3)
    assert search.run() is End.GOAL
    plain = BestFirstSearch(Halving(1000), 3)
    plain.run()
    assert [node.state for node in search.nodes] != [node.state for node in plain.nodes]


class Streets(SearchSpace[int]):
    """Crossings, of which nobody knows which streets are closed before they are asked for."""

    def __init__(self, streets, goal):
        self.streets, self.goal, self.known, self.no_way = streets, goal, set(), set()

    def potential(self, state):
        return float((7 * state) % 11)

    def add(self, state):
        new = state not in self.known
        self.known.add(state)
        return new

    def expand(self, node, nodes, stop):
        return [
            (node.index, other)
            for other in sorted(self.streets[node.state])
            if (node.state, other) not in self.no_way and self.add(other)
        ]

    def finish(self, node, stop):
        return -1 if node.state == self.goal and (node.state, -1) not in self.no_way else None

    def forget(self, node, cut, nodes):
        self.no_way.add((nodes[node.parent].state, node.state))
        gone = {one.state for one in cut}
        self.known -= gone
        there = [one for one in nodes if one.expanded and not one.closed]
        return [one.index for one in there if gone & self.streets.get(one.state, set())]

    def encode(self, state):
        return state

    def decode(self, data):
        return data

    def memory(self):
        return sorted(self.no_way)

    def recall(self, data):
        self.no_way = {tuple(pair) for pair in data}


@pytest.mark.feature("001-F162")
def test_a_search_whose_edges_are_refused_finds_a_path_where_there_is_one(tmp_path):
    """Oracle: reachability over the streets that are open, by their adjacency matrix."""
    ends = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        there = np.triu(rng.uniform(size=(14, 14)) < 0.22, 1)
        shut = there & (rng.uniform(size=there.shape) < 0.35)
        there, shut = there | there.T, shut | shut.T
        dead_end = seed % 5 == 4  # at the goal itself
        streets = {i: set(np.flatnonzero(there[i]).tolist()) for i in range(14)}
        search = BestFirstSearch(Streets(streets, 13), 0)
        refused = 0
        while search.run() is End.GOAL:
            path = search.path()
            pairs = [(one, other) for one, other in itertools.pairwise(path)]
            no_way = [b for a, b in pairs if (dead_end if b.state == -1 else shut[a.state, b.state])]
            if not no_way:
                break
            kept, refused = [node for node in search.nodes if not node.closed], refused + 1
            search.close(no_way[-1])
            assert search.goal is None
            assert {node.index for node in kept if node.closed} >= {no_way[-1].index}
            assert not search.best.closed
            if refused % 3 == 0:  # a saved search goes on in the same tree
                save_tree(search, tmp_path / "tree", "streets")
                search = load_tree(Streets(streets, 13), tmp_path / "tree", "streets")
        open_ = np.linalg.matrix_power((there & ~shut) + np.eye(14, dtype=int), 14)[0, 13] > 0
        assert (search.goal is not None) == (open_ and not dead_end)
        ends.append((search.goal is not None, refused > 0))
    assert {(True, True), (False, True), (True, False)} <= set(ends)


def test_the_root_cannot_be_cut_off():
    with pytest.raises(InputError, match="root"):
        (search := BestFirstSearch(Halving(100), 3)).close(search.nodes[0])


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


def hills(p):
    return float(np.linalg.norm(p - [15, 0]) + 6 * np.exp(-((p - [8, 0]) ** 2).sum() / 8))


def grid(method):
    return Grid([0, 0], 1.0, hills, (15, 0), method=method)


def start(method="bfp"):
    return BestFirstSearch(grid(method), (0, 0))


@pytest.mark.feature("001-F024")
@pytest.mark.parametrize("method", ["bfp", "vbfp"])
@pytest.mark.parametrize("nodes", [1, 17, 40])
def test_a_search_goes_on_from_its_file_as_if_it_had_not_stopped(tmp_path, method, nodes):
    straight, halted = start(method), start(method)
    assert straight.run() is End.GOAL
    assert halted.run(max_nodes=nodes) is End.NODES
    save_tree(halted, tmp_path / "tree.json", "hills")
    resumed = load_tree(grid(method), tmp_path / "tree.json", "hills")
    assert resumed.run() is End.GOAL
    tree = [(node.state, node.parent, node.potential, node.expanded) for node in straight.nodes]
    assert [(node.state, node.parent, node.potential, node.expanded) for node in resumed.nodes] == tree
    assert resumed.expanded == straight.expanded


@pytest.mark.feature("001-F023")
def test_a_finished_search_keeps_its_goal(tmp_path):
    search = start()
    search.run()
    save_tree(search, tmp_path / "tree.json", "hills")
    again = load_tree(grid("bfp"), tmp_path / "tree.json", "hills")
    assert again.run() is End.GOAL
    assert [n.state for n in again.path()] == [n.state for n in search.path()]


def test_files_that_cannot_be_used_are_named(tmp_path):
    search, path = start(), tmp_path / "tree.json"
    search.run(max_nodes=9)
    save_tree(search, path, "hills")
    whole = path.read_text()
    for cut in (0, 20, len(whole) // 2, len(whole) - 1):
        path.write_text(whole[:cut])
        with pytest.raises(InputError, match=r"tree\.json.*cut short"):
            load_tree(grid("bfp"), path, "hills")
    data = json.loads(whole)
    for changed, message in (
        ({**data, "problem": "stairs"}, "belongs to the problem 'stairs'"),
        ({**data, "format": "other"}, "is of another format"),
        ({key: value for key, value in data.items() if key != "nodes"}, "nodes"),
        ({**data, "nodes": [[0, 1.0, True]]}, "spoilt"),
    ):
        path.write_text(json.dumps(changed))
        with pytest.raises(InputError, match=message):
            load_tree(grid("bfp"), path, "hills")
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="no JSON"):
        load_tree(grid("bfp"), path, "hills")
    with pytest.raises(InputError, match="can't be read"):
        load_tree(grid("bfp"), tmp_path / "none.json", "hills")


@pytest.mark.feature("001-F024")
def test_what_is_no_plain_file_is_refused_and_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for path, kind in ((pipe, "pipe"), (tmp_path, "directory"), (Path("/dev/zero"), "device")):
        # In a thread of its own: to open a pipe waits for who writes it.
        caught: list[BaseException] = []
        thread = threading.Thread(target=_catch, args=(caught, path), daemon=True)
        thread.start()
        thread.join(10.0)
        assert not thread.is_alive()
        assert f"tree file '{path}': can't be read: Is a {kind}" in str(caught[0])


def _catch(caught, path):
    try:
        load_tree(grid("bfp"), path, "hills")
    except InputError as error:
        caught.append(error)


def test_a_failed_save_leaves_the_older_file(tmp_path):
    search, path = start(), tmp_path / "tree.json"
    search.run(max_nodes=9)
    save_tree(search, path, "hills")
    older = path.read_text()
    search.nodes[3].potential = float("inf")
    with pytest.raises(ValueError):
        save_tree(search, path, "hills")
    assert path.read_text() == older
