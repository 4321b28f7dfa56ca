"""What a call of verify found: judgements, and the exceptions that they raise."""

from __future__ import annotations

import math
import struct
from collections import Counter
from typing import Any, Dict, List, Optional, Union

from . import _library, _problem
from ._replay import Code, call_of

Record = Dict[str, Any]
# Claims that need launches, strides or ranks; and those that, for rows, need a known operation.
_NOT_OF_CALLABLES = {"launch_invariant", "stride_invariant", "message_invariant", "world_invariant", "rank_agreement"}
_NOT_OF_ROWS = {"padding_invariant"}


# The format of a dtype for struct, and how many digits distinguish its numbers.
_FORMATS = {"f16": ("e", 5), "f32": ("f", 9), "f64": ("d", 17)}


def _value(bits: str, dtype: str) -> Union[float, int, None]:
    """The number that the bits stand for; None of a dtype that Python cannot read."""
    pattern = bytes.fromhex(bits[2:])
    if dtype.startswith("i"):
        return int.from_bytes(pattern, "big", signed=True)
    if dtype == "bf16":
        pattern, dtype = pattern + b"\0\0", "f32"
    return struct.unpack(">" + _FORMATS[dtype][0], pattern)[0] if dtype in _FORMATS else None


def _number(bits: str, dtype: str) -> str:
    """The bits, with the number that they stand for."""
    value = _value(bits, dtype)
    if isinstance(value, int):
        return str(value)
    return bits if value is None else f"{bits} ({value:.{_FORMATS['f32' if dtype == 'bf16' else dtype][1]}g})"


def _result_dtype(record: Record) -> str:
    return str(record.get("result_dtype", record["dtype"]))


def _is_mean(record: Record) -> bool:
    """Whether the result that refutes a sum is the sum divided by the number of terms, but for rounding."""
    got, want = (_value(record[key], _result_dtype(record)) for key in ("got", "want"))
    return got is not None and want is not None and math.isclose(got * record["cols"], want, rel_tol=2**-7)



LEFT_OUT = "left out: the time limit of "  # as the library says it


class Failure(AssertionError):
    """A call of verify failed: `record` is the first failed judgement, as `foldproof verify --jsonl` writes it; `result` holds all of them."""

    def __init__(self, result: "Result", record: Record, text: str):
        super().__init__(text)
        self.result, self.record = result, record

    def __reduce__(self) -> Any:
        return type(self), (self.result, self.record, str(self))

    def _at(self, key: str) -> Any:
        return self.record.get(key)

    subject = property(lambda self: self._at("subject"), doc="its name")
    claim = property(lambda self: self._at("claim"), doc="the claim's name")
    case = property(lambda self: self._at("case"), doc="the case's name")
    dtype = property(lambda self: self._at("dtype"), doc="the terms' dtype")
    seed = property(lambda self: self._at("seed"), doc="the generator's seed; None: the input was not generated")
    row = property(lambda self: self._at("row"), doc="the first row that is wrong; None: none was compared")
    element = property(lambda self: self._at("element"), doc="of problem 'rows': the first element of that row that differs")
    got = property(lambda self: self._at("got"), doc="its bits, '0x3f800000'; None: none was compared")
    want = property(lambda self: self._at("want"), doc="the bits that were wanted")
    replay = property(lambda self: self.result.replay(self.record), doc="a line of Python that judges only that case")


class Refuted(Failure):
    """A claim does not hold."""


class Broken(Failure):
    """The callable failed: an exception, or results of a wrong shape, dtype or device. Its own traceback is in the message."""


class NothingJudged(Exception):
    """No requested claim was judged in any case, whatever else held: that proves nothing. The message has the reasons."""


class Result:
    """All judgements of a call of verify.

    judgements: records as `foldproof verify --jsonl` writes them; counts: how many of each verdict, "held", "refuted", "skipped",
    "broken"; verdicts: the same for each claim; untried: claims of the preset "reproducible" that were not tried, if the user named no claims;
    notes: large errors that no claim refutes, and samples of results; unclaimed: judgements of alignment_invariant, which is tried on a few
    cases if the user named no claims: for information, so that they are counted nowhere and no failure."""

    def __init__(self, fn: Code, asked: Dict[str, Any], named: bool = True) -> None:
        self.judgements: List[Record] = []
        self.unclaimed: List[Record] = []
        self.asked_for: List[str] = []
        self.tracebacks: Dict[str, str] = {}
        self._fn, self._asked, self._named = fn, asked, named
        self.file: Optional[str] = None  # of the fixtures, if the caller has named one by its path
        self._others: Dict[str, Result] = {}  # by the subject's name: those of the other outputs

    @property
    def counts(self) -> Dict[str, int]:
        counts = {"held": 0, "refuted": 0, "skipped": 0, "broken": 0}
        for record in self.judgements:
            counts[record["verdict"]] = counts.get(record["verdict"], 0) + 1
        return counts

    @property
    def verdicts(self) -> Dict[str, Dict[str, int]]:
        verdicts: Dict[str, Dict[str, int]] = {}
        for record in self.judgements:
            of_claim = verdicts.setdefault(record["claim"], {})
            of_claim[record["verdict"]] = of_claim.get(record["verdict"], 0) + 1
        return verdicts

    @property
    def left_out(self) -> Dict[str, int]:
        """How many cases of each claim were left out because of the time limit."""
        return dict(Counter(r["claim"] for r in self.judgements if r["verdict"] == "skipped" and r.get("reason", "").startswith(LEFT_OUT)))

    @property
    def untried(self) -> List[str]:
        """The claims that were not tried, as the command reports them for guests, without those that cannot be tried on a callable."""
        if self._named:
            return []
        tried = {*self.verdicts, *(r["claim"] for r in self.unclaimed), *_NOT_OF_CALLABLES, *(_NOT_OF_ROWS if self._asked.get("problem") == "rows" else ())}
        return [claim for claim in _library.claims_of("reproducible") if claim not in tried]

    @property
    def notes(self) -> List[str]:
        """Errors of claims that held and that deserve a look: over 1,000 ulps in a sum that hardly cancels, in an undeclared order. And
        verdicts that held over a sample of the results."""
        worst: Dict[str, Record] = {}
        for record in self.judgements:
            if record.get("well_conditioned_ulps", 0) > worst.get(record["subject"], {}).get("well_conditioned_ulps", 0):
                worst[record["subject"]] = record
        return [
            f"up to {record['well_conditioned_ulps']:.2g} ulps off on well-conditioned sums ({record['case']}): within the worst case over all orders; "
            "claim accurate_as='host/pairwise' or ulps=N to refute this"
            for record in worst.values()
        ] + self._sampled()

    def _sampled(self) -> List[str]:
        sampled = [r for r in self.judgements if r["verdict"] == "held" and "results_judged" in r]
        return [f"{r['results_judged']:,} of {r['rows']:,} results judged ({r['case']}, {r['claim']}; {len(sampled)} such in all)" for r in sampled[:1]]

    def _refuted_unclaimed(self) -> List[str]:
        """The same line as the command's."""
        refuted = [r for r in self.unclaimed if r["verdict"] == "refuted"]
        cases = f"{len(refuted)} case{'s' if len(refuted) > 1 else ''}"
        return [f"not claimed: {r['claim']} is refuted in {cases}, first {r['case']}" for r in refuted[:1]]

    def __repr__(self) -> str:
        notes = "".join(f"; note: {note}" for note in self.notes)
        left_out = [claim for claim in self.untried if claim in self.asked_for]
        unclaimed = [claim for claim in self.untried if claim not in left_out]
        told = [f"; not tried, because the fixtures leave {'them' if len(left_out) > 1 else 'it'} out: {', '.join(left_out)}"] if left_out else []
        told += [f"; not tried, because not claimed: {', '.join(unclaimed)}"] if unclaimed else []
        told += [f"; {line}" for line in self._refuted_unclaimed()]
        return f"<foldproof.Result: {self._told(reasons=True)}{''.join(told)}{notes}>"

    def _told(self, reasons: bool = False) -> str:
        why = {"skipped": f" ({self._reasons()})"} if reasons else {}
        return ", ".join(f"{n} {verdict}{why.get(verdict, '')}" for verdict, n in self.counts.items() if n) or "nothing judged"

    def _reasons(self, most: int = 4) -> str:
        """The reasons of skips, most frequent first."""
        reasons = Counter(r.get("reason", "") for r in self.judgements if r["verdict"] == "skipped").most_common()
        told = [f"{n} {reason}" for reason, n in reasons[:most]]
        if len(reasons) > most:
            told.append(f"{sum(n for _, n in reasons[most:])} for {len(reasons) - most} other reasons")
        return "; ".join(told)

    def _broken(self) -> List[str]:
        """Says first that the callable failed, if it did: a refutation may be a consequence of that."""
        cases = {(r["case"], r["dtype"]) for r in self.judgements}
        broken = [r for r in self.judgements if r["verdict"] == "broken"]
        if not broken:
            return []
        n = len({(r["case"], r["dtype"]) for r in broken})
        return [f"{broken[0]['subject']}: broken on {n} of {len(cases)} cases, first on {broken[0]['case']}", f"  {broken[0].get('reason', '')}"]

    def of(self, *, claim: Optional[str] = None, dtype: Optional[str] = None) -> "Result":
        """The judgements of one claim, or of the claims of a preset; or for terms of one dtype."""
        part = Result(self._fn, self._asked)
        part.tracebacks, part._others, part.file = self.tracebacks, self._others, self.file
        claims = None if claim is None else _library.claims_of(claim)
        part.asked_for = self.asked_for if claims is None else claims
        for ours, theirs in ((self.judgements, part.judgements), (self.unclaimed, part.unclaimed)):
            theirs += [r for r in ours if (claims is None or r["claim"] in claims) and dtype in (None, r["dtype"])]
        return part

    def check(self) -> "Result":
        """Raises Refuted, Broken or NothingJudged; returns itself if at least one requested claim held and none failed."""
        for verdict, kind in (("refuted", Refuted), ("broken", Broken)):
            found = self._failed(verdict)
            if found:
                raise kind(self, found[0], self._describe(found[0]))
        if any(r["verdict"] == "held" and r["claim"] in self.asked_for for r in self.judgements):
            return self
        what = "all was skipped" if not self.counts["held"] else f"no requested claim was judged: {', '.join(self.asked_for)}"
        raise NothingJudged(": ".join(filter(None, [what, self._reasons()])))

    def explain(self, explanation: Record) -> None:
        """Adds to the judgement that the record names how the order of additions changed."""
        for record in self.judgements:
            if all(record[key] == explanation[key] for key in ("subject", "claim", "case")):
                record["order_change"] = explanation["order_change"]

    def add_output(self, name: str, other: "Result") -> None:
        """Adds the judgements of another output, a subject of that name."""
        self._others[name] = other
        self.judgements += other.judgements
        self.unclaimed += other.unclaimed
        self.tracebacks.update(other.tracebacks)

    def tell_once(self, last_run: int) -> None:
        """Tells state that was left changed once, as when a library sets itself up, from what each call leaves. `last_run`: the last run that
        left some of Python's changed; 0: only the harness saw the change, which does not look after each run."""
        verdicts = [r for r in self.judgements if r["claim"] == "leaves_no_trace"]
        if last_run <= 1 and [r["verdict"] for r in verdicts[:2]] == ["refuted", "held"] and all(r["verdict"] == "held" for r in verdicts[2:]):
            when = "at the first call only" if last_run else "once, in the first case only"
            verdicts[0]["reason"] += f"; set {when}: nothing was left changed in the {len(verdicts) - 1} later cases"

    def _failed(self, verdict: str) -> List[Record]:
        """Those with the verdict: claims about values first, then about order, traces last; of each claim those that lack their last terms first, then the smallest inputs."""
        place = {claim: k for k, claim in enumerate(_library.claims_of("promises"))}
        found = [r for r in self.judgements if r["verdict"] == verdict]
        return sorted(found, key=lambda r: (place.get(r["claim"], len(place)), not r.get("lost_tail"), r["rows"] * r["cols"], r["rows"]))

    def _also_refuted(self, record: Record) -> List[str]:
        """What is refuted in addition to the record."""
        counts = Counter(r["claim"] for r in self._failed("refuted"))
        counts[record["claim"]] -= 1
        told = [f"{claim} ({n}{' more' if claim == record['claim'] else ''} case{'s' if n > 1 else ''})" for claim, n in counts.items() if n]
        return [f"  also refuted: {', '.join(told)}"] if told else []

    def _order_change(self, record: Record) -> List[str]:
        """It is found out once for each claim, and may be of another case than the smallest."""
        of_claim = [r for r in self.judgements if r["claim"] == record["claim"] and r.get("order_change")]
        of_claim.sort(key=lambda r: r is not record)
        return [f"  order{'' if r is record else ' on ' + r['case']}: {r['order_change']}" for r in of_claim[:1]]

    def replay(self, record: Record) -> str:
        """A line of Python that judges the record's claim on its case, and nothing else."""
        if record["subject"] in self._others:
            return self._others[record["subject"]].replay(record)
        file = record["found"]["file"] if "found" in record else self.file
        asked = dict(self._asked, dtypes=record["dtype"], claims=record["claim"], only=record["claim"], fixtures=file or record["case"])
        if "data" not in asked:
            return call_of(self._fn, asked)
        asked.update(fixtures=None, data=asked["data"] if record["case"].startswith("data:") else record["case"][4:].rsplit("/", 3)[0])
        return call_of(self._fn, asked, f"{_problem.shape_of(record)} {record['dtype']}, XXH3 {record['input_xxh3']}")

    def _hint(self, record: Record) -> List[str]:
        """What a user may have meant who has a mean judged as a sum, or a product that takes contiguous inputs only."""
        if record["claim"] == "bounded" and self._asked.get("problem") == "matmul" and self._asked.get("strides") is None:
            wrong = [r for r in self.judgements if r["verdict"] == "refuted" and r["claim"] == "bounded"]
            return ["  it is wrong on inputs that are not contiguous, and on no others; strides=False: it takes no such inputs"] if all("layout" in r for r in wrong) else []
        if record["claim"] != "bounded" or self._asked.get("problem") != "sum":
            return []
        wrong = [r for r in self.judgements if r["verdict"] == "refuted" and r["claim"] == "bounded" and r["cols"] > 1 and int(r.get("want", "0x0"), 16)]
        means = sum(map(_is_mean, wrong))
        return ["  it seems to be a mean, and was judged as a sum: say problem='rows'"] if means > 2 and 2 * means > len(wrong) else []

    def told(self, record: Record) -> List[str]:
        """What the record says: the claim and the case, why, and the numbers."""
        shape = f"{_problem.shape_of(record)} {record['dtype']}"
        seed = f", seed {record['seed']}" if "seed" in record else ""
        lines = [f"{record['subject']}: {record['claim']} is {record['verdict']} on {record['case']} ({shape}{seed})"]
        if record.get("reason"):
            lines.append(f"  {record['reason']}")
        lines += self._order_change(record)
        if "got" in record:
            element = f", element {record['element']}" if "element" in record else ""
            got, want = (_number(record[key], _result_dtype(record)) for key in ("got", "want"))
            lines.append(f"  {_problem.result_of(record, record['row'])}{element}: got {got}, want {want}")
        return lines

    def _describe(self, record: Record) -> str:
        lines = self._broken() if record["verdict"] == "refuted" else []
        lines += self.told(record)
        lines += self._also_refuted(record) if record["verdict"] == "refuted" else []
        lines += [f"  {line}" for line in self._refuted_unclaimed()]
        lines += self._hint(record)
        lines.append(f"  in all: {self._told()}")
        if self.left_out:
            reason = next(r["reason"] for r in self.judgements if r.get("reason", "").startswith(LEFT_OUT))
            lines.append(f"  {reason}: {', '.join(f'{n} cases of {claim}' for claim, n in self.left_out.items())}")
        lines.append(f"  reproduce: {self.replay(record)}")
        if self.counts["broken"] and record["subject"] in self.tracebacks:
            lines.append(self.tracebacks[record["subject"]].rstrip())
        return "\n".join(lines)
