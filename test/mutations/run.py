# SPDX-License-Identifier: Apache-2.0
"""Breaks the stack in one place after the other and asks whether the tests that answer for it notice.

Each entry of the ``*.yaml`` files beside this one is a mutation that a user would notice::

    - row: 000-F068                  # a feature: docs/coverage.md
      file: humanoid_sim/stepping/impacts.py
      before: "1.0 + restitution"    # occurs exactly once in the file
      after: "1.0 - restitution"
      why: a ball that should bounce sinks
      tests: [test/...::test_x]      # optional: some of those marked with the feature; without it all of them

The tree is copied once for each worker, with its times and its compiled kernels. For each entry the copy is changed,
the tests run, and the copy is put back, what programs kept in the user's cache folder included. Slow tests run only
where the feature has no other.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tqdm import tqdm

from humanoid_model.errors import InputError
from humanoid_model.yaml_node import YamlNode, read_yaml
from scripts.feature_table import Feature, read_features

ROOT = Path(__file__).parents[2]
#: Not copied: what no test reads, and what is as good behind a link.
LEFT_OUT = ("log", "out", "dist", ".git", ".*_cache", ".hypothesis")
LINKED = (".venv*", "build", "install")
#: Errors of a program that doesn't make sense. They would end any test: that one ends shows nothing.
SENSELESS = {
    *("SyntaxError", "IndentationError", "NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError"),
    *("TypingError", "LoweringError", "UnsupportedError"),
}


@dataclass(frozen=True)
class Mutation:
    """A change of one file, and the tests that must notice it.

    Attributes:
        row: name of a feature.
        file: path within the tree.
        before: text that is there once.
        after: what takes its place.
        why: what a user would notice.
        tests: files, files::functions or files::functions[parameters].
        place: where the entry is written.
    """

    row: str
    file: str
    before: str
    after: str
    why: str
    tests: tuple[str, ...]
    place: str


def read_mutations(tree: Path) -> list[Mutation]:
    """The entries of a tree's ``test/mutations/*.yaml``, each of which can be used.

    Raises:
        InputError: entries that can't; the message names file, line and remedy of each.
    """
    rows = {row.name: row for row in read_features(tree)}
    mutations = []
    problems = []
    for path in sorted((tree / "test" / "mutations").glob("*.yaml")):
        for node in read_yaml(path, InputError).items():
            try:
                mutations.append(_read_mutation(node, tree, rows))
            except InputError as problem:
                problems.append(str(problem))
    if problems:
        raise InputError("\n".join(problems))
    return mutations


def _read_mutation(node: YamlNode, tree: Path, rows: dict[str, Feature]) -> Mutation:
    keys = ("row", "file", "before", "after", "why", "tests")
    values = node.mapping(keys)
    for key in keys[:5]:
        if key not in values:
            raise node.fail(f"has no '{key}'", f"Give {', '.join(keys[:5])}")
    name = values["row"].string()
    if name not in rows:
        raise values["row"].fail(f"is '{name}'", "Name one of docs/features.yaml or docs/coverage.md")
    row = rows[name]
    if row.state == "not yet":
        raise values["row"].fail(f"{name} is not yet there", "Name a row that is done or partial")

    file = values["file"].string()
    if not (tree / file).is_file():
        raise values["file"].fail(f"there is no file '{file}'", "Give its path from the top of the tree")
    before, after = values["before"].string(), str(values["after"].node.value)
    text = (tree / file).read_text(encoding="utf-8")
    count = text.count(before)
    if count != 1:
        raise values["before"].fail(f"occurs {count} times in {file}", "Give text that is there exactly once")
    if before == after:
        raise values["after"].fail("is the same as before", "Give a change")
    if file.endswith(".py"):
        try:
            compile(text.replace(before, after), file, "exec")
        except SyntaxError as problem:
            raise values["after"].fail(f"is no Python: {problem}", "Give a change that can run") from None

    tests = list(row.tests)
    if "tests" in values:
        tests = []
        for item in values["tests"].items():
            test = item.string()
            path, _, function = test.split("[")[0].partition("::")
            if not {path, f"{path}::{function}"} & set(row.tests):
                raise item.fail(f"'{test}' isn't marked with {name}", "Mark it, or give tests that are")
            if not (tree / path).is_file() or not re.search(rf"def {function}\b", (tree / path).read_text()):
                raise item.fail(f"there is no test '{test}'", "Give path/to/test_file.py::test_function")
            tests.append(test)
    if not tests:
        raise node.fail(f"{name} has no test", f'Mark one with @pytest.mark.feature("{name}")')
    place = f"{Path(node.source).name}:{node.line}"
    return Mutation(name, file, before, after, values["why"].string(), tuple(tests), place)


@dataclass(frozen=True)
class Run:
    """What pytest said.

    Attributes:
        outcomes: ``passed``, ``skipped``, or the message of the failure, by file::function[parameters].
        seconds: that each took.
        code: exit code; None if the time limit ended it.
        output: the end of what was printed.
        wall: seconds that the whole run took.
    """

    outcomes: dict[str, str]
    seconds: dict[str, float]
    code: int | None
    output: str
    wall: float

    def of(self, test: str) -> list[str]:
        """What of this run belongs to a test file, a function or one set of its parameters."""
        path, _, function = test.partition("::")
        return [
            case
            for case in self.outcomes
            if case == test or case.startswith(f"{test}[") or (not function and case.startswith(f"{path}::"))
        ]


class Copy:
    """A copy of the tree, which can be changed and put back.

    Args:
        tree: what is copied, with the times of its files, so that compiled kernels stay valid.
        folder: for the copy.
        cache: what the programs have kept in the user's cache folder; nothing if not given. A mutant must not leave its
            results in the user's own.
    """

    def __init__(self, tree: Path, folder: Path, cache: Path | None = None) -> None:
        self.root = folder / "tree"
        self.cache = folder / "cache"
        self._kernels, self._kept_cache = folder / "kernels", folder / "kept_cache"
        if cache is None:
            self.cache.mkdir(parents=True)
        else:
            shutil.copytree(cache, self.cache)
        shutil.copytree(tree, self.root, ignore=shutil.ignore_patterns(*LEFT_OUT, *LINKED))
        for pattern in LINKED:
            for path in tree.glob(pattern):
                (self.root / path.name).symlink_to(path.resolve())
        paths = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
        paths = [entry for entry in paths if Path(entry).resolve() not in (ROOT, tree)]
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.root), *paths]),
            # Python tells old byte code by the second: two mutants of one file may share it.
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_CACHE_HOME": str(self.cache),
        }
        self.keep()

    def keep(self) -> None:
        """Takes the kernels and the cache that are there as those to come back to."""
        shutil.rmtree(self._kept_cache, ignore_errors=True)
        shutil.copytree(self.cache, self._kept_cache)
        shutil.rmtree(self._kernels, ignore_errors=True)
        for path in self._compiled(self.root):
            kept = self._kernels / path.relative_to(self.root)
            kept.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, kept)  # enough: numba replaces files and never writes into one

    @staticmethod
    def _compiled(folder: Path) -> list[Path]:
        return list(folder.rglob("__pycache__/*.nb[ci]"))

    @contextlib.contextmanager
    def changed(self, mutation: Mutation) -> Iterator[None]:
        """While this lasts a file is changed, and newer; afterwards file, time, kernels and cache are as before."""
        path = self.root / mutation.file
        content, status = path.read_bytes(), path.stat()
        path.write_bytes(content.replace(mutation.before.encode(), mutation.after.encode()))
        try:
            yield
        finally:
            path.write_bytes(content)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            self._put_back()

    def _put_back(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)
        shutil.copytree(self._kept_cache, self.cache)
        kept = {path.relative_to(self._kernels): path for path in self._compiled(self._kernels)}
        for path in self._compiled(self.root):
            name = path.relative_to(self.root)
            if name in kept and path.samefile(kept[name]):
                del kept[name]
            else:
                path.unlink()
        for name, path in kept.items():
            os.link(path, self.root / name)

    def run(self, tests: Sequence[str], options: Sequence[str], limit: float) -> Run:
        """Runs tests.

        Args:
            tests: as pytest takes them.
            options: more for pytest.
            limit: in seconds; what isn't finished by then is ended.
        """
        report = self.root.parent / "report.xml"
        report.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", f"--timeout={limit:g}"]
        command += ["-o", "junit_family=xunit1", f"--junitxml={report}", *options, *tests]
        started = time.monotonic()
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                command,
                cwd=self.root,
                env=self._environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            code: int | None = None
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                pass
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            output.seek(0)
            text = output.read()
        outcomes, seconds = _read_report(report) if report.exists() else ({}, {})
        return Run(outcomes, seconds, code, text[-3000:], time.monotonic() - started)


def _read_report(report: Path) -> tuple[dict[str, str], dict[str, float]]:
    outcomes: dict[str, str] = {}
    seconds: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('file')}::{case.get('name')}"
        outcome = "passed"
        for element in case:
            if element.tag in ("failure", "error"):
                outcome = element.get("message") or element.tag
            elif element.tag == "skipped":
                outcome = "skipped"
        # A test whose clean-up fails is there twice.
        if outcomes.get(name, "passed") == "passed":
            outcomes[name] = outcome
        seconds[name] = float(case.get("time", 0.0))
    return outcomes, seconds


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant.

    Attributes:
        mutation: what was changed.
        word: ``killed``; ``survived``; ``senseless`` (it doesn't even run); ``late`` (no answer within the limit);
            ``unjudged`` (the tests fail without the change); ``skipped`` (so are the tests, here).
        detail: the failure, or why there is none.
        seconds: that the tests took.
    """

    mutation: Mutation
    word: str
    detail: str
    seconds: float


def judge(mutation: Mutation, run: Run) -> Verdict:
    """What a run of the tests on a mutant shows."""

    def verdict(word: str, detail: str) -> Verdict:
        return Verdict(mutation, word, " ".join(detail.split()), run.wall)

    failures = [(case, what) for case, what in run.outcomes.items() if what not in ("passed", "skipped")]
    if run.code is None or any(what.startswith("Failed: Timeout") for _, what in failures):
        return verdict("late", "no answer within the time limit")
    if run.code == 0:
        return verdict("survived", mutation.why)
    if not failures or run.code not in (1, 2):
        return verdict("senseless", f"pytest ends with {run.code}: {run.output[-200:]}")
    case, what = failures[0]
    error = re.sub(r'^failed on (setup|teardown) with "', "", what).split(":")[0].rsplit(".", 1)[-1]
    if what == "collection failure" or error in SENSELESS:
        return verdict("senseless", f"{case.rsplit('::', 1)[-1]}: {what}")
    return verdict("killed", f"{case.rsplit('::', 1)[-1]}: {what}")


def run_mutations(tree: Path, mutations: Sequence[Mutation], workers: int, limit: float) -> list[Verdict]:
    """Runs the tests of each mutation on the tree as it is, then on the mutant.

    Args:
        tree: a checkout.
        mutations: of it.
        workers: copies that work at the same time.
        limit: of time for each mutant, in seconds.

    Returns:
        A verdict for each.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        first = Copy(tree, Path(folder, "0"))
        quick = ["-m", "not slow"]
        tests = sorted({test for mutation in mutations for test in mutation.tests})
        print(f"-- {len(tests)} tests on the tree as it is", flush=True)
        runs = [(quick, first.run(tests, quick, 7200.0))]
        rest = [m for m in mutations if not any(runs[0][1].of(test) for test in m.tests)]
        if rest:
            slow = sorted({test for mutation in rest for test in mutation.tests})
            runs.append(([], first.run(slow, [], 7200.0)))
        first.keep()
        copies.put(first)
        for number in range(1, min(workers, len(mutations))):
            copies.put(Copy(first.root, Path(folder, str(number)), first.cache))

        def work(mutation: Mutation) -> Verdict:
            options, plain = next((o, r) for o, r in reversed(runs) if o or mutation in rest)
            if plain.code is None:
                return Verdict(mutation, "unjudged", "the tests take over two hours without the change", plain.wall)
            spent = {test: sum(plain.seconds[case] for case in plain.of(test)) for test in mutation.tests}
            outcomes = {case: plain.outcomes[case] for test in mutation.tests for case in plain.of(test)}
            bad = [f"{case}: {what}" for case, what in outcomes.items() if what not in ("passed", "skipped")]
            if bad or not outcomes:
                return Verdict(mutation, "unjudged", bad[0] if bad else f"no such test: {plain.output[-200:]}", 0.0)
            if "passed" not in outcomes.values():
                return Verdict(mutation, "skipped", "its tests are skipped on this machine", 0.0)
            copy = copies.get()
            try:
                with copy.changed(mutation):
                    ordered = sorted(mutation.tests, key=lambda test: spent[test])
                    return judge(mutation, copy.run(ordered, ["-x", *options], limit))
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(workers) as pool:
            return list(tqdm(pool.map(work, mutations), total=len(mutations), unit="mutant", desc="mutants"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the mutants and prints what became of them.

    Returns:
        0 if each was killed or its tests are skipped on this machine, else 1.
    """
    parser = argparse.ArgumentParser(description="Breaks the stack and asks whether the tests notice.")
    parser.add_argument("rows", nargs="*", help="beginnings of rows, as 000-F051 or 003; all without any")
    parser.add_argument("-j", "--workers", type=int, default=1, help="that work at the same time [%(default)s]")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for each mutant [%(default)s]")
    parser.add_argument("--tree", type=Path, default=ROOT, help="checkout [this one]")
    options = parser.parse_args(arguments)
    try:
        mutations = read_mutations(options.tree.resolve())
    except InputError as problem:
        print(f"mutants: {problem}", file=sys.stderr)
        return 1
    if options.rows:
        mutations = [mutation for mutation in mutations if mutation.row.startswith(tuple(options.rows))]
    if not mutations:
        print(f"mutants: none for {' '.join(options.rows) or 'any row'} in test/mutations", file=sys.stderr)
        return 1
    verdicts = run_mutations(options.tree.resolve(), mutations, max(1, options.workers), options.limit)
    print(f"{'row':9} {'entry':26} {'seconds':>7}  {'verdict':9} what")
    for verdict in verdicts:
        mutation = verdict.mutation
        print(f"{mutation.row:9} {mutation.place:26} {verdict.seconds:7.1f}  {verdict.word:9} {verdict.detail[:150]}")
    counts = {word: sum(verdict.word == word for verdict in verdicts) for word in sorted({v.word for v in verdicts})}
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    open_rows = sorted({v.mutation.row for v in verdicts if v.word not in ("killed", "skipped")})
    if open_rows:
        print("Not shown by their tests:", " ".join(open_rows))
    return int(bool(open_rows))


if __name__ == "__main__":
    sys.exit(main())
