/* peers.cu: the peers in one translation unit, because CCCL's headers take the compiler longer than most of the code
 * that follows. */
#include "kernels/cuda/peers/peers_cub.cu"
#include "kernels/cuda/peers/peers_determinism.cu"
#include "kernels/cuda/peers/peers_thrust.cu"
