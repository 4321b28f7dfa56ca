/* stack_poison.h: fills the stack that a subject is about to use, so that what it reads without having set it shows.
 *
 * The output, the scratch and the heap are filled before each run; without this, a lane that a subject left unset on
 * the stack would hold what earlier calls left there, most often the same in every run, or zero. Only the calling
 * thread's stack is filled, and FOLD_STACK_POISONED bytes of it: not those of threads that the subject starts. */
#ifndef FOLD_STACK_POISON_H
#define FOLD_STACK_POISON_H

enum { FOLD_STACK_POISONED = 16 << 10 };

/* Fills the stack below the caller's frame: to be called just before the subject's own code, since whatever is called in
 * between uses the same stack. `poison` is the request's, and chooses the byte: base runs get NaN, which
 * no bound forgives; other runs NaN, a large number, a tiny one or zero, so that runs that are compared differ. */
void fold_stack_poison(unsigned char poison);

#endif
