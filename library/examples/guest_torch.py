# PyTorch's and Triton's ways to add up rows, on the GPU where there is one: foldproof verify --exec 'python3 library/examples/guest_torch.py'
# With words behind it, only the subjects whose names hold one of them. docs/found.md lists what was refuted.
import json, sys
import numpy as np
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def flat(x):
    """Where each element of the flattened rows belongs."""
    rows = torch.arange(x.shape[0], device=x.device).repeat_interleave(x.shape[1])
    return rows, x.reshape(-1), torch.zeros(x.shape[0], dtype=x.dtype, device=x.device)


def by_index_add(x):
    rows, terms, out = flat(x)
    return out.index_add_(0, rows, terms)


def by_scatter_add(x):
    rows, terms, out = flat(x)
    return out.scatter_add_(0, rows, terms)


def by_bincount(x):
    rows, terms, out = flat(x)
    return torch.bincount(rows, weights=terms, minlength=x.shape[0]).to(x.dtype)


STABLE = "run_to_run,batch_invariant,alignment_invariant"
SUBJECTS = {  # name: (what it does to x, or to x and y; dtypes; problem; claims)
    "torch/sum": (lambda x: x.sum(-1), "f16,f32,f64", "sum", "bounded," + STABLE),
    "torch/cumsum": (lambda x: x.cumsum(-1)[:, -1], "f32,f64", "sum", STABLE),
    "torch/matmul_ones": (lambda x: x @ torch.ones(x.shape[1], 1, dtype=x.dtype, device=x.device), "f32,f64", "sum", STABLE),
    "torch/index_add": (by_index_add, "f32,f64", "sum", STABLE),
    "torch/scatter_add": (by_scatter_add, "f32,f64", "sum", STABLE),
    "torch/bincount": (by_bincount, "f32,f64", "sum", STABLE),
    "torch/vecdot": (torch.linalg.vecdot, "f32,f64", "dot", STABLE),
    "torch/bmm": (lambda x, y: torch.bmm(x[:, None, :], y[:, :, None]), "f32,f64", "dot", STABLE),
    "torch/einsum": (lambda x, y: torch.einsum("ij,ij->i", x, y), "f32,f64", "dot", STABLE),
}

try:
    import triton
    import triton.language as tl

    @triton.jit
    def add_rows(x, out, cols, BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        s = tl.zeros((BLOCK,), dtype=tl.float32)
        for at in range(0, cols, BLOCK):
            i = at + tl.arange(0, BLOCK)
            s += tl.load(x + row * cols + i, mask=i < cols, other=0.0)
        tl.store(out + row, tl.sum(s))

    def by_triton(x, block):
        out = torch.zeros(x.shape[0], dtype=x.dtype, device=x.device)
        if x.shape[0]:
            add_rows[(x.shape[0],)](x, out, x.shape[1], BLOCK=block)
        return out

    if device == "cuda":
        SUBJECTS["triton/rows"] = (lambda x: by_triton(x, 1024), "f32", "sum", "bounded," + STABLE)
        # The rule by which vLLM's RMSNorm chose its block: by the number of tokens.
        SUBJECTS["triton/rows_by_tokens"] = (lambda x: by_triton(x, 1024 if x.shape[0] < 256 else 256), "f32", "sum", "bounded," + STABLE)
except ImportError:
    pass

wanted = {name: s for name, s in SUBJECTS.items() if not sys.argv[1:] or any(word in name for word in sys.argv[1:])}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["ask"] == "describe":
        answer = {"subjects": [{"name": name, "dtypes": dtypes, "problems": problem, "claims": claims, "about": f"torch {torch.__version__} on {device}"}
                               for name, (_, dtypes, problem, claims) in wanted.items()]}
    else:
        inputs = [torch.from_numpy(np.load(asked[key])).to(device) for key in ("in", "other") if key in asked]
        answer = {}
        if inputs[0].numel() == 0:
            answer = {"unsupported": "no terms"}
        else:
            np.save(asked["out"], wanted[asked["subject"]][0](*inputs).reshape(-1).cpu().numpy())
    print(json.dumps(answer), flush=True)
