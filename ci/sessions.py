"""Runs programs in sessions of their own and leaves none of their processes behind when they end or are ended; several at once, in threads."""
import concurrent.futures
import os
import pathlib
import signal
import subprocess
import threading
import time


def members_of(session):
    """Running processes of a session: ninja gives each compiler a process group of its own, but no session."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its = stat.read_text().rsplit(")", 1)[1].split()[:4]
        except OSError:
            continue  # it has ended
        if int(its) == session and state != "Z":
            yield int(stat.parent.name)


def end_session(session):
    """Returns when all of them have ended and nobody writes to their files any more."""
    while members := list(members_of(session)):
        for member in members:
            try:
                os.kill(member, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


class Running:
    """The programs that were started here, so that an error in one thread can end those that other threads wait for."""

    lock, processes, ended = threading.Lock(), set(), False

    @classmethod
    def start(cls, command, **options):
        with cls.lock:
            if cls.ended:
                raise SystemExit(99)
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                       start_new_session=True, **options)
            cls.processes.add(process)
            return process

    @classmethod
    def forget(cls, process):
        with cls.lock:
            cls.processes.discard(process)
            if cls.ended:
                raise SystemExit(99)

    @classmethod
    def end(cls):
        with cls.lock:
            cls.ended = True
            for process in cls.processes:
                end_session(process.pid)


def run(command, limit, **options):
    """(output, exit code); the code is None if the program had to be ended."""
    process = Running.start(command, **options)
    try:
        return process.communicate(timeout=limit)[0], process.returncode
    except subprocess.TimeoutExpired:
        end_session(process.pid)
        return process.communicate()[0], None
    finally:
        Running.forget(process)


def in_parallel(work, items, cpus, cpus_each):
    """What `work` returns for each item. Each item has a thread, on so many of these CPUs of its own (0: on all); the first error ends all."""

    def pinned(k, item):
        if cpus_each:  # for this thread, and for everything that it starts
            os.sched_setaffinity(0, {cpus[c % len(cpus)] for c in range(k * cpus_each, (k + 1) * cpus_each)})
        return work(item)

    with concurrent.futures.ThreadPoolExecutor(len(items)) as pool:
        try:
            futures = [pool.submit(pinned, k, item) for k, item in enumerate(items)]
            for future in concurrent.futures.as_completed(futures):
                future.result()
        except BaseException:
            Running.end()
            raise
    return [future.result() for future in futures]
