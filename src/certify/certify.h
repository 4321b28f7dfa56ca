/* certify.h: writes certificates (check.h) of what a subject gives on a case. */
#ifndef FOLD_CERTIFY_H
#define FOLD_CERTIFY_H

#include "fixture.h"
#include "subject.h"

/* Runs the subject once on the case and writes the certificate to `path`, which is then checked. The tree is the declared order's; where
 * none is declared, it is revealed. UNSUPPORTED, with the reason, for what has no certificate: results that are not the tree's, numbers that
 * are not finite, other problems than sums and dot products, more than 65,536 terms. */
fold_status fold_certify(const struct fold_subject *subject, const struct fold_case *c, const char *path);

#endif
