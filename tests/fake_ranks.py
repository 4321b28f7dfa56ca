#!/usr/bin/env python3
"""A launcher whose ranks are not what they should be: fake_ranks.py MODE PROGRAM rank --connect A:P --secret HEX --ranks N.

Each mode is one way to be wrong; the harness must say which, or get its ranks all the same (strangers).
"""
import os
import signal
import socket
import struct
import sys
import time

mode, words = sys.argv[1], sys.argv[2:]
option = dict(zip(words[2::2], words[3::2]))
host, port = option["--connect"].split(":")
secret, ranks = int(option["--secret"], 16), int(option["--ranks"])
DONE, PROTOCOL, VERSION = int(os.environ["FAKE_DONE"]), int(os.environ["FAKE_PROTOCOL"]), os.environ["FAKE_VERSION"]
LIBRARY = os.environ["FAKE_LIBRARY"]
keep = []


def connect():
    keep.append(socket.create_connection((host, int(port))))
    return keep[-1]


def hello(rank, protocol=PROTOCOL, version=VERSION, library=LIBRARY, world=ranks, key=secret, more=b""):
    body = struct.pack("<QIIIxxxxq32s64s64s64s", key, protocol, rank, world, os.getpid(), version.encode(),
                       library.encode(), socket.gethostname().encode(), b"") + more
    return struct.pack("<IIQ", 0, 0, len(body)) + body


ANSWER = struct.pack("<IIQ64s", DONE, 0, 64, b"")  # to the first question, what the rank computes on


def seat_all():
    """All ranks say hello, and have been asked the first question."""
    for rank in range(ranks):
        connect().sendall(hello(rank))
    for one in keep:
        one.recv(16, socket.MSG_WAITALL)


LIMIT = float(os.environ["FOLDPROOF_TIMEOUT"])


def parent_of(process):
    with open(f"/proc/{process}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


def freeze_harness(seconds=LIMIT + 1):
    """The harness and who supervises it, which would end it where it were halted alone, stand still for longer than the limit."""
    harness = parent_of(os.getppid())  # the launcher's parent is the guard, the harness's child
    supervisor = parent_of(harness)
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(harness, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        os.kill(harness, signal.SIGCONT)
        os.kill(supervisor, signal.SIGCONT)


def leave():
    """Rank 0 leaves the next question unanswered, and all of them end."""
    keep[0].recv(16, socket.MSG_WAITALL)
    os._exit(0)


if mode == "version":
    connect().sendall(hello(1, version="9.9.9"))
elif mode == "protocol":
    connect().sendall(hello(1, protocol=PROTOCOL + 7, more=b"and more"))
elif mode == "library":
    connect().sendall(hello(0))
    time.sleep(0.3)
    connect().sendall(hello(2, library="Fake 2"))
elif mode == "another":
    for rank in range(ranks):
        connect().sendall(hello(rank, library="Fake 2"))
elif mode == "twice":
    connect().sendall(hello(1))
    connect().sendall(hello(1))
elif mode == "world":
    connect().sendall(hello(0, world=ranks + 1))
elif mode == "babble":  # seated, then answers without a question
    for rank in range(ranks):
        connect().sendall(hello(rank))
    keep[0].sendall(struct.pack("<IIQ", 4711, 0, 1 << 60))
elif mode == "frozen":  # the harness is stopped for longer than the limit, and goes on a second before its ranks do
    seat_all()
    freeze_harness()
    time.sleep(1)
    for one in keep:
        one.sendall(ANSWER)
    leave()
elif mode == "frozen_in_answer":  # the same when half an answer has come
    seat_all()
    keep[0].sendall(ANSWER[:40])
    time.sleep(0.5)
    freeze_harness()
    time.sleep(1)
    keep[0].sendall(ANSWER[40:])
    for one in keep[1:]:
        one.sendall(ANSWER)
    leave()
elif mode == "frozen_in_hello":  # the same when the first rank has come, and the second has connected
    connect().sendall(hello(0))
    one = connect()
    time.sleep(0.5)
    freeze_harness(LIMIT + 4)
    time.sleep(1)
    one.sendall(hello(1))
    for rank in range(2, ranks):
        connect().sendall(hello(rank))
    leave()
elif mode == "halves":  # half a hello, and silence
    connect().sendall(hello(0)[:100])
elif mode == "orphans":  # ranks without a parent, stopped before they send a word: only the secret shows which harness started them
    for rank in range(ranks):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.environ["OMPI_COMM_WORLD_RANK"] = str(rank)
                os.kill(os.getpid(), 19)
            os._exit(0)
        os.wait()
    time.sleep(0.3)
    sys.exit(1)
elif mode in ("strangers", "nobody"):
    for k in range(150):
        one = connect()
        if k % 3 == 1:
            one.sendall(hello(0, key=secret ^ 1))
        elif k % 3 == 2:
            one.sendall(os.urandom(5000))
    if mode == "strangers":  # then the real ones; the sockets stay open across exec
        for one in keep:
            os.set_inheritable(one.fileno(), True)
        os.execvp("mpirun", ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] + words)
time.sleep(1000)
