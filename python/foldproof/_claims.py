"""The claims that a call asks for, as foldproof_guest.h says what none means."""

from __future__ import annotations

from typing import Any, List, Mapping

from . import _library

# The claims on which every callable is judged in addition to its own.
TIDY = ("stays_in_bounds", "leaves_no_trace", "keeps_input")
_USUAL = "bounded,run_to_run,fresh_process"
_USUAL_OF_ROWS = "run_to_run,fresh_process,batch_invariant,alignment_invariant"
_NEVER_ROUND = ("max", "min")  # their value is judged by these instead of bounded
_OF_VALUES = ["correctly_rounded", "permutation_invariant"]


def words(names: Any, usual: str) -> List[str]:
    return (names if isinstance(names, str) else ",".join(names or ()) or usual).replace(",", " ").split()


def claimed(asked: Mapping[str, Any]) -> List[str]:
    """Names and presets. `same_bits_as` is a claim, and so is a declared order where no claims are named."""
    usual = _USUAL_OF_ROWS if asked.get("problem") == "rows" else _USUAL
    if asked.get("order") and asked.get("method") in (None, "plain"):
        usual += ",replays"
    claims = words(asked.get("claims"), usual)
    return claims + ["same_bits_as"] * (asked.get("same_bits_as") is not None and "same_bits_as" not in claims)


def meant_by(claim: str, problem: Any) -> List[str]:
    """The claims that a name or a preset stands for; of max and min, `bounded` means what they have instead, too."""
    found = _library.claims_of(claim)
    return found + _OF_VALUES * ("bounded" in found and problem in _NEVER_ROUND)


def asked_for(asked: Mapping[str, Any]) -> List[str]:
    """The claims that are judged because the user said so, or said nothing: all others are tidy ones."""
    return meant_by(",".join(words(asked.get("only"), ",".join(claimed(asked)))), asked.get("problem"))
