# SPDX-License-Identifier: Apache-2.0
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts import ContactPlanner, plan_contacts
from humanoid_planner.contacts.posture_caller import WorkerError

TEST = os.getpid()


def processes():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork"))


def same(one, other):
    assert one.planned == other.planned
    assert all((a == b).all() for a, b in zip(one.postures, other.postures, strict=True))
    assert one.statistics.nodes == other.statistics.nodes
    assert one.statistics.children == other.statistics.children
    assert [call.purpose for call in one.statistics.calls] == [call.purpose for call in other.statistics.calls]


@pytest.fixture(scope="module")
def alone(can):
    return plan_contacts(can.problem)


@pytest.mark.feature("001-F208")
@pytest.mark.parametrize("executor", [lambda: ThreadPoolExecutor(2), processes], ids=["threads", "processes"])
def test_the_plan_is_the_same_whoever_seeks_the_postures(can, alone, executor):
    assert alone.success
    with executor() as workers:
        same(plan_contacts(can.problem, executor=workers), alone)


@pytest.mark.slow
def test_a_local_dask_cluster_finds_the_same_plan(can, alone):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        same(plan_contacts(can.problem, executor=client.get_executor()), alone)
        assert len(client.run(os.getpid)) == 2


def death_of_the_third_stance(stance):
    """No tasks; but whoever isn't the test itself dies of a hand on the table."""
    if os.getpid() != TEST and len(stance) == 3:
        os._exit(1)
    return []


@pytest.mark.feature("001-F208")
def test_a_worker_that_dies_is_told_and_the_search_goes_on_without_it(can, alone, tmp_path):
    planner = ContactPlanner(can.but(stance_tasks=death_of_the_third_stance).problem)
    with processes() as workers, pytest.raises(WorkerError, match="worker was lost: BrokenProcessPool"):
        planner.run(executor=workers)
    planner.save(tmp_path / "tree.json")
    assert len(planner.search.nodes) == 1
    assert not planner.plan().success
    same(planner.run(), alone)
    again = ContactPlanner(can.problem, tree=tmp_path / "tree.json")
    assert again.run().planned == alone.planned


def test_an_executor_that_is_closed_is_told(can):
    planner = ContactPlanner(can.problem)
    workers = ThreadPoolExecutor(1)
    workers.shutdown()
    with pytest.raises(WorkerError, match="after shutdown"):
        planner.run(executor=workers)


def test_what_cannot_be_sent_to_workers_is_named(can):
    planner = ContactPlanner(can.but(stance_tasks=lambda stance: []).problem)
    with ThreadPoolExecutor(1) as workers, pytest.raises(InputError, match="executor: can't take the problem"):
        planner.run(executor=workers)


def test_what_is_wrong_with_a_question_is_told_as_without_workers(can):
    def refused(executor):
        planner = ContactPlanner(can.problem)
        planner.space.caller.stance_tasks = refusing
        with pytest.raises(InputError, match="no such thing") as error:
            planner.run(executor=executor)
        return str(error.value)

    with ThreadPoolExecutor(2) as workers:
        assert refused(workers) == refused(None)


def refusing(stance):
    raise InputError("no such thing", element="tasks")


@pytest.mark.feature("001-F208")
def test_a_search_cancelled_while_workers_work_goes_on_to_the_same_plan(can, alone):
    planner, looks = ContactPlanner(can.problem), []
    with ThreadPoolExecutor(1) as workers:
        for limit in (2, 5, 9):
            planner.run(executor=workers, progress=lambda p, n=limit: looks.append(p) or len(looks) > n)
        whole = planner.run(executor=workers)
    assert whole.planned == alone.planned
    assert all(np.array_equal(a, b) for a, b in zip(whole.postures, alone.postures, strict=True))
