# A persistent kernel with one shape of tiles in Triton, whose order is one of k only: python3 library/examples/product_triton.py [CASES]
import sys

import find_foldproof  # noqa: F401  an installed foldproof, or the checkout's
import foldproof
import torch
import triton
import triton.language as tl

PROGRAMS = 132  # each takes tiles in turn; no bit depends on it


@triton.jit
def kernel(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    across = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0)):
        m = (tile // across * BM + tl.arange(0, BM))[:, None]
        n = (tile % across * BN + tl.arange(0, BN))[None, :]
        sums = tl.zeros((BM, BN), tl.float32)
        for first in range(0, K, BK):
            k = first + tl.arange(0, BK)
            x = tl.load(a + m * K + k[None, :], mask=(m < M) & (k[None, :] < K), other=0.0)
            y = tl.load(b + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
            sums = tl.dot(x, y, sums, input_precision="ieee")
        tl.store(out + m * N + n, sums.to(out.dtype.element_ty), mask=(m < M) & (n < N))


def multiply(a, b):
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty(m, n, dtype=a.dtype, device=a.device)
    if m * n:
        kernel[(PROGRAMS,)](a, b, out, m, n, k, BM=64, BN=64, BK=32)
    return out


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("skipped: no GPU here")
        sys.exit(77)
    print(foldproof.verify(multiply, problem="ij,jk->ik", device="cuda", dtypes="f16,bf16,f32", like="torch", name="triton/multiply",
                           claims="bounded,run_to_run,batch_invariant,alignment_invariant", fixtures=sys.argv[1:] or None))
