// The blocks of a Llama over a family of products and attention. Included by
// each kernels_*.cc after simd-inl.h; kernels.h says what they compute.
//
// A Family names its activation type A and has
//   Forward(ctx, matrix, x, rows, epilogue-free output)   y = x W^T
//   ForwardAdd(...)                                       out = r + x W^T
//   BackwardInput(...)                                    dx = dy W
//   BackwardWeight(...)                                   dW += dy^T x
//   AttentionForward / AttentionBackward over a whole stream.

// Rows that pass through a block's products together: their data stay in the L2
// cache.
constexpr int kChunk = 256;

template <class A>
void RmsNorm(const float* x, int rows, int d, const float* w, float eps,
             A* normed, float* rstd) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + static_cast<size_t>(r) * d;
    VF squares{};
    for (int i = 0; i < d; i += 16) {
      const VF v = Load(row + i);
      squares += v * v;
    }
    const float scale = 1.0f / std::sqrt(Sum(squares) / d + eps);
    rstd[r] = scale;
    A* out = normed + static_cast<size_t>(r) * d;
    for (int i = 0; i < d; i += 16) {
      Store(out + i, Load(row + i) * scale * Load(w + i));
    }
  }
}

// Recomputes the norm from the scale saved by the forward pass.
template <class A>
void RmsNormAgain(const float* x, const float* rstd, int rows, int d,
                  const float* w, A* normed) {
  for (int r = 0; r < rows; ++r) {
    const size_t at = static_cast<size_t>(r) * d;
    for (int i = 0; i < d; i += 16) {
      Store(normed + at + i, Load(x + at + i) * rstd[r] * Load(w + i));
    }
  }
}

// dx = dout + gradient of the norm; dout may be null. dw is added to.
inline void RmsNormBackward(const float* x, const float* rstd, const float* w,
                            const float* dnormed, int rows, int d,
                            const float* dout, float* dx, float* dw) {
  for (int r = 0; r < rows; ++r) {
    const size_t at = static_cast<size_t>(r) * d;
    VF dot{};
    for (int i = 0; i < d; i += 16) {
      const VF dn_x = Load(dnormed + at + i) * Load(x + at + i);
      Store(dw + i, Load(dw + i) + dn_x * rstd[r]);
      dot += dn_x * Load(w + i);
    }
    // dx = rstd (g - xhat mean(g xhat)) with g = dnormed w, xhat = x rstd.
    const float scale = rstd[r];
    const float pull = scale * scale * scale * Sum(dot) / d;
    for (int i = 0; i < d; i += 16) {
      VF out = Load(dnormed + at + i) * Load(w + i) * scale -
               Load(x + at + i) * pull;
      if (dout != nullptr) out += Load(dout + at + i);
      Store(dx + at + i, out);
    }
  }
}

template <class A>
void SwiGlu(const A* gate_up, int rows, int f, A* act) {
  for (int r = 0; r < rows; ++r) {
    const A* g = gate_up + static_cast<size_t>(r) * 2 * f;
    const A* u = g + f;
    A* out = act + static_cast<size_t>(r) * f;
    for (int i = 0; i < f; i += 16) {
      const VF gate = Load(g + i);
      Store(out + i, gate * Sigmoid(gate) * Load(u + i));
    }
  }
}

// Also recomputes the activation.
template <class A>
void SwiGluBackward(const A* gate_up, const A* dact, int rows, int f,
                    A* dgate_up, A* act) {
  for (int r = 0; r < rows; ++r) {
    const A* g = gate_up + static_cast<size_t>(r) * 2 * f;
    const A* u = g + f;
    const A* da = dact + static_cast<size_t>(r) * f;
    A* dg = dgate_up + static_cast<size_t>(r) * 2 * f;
    A* du = dg + f;
    A* out = act + static_cast<size_t>(r) * f;
    for (int i = 0; i < f; i += 16) {
      const VF gate = Load(g + i);
      const VF up = Load(u + i);
      const VF s = Sigmoid(gate);
      const VF d = Load(da + i);
      const VF silu = gate * s;
      Store(out + i, silu * up);
      Store(dg + i, d * up * (s + silu * (1.0f - s)));
      Store(du + i, d * silu);
    }
  }
}

template <class A>
void Convert(const float* from, size_t n, A* to) {
  for (size_t i = 0; i < n; i += 16) Store(to + i, Load(from + i));
}

template <class F>
struct Blocks {
  using A = typename F::A;

  static void AttentionForward(const KernelContext& ctx,
                               const LayerWeights& layer,
                               const StreamView& stream,
                               const AttentionSaved& saved, float* out) {
    ctx.scratch->Reset();
    const Shape& s = ctx.shape;
    const int d = s.hidden;
    const int e = s.qkv_dim();
    A* h = ctx.scratch->Get<A>(static_cast<size_t>(kChunk) * d);
    A* qkv = static_cast<A*>(saved.qkv);
    A* attn = static_cast<A*>(saved.attn);
    F::Begin();
    for (int r = 0; r < stream.rows; r += kChunk) {
      const int n = std::min(kChunk, stream.rows - r);
      RmsNorm(saved.x + static_cast<size_t>(r) * d, n, d,
              ctx.weights + layer.norm1, s.eps, h, saved.rstd + r);
      F::Forward(ctx, layer.qkv, h, n, qkv + static_cast<size_t>(r) * e);
    }
    F::AttentionForward(ctx, stream, qkv, attn, saved.lse);
    F::ForwardAdd(ctx, layer.out, attn, stream.rows, saved.x, out);
    F::End();
  }

  static void AttentionBackward(const KernelContext& ctx,
                                const LayerWeights& layer,
                                const StreamView& stream,
                                const AttentionSaved& saved, const float* dout,
                                float* dx) {
    ctx.scratch->Reset();
    const Shape& s = ctx.shape;
    const int d = s.hidden;
    const int e = s.qkv_dim();
    const int w = s.attn_dim();
    const A* attn = static_cast<const A*>(saved.attn);
    const size_t rows = stream.rows;
    A* dy = ctx.scratch->Get<A>(static_cast<size_t>(kChunk) * d);
    A* h = ctx.scratch->Get<A>(static_cast<size_t>(kChunk) * d);
    A* dattn = ctx.scratch->Get<A>(rows * w);
    A* dqkv = ctx.scratch->Get<A>(rows * e);
    float* dnormed = ctx.scratch->Get<float>(static_cast<size_t>(kChunk) * d);
    F::Begin();
    for (int r = 0; r < stream.rows; r += kChunk) {
      const int n = std::min(kChunk, stream.rows - r);
      Convert(dout + static_cast<size_t>(r) * d, static_cast<size_t>(n) * d,
              dy);
      F::BackwardInput(ctx, layer.out, dy, n,
                       dattn + static_cast<size_t>(r) * w);
      F::BackwardWeight(ctx, layer.out, dy, attn + static_cast<size_t>(r) * w,
                        n);
    }
    F::AttentionBackward(ctx, stream, static_cast<const A*>(saved.qkv), attn,
                         saved.lse, dattn, dqkv);
    for (int r = 0; r < stream.rows; r += kChunk) {
      const int n = std::min(kChunk, stream.rows - r);
      const size_t at = static_cast<size_t>(r) * d;
      const A* dq = dqkv + static_cast<size_t>(r) * e;
      F::BackwardInput(ctx, layer.qkv, dq, n, dnormed);
      RmsNormAgain(saved.x + at, saved.rstd + r, n, d,
                   ctx.weights + layer.norm1, h);
      F::BackwardWeight(ctx, layer.qkv, dq, h, n);
      RmsNormBackward(saved.x + at, saved.rstd + r, ctx.weights + layer.norm1,
                      dnormed, n, d, dout + at, dx + at,
                      ctx.grads + layer.norm1);
    }
    F::End();
  }

  static void MlpForward(const KernelContext& ctx, const LayerWeights& layer,
                         int rows, const MlpSaved& saved, float* out) {
    ctx.scratch->Reset();
    const Shape& s = ctx.shape;
    const int d = s.hidden;
    const int f = s.intermediate;
    A* h = ctx.scratch->Get<A>(static_cast<size_t>(kChunk) * d);
    A* act = ctx.scratch->Get<A>(static_cast<size_t>(kChunk) * f);
    F::Begin();
    for (int r = 0; r < rows; r += kChunk) {
      const int n = std::min(kChunk, rows - r);
      const size_t at = static_cast<size_t>(r) * d;
      A* gu = static_cast<A*>(saved.gate_up) + static_cast<size_t>(r) * 2 * f;
      RmsNorm(saved.x + at, n, d, ctx.weights + layer.norm2, s.eps, h,
              saved.rstd + r);
      F::Forward(ctx, layer.gate_up, h, n, gu);
      SwiGlu(gu, n, f, act);
      F::ForwardAdd(ctx, layer.down, act, n, saved.x + at, out + at);
    }
    F::End();
  }

  static void MlpBackward(const KernelContext& ctx, const LayerWeights& layer,
                          int rows, const MlpSaved& saved, const float* dout,
                          float* dx) {
    ctx.scratch->Reset();
    const Shape& s = ctx.shape;
    const int d = s.hidden;
    const int f = s.intermediate;
    const size_t chunk = kChunk;
    A* dy = ctx.scratch->Get<A>(chunk * d);
    A* h = ctx.scratch->Get<A>(chunk * d);
    A* dact = ctx.scratch->Get<A>(chunk * f);
    A* act = ctx.scratch->Get<A>(chunk * f);
    A* dgu = ctx.scratch->Get<A>(chunk * 2 * f);
    float* dnormed = ctx.scratch->Get<float>(chunk * d);
    F::Begin();
    for (int r = 0; r < rows; r += kChunk) {
      const int n = std::min(kChunk, rows - r);
      const size_t at = static_cast<size_t>(r) * d;
      const A* gu =
          static_cast<const A*>(saved.gate_up) + static_cast<size_t>(r) * 2 * f;
      Convert(dout + at, static_cast<size_t>(n) * d, dy);
      F::BackwardInput(ctx, layer.down, dy, n, dact);
      SwiGluBackward(gu, dact, n, f, dgu, act);
      F::BackwardWeight(ctx, layer.down, dy, act, n);
      RmsNormAgain(saved.x + at, saved.rstd + r, n, d,
                   ctx.weights + layer.norm2, h);
      F::BackwardInput(ctx, layer.gate_up, dgu, n, dnormed);
      F::BackwardWeight(ctx, layer.gate_up, dgu, h, n);
      RmsNormBackward(saved.x + at, saved.rstd + r, ctx.weights + layer.norm2,
                      dnormed, n, d, dout + at, dx + at,
                      ctx.grads + layer.norm2);
    }
    F::End();
  }
};
