// AdamW and the gradient's norm over flat buffers. Included by each
// kernels_*.cc after simd-inl.h. Buffers are padded to multiples of 16.

inline VF SumReplicas(const float* grads, int replicas, size_t stride) {
  VF sum = Load(grads);
  for (int i = 1; i < replicas; ++i) sum += Load(grads + i * stride);
  return sum;
}

inline void AdamW(size_t n, const float* grads, int replicas, size_t stride,
                  float clip, float rate, float beta1, float beta2, float eps,
                  float decay, float correct1, float correct2, float* weights,
                  float* moment1, float* moment2) {
  for (size_t i = 0; i < n; i += 16) {
    const VF g = SumReplicas(grads + i, replicas, stride) * clip;
    const VF m = Load(moment1 + i) * beta1 + g * (1.0f - beta1);
    const VF v = Load(moment2 + i) * beta2 + g * g * (1.0f - beta2);
    Store(moment1 + i, m);
    Store(moment2 + i, v);
    const VF root = Sqrt(v * correct2);
    const VF w = Load(weights + i);
    Store(weights + i, w - (m * correct1 / (root + eps) + w * decay) * rate);
  }
}

inline double GradSquares(size_t n, const float* grads, int replicas,
                          size_t stride) {
  double total = 0;
  for (size_t i = 0; i < n; i += 4096) {
    VF part{};
    const size_t end = std::min(n, i + 4096);
    for (size_t j = i; j < end; j += 16) {
      const VF g = SumReplicas(grads + j, replicas, stride);
      part += g * g;
    }
    total += Sum(part);
  }
  return total;
}
