"""The kernel for OpenCL devices is judged, a changed one is refuted, and a device that fails is said so.

test_opencl.py FOLDPROOF CC. A library of its own stands before libOpenCL.so.1 and changes one call.
"""
import ctypes.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDPROOF, CC = sys.argv[1], sys.argv[2].split()
FEW = "normal/*/sum/1x*,normal/*/sum/1000x8/*,rows_past_a_grid/f32/*"

# What the kernel's text says, and says instead; or a call, and what it gives.
OTHER_TREE = ("i = begin; i < end; i++", "i = t; i < cols; i += CHUNKS")
LOSES_A_TERM = ("i < end; i++", "i + (cols == 1025) < end; i++")
BY_GROUPS = ("T sum = 0;", "T sum = get_num_groups(0) == 7 ? 0x1p-20f : 0; ")
REPLACED = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *clCreateProgramWithSource(void *context, unsigned n, const char **texts, const size_t *lengths, int *error) {
  static char text[1 << 16];
  const char *old = "%s", *new = "%s", *at = strstr(texts[0], old), *given = text;
  if (at == NULL) abort();
  snprintf(text, sizeof text, "%%.*s%%s%%s", (int)(at - texts[0]), texts[0], new, at + strlen(old));
  void *(*next)(void *, unsigned, const char **, const size_t *, int *);
  *(void **)&next = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
  return next(context, n, &given, lengths, error);
}
"""


def verify(*words, code, **environment):
    run = subprocess.run([FOLDPROOF, "verify", "-v", "--engine", "opencl", *words], capture_output=True, text=True, timeout=300, env=dict(os.environ, **environment))
    assert run.returncode == code, f"{words} {environment}: {run.returncode}, not {code}: {run.stdout[-2000:]}{run.stderr[-2000:]}"
    return run.stdout + run.stderr


if not ctypes.util.find_library("OpenCL"):
    print("no libOpenCL.so.1 here", file=sys.stderr)
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    # PoCL keeps what it compiled there, and none of it may be a former run's.
    os.environ["POCL_CACHE_DIR"] = str(folder / "cache")

    def library(name, text):
        source = folder / f"{name}.c"
        source.write_text("#define _GNU_SOURCE\n" + text)
        subprocess.run([*CC, "-shared", "-fPIC", "-w", str(source), "-o", str(folder / f"{name}.so"), "-Wl,--no-as-needed", "-l:libOpenCL.so.1"], check=True)
        return str(folder / f"{name}.so")

    told = verify("--fixtures", FEW, code=0)
    if re.search(r"^\s+\d+: no OpenCL here", told, re.M):
        print(told, file=sys.stderr)
        sys.exit(77)
    held = int(re.search(r"^(\d+) held, 0 refuted", told, re.M)[1])
    assert held > 1000, told
    told = verify("--fixtures", "normal/f32/sum/1x1025/seed1", "--claims", "replays,same_bits_as,bounded", code=1,
                  FOLDPROOF_OPENCL=library("tree", REPLACED % OTHER_TREE))
    assert set(re.findall(r"violates (\w+)", told)) == {"replays", "same_bits_as"}, told
    told = verify("--fixtures", "normal/f32/sum/1x1025/seed1,normal/f32/sum/1x1023/seed1", "--claims", "bounded,replays", code=1,
                  FOLDPROOF_OPENCL=library("loses", REPLACED % LOSES_A_TERM))
    assert "1x1025" in told and not re.search("REFUTED.*1x1023", told), told
    told = verify("--fixtures", "normal/f32/sum/1000x8/seed1", "--claims", "launch_invariant,run_to_run", code=1,
                  FOLDPROOF_OPENCL=library("groups", REPLACED % BY_GROUPS))
    assert set(re.findall(r"violates (\w+)", told)) == {"launch_invariant"} and "7 blocks" in told, told
    for name, call in (("launch", "int clEnqueueNDRangeKernel() { return -54; }"), ("finish", "int clFinish() { return -36; }"),
                       ("allocate", "void *clSVMAlloc() { return 0; }"), ("queue", "void *clCreateCommandQueueWithProperties(void *c, void *d, void *p, int *e) { return *e = -35, (void *)0; }"),
                       ("compile", "int clBuildProgram() { return -11; }")):
        told = verify("--fixtures", "normal/f32/sum/1x1025/seed1", code=99, FOLDPROOF_OPENCL=library(name, call))
        assert "OpenCL" in told and "REFUTED" not in told, told
    verify("--fixtures", FEW, code=77, FOLDPROOF_OPENCL=library("none", "int clGetPlatformIDs(unsigned n, void **all, unsigned *m) { return *m = 0, -1001; }"))
    verify("--fixtures", FEW, code=77, FOLDPROOF_OPENCL=library("plain", "int clGetDeviceInfo() { return -30; }"))
    told = verify("--fixtures", FEW, code=2, FOLDPROOF_OPENCL=str(folder / "nothing.so"))
    assert "FOLDPROOF_OPENCL=" in told, told
    print(f"{held} held")
