/* rows_line.cuh: windows that are lines of memory, for runs that are not aligned to 16 bytes.
 *
 * Depended on by rows_window.cu alone. A line is WINDOW bytes from a multiple of WINDOW on, so that no sector of memory is
 * read twice, and its pieces keep their places in the stage. What a run's first and last line hold beyond the run is
 * overwritten by true identities: every line is walked whole. Chunks end anywhere in a line: a piece's elements go to
 * the chunk that ends or to the one behind it, by their places.
 */
#ifndef FOLD_ROWS_LINE_CUH
#define FOLD_ROWS_LINE_CUH

#include "kernels/cuda/rows/rows_window.cuh"

template <int D, int O, bool backward>
struct line : window<D, O, backward> {
  typedef window<D, O, backward> base;
  typedef typename base::vector vector;
  typedef typename base::element element;
  typedef typename base::stored stored;
  typedef typename base::wide wide;
  typedef typename base::op op;

  /* The warp copies its 32 lines, two at a time: lanes 0..15 one, lanes 16..31 the next; from each line the pieces that
   * hold its elements. */
  static __device__ __forceinline__ void fill(unsigned char *stage, const window_span &s, uint64_t low, uint64_t high) {
    const unsigned lane = threadIdx.x % 32;
    const uint64_t start = s.begin & ~(uint64_t)(WINDOW - 1), first = __shfl_sync(0xffffffffu, start, 0);
    const unsigned from = (unsigned)(s.begin - start) / 16,
                   to = s.begin == s.end ? 0 : (unsigned)(s.end - start + 15) / 16;
    /* If all lines lie inside the array, within 2 GiB of the first, a lane's line and its pieces fit one word. */
    const uint64_t off = (start - first) / WINDOW;
    const bool inside = start + 16 * from >= low && start + 16 * to <= high;
    const uint32_t word = (uint32_t)off << 9 | from << 5 | to;
    if (__all_sync(0xffffffffu, to == 0 || (inside && off < 1u << 23))) {
#pragma unroll
      for (int i = 0; i < PIECES; i++) {
        const unsigned of = (32 * i + lane) / PIECES, piece = lane % PIECES;
        const uint32_t its = __shfl_sync(0xffffffffu, word, of);
        if (piece >= (its >> 5 & 15) && piece < (its & 31))
          fold_copy_16(stage + base::where(of, piece), first + (uint64_t)(its >> 9) * WINDOW + piece * 16);
      }
    } else {
      for (int i = 0; i < PIECES; i++) {
        const unsigned of = (32 * i + lane) / PIECES, piece = lane % PIECES;
        const uint64_t its = __shfl_sync(0xffffffffu, start, of) + piece * 16;
        const uint32_t pieces = __shfl_sync(0xffffffffu, word, of);
        if (piece >= (pieces >> 5 & 15) && piece < (pieces & 31))
          base::copy(stage + base::where(of, piece), its, low, high);
      }
    }
    fold_copy_commit();
  }

  /* Keeps from piece i of the lane's line only the elements at places [begin, end) of the line; the others become
   * identities. */
  static __device__ __forceinline__ void cut(unsigned char *stage, unsigned i, unsigned begin, unsigned end) {
    uint4 *const at = (uint4 *)(stage + base::where(threadIdx.x % 32, i));
    typename vector::pack p;
    p.all = *at;
#pragma unroll
    for (unsigned k = 0; k < vector::many; k++)
      p.each[k] = i * vector::many + k >= begin && i * vector::many + k < end ? p.each[k] : vector::none();
    *at = p.all;
  }

  /* Writes identities where the lane's line holds none of its elements. */
  static __device__ __forceinline__ void patch(unsigned char *stage, const window_span &s) {
    if (s.end - s.begin == WINDOW) return;
    const unsigned lane = threadIdx.x % 32, begin = (unsigned)(s.begin % WINDOW) / sizeof(stored);
    const unsigned end = begin + (unsigned)(s.end - s.begin) / sizeof(stored);
    const unsigned first = begin / vector::many, last = (end + vector::many - 1) / vector::many;
    const uint4 nothing = vector::nothing();
    for (unsigned i = 0; i < first; i++) *(uint4 *)(stage + base::where(lane, i)) = nothing;
    for (unsigned i = last; i < PIECES; i++) *(uint4 *)(stage + base::where(lane, i)) = nothing;
    if (begin % vector::many) cut(stage, first, begin, end);
    if (end % vector::many) cut(stage, end / vector::many, begin, end);
  }

  /* Joins a line to v. */
  static __device__ __forceinline__ wide walk(wide v, const unsigned char *stage) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < PIECES; i++)
      v = vector::template join<backward>(v,
                                          *(const uint4 *)(stage + base::where(lane, backward ? PIECES - 1 - i : i)));
    return v;
  }

  /* Sums a run's chunks, line by line. v is the chunk that is being summed; it ends `end` elements after the line's
   * start. */
  struct chunks {
    fold_rows_counter<O, wide> counter;
    wide v, root;
    size_t end;

    __device__ __forceinline__ chunks() : v(op::zero()), root(op::zero()), end(0) {}
    __device__ __forceinline__ void start(const window_span &first, const window_plan &plan) {
      v = op::zero();
      counter.count = 0;
      end = (size_t)(first.begin % WINDOW) / sizeof(stored) + plan.length;
    }
    /* Ends a chunk; nothing follows the run's last one. */
    __device__ __forceinline__ void next(wide then, const window_plan &plan) {
      root = counter.add(v);
      v = then;
      end += counter.count < plan.chunks ? plan.length : (size_t)1 << 62;
    }
    /* Takes pieces [first, first + many), in which at most one chunk ends. */
    template <int many>
    __device__ __forceinline__ void take(const unsigned char *stage, unsigned first, const window_plan &plan) {
      const unsigned lane = threadIdx.x % 32;
      const int before = (int)min(end, (size_t)1 << 30) - (int)first * vector::many;
      wide then = op::zero();
#pragma unroll
      for (int i = 0; i < many; i++) {
        typename vector::pack p;
        p.all = *(const uint4 *)(stage + base::where(lane, first + i));
#pragma unroll
        for (int k = 0; k < vector::many; k++) {
          const wide x = element::widen(p.each[k]);
          if (i * vector::many + k < before)
            v = op::join(v, x);
          else
            then = op::join(then, x);
        }
      }
      if (before <= many * vector::many) next(then, plan);
    }
    /* Takes chunks of fewer elements than a piece, one after another, so that all lanes end theirs at the same time. */
    __device__ __forceinline__ void take_elements(const unsigned char *stage, const window_plan &plan) {
      const unsigned lane = threadIdx.x % 32;
      for (unsigned at = 0; at < (unsigned)base::elements;) {
        const unsigned stop = (unsigned)min(end, (size_t)base::elements);
        for (; at < stop; at++) {
          const stored *piece = (const stored *)(stage + base::where(lane, at / vector::many));
          v = op::join(v, element::widen(piece[at % vector::many]));
        }
        if (stop == end) next(op::zero(), plan);
      }
    }
    __device__ __forceinline__ void take_line(const unsigned char *stage, const window_plan &plan) {
      if (plan.span == 0)
        take_elements(stage, plan);
      else
        for (unsigned i = 0; i < PIECES; i += plan.span)
          if (plan.span == 8)
            take<8>(stage, i, plan);
          else if (plan.span == 2)
            take<2>(stage, i, plan);
          else
            take<1>(stage, i, plan);
      end -= base::elements;
    }
    /* The run's root; chunks that its lines did not reach are empty. */
    __device__ __forceinline__ wide finish(const window_plan &plan) {
      while (counter.count < plan.chunks) next(op::zero(), plan);
      return root;
    }
  };
};

#endif
