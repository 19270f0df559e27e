# SPDX-License-Identifier: Apache-2.0
"""The supervisor with real processes: small Python programs that talk, die, hang or leave children."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fixtures.ros_processes import children

from humanoid_model.errors import InputError
from humanoid_ros.bringup import orphan_guard
from humanoid_ros.bringup.supervisor import Process, Supervisor, SupervisorError, describe_exit

TALK = "import time; print('hello', flush=True); time.sleep(60)"
IGNORE_INTERRUPT = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('ready', flush=True)
time.sleep(60)
"""
IGNORE_ALL = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('ready', flush=True)
time.sleep(60)
"""


def python(name: str, program: str, **settings: object) -> Process:
    return Process(name, (sys.executable, "-c", program), **settings)


def wait_until(condition, timeout: float = 50.0) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


SUPERVISED = """
import sys, time
from humanoid_ros.bringup.supervisor import Process, Supervisor
programs = sys.argv[1:]
run = [Process(str(k), (sys.executable, "-c", program)) for k, program in enumerate(programs)]
Supervisor(run, patience=(0.5, 0.5)).run()
"""
CHILD = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', {!r}]).wait()"


def test_output_is_prefixed_by_the_name():
    output = io.StringIO()
    both = [python("one", "print('a\\nb')"), python("other", "print('c')")]
    assert Supervisor(both, output=output).run() == 0
    lines = output.getvalue().splitlines()
    assert [line for line in lines if line.startswith("[one]")] == ["[one]   a", "[one]   b"]
    assert "[other] c" in lines


def test_output_without_a_final_newline_and_undecodable_bytes_arrive():
    output = io.StringIO()
    program = "import sys; sys.stdout.buffer.write(b'caf\\xff'); sys.stderr.write(' end')"
    Supervisor([python("p", program)], output=output).run()
    assert "[p] caf� end" in output.getvalue()


def test_colours_differ_between_processes():
    output = io.StringIO()
    Supervisor([python("a", "print(1)"), python("b", "print(2)")], output=output, colour=True).run()
    colours = {line[:5] for line in output.getvalue().splitlines() if line.endswith(("1", "2"))}
    assert len(colours) == 2
    assert all(colour.startswith("\x1b[") for colour in colours)


def test_stop_ends_processes_by_interrupt():
    # It is ready once an interrupt is caught: one that came between the two would end it with a traceback.
    # Whoever runs the tests in the background may have had interrupts ignored, which a child inherits.
    program = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print('ready', flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print('interrupted')
"""
    output = io.StringIO()
    with Supervisor([python("p", program)], output=output):
        wait_until(lambda: "ready" in output.getvalue())
    assert "interrupted" in output.getvalue()


@pytest.mark.parametrize(
    ("program", "said"), [(IGNORE_INTERRUPT, ["SIGTERM"]), (IGNORE_ALL, ["SIGTERM", "SIGKILL"])]
)
def test_stop_goes_on_to_stronger_signals(program, said):
    output = io.StringIO()
    start = 0.0
    with Supervisor([python("p", program)], output=output, patience=(0.3, 0.3)):
        wait_until(lambda: "ready" in output.getvalue())
        start = time.monotonic()
    assert time.monotonic() - start < 40.0
    assert [line.split()[-1] for line in output.getvalue().splitlines() if "still" in line] == said


def test_a_required_process_that_dies_stops_the_others():
    output = io.StringIO()
    supervisor = Supervisor(
        [python("vital", "raise SystemExit(3)", required=True), python("other", TALK)],
        output=output,
    )
    start = time.monotonic()
    assert supervisor.run() == 3
    assert time.monotonic() - start < 40.0
    assert "vital ended with exit code 3" in output.getvalue()


def test_a_process_that_may_die_is_reported_and_the_others_go_on():
    output = io.StringIO()
    other = "import time; time.sleep(4.0); print('still here')"
    code = Supervisor(
        [python("weak", "import os; os.abort()"), python("other", other)], output=output
    ).run()
    assert code == 128 + signal.SIGABRT
    assert "weak was killed by SIGABRT; the others go on" in output.getvalue()
    assert "still here" in output.getvalue()


def test_a_process_is_started_again_as_configured(tmp_path):
    mark = tmp_path / "starts"
    program = f"open({str(mark)!r}, 'a').write('x')"
    output = io.StringIO()
    with Supervisor(
        [python("p", program, respawn=True, respawn_delay=0.1)], output=output
    ) as supervisor:

        def started_thrice() -> bool:
            supervisor.check()
            return mark.exists() and len(mark.read_text()) >= 3

        wait_until(started_thrice)
    assert "p ended with exit code 0; starting it again in 0.1 s" in output.getvalue()


def test_check_raises_when_a_required_process_is_gone():
    with Supervisor(
        [python("vital", "pass", required=True)], output=io.StringIO()
    ) as supervisor:

        def gone() -> bool:
            try:
                supervisor.check()
            except SupervisorError as error:
                return "vital ended with exit code 0" in str(error)
            return False

        wait_until(gone)


def test_children_of_a_process_end_with_it():
    program = """
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
print(child.pid, flush=True)
"""
    output = io.StringIO()
    assert Supervisor([python("p", program)], output=output).run() == 0
    child = int(output.getvalue().split("[p] ")[1].split()[0])
    wait_until(lambda: not alive(child))


def test_a_missing_program_is_named_and_the_others_are_stopped():
    supervisor = Supervisor(
        [python("p", TALK), Process("q", ("/nowhere/program",))], output=io.StringIO()
    )
    with pytest.raises(SupervisorError, match="q: /nowhere/program can't be started: No such file"):
        supervisor.start()
    assert not any(running.alive for running in supervisor._all)


def test_equal_names_are_refused():
    with pytest.raises(InputError, match="two processes are named 'p'"):
        Supervisor([python("p", ""), python("p", "")])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_with_exit_code_0(number, tmp_path):
    script = tmp_path / "supervise.py"
    script.write_text(
        "import sys\n"
        "from humanoid_ros.bringup.supervisor import Process, Supervisor\n"
        f"talk = {TALK!r}\n"
        "all = [Process(n, (sys.executable, '-c', talk)) for n in ('a', 'b')]\n"
        "sys.exit(Supervisor(all).run())\n"
    )
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{root}:{os.environ.get('PYTHONPATH', '')}"},
    ) as popen:
        lines = [popen.stdout.readline(), popen.stdout.readline()]
        popen.send_signal(number)
        popen.stdout.read()
        assert popen.wait(50.0) == 0
    assert sorted(lines) == ["[a] hello\n", "[b] hello\n"]


def test_exit_codes_in_words():
    assert describe_exit(0) == "ended with exit code 0"
    assert describe_exit(-11) == "was killed by SIGSEGV"
    assert describe_exit(-99) == "was killed by signal 99"


def test_a_supervisor_that_is_killed_leaves_nothing_running():
    """Neither what ends when it is told to, nor what doesn't, nor what these have started."""
    said = "import os; print(os.getpid(), flush=True);"
    programs = [said + TALK, said + IGNORE_ALL, CHILD.format(said + TALK)]
    supervisor = subprocess.Popen([sys.executable, "-c", SUPERVISED, *programs], stdout=subprocess.PIPE, text=True)
    assert supervisor.stdout is not None
    started = set()
    while len(started) < 3:
        word = supervisor.stdout.readline().split()[-1]
        if word.isdigit():
            started.add(int(word))
    assert all(alive(pid) for pid in started)
    supervisor.kill()
    supervisor.wait()
    wait_until(lambda: not any(alive(pid) for pid in started))


def test_a_group_that_has_ended_is_left_alone_by_the_guard():
    """Its number may be another's by then."""
    others = [
        subprocess.Popen([sys.executable, "-c", TALK], start_new_session=True, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for each in others:
        assert each.stdout.readline() == "hello\n"  # what comes while Python starts may be lost
    ended, left = others
    told = f"{ended.pid}\n{left.pid}\n{ended.pid}\n"
    guard = subprocess.Popen([sys.executable, orphan_guard.__file__, "60", "60"], stdin=subprocess.PIPE, text=True)
    guard.stdin.write(told)
    guard.stdin.close()
    assert left.wait(60.0) == -signal.SIGINT
    assert guard.wait(60.0) == 0
    assert ended.poll() is None
    ended.kill()
    ended.wait()


def test_a_supervisor_that_ends_leaves_no_guard():
    before = set(children(os.getpid()))
    Supervisor([python("p", "print(1)")], output=io.StringIO()).run()
    assert set(children(os.getpid())) == before
