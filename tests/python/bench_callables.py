#!/usr/bin/env python3
"""What a case of 1 K elements costs beside the callable's own time, and a run of it: processor's time, medians of 9. bench_callables.py LIBRARY FIXTURES SANITIZERS"""
import statistics
import time

import here  # noqa: F401

import foldproof

FEW, MANY = "normal/f32/sum/1x1023/seed1", "normal/*/sum/1x1023/*,normal/f32/sum/1x102?/*"  # 1 K elements each
own = [0.0, 0]


def row_sum(x):
    began = time.process_time()
    result = x.sum(-1)
    own[0] += time.process_time() - began
    own[1] += 1
    return result


def once(fixtures, **asked):
    """Processor's seconds without the callable's, cases, runs."""
    own[:] = [0.0, 0]
    began = time.process_time()
    result = foldproof.judge(row_sum, like="numpy", fixtures=fixtures, dtypes="f16,f32,f64", **asked)
    spent = time.process_time() - began - own[0]
    assert result.counts["held"] and not result.counts["refuted"] and not result.counts["broken"], result
    return spent, len({record["case"] for record in result.judgements}), own[1]


for what, asked in (("bounded, run_to_run", {"claims": "bounded,run_to_run"}),
                    ("run_to_run alone", {"claims": "run_to_run", "only": "run_to_run"}),
                    ("and batches and addresses", {"claims": "run_to_run,alignment_invariant,batch_invariant"}),
                    ("the same of problem rows", {"problem": "rows"})):
    once(MANY, **asked)
    told = []
    for _ in range(9):
        one, many = once(FEW, **asked), once(MANY, **asked)
        told.append(((many[0] - one[0]) / (many[1] - one[1]), (many[0] - one[0]) / (many[2] - one[2]), one[0]))
    case, run, start = (statistics.median(column) for column in zip(*told))
    print(f"{what:28} {1e3 * case:7.3f} ms a case, {1e6 * run:6.1f} us a run ({case / run:.0f} a case), {1e3 * start:.1f} ms for a call with one case")
