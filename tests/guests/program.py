"""program.py HOW: a guest over --exec that is wrong in that way, from its third run on."""
import json
import os
import shutil
import sys
import time

how, runs = sys.argv[1], 0
for line in sys.stdin:
    asked = json.loads(line)
    if asked["ask"] == "describe":
        if how == "slow" and "FOLD_SHIFT_OF_THE_STACK" in os.environ:  # a new process
            time.sleep(5)
        tables = {"empty": {"subjects": []}, "no_name": {"dtypes": "f32"}, "no_dtype": {"name": "p/x", "dtypes": "f33"},
                  "number": {"name": "p/x", "claims": 3}, "rule": {"name": "p/x", "result": "wide"}, "method": {"name": "p/x", "method": "kahn"}, "engine": {"name": "p/x", "engine": "mpi"}, "slip": {"name": "p/x", "dtype": "f32"}, "taken": {"name": "host/pairwise"}, "long": {"name": "p/" + "x" * (17 << 20)}, "two": {"subjects": [{"name": "p/a"}, {"name": "p/b"}]}}
        print(json.dumps(tables.get(how, {"name": "p/" + how, "dtypes": "f16,f32,f64", "problems": "sum,dot", "claims": "run_to_run,bounded"})), flush=True)
        continue
    import numpy as np  # who is only asked what it is answers ten times as soon without
    x = np.load(asked["in"])
    terms = x.astype(np.float64) if asked["problem"] == "sum" else x.astype(np.float64) * np.load(asked["other"])
    result, answer, runs = terms.sum(axis=1).astype(x.dtype), {}, runs + 1
    if runs > 2 and how == "dies":
        sys.exit("no more of this")
    if runs > 2 and how == "killed":
        os.kill(os.getpid(), 9)
    if runs > 2 and how == "hangs":
        time.sleep(1000)
    if runs > 2 and how == "garbage":
        print("Traceback", flush=True)
        continue
    if runs > 2 and how == "list":
        answer = [1]
    if runs > 2 and how == "closes":
        os.close(1)
        time.sleep(1000)
    if runs > 2 and how == "refuses":
        answer = {"error": "out of\nmemory"}
    if runs > 2 and how == "declines":
        answer = {"unsupported": "not today"}
    if how == "lists_errors":
        answer = {"error": ["out of memory"]}
    if how == "litters":
        open(asked["out"] + ".part", "w").close()
    if how == "random":
        result = result + np.random.default_rng().standard_normal(result.shape).astype(x.dtype)
    if how == "dtype":
        result = result.astype(np.float64 if x.dtype != np.float64 else np.float32)
    if how == "shape":
        result = np.append(result, result)
    if how == "square":
        result = x
    if runs > 2 and how == "removes":
        shutil.rmtree(os.path.dirname(asked["in"]))
    if runs > 2 and how == "ends_its_group":
        os.kill(0, 9)
    if runs > 2 and how == "puts_a_pipe":
        os.unlink(asked["in"])
        os.mkfifo(asked["in"])
    if how == "logs":
        os.write(2, b"x" * (1 << 20) + b"\n")
        kept = os.fstat(2).st_blocks * 512
        answer = {"error": f"{kept} bytes of its log are kept"} if kept > 4 << 20 else answer
    if how not in ("nothing", "late"):
        np.save(asked["out"], result)
    if how == "late":
        print("{}", flush=True)
        time.sleep(0.2)
        np.save(asked["out"], result)
        continue
    if how == "chatters":
        print("{}", flush=True)
    if how == "truncates":
        os.truncate(asked["out"], 80)
    print(json.dumps(answer), flush=True)
