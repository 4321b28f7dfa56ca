"""A file of records, as `foldproof verify --jsonl` writes it."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Optional

from . import _library


def environment() -> bytes:
    """The machine and the software, as JSON."""
    text = ctypes.create_string_buffer(1 << 20)
    _library.check(_library.library().foldproof_environment(text, len(text), None))
    return text.value


def _environment_elsewhere() -> Optional[bytes]:
    """By another process, since asking for GPUs would begin CUDA's driver in this one; None if that fails."""
    told = "import sys; from foldproof import _records; sys.stdout.buffer.write(_records.environment())"
    try:
        done = subprocess.run([sys.executable, "-c", told], env=dict(os.environ, PYTHONPATH=_library.search_path()), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout or None


class Records:
    """Writes the file, which appears under its name when it is closed."""

    def __init__(self, path: Path) -> None:
        self._at = ctypes.c_void_p()
        _library.check(_library.library().foldproof_records_open(os.fsencode(path), _environment_elsewhere(), ctypes.byref(self._at)))

    def add(self, record: Dict[str, Any]) -> None:
        _library.check(_library.library().foldproof_records_add(self._at, json.dumps(record).encode()))

    def close(self, whole: bool) -> None:
        """If not whole, the records are marked as incomplete, and a file that was there before stays."""
        at, self._at = self._at, ctypes.c_void_p()
        _library.check(_library.library().foldproof_records_close(at, whole))
