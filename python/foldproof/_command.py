"""Runs the command foldproof that is in a wheel, with the wheel's fixtures."""

import os
import sys

from ._library import COMPILED, HERE


def main() -> None:
    os.environ.setdefault("FOLDPROOF_FIXTURES", str(HERE / "fixtures"))
    os.execv(COMPILED / "foldproof", ["foldproof", *sys.argv[1:]])
