// fp32 products through oneDNN.
//
// Debian's LibTorch is linked against the reference BLAS, which reaches 3-4
// GFLOP/s. sgemm.cc also defines `sgemm_`, the Fortran entry point that ATen
// calls: the program's definition takes precedence over the library's, so every
// fp32 product of ATen is as fast as these.
//
// Thread-safe.
#ifndef ESPALIER_MODELS_DIFFERENTIABLE_SGEMM_H_
#define ESPALIER_MODELS_DIFFERENTIABLE_SGEMM_H_

namespace espalier::net {

// c = op(a) op(b) + beta c, all row-major: op(a) [m, k], op(b) [k, n], c [m,
// n]. op transposes if `ta`, `tb`.
void Sgemm(bool ta, bool tb, int m, int n, int k, const float* a, int lda,
           const float* b, int ldb, float beta, float* c, int ldc);

}  // namespace espalier::net

#endif  // ESPALIER_MODELS_DIFFERENTIABLE_SGEMM_H_
