/* fake_cublas_lt.c: the entry points of cuBLASLt that foldproof opens, on host memory, by their documentation. Its heuristic offers
 * FAKE_CUBLAS_ALGORITHMS algorithms (3 if not set); number i adds i - 1 to each result, so that it shows which one ran. */
#include <cublasLt.h>

#include "fake_cublas.h"

enum { ATTRIBUTES = 64 };
/* What was set, by attribute; 0 where nothing was. */
struct attributes {
  cublasComputeType_t compute;
  cudaDataType type;
  uint64_t rows, cols, value[ATTRIBUTES];
  int64_t leading;
};

static int made; /* and not yet destroyed */

static cublasStatus_t make(void *made_here, struct attributes with) {
  struct attributes *a = malloc(sizeof *a);
  fake_check(a != NULL, "no memory");
  *a = with;
  memcpy(made_here, &a, sizeof a);
  made++;
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t end(void *a) {
  free(a);
  made--;
  return CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t set(void *of, int key, const void *value, size_t nbytes, size_t needed) {
  struct attributes *a = of;
  fake_check(key >= 0 && key < ATTRIBUTES && nbytes == needed && needed <= sizeof a->value[0], "an attribute's size");
  memcpy(&a->value[key], value, nbytes);
  return CUBLAS_STATUS_SUCCESS;
}
static uint64_t get(const void *of, int key) { return ((const struct attributes *)of)->value[key]; }

int fake_cublas_lt_left(void);
int fake_cublas_lt_left(void) { return made; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  static int here;
  *handle = (cublasLtHandle_t)&here;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType_t scale) {
  fake_check(scale == (compute == CUBLAS_COMPUTE_64F ? CUDA_R_64F : CUDA_R_32F), "the type of alpha");
  return make(desc, (struct attributes){.compute = compute, .type = scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return end(desc); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t key,
                                              const void *value, size_t nbytes) {
  const bool wide = key == CUBLASLT_MATMUL_DESC_BIAS_POINTER || key == CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE;
  return set(desc, (int)key, value, nbytes, wide ? 8 : 4);
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t leading) {
  return make(layout, (struct attributes){.type = type, .rows = rows, .cols = cols, .leading = leading});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return end(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t key,
                                                const void *value, size_t nbytes) {
  return set(layout, (int)key, value, nbytes, key == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET ? 8 : 4);
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *wish) {
  return make(wish, (struct attributes){.rows = 0});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t wish) { return end(wish); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t wish,
                                                    cublasLtMatmulPreferenceAttributes_t key, const void *value,
                                                    size_t nbytes) {
  return set(wish, (int)key, value, nbytes, key == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES ? 8 : 4);
}

/* An algorithm keeps the workspace and the alignments that it was offered for. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t wish, int wanted,
                                              cublasLtMatmulHeuristicResult_t found[], int *n) {
  const char *offered = getenv("FAKE_CUBLAS_ALGORITHMS");
  const int all = offered ? atoi(offered) : 3;
  (void)handle, (void)desc, (void)a, (void)b;
  fake_check(c == d && wanted > 0, "the heuristic");
  fake_check(get(wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
             "parts of sums are not rounded to 16 bits");
  *n = wanted < all ? wanted : all;
  for (int i = 0; i < *n; i++) {
    found[i] = (cublasLtMatmulHeuristicResult_t){.state = CUBLAS_STATUS_SUCCESS};
    if (getenv("FAKE_CUBLAS_STATE")) found[i].state = (cublasStatus_t)atoi(getenv("FAKE_CUBLAS_STATE"));
    found[i].algo.data[0] = (uint64_t)i;
    found[i].algo.data[1] = get(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
    for (int k = 0; k < 4; k++) found[i].algo.data[2 + k] = get(wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + k);
  }
  return CUBLAS_STATUS_SUCCESS;
}

static struct fake_matrix matrix_of(const void *at, cublasLtMatrixLayout_t layout, uint64_t how) {
  const struct attributes *l = (const void *)layout;
  return (struct fake_matrix){at,
                              l->type,
                              how == CUBLAS_OP_T,
                              l->rows,
                              l->cols,
                              l->leading,
                              (int64_t)get(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)};
}

static void check_call(const cublasLtMatmulAlgo_t *algorithm, const void *a, const void *b, const void *c,
                       const void *d, const void *workspace, size_t nbytes) {
  const void *at[] = {a, b, c, d};
  for (int k = 0; k < 4; k++) {
    const uint64_t aligned = algorithm->data[2 + k];
    fake_check(aligned >= 1 && aligned <= 256 && (uintptr_t)at[k] % aligned == 0, "an alignment");
    fake_check(aligned == 256 || (uintptr_t)at[k] % (2 * aligned) != 0, "less alignment than there is");
  }
  fake_check(nbytes == algorithm->data[1] && (nbytes > 0) == (workspace != NULL), "the workspace");
  fake_check((uintptr_t)workspace % 256 == 0, "the workspace's alignment");
  if (nbytes)
    memset((void *)(uintptr_t)workspace, 0xa5, 4096), ((unsigned char *)(uintptr_t)workspace)[nbytes - 1] = 0xa5;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *one, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout,
                              const void *zero, const void *c, cublasLtMatrixLayout_t c_layout, void *out,
                              cublasLtMatrixLayout_t layout, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t nbytes, cudaStream_t stream) {
  const struct attributes *how = (const void *)desc;
  const struct fake_matrix first = matrix_of(a, a_layout, get(desc, CUBLASLT_MATMUL_DESC_TRANSA)),
                           second = matrix_of(b, b_layout, get(desc, CUBLASLT_MATMUL_DESC_TRANSB)),
                           d = matrix_of(out, layout, CUBLAS_OP_N);
  const uint64_t batches = get(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT),
                 k = first.transposed ? first.rows : first.cols,
                 *const bias = &how->value[CUBLASLT_MATMUL_DESC_BIAS_POINTER];
  (void)handle;
  fake_check(stream == (cudaStream_t)0x57 && c_layout == layout && c == out, "matmul");
  fake_check(fake_load(one, how->type, 0) == 1 && fake_load(zero, how->type, 0) == 0, "alpha and beta");
  fake_check(k == (second.transposed ? second.cols : second.rows), "the two matrices' terms");
  fake_check((*bias != 0) == (get(desc, CUBLASLT_MATMUL_DESC_EPILOGUE) == CUBLASLT_EPILOGUE_BIAS), "the epilogue");
  check_call(algorithm, a, b, c, out, workspace, nbytes);
  fake_multiply(&first, &second, out, d.type, d.leading, d.apart, batches, d.rows, d.cols, k, how->compute,
                (const void *)(uintptr_t)*bias, (int64_t)get(desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE));
  for (size_t i = 0; i < batches * d.rows * d.cols; i++)
    fake_store(out, d.type, i, fake_load(out, d.type, i) + (double)algorithm->data[0]);
  return CUBLAS_STATUS_SUCCESS;
}
