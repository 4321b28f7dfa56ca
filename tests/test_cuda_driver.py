"""GPU subjects are judged by a build without CUDA's toolkit, through the driver's library: over a fake of it, and over liars.

test_cuda_driver.py FOLDPROOF LIBRARY_FOLDER GUESTS_FOLDER FAKE FAKE_WITHOUT_LAUNCH FAKE_WITHOUT_POOLS CC
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDPROOF, LIBRARY, GUESTS, FAKE, BARE, OLDER = map(os.path.abspath, sys.argv[1:7])
CC = sys.argv[7].split()
# Rows of many lengths, from short to long, for what a subject keeps from one to the next.
FEW = ("--fixtures", "normal/f32/sum/1x?/*,normal/f32/sum/1x25?/*,normal/f32/sum/*x1000/*,normal/f32/sum/17x257/*,normal/f32/sum/1x65537/*")
ONE = ("--fixtures", "normal/f32/sum/3x1000/seed1")


def foldproof(*words, driver=FAKE, **environment):
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("FOLDPROOF_", "FAKE_CUDA"))}
    if driver:
        settings["FOLDPROOF_CUDA_DRIVER"] = driver
    run = subprocess.run([FOLDPROOF, *words], capture_output=True, text=True, timeout=600, env=dict(settings, **environment))
    return run.returncode, run.stdout + run.stderr


with tempfile.TemporaryDirectory() as folder:
    guest = pathlib.Path(folder) / "device.so"
    log = pathlib.Path(folder) / "log"
    subprocess.run([*CC, "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", f"-I{LIBRARY}",
                    str(pathlib.Path(GUESTS) / "device.c"), "-o", str(guest)], check=True)

    def verify(subject, *words, **environment):
        return foldproof("verify", "-v", "--guest", str(guest), "--subjects", f"device/{subject}", *words, **environment)

    # What is right holds, on all fixtures, and device memory is given back.
    code, out = verify("honest", FAKE_CUDA_LOG=str(log))
    assert code == 0 and re.search(r"\n\d{4,} held, 0 refuted, \d+ skipped", out), (code, out)
    assert "no GPU" not in out, out
    left = re.findall(r"took (\d+) gave_back (\d+) from_pinned (\d+)", log.read_text())
    assert left and all(taken == given and int(pinned) > 0 for taken, given, pinned in left), left

    # Two inputs that the pinned memory from which they are sent cannot hold at once.
    made = subprocess.run([FOLDPROOF, "gen", "normal", "-n", "400000", "-o", f"{folder}/one.npy"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    # As much as the pinned memory holds: from its start, and not beyond its end.
    made = subprocess.run([FOLDPROOF, "gen", "normal", "-n", "261888", "-o", f"{folder}/whole.npy"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    code, out = verify("honest", "--npy", f"{folder}/whole.npy")
    assert code == 0 and re.search(r"\n[1-9]\d* held, 0 refuted", out), (code, out)
    array = pathlib.Path(folder) / "two.npy"
    text = pathlib.Path(folder, "one.npy").read_bytes()
    head = text[:text.index(b"\n") + 1]
    array.write_bytes(head.replace(b"(400000,), }  ", b"(2,200000), } ") + text[len(head):])
    code, out = verify("dots", "--npy", str(array), "--problem", "dot")
    assert code == 0 and re.search(r"\n[1-9]\d* held, 0 refuted, 0 skipped", out), (code, out)

    # What is wrong is refuted for what is wrong.
    for name, claim in {"by_grid": "launch_invariant", "by_address": "alignment_invariant", "changes_its_input": "keeps_input",
                        "writes_too_far": "stays_in_bounds", "leaves_one_out": "writes_output",
                        "soils_its_scratch": "leaves_no_trace", "keeps_memory": "leaves_no_trace", "takes_the_device": "leaves_no_trace"}.items():
        code, out = verify(name, *FEW, FAKE_CUDA="devices=2")
        assert code == 1 and f"REFUTED: device/{name} on cuda violates {claim}" in out, (name, code, out)
    assert "the current device, which is 1 and was 0" in out, out
    code, out = verify("changes_its_input", *FEW, "--claims", "replays,run_to_run,padding_invariant,length_invariant")
    assert code == 1 and out.count("REFUTED") == out.count("a run changed the input: see keeps_input") > 0, (code, out)
    for name in ("keeps_a_workspace", "uses_the_pool"):
        code, out = verify(name, *FEW)
        assert code == 0 and " 0 refuted" in out, (name, code, out)
    # Of a pool, that takes memory from the device in large blocks; a driver that has none, or that fails when it is asked, tells less.
    code, out = verify("keeps_of_the_pool", *ONE)
    assert code == 1 and "violates leaves_no_trace" in out and "it leaks 4096 bytes of memory per run" in out, (code, out)
    for less in ({"driver": OLDER}, {"FAKE_CUDA": "fail=cuDeviceGetMemPool:1:801"}):
        code, out = verify("uses_the_pool", *ONE, **less)
        assert code == 0 and " 0 refuted" in out, (less, code, out)
    code, out = verify("faults", *FEW)
    assert code == 99 and "cuCtxSynchronize: a fake's error (CUDA error 700)" in out, (code, out)

    # A call that fails is reported, and nothing of that case is held.
    calls = {}
    for text in re.findall(r"X\((cu\w+)", (pathlib.Path(LIBRARY).parent / "src" / "engine" / "cuda_driver.h").read_text()):
        calls[text] = (1, 9)
    for name in ("cuGetErrorString", "cuDriverGetVersion", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2",
                 "cuCtxGetDevice", "cuMemFree_v2", "cuMemGetInfo_v2", "cuDeviceGetMemPool", "cuMemPoolGetAttribute"):
        del calls[name]  # asked for words alone, or after something else went wrong; the first count, and device, are what the environment of records tells
    calls.update(cuInit=(1,), cuDeviceGet=(2,), cuDevicePrimaryCtxRetain=(1,), cuMemHostAlloc=(1,), cuModuleLoadData=(1,),
                 cuModuleGetFunction=(1, 2, 3), cuDeviceGetCount=(2,), cuCtxSetCurrent=(1,), cuMemcpyDtoDAsync_v2=(1,),
                 cuCtxGetCurrent=(1,), cuMemAlloc_v2=(1, 2), cuMemcpyDtoHAsync_v2=(1,), cuStreamSynchronize=(1,))
    for name, times in calls.items():
        for k in times:
            code, out = verify("honest", *ONE, "--jsonl", os.devnull, FAKE_CUDA=f"fail={name}:{k}:719")
            word = "no pinned memory" if name == "cuMemHostAlloc" else f"{name.removesuffix('_v2')}"
            assert code in (2, 99) and word in out, (name, k, code, out)

    # A machine without a GPU, and a driver that fails.
    for wrong, wanted, word in (("init=100", 77, "no GPU here: no CUDA-capable device is detected (CUDA error 100)"),
                                ("devices=0", 77, "no GPU here: the driver has no device"),
                                ("init=999", 99, "cuInit: a fake's error (CUDA error 999)")):
        code, out = verify("honest", *ONE, FAKE_CUDA=wrong)
        assert code == wanted and word in out and " 0 held" not in out.replace("\n0 held", ""), (wrong, code, out)
    code, out = verify("honest", *ONE, FOLDPROOF_REQUIRE_GPUS="2")
    assert code == 99 and "FOLDPROOF_REQUIRE_GPUS=2, but there are 1 GPUs" in out, (code, out)
    code, out = verify("honest", *ONE, FAKE_CUDA="devices=2", FOLDPROOF_REQUIRE_GPUS="2")
    assert code == 0, (code, out)

    # A library that cannot be used.
    for driver, word in ((BARE, "has no cuLaunchKernel"), ("libm.so.6", "has no cuGetErrorString"), ("/nowhere/libcuda.so", "cannot open shared object file"),
                         (str(pathlib.Path(GUESTS) / "device.c"), "")):
        code, out = verify("honest", *ONE, driver=driver)
        assert code == 2 and f"FOLDPROOF_CUDA_DRIVER={driver[:120]}: {word}" in out, (driver, code, out)
    code, out = foldproof("verify", "--engine", "host", *ONE, "--claims", "bounded", driver="/nowhere/libcuda.so")
    assert code == 0 and "nowhere" not in out, (code, out)

    # A GPU for which this build has nothing.
    for words in (("verify", "--engine", "cuda", *ONE), ("bench", "--engine", "cuda")):
        code, out = foldproof(*words)
        assert code == 77 and "this build has no" in out, (words, code, out)

    code, out = foldproof("env", "--json", FAKE_CUDA="devices=2")
    gpu = json.loads(out)["gpus"][1]  # the fake's attributes are their own numbers
    want = {"name": "Fake GPU 1", "arch": "sm_90", "driver_cuda": 12090, "multiprocessors": 16, "l2_bytes": 38, "memory_bytes": 1 << 32}
    assert {key: gpu.get(key) for key in want} == want, gpu
    code, out = foldproof("env", FAKE_CUDA="devices=2")
    assert code == 0 and "Fake GPU 1" in out and "sm_90" in out and "gpus_missing" not in out, (code, out)
