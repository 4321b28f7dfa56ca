# JAX's products of matrices, on the GPU where there is one: python3 library/examples/product_jax.py [CASES]
# A refuted one is printed with its smallest case and a line that repeats it; then the exit code is 1.
import functools
import sys

import find_foldproof  # noqa: F401  an installed foldproof, or the checkout's
import foldproof
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
DEVICE = "cuda" if jax.default_backend() == "gpu" else "cpu"
PRODUCTS = {  # name: (what it does to two arrays, of which dtypes, what else it says)
    "jax/matmul": (jax.jit(jnp.matmul), "f16,bf16,f32", {"factor_dtype": "tf32"}),  # the default precision may round factors of f32 on a GPU
    "jax/matmul_highest": (jax.jit(functools.partial(jnp.matmul, precision="highest")), "f16,bf16,f32,f64", {}),
}


def main(cases):
    refuted = False
    for name, (product, dtypes, says) in PRODUCTS.items():
        try:
            print(name, foldproof.verify(product, problem="matmul", device=DEVICE, dtypes=dtypes, like="jax", name=name, fixtures=cases, **says))
        except foldproof.Refuted as found:
            refuted = True
            print(found)
    return int(refuted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or None))
