/* ready.c: whether an engine can run here, in this process or over ranks. */
#include "model/engine.h"

#include "ranks/world.h"

fold_status fold_engine_ready(enum fold_engine engine) {
  struct fold_world *world;
  if (fold_engine_has_ranks(engine)) return fold_world_of(engine, &world);
  const struct fold_engine_ops *ops = fold_engine_of(engine);
  return ops->ready ? ops->ready() : fold_ok();
}
