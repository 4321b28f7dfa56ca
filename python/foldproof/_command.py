"""Runs the command foldproof that is in a wheel, with the wheel's fixtures."""

import os
import sys

from ._library import COMPILED, HERE


def main() -> None:
    if "FOLDPROOF_FIXTURES" not in os.environ:
        os.environ.update(FOLDPROOF_FIXTURES=str(HERE / "fixtures"), FOLDPROOF_IN_PACKAGE="1")
    os.execv(COMPILED / "foldproof", ["foldproof", *sys.argv[1:]])
