/* hunt_orders.c: see hunt_orders.h. */
#include <stdlib.h>

#include "hunt_orders.h"

static double reduce(struct hunt_row *row, void *context) {
  const struct hunt_way *way = context;
  row->fuses = way->fuses;
  return way->order(row, way);
}
int hunt_run_way(call_of *call, void *way) { return hunt_run_rows(call, reduce, way); }

double hunt_rising(struct hunt_row *row, const struct hunt_way *way) { return (void)way, hunt_fold(row, 0, row->n, 1); }

double hunt_falling(struct hunt_row *row, const struct hunt_way *way) {
  double sum = hunt_identity(row);
  (void)way;
  for (uint64_t i = row->n; i-- > 0;) sum = hunt_take(row, sum, i);
  return sum;
}

double hunt_neighbours(const struct hunt_row *row, double *v, uint64_t n) {
  for (uint64_t stride = 1; stride < n; stride *= 2)
    for (uint64_t p = 0; p + stride < n; p += 2 * stride) v[p] = hunt_join(row, v[p], v[p + stride]);
  return v[0];
}

/* Once a term is taken, its place is free for the tree's nodes. */
double hunt_pairwise(struct hunt_row *row, const struct hunt_way *way) {
  (void)way;
  if (row->n == 0) return hunt_identity(row);
  for (uint64_t i = 0; i < row->n; i++) row->x[i] = hunt_leaf(row, i);
  return hunt_neighbours(row, row->x, row->n);
}

enum { CHUNKS = 256 };
static void fold_chunks(const struct hunt_row *row, unsigned width, double *v) {
  const uint64_t size = (row->n + width - 1) / width;
  for (unsigned k = 0; k < width; k++) {
    const uint64_t first = k * size < row->n ? k * size : row->n, last = first + size < row->n ? first + size : row->n;
    v[k] = hunt_fold(row, first, last, 1);
  }
}
double hunt_chunks(struct hunt_row *row, const struct hunt_way *way) {
  double v[CHUNKS], sum = hunt_identity(row);
  fold_chunks(row, way->width, v);
  for (unsigned k = 0; k < way->width; k++) sum = hunt_join(row, sum, v[k]);
  return sum;
}
double hunt_chunk_tree(struct hunt_row *row, const struct hunt_way *way) {
  double v[CHUNKS];
  fold_chunks(row, way->width, v);
  return hunt_neighbours(row, v, way->width);
}

/* NumPy's: below 8 terms from zero, else eight partials, their tree, and the rest in turn. */
static double octet(const struct hunt_row *row, uint64_t first, uint64_t n) {
  if (n < 8) return hunt_fold(row, first, first + n, 1);
  double v[8];
  for (uint64_t k = 0; k < 8; k++) v[k] = hunt_leaf(row, first + k);
  for (uint64_t i = 8; i < n / 8 * 8; i++) v[i % 8] = hunt_take(row, v[i % 8], first + i);
  double sum = hunt_neighbours(row, v, 8);
  for (uint64_t i = n / 8 * 8; i < n; i++) sum = hunt_take(row, sum, first + i);
  return sum;
}
static double halves(const struct hunt_row *row, uint64_t first, uint64_t n) {
  if (n <= 128) return octet(row, first, n);
  const uint64_t half = n / 2 - n / 2 % 8;
  const double left = halves(row, first, half);
  return hunt_join(row, left, halves(row, first + half, n - half));
}
double hunt_numpy(struct hunt_row *row, const struct hunt_way *way) {
  double sum = hunt_identity(row);
  for (uint64_t at = 0; at < row->n; at += way->width)
    sum = hunt_join(row, sum, halves(row, at, row->n - at < way->width ? row->n - at : way->width));
  return sum;
}

/* By rising magnitude, ties by index: pairs of both, of which the index is last. */
struct term {
  double x;
  uint64_t at;
};
static int by_magnitude(const void *a, const void *b) {
  const struct term *s = a, *t = b;
  const bool s_nan = isnan(s->x), t_nan = isnan(t->x);
  if (s_nan != t_nan) return s_nan ? 1 : -1;
  if (!s_nan && fabs(s->x) != fabs(t->x)) return fabs(s->x) < fabs(t->x) ? -1 : 1;
  return s->at < t->at ? -1 : s->at > t->at;
}
double hunt_sorted(struct hunt_row *row, const struct hunt_way *way) {
  struct term *terms = malloc((row->n + 1) * sizeof *terms);
  double sum = hunt_identity(row);
  (void)way;
  if (!terms) return (double)NAN;
  for (uint64_t i = 0; i < row->n; i++) terms[i] = (struct term){row->x[i], i};
  qsort(terms, row->n, sizeof *terms, by_magnitude);
  for (uint64_t i = 0; i < row->n; i++) sum = hunt_join(row, sum, terms[i].x);
  free(terms);
  return sum;
}

/* Tiles of 16 lines of 256 places: chains down the lines, trees over places and over tiles. */
enum { PLACES = 256, TILE = 4096 };
static double tile(const struct hunt_row *row, uint64_t first, uint64_t n) {
  double v[PLACES];
  const uint64_t places = n < PLACES ? n : PLACES;
  for (uint64_t p = 0; p < places; p++) v[p] = hunt_leaf(row, first + p);
  for (uint64_t i = PLACES; i < n; i++) v[i % PLACES] = hunt_take(row, v[i % PLACES], first + i);
  return hunt_neighbours(row, v, places);
}
double hunt_canonical(struct hunt_row *row, const struct hunt_way *way) {
  const uint64_t tiles = (row->n + TILE - 1) / TILE;
  double *v = malloc((tiles + 1) * sizeof *v);
  (void)way;
  if (!v) return (double)NAN;
  v[0] = hunt_identity(row);
  for (uint64_t t = 0; t < tiles; t++) v[t] = tile(row, t * TILE, row->n - t * TILE < TILE ? row->n - t * TILE : TILE);
  const double sum = hunt_neighbours(row, v, tiles);
  free(v);
  return sum;
}

/* ---- scans ---- */

static void put(const struct hunt_row *row, uint64_t j, double before, double sum) {
  const bool exclusive = row->call->problem == FOLDPROOF_GUEST_EXCLUSIVE_SCAN;
  hunt_store(row->call->result, row->call->out, row->at * row->n + j, exclusive ? before : sum);
}

double hunt_scan(struct hunt_row *row, const struct hunt_way *way) {
  double sum = hunt_identity(row), before = sum;
  (void)way;
  for (uint64_t j = 0; j < row->n; j++, before = sum) put(row, j, before, sum = hunt_take(row, sum, j));
  row->at = UINT64_MAX;
  return 0;
}

double hunt_scan_tiles(struct hunt_row *row, const struct hunt_way *way) {
  double carry = hunt_identity(row), before = carry;
  for (uint64_t first = 0; first < row->n; first += way->width, carry = before) {
    double sum = hunt_identity(row);
    for (uint64_t j = first; j < row->n && j < first + way->width; j++) {
      sum = hunt_take(row, sum, j);
      const double all = hunt_join(row, carry, sum);
      put(row, j, before, all);
      before = all;
    }
  }
  row->at = UINT64_MAX;
  return 0;
}

/* Tiles of up to 256 terms by doubling distances. */
double hunt_scan_warps(struct hunt_row *row, const struct hunt_way *way) {
  double carry = hunt_identity(row), before = carry, v[256];
  for (uint64_t first = 0; first < row->n; first += way->width, carry = before) {
    const uint64_t n = row->n - first < way->width ? row->n - first : way->width;
    for (uint64_t k = 0; k < n; k++) v[k] = hunt_leaf(row, first + k);
    for (uint64_t d = 1; d < n; d *= 2)
      for (uint64_t k = n; k-- > d;) v[k] = hunt_join(row, v[k - d], v[k]);
    for (uint64_t k = 0; k < n; k++) {
      const double all = hunt_join(row, carry, v[k]);
      put(row, first + k, before, all);
      before = all;
    }
  }
  row->at = UINT64_MAX;
  return 0;
}
