#include "models/differentiable/sgemm.h"

#include <dnnl.h>

#include "base/check.h"

namespace espalier::net {

void Sgemm(bool ta, bool tb, int m, int n, int k, const float* a, int lda,
           const float* b, int ldb, float beta, float* c, int ldc) {
  const dnnl_status_t status =
      dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1.0f, a, lda, b, ldb,
                 beta, c, ldc);
  ESP_CHECK(status == dnnl_success);
}

}  // namespace espalier::net

// Column-major a, b, c are row-major transposes: c' = op(b)' op(a)'.
extern "C" void sgemm_(const char* ta, const char* tb, const int* m,
                       const int* n, const int* k, const float* alpha,
                       const float* a, const int* lda, const float* b,
                       const int* ldb, const float* beta, float* c,
                       const int* ldc) {
  // oneDNN accepts N and T; for real numbers C equals T.
  const auto kind = [](char x) { return x == 'n' || x == 'N' ? 'N' : 'T'; };
  const dnnl_status_t status =
      dnnl_sgemm(kind(*tb), kind(*ta), *n, *m, *k, *alpha, b, *ldb, a, *lda,
                 *beta, c, *ldc);
  ESP_CHECK(status == dnnl_success);
}
