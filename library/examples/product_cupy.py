# CuPy's products of matrices on a GPU: python3 library/examples/product_cupy.py [CASES]
# A refuted one is printed with its smallest case and a line that repeats it; then the exit code is 1.
import sys

import cupy
import find_foldproof  # noqa: F401  an installed foldproof, or the checkout's
import foldproof

PRODUCTS = {  # name: (what it does to two arrays, the axes of these and of its result)
    "cupy/matmul": (cupy.matmul, "matmul"),
    "cupy/dot": (cupy.dot, "ij,jk->ik"),
    "cupy/einsum": (lambda x, w: cupy.einsum("ij,kj->ik", x, w), "ij,kj->ik"),
}


def main(cases):
    refuted = False
    for name, (product, problem) in PRODUCTS.items():
        try:
            print(name, foldproof.verify(product, problem=problem, device="cuda", dtypes="f16,f32,f64", like="cupy", name=name, fixtures=cases))
        except foldproof.Refuted as found:
            refuted = True
            print(found)
    return int(refuted)


if __name__ == "__main__":
    if not cupy.is_available():
        print("skipped: no GPU here")
        sys.exit(77)
    sys.exit(main(sys.argv[1:] or None))
