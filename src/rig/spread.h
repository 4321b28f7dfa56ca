/* rig/spread.h: what the ranks of a world hold of a rig's input. Private to the rig.
 *
 * The shape rows x cols is cut by columns at multiples of the subject's grain (fold_comm_cut), each rank's part
 * contiguous. The parts are sent again only when they changed, or when another rig sent its own; ranks move their parts
 * themselves. Depends on it: rig/world.c.
 */
#ifndef FOLD_RIG_SPREAD_H
#define FOLD_RIG_SPREAD_H

#include "rig/rig.h"

/* One rank's part of what is spread: columns [at, at + cols) of each row. */
struct fold_rank_part {
  size_t at, cols;
};
struct fold_rank_part fold_rig_part_of(const struct fold_rig_spread *s, unsigned rank);

/* Sees to it that the ranks hold these parts. *kept: what they held before was still as this rig had sent it. */
fold_status fold_rig_spread_parts(struct fold_rig *rig, const struct fold_rig_spread *s, bool *kept);

#endif
