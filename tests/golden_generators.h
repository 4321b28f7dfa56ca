/* golden_generators.h: a hash of elements of every generator in each dtype of more than 8 bits, pinned. test_generators.c reads
 * them and prints new ones. */
#ifndef GOLDEN_GENERATORS_H
#define GOLDEN_GENERATORS_H

#include <xxhash.h>

#include "fixtures/generator.h"

#define GOLDEN_SEED 42
#define GOLDEN_COLS 1024

typedef void golden_generate(const struct fold_source *source, uint64_t first, size_t n, void *out);

/* Of four rows, of short odd ones, and of row 2^31 (elements past 2^32 use the counter's second word). */
static inline uint64_t golden_hash(golden_generate *generate, const struct fold_generator *generator,
                                   enum fold_dtype dtype) {
  static const struct {
    size_t cols, n;
    uint64_t first;
  } parts[] = {{GOLDEN_COLS, 4 * GOLDEN_COLS, 0}, {7, 1001, 0}, {GOLDEN_COLS, 64, ((uint64_t)1 << 41) + 950}};
  static unsigned char all[8 * 6000];
  size_t used = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const struct fold_source source = {generator, dtype, GOLDEN_SEED, parts[i].cols, 0};
    generate(&source, parts[i].first, parts[i].n, all + used);
    used += parts[i].n * fold_dtype_size(dtype);
  }
  return XXH3_64bits(all, used);
}

static const struct golden {
  const char *name;
  uint64_t hash[4]; /* by dtype */
} golden[] = {
    {"mixed", {0x5867b10ab96375dbu, 0x2a7b32a718e9d047u, 0xbc2ed1a1fb5591bcu, 0xf4102b793c5369fcu}},
    {"mixed_pairs", {0x8c4944f905181c30u, 0xbf529f3c111c29a7u, 0xea2c1504623ccc55u, 0x93c04b87d4b55bf4u}},
    {"pathological", {0x9d5c49e86c91e255u, 0x5c7dee35a599f4fcu, 0x56bdf1d7bdb9d889u, 0xb1ad7696277ced6eu}},
    {"normal", {0x88bde34684cd2045u, 0x8e3d5f0948e98720u, 0x4effcdcc90e3f280u, 0x7b293e6632d8f3dcu}},
    {"uniform", {0x51b0340bf177646fu, 0xacf6c336590c4db0u, 0x63f58f29607371beu, 0xbe8b756e2f2ad930u}},
    {"zeros_positive", {0xe18b2f1eebaa779eu, 0xe18b2f1eebaa779eu, 0x2b0f18f15f1ac1b3u, 0xa507eec64d6a75e9u}},
    {"zeros_negative", {0xb9d7f713bac185c6u, 0xb9d7f713bac185c6u, 0x19bcb1b3c15cc971u, 0x95371d3437e4fcc6u}},
    {"zeros_mixed", {0xb85e54bade9b813cu, 0xb85e54bade9b813cu, 0x51de362205e9b672u, 0xd44bf3529daa5c07u}},
    {"constant", {0x1253934f68b6fcdu, 0x20f6579cefc001e4u, 0xb0f5e4b700811b0fu, 0xb24041ea0804e236u}},
    {"integers", {0xa7920d59705a29ebu, 0xb2709dd1b11de532u, 0x64985ad8d8ed3ce4u, 0xd96e5f0658cec5b5u}},
    {"sparse", {0x39f74db212163429u, 0x804e7493d2a2fe4cu, 0x4ba1c917a4e3126u, 0xf5783547e38bccdfu}},
    {"alternating", {0x27791d0feb62c888u, 0x7bea9dcd65d3f718u, 0x7dd93504ca1df0c3u, 0xf1cf0d3019518541u}},
    {"harmonic", {0x4b2638cdb44fcf70u, 0xc7a003a34ede9cb9u, 0x96e6724d95e20458u, 0xdb6cdd7539d02072u}},
    {"full_range", {0x4cd502c07013ef90u, 0x9af714b2ee9da512u, 0x8b8bd053011c48f9u, 0x4767f114497ae868u}},
    {"subnormals", {0xceae67f653b794efu, 0x87306bd4b014cd9au, 0x5f14edb99e43322au, 0xa1e3d5fcb72e2d91u}},
    {"overflow_partial", {0xd2ee220dc92b73dcu, 0x30ff01078410a2c1u, 0x4f29b083137ff718u, 0x195be0d0254cd67eu}},
    {"overflow_sum", {0x7b672c4656072ba5u, 0xa7d7d4b74c40bf29u, 0x2280dc62e72b2a99u, 0xa74ca8638009b89du}},
    {"ill_conditioned", {0x415dac5269fd09a7u, 0xe97b1465c1a36292u, 0x41a8df4abda6c2f0u, 0xaf4bdf2b0913321du}},
    {"ill_conditioned_dot", {0xb84cc9422e34418cu, 0x193a4e57e8d9d364u, 0x38f095361e9e8115u, 0xf4671ff193bcb4f3u}},
    {"ties", {0xde04215b42c3c986u, 0x7e651cf4df7c9364u, 0xdfd29426baedb747u, 0x4820e32396b86bd5u}},
    {"near_ties", {0x6415e028cafcca07u, 0xd1ca2ac8885dae78u, 0x1e77b2812475c05fu, 0xf9e67e699df226f9u}},
    {"balanced", {0x9a6f9be2d6276b70u, 0xa7e7f35a3bbce66eu, 0xa59dd0027b7e3e49u, 0x5985c03ab74a67a5u}},
    {"cancelling", {0x20f5089cb538c21fu, 0xc23290d7857b3190u, 0xa3d59c5294d91dd6u, 0xb194776b45549b35u}},
    {"whole", {0xab72cd3c20532ad4u, 0xe73cd6fe846faaf9u, 0x5a53da43719d6c9eu, 0xa1e95f366f5a9360u}},
    {"result_ties", {0x9b205efe1e4ac7feu, 0xa11f5f86eaa492ccu, 0x77042893b73a3a58u, 0xa1f15e98637eb1d3u}},
    {"below_zero", {0xa12ad47d01d2e7d3u, 0xb2c8c0d290220908u, 0x264b5e5e902de858u, 0xfa773c89a471a8edu}},
    {"rising", {0x7972a3669db71079u, 0xe28fee012b571611u, 0xc1c8bde5c5c86413u, 0x168ce48ffd2f9df6u}},
    {"mirrored_products", {0xd63dca2c6a211f52u, 0x35e16a97351c4ae4u, 0x9bc4a7ac877c41e3u, 0xe1e816658270a323u}},
    {"subnormal_products", {0x6f02eac2a4b50e41u, 0x60eeb53cc843e691u, 0x18b55d72c83eeadeu, 0xd3012062d190e23bu}},
    {"zero_places", {0x450795408078db3au, 0x450795408078db3au, 0x2cb70f31cfac62c5u, 0x2b112084b14e2bd6u}},
    {"nan_places", {0x1a7ea05cf9ba47e6u, 0x60a5bccf81db800u, 0x7b40e06995617e9u, 0x4728ddaf7e995a1du}},
    {"inf_places", {0xca514cb8b3e04ef2u, 0xc674463d7cf97328u, 0x1887b06b2eccdf34u, 0x814cbb7737429e53u}},
    {"ones", {0x28627f770a4faf4eu, 0x5334e09822877949u, 0x172742b3a4d7698du, 0x6e795ce8ca032accu}},
    {"counted", {0x892b67071619cbc0u, 0x6131908eea413bb9u, 0x5b3d425d8185b641u, 0x7d2c2e4b7a40ad20u}},
    {"lone", {0x1efe61d3682b6ff6u, 0x257eff429a4197b1u, 0x2cc35685ee56e976u, 0x68fb574e53c11a0du}},
    {"powers", {0xddf781d11d50b123u, 0x205f5b6f2d6e22f1u, 0x40d746f336bdad0bu, 0xebd8a6abd994d802u}},
    {"few", {0x2276d53e5969ba48u, 0x7f6ba3433bcc5cc7u, 0x934c12ba700978fu, 0xe9a78b661889ee75u}},
    {"mixture", {0xfd1049ada4d56729u, 0x1b97537cb30f9adu, 0xe10a8adc55409a90u, 0xbb85d83aaf0ea95au}},
    {"mixture_special", {0x88838900b350b7fdu, 0x307625525a42d94cu, 0xc59d5712efff3f40u, 0x43865f4457e53a6du}},
    {"mixture_factors", {0xe0b8568d68d3d427u, 0xee6c53506aaefc21u, 0x67d79799a51f216fu, 0x36db05444a04ca6bu}},
    {"nan_first", {0x287980492ab977d5u, 0x7e4f56d11be5f039u, 0x80e7938223b73819u, 0x152749c2fa32b55du}},
    {"nan_middle", {0xac8ae22a56a423c2u, 0x45d2c323d1673ce3u, 0x50791d91e2f962u, 0x157ecfd1cff1e883u}},
    {"nan_last", {0x3d8d3a71de52d9c4u, 0x807c2d325ff4241du, 0x5f943a7f8669f892u, 0xb7de492fc398e0a2u}},
    {"inf_first", {0x43952083d2623c1fu, 0xfa76f34886e56a6du, 0x4f2b3c17146ae3f4u, 0x3596089883d6e784u}},
    {"inf_middle", {0x3fbd420bd8c79e6bu, 0xedab0b7441a6c603u, 0x2edf9117bf75bb46u, 0x53e86de3bec1b27fu}},
    {"inf_last", {0xcdbff7cc196dbaebu, 0xbe07bfe353cae972u, 0x39fbd3d492624157u, 0xe592592a30e7750du}},
    {"neg_inf_middle", {0x4ecfd72ab21b1b2au, 0xe5172e6d26ee6753u, 0xe12c6474954fcd15u, 0xd4c37c0134c6d5e2u}},
    {"inf_both", {0x2528d6c2a9170d94u, 0x201d33e67e1a189fu, 0x918c4556079e41bbu, 0xd3da0487a3f74bd6u}},
};

#endif
