"""foldproof.verify: judges a Python callable as a guest in this process."""

from __future__ import annotations

import ctypes
import functools
import inspect
import json
import os
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays, _claims, _data, _fresh, _library, _outputs, _problem, _replay, _signals, _threads
from ._callable import Guest
from ._progress import Progress
from ._result import LEFT_OUT, Record, Result
from ._rows import Rows
from ._sizes import Around, sizes_of
from ._takes import Takes

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")

LIMIT = 600.0  # seconds; callables that take microseconds end in a fifth of it even where ten processes want each processor
_OF_THIS_PROCESS = 0.75  # of the time limit; the rest is for the new process
_INI = ".ini"
_USUAL_DTYPES = ["f32", "f16", "bf16"]  # of matrix products on a GPU
Names = Union[str, Sequence[str], None]


def listed(names: Names, option: str = "names") -> Optional[List[str]]:
    """["a", "b"] from "a,b" or from any sequence; `option` is whose they are."""
    if names is None:
        return None
    words = [names] if isinstance(names, str) else names
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise TypeError(f"{option}={names!r}: names are text, as 'f32,f64' or ['f32', 'f64']")
    found = [word for name in words for word in name.replace(",", " ").split()]
    if not found:
        raise ValueError(f"{option}={names!r} names nothing")
    return found


def _skips_nan(nan: Optional[str]) -> bool:
    if nan not in (None, "skips"):
        raise ValueError(f"nan={nan!r}: 'skips', of a function that leaves out terms that are NaN")
    return nan is not None


def _above_zero(name: str, value: Optional[float]) -> float:
    """0 for None; else the number, which is finite and above 0."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name}={value!r}: a number, as {name}=4")
    if not 0 < value < float("inf"):
        raise ValueError(f"{name}={value!r}: a number above 0")
    return float(value)


def _joined(names: Optional[List[str]]) -> Optional[bytes]:
    return None if names is None else _library.text(",".join(names))


def _fixture_file(fixtures: Names) -> Optional[str]:
    """The path, if one file of fixtures is named by its path, such as a hunt's find."""
    return fixtures if isinstance(fixtures, str) and fixtures.endswith(_INI) and "," not in fixtures and os.path.isfile(fixtures) else None


def check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable")


def _name_of(fn: Any) -> str:
    name = getattr(fn, "__qualname__", type(fn).__qualname__).replace("<", "").replace(">", "")
    return "py/" + "".join(c if c.isascii() and (c.isalnum() or c in "_-.@+") else "_" for c in name)


def _guests(fn: Any, other: Any, name: str, like: str, cuda: bool, rows: Callable[[], Optional[Rows]], form: _problem.Form,
            outputs: Union[int, str, None] = None) -> List[Guest]:
    of = (lambda name, is_twin: None) if outputs is None else functools.partial(_outputs.Outputs, outputs)
    guests = [Guest(name, fn, like, cuda, rows(), form, of(name, False))]
    if callable(other):
        twin = _name_of(other)
        twin = twin if twin != name else twin + "@other"
        guests.append(Guest(twin, other, like, cuda, guests[0].rows, form, of(twin, True)))
    return guests


def _table(guests: List[Guest], **said: Union[bytes, int, float, None]) -> Any:
    subjects = (_library.Subject * len(guests))()
    for subject, guest in zip(subjects, guests):
        subject.name, subject.run = _library.text(guest.name), guest.run
        for field, value in said.items():
            setattr(subject, field, value)
    if len(guests) > 1:  # the twin is run but not judged
        subjects[1].claims, subjects[1].same_bits_as, subjects[1].accurate_as, subjects[1].ulps = b"run_to_run", None, None, 0.0
    return _library.Table(1, ctypes.sizeof(_library.Subject), len(guests), subjects)


def _unseen(like: str) -> Any:
    """Claims that no callable could break, because of how it gets and returns arrays."""
    claims = {"writes_output": "a callable returns its results: it is given no output to write", "launch_invariant": _threads.NO_LAUNCH}
    if like == "jax":
        claims["alignment_invariant"] = "JAX takes only aligned arrays: others are copied before it sees them"
    return (_library.Unseen * len(claims))(*(_library.Unseen(claim.encode(), reason.encode()) for claim, reason in claims.items()))


def run_here(guests: List[Guest], each: Callable[[Record], None], run: Callable[[Any], int], kept: Tuple[str, ...] = ()) -> int:
    """Calls `each` for every record that run(take) gives; after an exception of the callables, or of `each`, only for records of the types `kept`. The exception is
    raised once it has ended."""
    stop: List[BaseException] = []

    def take(line: bytes, _context: Any) -> int:
        try:
            for guest in guests:
                stop.extend(guest.stop)
            record = json.loads(line) if kept or not stop else {}
            if not stop or record["type"] in kept:
                each(record)
        except BaseException as error:
            stop.append(error)
        return len(stop)

    with guests[0].quiet(), _signals.lost_kept(guests[0].stop, take, *(guest.run_of for guest in guests)), _signals.noted() as signals:
        for guest in guests:
            guest.signals = signals
        code = run(_library.Take(take))
    for guest in guests:
        stop.extend(error for error in guest.stop if error not in stop)
    if stop:
        raise stop[0]
    return code


def _run(table: Any, options: Any, guests: List[Guest], each: Callable[[Record], None]) -> None:
    code = run_here(guests, each, lambda take: int(_library.library().foldproof_verify(ctypes.byref(table), ctypes.byref(options), take, None)))
    _library.check(0 if code == _library.UNSUPPORTED else code)  # Result.check says what was not judged


def judge(
    fn: Callable[..., Any],
    *,
    problem: str = "sum",
    dtypes: Names = None,
    device: str = "cpu",
    claims: Names = None,
    only: Names = None,
    fixtures: Names = None,
    set: Optional[str] = None,
    name: Optional[str] = None,
    same_bits_as: Union[Callable[..., Any], str, None] = None,
    like: Optional[str] = None,
    accumulator: Optional[str] = None,
    result: Optional[str] = None,
    order: Optional[str] = None,
    method: Optional[str] = None,
    repeats: int = 3,
    around: Around = (),
    sweep: Optional[str] = None,
    strides: Optional[bool] = None,
    finite: bool = False,
    nan: Optional[str] = None,
    seconds: float = LIMIT,
    data: Any = None,
    axis: int = -1,
    accurate_as: Optional[str] = None,
    ulps: Optional[float] = None,
    wraps: bool = False,
    factor_dtype: Optional[str] = None,
    outputs: Union[int, str, None] = None,
    _take: Optional[Callable[[Record], None]] = None,
    _backwards: bool = False,
    _untrusted: bool = False,
    _full: bool = False,
    _results: Optional[Dict[Tuple[str, str], Any]] = None,
    _npy: Sequence[str] = (),
    _is_other: bool = False,
    _folder: Optional[str] = None,
    _hunt: Optional[Callable[..., None]] = None,
    _parts: Optional[_problem.Parts] = None,
) -> Result:
    """As verify, but returns the result whatever it is: Result.check raises."""
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r}: 'cpu' or 'cuda'")
    repeats = _library.whole("repeats", repeats, 1, 1_000_000)  # as the command's --repeats
    sizes = sizes_of(around, sweep)
    if sizes.sweep and problem == "rows":
        raise ValueError("sizes are swept in sums, whose value is known: problem='rows' takes no sweep=, and around= without an axis")
    check_callable(fn)
    if not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise ValueError(f"seconds={seconds!r}: a number, 0 for no limit")
    if data is not None and (fixtures is not None or set is not None):
        raise ValueError("data= is judged in place of fixtures: leave out fixtures= and set=")
    file = _fixture_file(fixtures)
    if file:  # as the command judges it: all of its cases, in their order
        _folder, fixtures, set, seconds = os.path.dirname(file) or ".", os.path.basename(file)[: -len(_INI)], "all", 0 if seconds == LIMIT else seconds
    form = _problem.find(problem, axis if data is None else -1)
    named = form.name
    _outputs.check(outputs, form)
    if "->" in str(problem) and (data is None or form.transposed) and axis not in ((-1, 0) if form.transposed else (-1,)):
        raise ValueError(f"problem={problem!r}, axis={axis!r}: the signature says {'that axis 0' if form.transposed else 'which axis'} is folded")
    begun, own = time.monotonic(), None if data is None else _data.Data(data, axis, form)
    form = form._replace(parts=own.parts if own else _parts or {})
    tried = _USUAL_DTYPES if dtypes is None and not own and named == "matmul" and device == "cuda" and not factor_dtype else ["f32"]
    dtypes = dtypes if dtypes is not None else own.dtypes if own else tried
    npy = own.paths if own else list(_npy)
    like = _arrays.pick(like, device == "cuda")
    _arrays.check(like, listed(dtypes, "dtypes") or ())
    wanted = listed(claims, "claims")
    asked: Dict[str, Any] = {"problem": problem, "device": None if device == "cpu" else device, "like": like, "set": None if file else set}
    asked.update(name=name, accumulator=accumulator, result=result, order=order, method=method, repeats=repeats if repeats != 3 else None)
    asked.update(around=sizes.near or None, sweep=sweep, strides=strides, accurate_as=accurate_as, ulps=ulps, wraps=wraps or None, factor_dtype=factor_dtype, finite=finite or None, nan=nan, seconds=seconds if seconds != (0 if file else LIMIT) else None)
    asked.update(outputs=outputs)
    asked.update({"data": _data.code_of(data)} if own else {}, axis=axis if axis != -1 else None)
    asked["same_bits_as"] = _replay.code_of(same_bits_as, "other") if callable(same_bits_as) else same_bits_as
    rows = named == "rows"
    if rows and (order or method or accumulator or isinstance(same_bits_as, str)):
        raise ValueError("problem='rows' is a function of rows that foldproof does not know: it has no order, method, accumulator or compiled reference")
    name = name or _name_of(fn)
    runs = fn if _backwards or _hunt else _fresh.if_not_imported(fn)
    guests = _guests(runs, same_bits_as, name, like, device == "cuda", lambda: Rows(result, _full) if rows else None, form, outputs)
    if named == "matmul":
        for guest in guests:
            guest.takes = Takes(guest, tried, strides is None)
    table = _table(
        guests,
        problems=_library.text(named),
        dtypes=_joined(listed(dtypes, "dtypes")),
        accumulator=_library.text(accumulator),
        result=b"f64" if rows else _library.text(result),
        order=_library.text(order),
        method=_library.text(method),
        engine=b"cuda" if device == "cuda" else b"host",
        claims=_joined(wanted),
        accurate_as=_library.text(accurate_as),
        ulps=_above_zero("ulps", ulps),
        strides=int((named == "matmul" if strides is None else strides) and like != "jax"),  # jax takes only contiguous memory
        finite=int(finite),
        wraps=int(wraps),
        factor_dtype=_library.text(factor_dtype),
        skips_nan=int(_skips_nan(nan)),
        same_bits_as=_library.text(guests[-1].name) if callable(same_bits_as) else _library.text(same_bits_as),
    )
    unseen = _unseen(like)
    options = _library.Options(
        size=ctypes.sizeof(_library.Options),
        subjects=_library.text(name),
        claims=_joined(listed(only, "only")),
        fixtures=_joined(listed(fixtures, "fixtures")),
        set=_library.text(set or "guests"),
        folder=os.fsencode(_folder) if _folder else _library.fixtures(),
        repeats=repeats,
        around=(ctypes.c_uint64 * len(sizes.rows))(*sizes.rows),
        n_around=len(sizes.rows),
        unseen=unseen,
        n_unseen=len(unseen),
        backwards=_backwards,
        full=_full,
        seconds=seconds if _backwards else seconds * _OF_THIS_PROCESS,
        npy=(ctypes.c_char_p * len(npy))(*map(os.fsencode, npy)),
        n_npy=len(npy),
        problem=_library.text(named) if npy and not rows else None,
        sweep=_library.text(sizes.sweep),
        sweep_adds=sizes.adds,
        untrusted=_untrusted,
    )
    found = Result(_replay.code_of(fn, "fn"), asked, named=claims is not None or only is not None)
    found.file = file
    if _hunt:
        _hunt(table, options, guests, found)
        return found
    guests[0].keeps_results = _results is not None

    def each(record: Record) -> None:
        if record["type"] == "explanation":
            found.explain(record)
            return
        (found.judgements if record["promised"] else found.unclaimed).append(record)
        if record.get("reason", "").startswith(LEFT_OUT):
            record["reason"] = f"{LEFT_OUT}{seconds:g} s"
        if _results is not None:
            _results[record["case"], record["dtype"]] = guests[0].results
        if record["subject"] == name:
            guests[0].state.explain(record)
        if guests[0].rows:
            guests[0].rows.explain(record)
        if _take:
            _take(record)
        progress.tell(len(found.judgements), record["case"])

    with Progress(_take is None) as progress:
        _run(table, options, guests, each)
    found.asked_for = _claims.asked_for(dict(asked, claims=wanted, only=listed(only, "only")))
    found.tracebacks = {guest.name: guest.traceback for guest in guests if guest.traceback}
    if _take is None:
        left = max(seconds * (1 - _OF_THIS_PROCESS), seconds - (time.monotonic() - begun))
        in_new = dict(asked, dtypes=listed(dtypes, "dtypes"), seconds=left, _folder=_folder, _parts=form.parts or None, set=set)
        _fresh.judge(fn, in_new, found.judgements, npy)
        _threads.judge(fn, in_new, found.judgements, npy)
    found.tell_once(guests[0].state.left_at)
    for record in found.judgements + found.unclaimed:
        if own:
            own.rename(record)
        if record["verdict"] in ("refuted", "broken"):
            record["asked"] = dict(record.get("asked", {}), python=found.replay(record))  # the command has no such subject
    if guests[0].outputs and not _is_other and _take is None:
        said: Dict[str, Any] = dict(dtypes=dtypes, device=device, fixtures=listed(fixtures, "fixtures"), set=set, name=name, same_bits_as=same_bits_as, like=like, repeats=repeats)
        said.update(around=sizes.rows, strides=strides, finite=finite, nan=nan, seconds=seconds, data=data, axis=axis)
        _outputs.judge_others(judge, fn, guests[0].outputs, guests[-1].outputs if len(guests) > 1 else None, found, said, named)
    return found


def options_of(fn: Callable[..., Any]) -> List[str]:
    return [name for name, parameter in inspect.signature(fn).parameters.items() if parameter.kind == parameter.KEYWORD_ONLY and name[0] != "_"]


def check_options(asked: Mapping[str, Any], beside: Sequence[str] = ()) -> None:
    """Refuses what neither verify takes nor `beside` has, by its name."""
    known = options_of(judge)
    for name in asked:
        if name not in ("fn", *known, *beside):
            raise TypeError(f"{name!r} is no option of foldproof.verify: it has {', '.join(known)}")


def _checked(judge: "Callable[P, Result]") -> "Callable[P, Result]":
    @functools.wraps(judge)
    def verify(*args: "P.args", **asked: "P.kwargs") -> Result:
        __tracebackhide__ = True
        check_options(asked)
        return judge(*args, **asked).check()

    verify.__name__ = verify.__qualname__ = "verify"
    return verify


verify = _checked(judge)
verify.__doc__ = """Judges a callable in this process; raises Refuted, Broken or NothingJudged.

    fn(x) gets an array x of shape (rows, cols), of a dtype in `dtypes`. It returns the reduction of each row: an array of shape (rows,)
    or (rows, 1), of dtype `result`. For problem "dot", fn(x, y) gets two arrays of the same shape; for "matvec", fn(W, x) gets a matrix of shape
    (rows, cols) and a vector of shape (cols,); for "matmul", fn(A, B) gets (m, k) and (k, n) and returns (m, n), each with a first axis more where there
    are several batches; for "keyed", fn(values, keys, slots) gets (k, n) values, or (k,) if n is 1, k keys as int64 (jax: int32), and the number of slots, and
    returns (slots, n). Of a scan it returns the shape of x. For problem "rows" it may return an array of any shape with `rows` rows, of complex numbers or any
    other numbers of up to 64 bits. If fn reduces axis 0 (axis=0), it gets matrices of shape (cols, rows), and returns (rows,) or (1, rows).

    The arrays are views of foldproof's memory. They are contiguous, except for stride_invariant, and aligned to their element only.
    After the call they no longer exist: return a new array, and keep none of them. (jax accepts only aligned memory, so it gets copies
    of arrays that are not aligned.) If fn raises NotImplementedError, the case is skipped, with that text as the reason.

    problem       "sum", "sumsq", "asum", "prod", "max", "min", "dot", "matvec", "matmul", "scan", "scan_max", "scan_min", "exclusive_scan", "keyed"; or "rows": any function of each row by itself (a norm, softmax, x @ W). foldproof
                  does not know the value of such a function, so claims about its value or the order of its terms are not judged.
                  Or a signature as einsum has them, with any letters: "ij->i" (sum), "ij,ij->i" (dot), "ij,j->i" (matvec), "ij,jk->ik" (matmul without
                  batches), "bij,bjk->bik" (always with that axis), in any order of an input's axes ("ji,j->i", as x @ W has it; "ij,kj->ik"). Several letters
                  may share an axis ("bhmd,bhnd->bhmn"): an extent is split into factors, with `data` into those of your arrays where they fit;
                  "k,k->m" (keyed of one column), "kn,k->mn" (always with columns)
    dtypes        dtypes of the terms: "f16", "bf16", "f32", "f64", "e4m3", "e5m2", "i8", "i32", "i64"; a list, or comma-separated. None: those of `data`; of
                  matrix products on a GPU f32, and f16 and bf16 if a small product shows that fn takes them; else f32
    device        "cpu", or "cuda" for arrays in device memory
    claims        what fn claims: names (`foldproof list claims`) or presets. None: bounded, run_to_run, fresh_process, and replays of a declared order; for "rows"
                  run_to_run, fresh_process, batch_invariant, alignment_invariant; `untried` of the result then names the others, and
                  `unclaimed` has the judgements of alignment_invariant, tried for information.
                  stays_in_bounds, keeps_input and leaves_no_trace are judged too
    only          judges only these of the claims above; None: all of them
    fixtures      globs of cases, fixtures or files; None: all of the set. Or the path of one file, "foldproof-found/found-1234.ini": its cases are judged in their order
    set           "guests" (the default cases and large batches), "default", "large", "products" or "all"; None: "guests"
    name          name of the subject: a-z, A-Z, 0-9 and / _ - . @ +; None: "py/" and the callable's name
    same_bits_as  another callable, or the name of one of foldproof's subjects, that must give the same bits: the claim same_bits_as
    like          framework of the arrays that fn gets: "numpy", "torch", "cupy" or "jax". None: torch if it was imported, else numpy;
                  on "cuda" torch, cupy or jax, the first that was imported
    accumulator   dtype of the partial results; None: f64 for f64 and for results in f64, and f32 for all others
    result        dtype of the results; None: that of the terms
    order         the declared order in which terms are joined (`foldproof list orders`), which `replays` needs
    method        how terms are added: "plain", "kahan", "neumaier", "exact", or "truncated" (tensor cores)
    repeats       number of repeats for run_to_run, up to 1,000,000
    around        a number of rows, or a list such as [256, 1024]: batch_invariant tries every size near these, and near powers of two. A text
                  "k=4096" (or m, n, batch): sums of that size, and of up to 3 less and more, are judged as well as fixtures, as those of sweep
    sweep         "k=8:20000:8": sums of whole numbers of each of these sizes (first, last, step) along axis k, m, n or batch, in place of fixtures.
                  `bounded` takes the exact result alone, and says which terms are missing
    accurate_as   an order (`foldproof list orders`): errors are within the bound of a plain sum of its height, whatever fn's own order is
    ulps          errors are at most so many ulps of the exact result, wherever that is finite: terms that cancel refute it of any plain
                  sum, so choose `fixtures` to which the claim applies
    wraps         True: results that are integers wrap, modulo 2^bits, where they leave the range of `result`; else they must not leave it
    factor_dtype  "tf32", "bf16" or "f16": fn may round the factors of a product ("dot", "sumsq", "matvec", "matmul") to it, to nearest or toward zero,
                  before it multiplies. The bound grows by what that may change; where all factors are numbers of that format it does not grow
    outputs       of a callable that returns a tuple, a list or a dict: the index or the key of the output that is judged. The other outputs are arrays with a
                  row for each row of x; their bits are compared, by those of the claims that compare a callable's results with its own, as the
                  subject "NAME@output1". Not for problems of several inputs, and not for axis=0
    strides       True: fn takes arrays that are not contiguous, and stride_invariant is judged; False: it gets none. None: False; matrix products get
                  them, and several batches; both are skipped if fn raises an exception for them, also in a small product
    finite        True: fn takes no NaN and no infinity, and gets none. (If it raises an exception for inputs without terms, with NaN or with infinities,
                  these are skipped with that reason in any case; on other inputs an exception breaks the judgement)
    nan           "skips": fn leaves out terms that are NaN, as np.nansum does. It gets none, and cases that have NaN are skipped with the reason
                  "it skips NaN". Infinities stay
    seconds       a time limit, 600 by default; 0: none. The shortest cases come first. What is left then is skipped with that reason, and
                  counted in `left_out` of the result
    data          arrays of your own in place of fixtures: one, a list, {name: array}, or paths of .npy files. Each 1-D slice along `axis` (the last one)
                  is a row. Of a problem with several inputs a tuple of what fn gets, or of paths, a file for each input: (x, y) for "dot", (W, x) for
                  "matvec", (A, B) for "matmul", (values, keys, slots) for "keyed"; or several tuples. Shapes are those of the signature, if `problem` is one
    axis          the axis that fn reduces: -1, or 0, which is "all but the last" of a matrix. With `data` it is the axis of data that is folded, whichever
                  it is there, and fn gets rows

    fresh_process starts a new process that imports fn, which must be a function of a module; for others it is skipped, with the reason.
    Raises ValueError for an unknown name, or if no case is selected; ImportError if numpy lacks a dtype (bf16 and 8-bit floats need
    ml_dtypes). Other Python threads keep running. On a terminal, a line on standard error shows the progress of a long run. Fixtures
    provoke overflows and NaN; numpy's warnings of these are suppressed while fn runs."""
