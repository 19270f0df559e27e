# SPDX-License-Identifier: Apache-2.0
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts.search.best_first import BestFirstSearch, End
from humanoid_planner.contacts.search.grid import Grid
from humanoid_planner.contacts.search.tree_file import load_tree, save_tree


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
