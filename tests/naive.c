/* naive.c: see naive.h. Memory is not checked: a test that runs out of it may end. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/fingerprint.h"

struct row {
  enum fold_dtype dtype;
  enum fold_op op;
  const void *in;
  size_t n;
};

static double operate(const struct row *r, double a, double b) {
  if (r->op == FOLD_SUM) return r->dtype == FOLD_F64 ? a + b : (double)((float)a + (float)b);
  if (r->op == FOLD_PROD) return r->dtype == FOLD_F64 ? a * b : (double)((float)a * (float)b);
  if (isnan(a) || isnan(b)) return NAN;
  if (a == b) return (r->op == FOLD_MAX) == !signbit(a) ? a : b;
  return (r->op == FOLD_MAX) == (a > b) ? a : b;
}

static struct naive zero(const struct row *r) {
  static const double identity[FOLD_OPS] = {0, 1, -INFINITY, INFINITY};
  return (struct naive){identity[r->op], 0, 0, false};
}

static struct naive term(const struct row *r, size_t i) {
  return (struct naive){fold_bits_to_double(r->dtype, fold_bits_load(r->dtype, r->in, i)), 0, fold_fingerprint_leaf(i),
                        true};
}

static struct naive add(const struct row *r, struct naive a, struct naive b) {
  struct naive sum = {operate(r, a.value, b.value), 0, fold_fingerprint_join(a.print, b.print), a.some || b.some};
  sum.height = a.height > b.height ? a.height : b.height;
  if (a.some && b.some) sum.height++;
  return sum;
}

static struct naive sequential(const struct row *r, size_t first, size_t last) {
  struct naive s = zero(r);
  for (size_t i = first; i < last; i++) s = add(r, s, term(r, i));
  return s;
}

static struct naive reverse(const struct row *r) {
  struct naive s = zero(r);
  for (size_t k = 1; k <= r->n; k++) s = add(r, s, term(r, r->n - k));
  return s;
}

/* Level by level, each into an array of its own place. */
static struct naive pairwise(const struct row *r) {
  struct naive *level = malloc((r->n + 1) * sizeof *level), root = zero(r);
  for (size_t i = 0; i < r->n; i++) level[i] = term(r, i);
  for (size_t n = r->n; n > 1; n = (n + 1) / 2)
    for (size_t i = 0; i < (n + 1) / 2; i++)
      level[i] = 2 * i + 1 < n ? add(r, level[2 * i], level[2 * i + 1]) : level[2 * i];
  if (r->n > 0) root = level[0];
  free(level);
  return root;
}

struct key {
  uint64_t magnitude;
  size_t index;
};

static int compare_keys(const void *a, const void *b) {
  const struct key *x = a, *y = b;
  if (x->magnitude != y->magnitude) return x->magnitude < y->magnitude ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static struct naive sorted(const struct row *r) {
  struct key *key = malloc((r->n + 1) * sizeof *key);
  struct naive s = zero(r);
  for (size_t i = 0; i < r->n; i++)
    key[i] = (struct key){fold_bits_load(r->dtype, r->in, i) & ~fold_format_of(r->dtype).sign, i};
  qsort(key, r->n, sizeof *key, compare_keys);
  for (size_t i = 0; i < r->n; i++) s = add(r, s, term(r, key[i].index));
  free(key);
  return s;
}

static struct naive numpy(const struct row *r, size_t at, size_t n) {
  if (n < 8) return sequential(r, at, at + n);
  if (n > 128) {
    size_t n2 = n / 2;
    n2 -= n2 % 8;
    return add(r, numpy(r, at, n2), numpy(r, at + n2, n - n2));
  }
  struct naive s[8];
  for (size_t k = 0; k < 8; k++) {
    s[k] = term(r, at + k);
    for (size_t i = 8 + k; i < n - n % 8; i += 8) s[k] = add(r, s[k], term(r, at + i));
  }
  struct naive sum =
      add(r, add(r, add(r, s[0], s[1]), add(r, s[2], s[3])), add(r, add(r, s[4], s[5]), add(r, s[6], s[7])));
  for (size_t i = n - n % 8; i < n; i++) sum = add(r, sum, term(r, at + i));
  return sum;
}

/* np.add.reduce before NumPy 2.3: result = 0, then result += pairwise(buffer) for each buffer of 8192. */
static struct naive numpy_reduce(const struct row *r, size_t buffer) {
  struct naive result = zero(r);
  for (size_t at = 0; at < r->n; at += buffer)
    result = add(r, result, numpy(r, at, r->n - at < buffer ? r->n - at : buffer));
  return result;
}

/* result = 0, then result += a tile's sum for each tile. */
static struct naive tiles(const struct row *r, size_t width, struct naive (*tile)(const struct row *, size_t, size_t)) {
  struct naive result = zero(r);
  for (size_t at = 0; at < r->n; at += width)
    result = add(r, result, tile(r, at, r->n - at < width ? r->n : at + width));
  return result;
}

/* Hillis and Steele's scan, whole, level by level: each value takes the one `distance` places before it. */
static struct naive hillis_steele(const struct row *r, size_t first, size_t last) {
  const size_t n = last - first;
  struct naive *old = malloc(n * sizeof *old), *new = malloc(n * sizeof *new);
  for (size_t i = 0; i < n; i++) old[i] = term(r, first + i);
  for (size_t distance = 1; distance < n; distance *= 2) {
    for (size_t i = 0; i < n; i++) new[i] = i < distance ? old[i] : add(r, old[i - distance], old[i]);
    struct naive *swap = old;
    old = new, new = swap;
  }
  const struct naive sum = old[n - 1];
  free(old), free(new);
  return sum;
}

static void chunk_partials(const struct row *r, size_t threads, struct naive *partial) {
  size_t length = (r->n + threads - 1) / threads;
  for (size_t t = 0; t < threads; t++) {
    partial[t] = zero(r);
    for (size_t i = t * length; i < (t + 1) * length && i < r->n; i++) partial[t] = add(r, partial[t], term(r, i));
  }
}

static struct naive chunks(const struct row *r, size_t threads, bool tree) {
  struct naive *partial = malloc(threads * sizeof *partial), sum = zero(r);
  chunk_partials(r, threads, partial);
  if (tree) {
    for (size_t stride = 1; stride < threads; stride *= 2)
      for (size_t t = 0; t < threads; t++)
        if (t % (2 * stride) == 0) partial[t] = add(r, partial[t], partial[t + stride]);
    sum = partial[0];
  } else {
    for (size_t t = 0; t < threads; t++) sum = add(r, sum, partial[t]);
  }
  free(partial);
  return sum;
}

/* __shfl_down_sync: every lane reads before any lane writes; lanes that would read past the warp keep their own. */
static struct naive warp(const struct row *r, const struct naive *in) {
  struct naive lane[32], down[32];
  for (int l = 0; l < 32; l++) lane[l] = in[l];
  for (int offset = 16; offset > 0; offset /= 2) {
    for (int l = 0; l < 32; l++) down[l] = lane[l + offset < 32 ? l + offset : l];
    for (int l = 0; l < 32; l++) lane[l] = add(r, lane[l], down[l]);
  }
  return lane[0];
}

static struct naive block(const struct row *r, const struct naive *thread, size_t width) {
  struct naive shared[32];
  for (size_t l = 0; l < 32; l++) shared[l] = l < width / 32 ? warp(r, thread + 32 * l) : zero(r);
  return warp(r, shared);
}

static struct naive shuffle(const struct row *r, size_t width, size_t limit) {
  size_t grid = (r->n + width - 1) / width;
  if (grid > limit) grid = limit;
  struct naive *thread = malloc((grid + 1) * width * sizeof *thread), *value = malloc((grid + 1) * sizeof *value);
  for (size_t g = 0; g < grid * width; g++) {
    thread[g] = zero(r);
    for (size_t i = g; i < r->n; i += width * grid) thread[g] = add(r, thread[g], term(r, i));
  }
  for (size_t b = 0; b < grid; b++) value[b] = block(r, thread + b * width, width);
  for (size_t g = 0; g < width; g++) {
    thread[g] = zero(r);
    for (size_t i = g; i < grid; i += width) thread[g] = add(r, thread[g], value[i]);
  }
  struct naive sum = block(r, thread, width);
  free(thread);
  free(value);
  return sum;
}

/* What does not exist leaves the other as it is. */
static struct naive meet(const struct row *r, struct naive a, struct naive b) {
  return !a.some ? b : !b.some ? a : add(r, a, b);
}

static struct naive canonical_places(const struct row *r, size_t tile, size_t place, size_t places) {
  if (places > 1)
    return meet(r, canonical_places(r, tile, place, places / 2),
                canonical_places(r, tile, place + places / 2, places / 2));
  struct naive chain = zero(r);
  for (size_t line = 0; line < 16; line++) {
    size_t i = 4096 * tile + 256 * line + place;
    if (i < r->n) chain = meet(r, chain, term(r, i));
  }
  return chain;
}

static struct naive canonical_tiles(const struct row *r, size_t tile, size_t tiles) {
  if (tile * 4096 >= r->n) return zero(r);
  if (tiles == 1) return canonical_places(r, tile, 0, 256);
  return meet(r, canonical_tiles(r, tile, tiles / 2), canonical_tiles(r, tile + tiles / 2, tiles / 2));
}

static struct naive segment_tree(const struct row *r, size_t first, size_t length, size_t segments) {
  if (first >= r->n) return zero(r);
  if (segments == 1) return sequential(r, first, first + length < r->n ? first + length : r->n);
  return meet(r, segment_tree(r, first, length, segments / 2),
              segment_tree(r, first + length * (segments / 2), length, segments / 2));
}

static struct naive segments(const struct row *r, size_t width, size_t limit) {
  size_t count = 1;
  while (count < limit && count * width < r->n) count *= 2;
  return segment_tree(r, 0, count == 1 ? r->n : (r->n + 8 * count - 1) / (8 * count) * 8, count);
}

struct naive naive_fold(const struct fold_order *order, enum fold_dtype dtype, enum fold_op op, const void *in,
                        size_t n) {
  struct row r = {dtype, op, in, n};
  switch (order->kind) {
    case FOLD_ORDER_SEQUENTIAL: return sequential(&r, 0, n);
    case FOLD_ORDER_REVERSE: return reverse(&r);
    case FOLD_ORDER_PAIRWISE: return pairwise(&r);
    case FOLD_ORDER_SORTED: return sorted(&r);
    case FOLD_ORDER_NUMPY: return numpy_reduce(&r, order->width);
    case FOLD_ORDER_TILES: return tiles(&r, order->width, sequential);
    case FOLD_ORDER_HILLIS_STEELE: return tiles(&r, order->width, hillis_steele);
    case FOLD_ORDER_CHUNKS: return chunks(&r, order->width, false);
    case FOLD_ORDER_CHUNK_TREE: return chunks(&r, order->width, true);
    case FOLD_ORDER_SEGMENTS: return segments(&r, order->width, order->limit);
    case FOLD_ORDER_SHUFFLE: return shuffle(&r, order->width, order->limit);
    case FOLD_ORDER_CANONICAL: return canonical_tiles(&r, 0, (size_t)1 << 40);
    case FOLD_ORDER_KEYED:
    case FOLD_ORDER_RING:
    case FOLD_ORDER_BINARY:
    case FOLD_ORDER_DOUBLING: break;
  }
  abort(); /* it is not asked for */
}
