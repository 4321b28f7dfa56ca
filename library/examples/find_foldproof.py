# Lets an example find foldproof where it is not installed: the package in the checkout's folder python/, the newest library among its build
# folders, and the fixtures. An installed package, and variables that are set, come first.
import importlib.util
import os
import pathlib
import sys

CHECKOUT = pathlib.Path(__file__).absolute().parents[2]


def find():
    if importlib.util.find_spec("foldproof"):
        return
    built = sorted(CHECKOUT.glob("build*/library/libfoldproof.so.0"), key=lambda path: path.stat().st_mtime)
    if not built and "FOLDPROOF_LIBRARY" not in os.environ:
        sys.exit(f"foldproof is not installed, and {CHECKOUT} has no build*/library/libfoldproof.so.0: pip install . there, or ci/setup.sh build")
    if built:
        os.environ.setdefault("FOLDPROOF_LIBRARY", str(built[-1]))
    os.environ.setdefault("FOLDPROOF_FIXTURES", str(CHECKOUT / "fixtures"))
    sys.path.insert(0, str(CHECKOUT / "python"))


find()
