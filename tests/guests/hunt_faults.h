/* hunt_faults.h: the tables that hunt_faults.c joins to one guest: subjects that are right but at few sizes, places, values or calls. */
#ifndef HUNT_FAULTS_H
#define HUNT_FAULTS_H

#include <stddef.h>

#include "foldproof_guest.h"

const struct foldproof_guest_subject *hunt_faults_of_rows(size_t *n);
const struct foldproof_guest_subject *hunt_faults_of_calls(size_t *n);
const struct foldproof_guest_subject *hunt_faults_of_axes(size_t *n);

#define HUNT_TABLE(name)                                                \
  const struct foldproof_guest_subject *hunt_faults_##name(size_t *n) { \
    *n = sizeof name / sizeof *name;                                    \
    return name;                                                        \
  }

#endif
