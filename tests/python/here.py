"""What the suites of the package share: where the library is, or why they are skipped. NAME.py LIBRARY FIXTURES SANITIZERS"""
import os
import sys
from pathlib import Path

LIBRARY, FIXTURES, SANITIZERS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
if SANITIZERS != "none":
    print(f"skipped: a library with {SANITIZERS} cannot be loaded into python3")
    sys.exit(77)
try:
    import numpy

    numpy.seterr(all="ignore")
except ImportError:
    print("skipped: no numpy here")
    sys.exit(77)
os.environ.update(FOLDPROOF_LIBRARY=LIBRARY, FOLDPROOF_FIXTURES=FIXTURES)
sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "python"), str(Path(__file__).resolve().parents[1])]
import usual_signals  # noqa: E402, F401
