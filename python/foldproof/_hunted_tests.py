"""--foldproof-hunt: the tests of a reduction hunt the callable, in place of judging it on fixtures."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Tuple

import pytest

from ._claims import meant_by
from ._hunt import DRAWN, HUNTED, Hunt, hunt
from .pytest_plugin import or_skip


class Hunts:
    """A callable is hunted once for a dtype and for all its claims; each test takes the finds of its claim."""

    def __init__(self) -> None:
        self._done: Dict[Tuple[Any, ...], Hunt] = {}

    def _of(self, what: Tuple[Any, ...], fn: Callable[..., Any], asked: Mapping[str, Any], time: str, alone: bool) -> Hunt:
        if what not in self._done:
            own = {name: value for name, value in asked.items() if name not in DRAWN}
            self._done[what] = hunt(fn, time=time, check=False, jobs=None if alone else 1, **own)
        return self._done[what]

    def judge(self, item: Any, what: Tuple[Any, ...], claim: str, fn: Callable[..., Any], asked: Mapping[str, Any], time: str) -> None:
        """Fails the test with the text of what refutes the claim; skips it if a hunt does not judge it."""
        __tracebackhide__ = True
        claims = [name for name in meant_by(claim, asked.get("problem")) if name in HUNTED]
        if not claims:
            pytest.skip(f"a hunt does not judge {claim}")
        alone = not hasattr(item.config, "workerinput")
        hunted = or_skip(lambda **_: self._of(what, fn, asked, time, alone), device=asked.get("device"))
        found = [find for find in hunted.found if find.claim in claims]
        records = [{key: value for key, value in find.record.items() if key != "found"} for find in found]
        item.__dict__.setdefault("_foldproof_records", []).extend(records if item.config.getoption("--foldproof-record") else [])
        if found:
            pytest.fail("\n".join([*(find.text for find in found), hunted.summary]), pytrace=False)
        if not hunted.counts["held"]:
            pytest.skip(f"nothing was judged: {hunted.summary}")
