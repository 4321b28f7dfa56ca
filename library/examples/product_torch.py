# PyTorch's products of matrices, on the GPU where there is one: python3 library/examples/product_torch.py [CASES]
# A refuted one is printed with its smallest case and a line that repeats it; then the exit code is 1. docs/found.md has what was found.
import sys

import find_foldproof  # noqa: F401  an installed foldproof, or the checkout's
import foldproof
import torch
from torch.nn.functional import linear

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def with_bias(x, w):
    """A bias of zeros: the same values, by a kernel that adds a bias."""
    return linear(x, w, torch.zeros(len(w), dtype=x.dtype, device=x.device))


PRODUCTS = {  # name: (what it does to two arrays, the axes of these and of its result)
    "torch/matmul": (torch.matmul, "matmul"),
    "torch/bmm": (torch.bmm, "bij,bjk->bik"),
    "torch/linear": (linear, "ij,kj->ik"),
    "torch/linear_bias": (with_bias, "ij,kj->ik"),
}


def main(cases):
    refuted = False
    for name, (product, problem) in PRODUCTS.items():
        try:
            print(name, foldproof.verify(product, problem=problem, device=DEVICE, dtypes="f16,bf16,f32,f64", like="torch", name=name, fixtures=cases))
        except foldproof.Refuted as found:
            refuted = True
            print(found)
    return int(refuted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or None))
