/* peers.cu: the peers in one translation unit, because CCCL's headers take the compiler longer than most of the code
 * that follows. */
#include "peers_cub.cu"
#include "peers_determinism.cu"
#include "peers_thrust.cu"
