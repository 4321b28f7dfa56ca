/* environment.h: the machine and the software that a result was made with. */
#ifndef FOLD_ENVIRONMENT_H
#define FOLD_ENVIRONMENT_H

#include <jansson.h>

/* A new JSON object: version, compiler, system, cpu, cores, memory, libraries, and each GPU with its driver; NULL when
 * memory is short. Strings and numbers only, one level of objects. */
json_t *fold_environment(void);

#endif
