/* panel.h: whether an input could tell one order from another.
 *
 * An invariance that held on data for which every tree gives the same bits shows nothing about order: 1 + 2 + 3 is 6 in every order.
 * An input is *telling* where two trees of a panel give different bits, and *idle* where none do: then only a tree outside the
 * panel could give different bits.
 * The panel has eight trees (panel.c). They are plain: one rounding a join in the dtype's accumulator, starting zeros included, so that a
 * row of -0 shows which tree starts at +0. Results are compared as claims compare them: rounded to the result's dtype, NaN by its class. So trees that differ only
 * in the accumulator count as idle.
 */
#ifndef FOLD_PANEL_H
#define FOLD_PANEL_H

#include "oracles/order.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Unknown: not asked, or the record is older than the field. */
enum fold_telling { FOLD_TELLING_UNKNOWN, FOLD_IDLE, FOLD_TELLING };

/* Longer rows are folded by trees whose parts threads can share, and by one chain; rows up to this length also with their terms
 * sorted or shuffled. */
enum { FOLD_PANEL_TERMS = 1 << 20 };

/* The trees for rows of `cols` terms. */
const struct fold_order *fold_panel(size_t cols, size_t *n);

/* Whether, in that arithmetic, some row of the call has other bits in one of the panel's trees than in the first. The
 * call is in host memory; its `out` and `launch` are ignored. It ends at the first difference: two trees are enough for
 * most inputs. Max and min do not round, so that no trees differ. For them a row is telling if it holds a NaN and a
 * number, or if it ends in a zero and holds zeros of both signs: which of these a plain comparison keeps depends on
 * their positions. */
fold_status fold_panel_ask(const struct fold_call *call, struct fold_arithmetic how, enum fold_telling *telling);

#ifdef __cplusplus
}
#endif
#endif
