# A guest in Python: foldproof verify --exec 'python3 library/examples/guest_sum.py'
import json, sys
import numpy as np

for line in sys.stdin:
    asked = json.loads(line)
    answer = {"name": "mine/numpy", "dtypes": "f16,f32,f64", "claims": "run_to_run,batch_invariant"}
    if asked["ask"] == "run":
        np.save(asked["out"], np.load(asked["in"]).sum(axis=1))
        answer = {}
    print(json.dumps(dict(answer, id=asked["id"])), flush=True)
