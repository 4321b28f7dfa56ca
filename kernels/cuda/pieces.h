/* pieces.h: small pieces of device memory, filled, read and compared by one launch each: a runtime call for each piece takes longer than
 * what it moves.
 *
 * All work in the legacy default stream. A gather and a comparison have waited for it, and for every other stream, when they
 * return; a copy to the device has taken what it copies, and is done before what is launched in that stream next.
 */
#ifndef FOLD_PIECES_H
#define FOLD_PIECES_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

fold_status fold_pieces_fill(const struct fold_fill *fills, size_t n);
fold_status fold_pieces_put(void *d_out, const void *in, size_t nbytes);
fold_status fold_pieces_gather(const struct fold_piece *pieces, size_t n);
/* Whether nbytes at a and at b, both in device memory, are the same. */
fold_status fold_pieces_same(const void *a, const void *b, size_t nbytes, bool *same);

#ifdef __cplusplus
}
#endif
#endif
