/* rows_window.cuh: what a warp does with the windows of its lanes' runs: where they lie, copying, summing, joining.
 *
 * Depended on by rows_window.cu alone, which says what windows, units and runs are for. A window is 256 bytes of a
 * lane's run; a stage is a warp's 32 windows in shared memory.
 */
#ifndef FOLD_ROWS_WINDOW_CUH
#define FOLD_ROWS_WINDOW_CUH

#include "kernels/cuda/async.cuh"
#include "kernels/cuda/rows/rows.cuh"

enum { WINDOW = 256, PIECES = WINDOW / 16, STAGE = 32 * (WINDOW + 16), MOST_WARPS = 8 };

struct window_plan {
  fold_rows_shape shape;
  size_t length;        /* elements of each chunk */
  size_t unit;          /* elements of a unit: a chunk, or several whole ones that fit a window together */
  size_t windows;       /* windows of each unit; 1 if it holds several chunks */
  bool lines;           /* windows are lines of memory of WINDOW bytes: rows_line.cuh */
  size_t elements;      /* otherwise: elements of each window; the last of a unit may have fewer */
  unsigned group;       /* chunks of each unit; 1 if windows are lines */
  unsigned units;       /* units of each run; 1 if windows are lines: the run */
  unsigned chunks;      /* chunks a run */
  unsigned span;        /* if windows are lines: 16-byte pieces of one in which no two chunks end; 0: none fits */
  unsigned thread_bits; /* log2(shape.threads) */
  size_t run_bytes;     /* bytes from run to run, if every row is whole chunks and everything is aligned; else 0 */
  unsigned warps, stages, grid;
  void *partials; /* not NULL: the root of group g (32 chunks) of row r goes to partials[8 r + g], not to out */
};

/* A lane's place in its list of windows: run, unit in the run, window in the unit. */
struct window_cursor {
  size_t run, window;
  unsigned unit;
};

/* Bytes [begin, end) of a window's elements; empty past the end of a row or of the matrix. */
struct window_span {
  uint64_t begin, end;
};

template <int D, int O, bool backward>
struct window {
  typedef fold_rows_vector<D, O> vector;
  typedef fold_element<D> element;
  typedef typename element::stored stored;
  typedef typename element::wide wide;
  typedef fold_operation<O, wide> op;
  static const int elements = WINDOW / sizeof(stored);

  static __device__ __forceinline__ window_span line_span(uint64_t first, uint64_t last, size_t index) {
    const uint64_t line = (first & ~(uint64_t)(WINDOW - 1)) + index * WINDOW;
    window_span s = {min(max(line, first), last), min(line + WINDOW, last)};
    return s;
  }

  static __device__ __forceinline__ window_span span(const stored *in, size_t rows, size_t cols,
                                                     const window_plan &plan, const window_cursor &at) {
    size_t row = at.run >> plan.thread_bits, thread = at.run & (plan.shape.threads - 1);
    size_t unit = thread * plan.units + at.unit, start = fold_rows_start(unit, plan.unit, cols);
    size_t end = fold_rows_start(unit + 1, plan.unit, cols);
    size_t index = backward ? plan.windows - 1 - at.window : at.window;
    if (row >= rows) row = start = end = 0;
    if (plan.lines) return line_span((uint64_t)(in + row * cols + start), (uint64_t)(in + row * cols + end), index);
    size_t first = min(start + index * plan.elements, end), last = min(first + plan.elements, end);
    window_span s = {(uint64_t)(in + row * cols + first), (uint64_t)(in + row * cols + last)};
    return s;
  }

  /* Where piece j of a lane's window lies in a stage. Within each 128-byte line the pieces are permuted by the lane's
   * number, so that the lanes' reads of one piece use different banks, and a copied line stays a line. A window that
   * starts between two multiples of 16 has one more piece; these extra pieces come after the windows. */
  static __device__ __forceinline__ unsigned where(unsigned lane, unsigned j) {
    return j < PIECES ? lane * WINDOW + ((j ^ (lane & 7)) * 16) : 32 * WINDOW + lane * 16;
  }

  /* Goes to the next window of a run. At the end of the run returns true, and goes on to the run that is `stride`
   * further. */
  static __device__ __forceinline__ bool advance(window_cursor &at, const window_plan &plan, size_t stride) {
    if (++at.window < plan.windows) return false;
    at.window = 0;
    if (++at.unit < plan.units) return false;
    at.unit = 0;
    at.run += stride;
    return true;
  }

  /* Copies a 16-byte piece that is not wholly inside the array, element by element. */
  static __device__ __noinline__ void carry(unsigned char *to, uint64_t from, uint64_t low, uint64_t high) {
    for (unsigned i = 0; i < 16; i += sizeof(stored))
      if (from + i >= low && from + i < high) *(stored *)(to + i) = *(const stored *)(from + i);
  }

  static __device__ __forceinline__ void copy(unsigned char *to, uint64_t from, uint64_t low, uint64_t high) {
    if (from >= low && from + 16 <= high)
      fold_copy_16(to, from);
    else
      carry(to, from, low, high);
  }

  /* The warp copies its 32 windows, two at a time: lanes 0..15 one, lanes 16..31 the next. `aligned`: every window
   * starts and ends at a multiple of 16 bytes and lies inside the array. */
  template <bool aligned>
  static __device__ __forceinline__ void fill(unsigned char *stage, const window_span &s, uint64_t low, uint64_t high) {
    unsigned lane = threadIdx.x % 32;
    uint64_t base = s.begin & ~(uint64_t)15;
    unsigned pieces = s.begin == s.end ? 0 : (unsigned)((s.end - base + 15) / 16);
    /* If all windows lie inside the array, within 2 GiB of the first, a lane's place and pieces fit one word. */
    const uint64_t first = __shfl_sync(0xffffffffu, base, 0), off = (base - first) / 16;
    const bool inside = aligned || (base >= low && base + pieces * 16 <= high);
    const bool quick = __all_sync(0xffffffffu, pieces == 0 || (inside && off < 1u << 27));
    const uint32_t word = (uint32_t)off << 5 | pieces;
    if (quick) {
#pragma unroll
      for (int i = 0; i < PIECES; i++) {
        const unsigned of = (32 * i + lane) / PIECES, piece = (32 * i + lane) % PIECES;
        const uint32_t its = __shfl_sync(0xffffffffu, word, of);
        if (piece < (its & 31)) fold_copy_16(stage + where(of, piece), first + ((uint64_t)(its >> 5) + piece) * 16);
      }
      if (!aligned && pieces > PIECES) fold_copy_16(stage + where(lane, PIECES), base + WINDOW);
    } else {
      for (int i = 0; i < PIECES; i++) {
        const unsigned of = (32 * i + lane) / PIECES, piece = (32 * i + lane) % PIECES;
        const uint64_t from = __shfl_sync(0xffffffffu, base, of) + piece * 16;
        if (piece < __shfl_sync(0xffffffffu, pieces, of)) copy(stage + where(of, piece), from, low, high);
      }
      if (!aligned && pieces > PIECES) copy(stage + where(lane, PIECES), base + WINDOW, low, high);
    }
    fold_copy_commit();
  }

  /* If runs are evenly spaced (plan.run_bytes), lanes need not exchange addresses. `first`: the warp's first run. */
  static __device__ __forceinline__ unsigned even_pieces(const window_plan &plan, const window_cursor &at) {
    size_t index = backward ? plan.windows - 1 - at.window : at.window;
    return (unsigned)(min((size_t)elements, plan.unit - index * elements) / vector::many);
  }

  static __device__ __forceinline__ void fill_even(unsigned char *stage, const stored *in, size_t runs, size_t first,
                                                   const window_plan &plan, const window_cursor &at) {
    size_t index = backward ? plan.windows - 1 - at.window : at.window;
    unsigned lane = threadIdx.x % 32, pieces = even_pieces(plan, at);
    unsigned many = first < runs ? (unsigned)min(runs - first, (size_t)32) : 0;
    uint64_t from = (uint64_t)(in + at.unit * plan.unit + index * elements) + (first + lane / PIECES) * plan.run_bytes +
                    lane % PIECES * 16;
    if (lane % PIECES < pieces) {
#pragma unroll
      for (int i = 0; i < PIECES; i++) {
        unsigned of = i * (32 / PIECES) + lane / PIECES;
        if (of < many) fold_copy_16(stage + where(of, lane % PIECES), from);
        from += 32 / PIECES * plan.run_bytes;
      }
    }
    fold_copy_commit();
  }

  /* Joins the elements at places [begin, end) of the lane's pieces to v. */
  static __device__ __forceinline__ wide walk_places(wide v, const unsigned char *stage, unsigned lane, unsigned begin,
                                                     unsigned end) {
    const unsigned first = begin / vector::many, last = (end + vector::many - 1) / vector::many;
#pragma unroll 4
    for (unsigned i = first; i < last; i++) {
      const unsigned at = backward ? first + last - 1 - i : i, place = at * vector::many;
      typename vector::pack p;
      p.all = *(const uint4 *)(stage + where(lane, at));
      if (place < begin || place + vector::many > end)
#pragma unroll
        for (int k = 0; k < vector::many; k++)
          p.each[k] = place + k >= begin && place + k < end ? p.each[k] : vector::none();
      v = vector::template join<backward>(v, p.all);
    }
    return v;
  }

  /* Joins the window's elements to v. */
  template <bool aligned>
  static __device__ __forceinline__ wide walk(wide v, const unsigned char *stage, const window_span &s) {
    const unsigned lane = threadIdx.x % 32;
    int n = (int)((s.end - s.begin) / sizeof(stored));
    if (aligned) {
      n /= vector::many;
#pragma unroll
      for (int i = 0; i < PIECES; i++) {
        int at = backward ? PIECES - 1 - i : i;
        uint4 q = vector::nothing();
        if (at < n) q = *(const uint4 *)(stage + where(lane, at));
        v = vector::template join<backward>(v, q);
      }
      return v;
    }
    const unsigned phase = (unsigned)(s.begin & 15) / sizeof(stored);
    return walk_places(v, stage, lane, phase, phase + n);
  }

  /* Sums an aligned window of several chunks; each chunk's partial goes to the counter. */
  static __device__ __forceinline__ wide walk_group(fold_rows_counter<O, wide> &counter, const unsigned char *stage,
                                                    const window_span &s, const window_plan &plan) {
    const unsigned lane = threadIdx.x % 32, pieces = (unsigned)plan.length / vector::many;
    const unsigned n = (unsigned)((s.end - s.begin) / sizeof(stored));
    wide root = op::zero();
    for (unsigned c = 0; c < plan.group; c++) {
      wide v = op::zero();
#pragma unroll 4
      for (unsigned j = c * pieces; j < (c + 1) * pieces; j++) {
        uint4 q = vector::nothing();
        if (j * vector::many < n) q = *(const uint4 *)(stage + where(lane, j));
        v = vector::template join<false>(v, q);
      }
      root = counter.add(v);
    }
    return root;
  }

  /* For up to 32 threads on a row: the row's partials are in neighbouring lanes, the first of which has the result. */
  static __device__ __forceinline__ wide join_lanes(wide v, const fold_rows_shape &shape) {
    if (shape.tree) return fold_rows_lanes<O>(v, min(shape.threads, 32u));
    wide sum = op::zero();
    unsigned first = threadIdx.x % 32 / shape.threads * shape.threads;
    for (unsigned i = 0; i < shape.threads; i++) sum = op::join(sum, __shfl_sync(0xffffffffu, v, first + i));
    return sum;
  }

  /* For more threads: the partials of all warps of the block are gathered in shared memory; the row's first thread has
   * the result. */
  static __device__ __forceinline__ wide join_warps(wide v, wide *meet, const fold_rows_shape &shape) {
    wide *of_row = meet + threadIdx.x / shape.threads * shape.threads;
    bool writes = true;
    if (shape.tree) {
      v = fold_rows_lanes<O>(v, 32);
      writes = threadIdx.x % 32 == 0;
    }
    __syncthreads();
    if (writes) meet[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x % shape.threads) return v;
    if (!shape.tree) {
      v = op::zero();
      for (unsigned i = 0; i < shape.threads; i++) v = op::join(v, of_row[i]);
      return v;
    }
    fold_rows_counter<O, wide> counter;
    for (unsigned i = 0; i < shape.threads; i += 32) v = counter.add(of_row[i]);
    return v;
  }

  /* Waits for the oldest of stages - 1 groups of copies. */
  static __device__ __forceinline__ void wait_for_one(unsigned stages) {
    if (stages == 3)
      fold_copy_wait<1>();
    else if (stages == 6)
      fold_copy_wait<4>();
    else
      fold_copy_wait<10>();
  }
};

#endif
