/* certify.h: writes a certificate (check.h) of the results that a subject gives on a case. */
#ifndef FOLD_CERTIFY_H
#define FOLD_CERTIFY_H

#include <stdio.h>

#include "fixtures/fixture.h"
#include "model/subject.h"

/* Runs the subject once on the case, checks the certificate, and writes it to `path`; if that is NULL, to `to`. The
 * tree is that of the declared order; if none is declared, it is revealed. UNSUPPORTED, with the reason, for what has no
 * certificate: results that are not the tree's, numbers that are not finite, other problems than sums and dot products,
 * more than 65,536 terms. */
fold_status fold_certify(const struct fold_subject *subject, const struct fold_case *c, const char *path, FILE *to);

#endif
