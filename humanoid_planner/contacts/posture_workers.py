# SPDX-License-Identifier: Apache-2.0
"""Posture calls on the workers of an executor: threads, processes, or machines of a cluster."""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait

from humanoid_model.errors import HumanoidError, InputError
from humanoid_planner.contacts.posture_caller import PostureAnswer, PostureCaller, PostureQuestion

#: Time between two looks at whether to stop [s].
_LOOK = 0.05
#: Planning problems that a worker keeps.
_KEPT = 4

_WORKER = threading.local()


class WorkerError(HumanoidError):
    """A worker of an executor died, or the executor takes no more work. The search is as it was and can go on."""


class PostureWorkers:
    """A caller's questions on an executor. The answers are those of the caller itself, whoever gives them.

    Workers get the caller once, pickled; a question is some kilobytes.
    """

    def __init__(self, executor: Executor, caller: PostureCaller) -> None:
        """Take an executor.

        Raises:
            InputError: the problem can't be sent to another process.
        """
        self._executor = executor
        try:
            self._problem = pickle.dumps(caller)
        except Exception as error:
            raise InputError(
                f"can't take the problem: {error}",
                element="executor",
                remedy="Make criteria and tasks of functions and classes of modules, which pickle can send",
            ) from None
        self._name = hashlib.sha256(self._problem).hexdigest()

    def answer(
        self, questions: Sequence[PostureQuestion], stop: Callable[[], bool], answers: dict[int, PostureAnswer]
    ) -> bool:
        """Answer questions at a time.

        Args:
            questions: to answer.
            stop: asked meanwhile whether to give up.
            answers: gets the answers by the questions' places, those too that come before it ends early.

        Returns:
            Whether all are answered; False where ``stop`` said so.

        Raises:
            WorkerError: a worker died.
        """
        pending: dict[Future[PostureAnswer | None], int] = {}
        try:
            for place, question in enumerate(questions):
                pending[self._executor.submit(answer_question, self._name, None, question)] = place
            while pending:
                done, _ = wait(pending, _LOOK, FIRST_COMPLETED)
                for future in done:
                    place = pending.pop(future)
                    answer = future.result()
                    if answer is None:  # a worker that hasn't heard of the problem
                        question = questions[place]
                        pending[self._executor.submit(answer_question, self._name, self._problem, question)] = place
                    else:
                        answers[place] = answer
                if pending and stop():
                    return False
        except InputError:
            raise
        except Exception as error:
            raise WorkerError(f"executor: a worker was lost: {type(error).__name__}: {error}") from error
        finally:
            for future in pending:
                future.cancel()
        return True


def answer_question(name: str, problem: bytes | None, question: PostureQuestion) -> PostureAnswer | None:
    """Answer a question on a worker; None where it has to be told the problem first.

    Args:
        name: of the problem.
        problem: the caller, pickled; None the first time.
        question: to answer.
    """
    # Each thread has callers of its own: kinematics are moved by whoever works with them.
    known: OrderedDict[str, PostureCaller] = _WORKER.__dict__.setdefault("callers", OrderedDict())
    if name not in known:
        if problem is None:
            return None
        known[name] = pickle.loads(problem)
        if len(known) > _KEPT:
            known.popitem(last=False)
    return known[name].answer(question)
