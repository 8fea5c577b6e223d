// The fp32 family: products by sgemm, attention by whole score matrices. Simple
// and exact rather than fast: the reference for tests of the bf16 family, and
// for training on machines without AMX. Included after simd-inl.h.

struct Fp32Family {
  using A = float;

  static constexpr float kUnseen = -1e30f;  // a score whose weight is 0

  static void Begin() {}
  static void End() {}

  static void Forward(const KernelContext& ctx, const Matrix& w, const float* x,
                      int rows, float* y) {
    Sgemm(false, true, rows, w.n, w.k, x, w.k, ctx.weights + w.offset, w.k, 0,
          y, w.n);
  }

  static void ForwardAdd(const KernelContext& ctx, const Matrix& w,
                         const float* x, int rows, const float* residual,
                         float* out) {
    std::memcpy(out, residual, static_cast<size_t>(rows) * w.n * sizeof(float));
    Sgemm(false, true, rows, w.n, w.k, x, w.k, ctx.weights + w.offset, w.k, 1,
          out, w.n);
  }

  static void BackwardInput(const KernelContext& ctx, const Matrix& w,
                            const float* dy, int rows, float* dx) {
    Sgemm(false, false, rows, w.k, w.n, dy, w.n, ctx.weights + w.offset, w.k, 0,
          dx, w.k);
  }

  static void BackwardWeight(const KernelContext& ctx, const Matrix& w,
                             const float* dy, const float* x, int rows) {
    Sgemm(true, false, w.n, w.k, rows, dy, w.n, x, w.k, 1, ctx.grads + w.offset,
          w.k);
  }

  // RoPE, rotate-half: (x1, x2) -> (x1 c - x2 s, x2 c + x1 s). `sign` -1
  // rotates back, which is the gradient.
  static void Rope(const KernelContext& ctx, const int32_t* positions,
                   const float* from, size_t stride, int n, float scale,
                   float sign, float* to, size_t to_stride) {
    const int half = ctx.shape.head_dim / 2;
    for (int t = 0; t < n; ++t) {
      const float* c = ctx.rope_cos + static_cast<size_t>(positions[t]) * half;
      const float* s = ctx.rope_sin + static_cast<size_t>(positions[t]) * half;
      const float* in = from + t * stride;
      float* out = to + t * to_stride;
      for (int i = 0; i < half; i += 16) {
        const VF x1 = Load(in + i);
        const VF x2 = Load(in + half + i);
        const VF sine = Load(s + i) * sign;
        Store(out + i, (x1 * Load(c + i) - x2 * sine) * scale);
        Store(out + half + i, (x2 * Load(c + i) + x1 * sine) * scale);
      }
    }
  }

  // Offsets of one head's query and of its key and value in a qkv row.
  struct Columns {
    size_t q, k, v;
    Columns(const Shape& s, int head) {
      const size_t hd = s.head_dim;
      const size_t group = head / (s.heads / s.kv_heads);
      q = head * hd;
      k = (s.heads + group) * hd;
      v = (s.heads + s.kv_heads + group) * hd;
    }
  };

  static void AttentionForward(const KernelContext& ctx,
                               const StreamView& stream, const float* qkv,
                               float* attn, float* lse) {
    const Shape& s = ctx.shape;
    const int hd = s.head_dim;
    const size_t e = s.qkv_dim();
    const size_t w = s.attn_dim();
    std::memset(attn + stream.tokens * w, 0,
                (stream.rows - stream.tokens) * w * sizeof(float));
    const float scale = 1.0f / std::sqrt(static_cast<float>(hd));
    const int longest = Longest(stream);
    float* q = ctx.scratch->Get<float>(static_cast<size_t>(longest) * hd);
    float* k = ctx.scratch->Get<float>(static_cast<size_t>(longest) * hd);
    float* p = ctx.scratch->Get<float>(static_cast<size_t>(longest) * longest);
    for (int i = 0; i < stream.sequences; ++i) {
      const size_t start = stream.starts[i];
      const int n = stream.starts[i + 1] - stream.starts[i];
      const int32_t* positions = stream.positions + start;
      const int32_t* ends = stream.ends + start;
      for (int h = 0; h < s.heads; ++h) {
        const Columns at(s, h);
        const float* base = qkv + start * e;
        Rope(ctx, positions, base + at.q, e, n, scale, 1, q, hd);
        Rope(ctx, positions, base + at.k, e, n, 1, 1, k, hd);
        Sgemm(false, true, n, n, hd, q, hd, k, hd, 0, p, n);
        for (int r = 0; r < n; ++r) {
          float* row = p + static_cast<size_t>(r) * n;
          const int at_row = static_cast<int>(start) + r;
          for (int c = 0; c < r; ++c) {
            if (ends[c] <= at_row) row[c] = kUnseen;
          }
          float peak = row[0];
          for (int c = 1; c <= r; ++c) peak = std::max(peak, row[c]);
          float sum = 0;
          for (int c = 0; c <= r; ++c) {
            row[c] = std::exp(row[c] - peak);
            sum += row[c];
          }
          for (int c = 0; c <= r; ++c) row[c] /= sum;
          for (int c = r + 1; c < n; ++c) row[c] = 0;
          lse[static_cast<size_t>(h) * stream.rows + start + r] =
              peak + std::log(sum);
        }
        Sgemm(false, false, n, hd, n, p, n, base + at.v, static_cast<int>(e), 0,
              attn + start * w + h * hd, static_cast<int>(w));
      }
    }
  }

  static void AttentionBackward(const KernelContext& ctx,
                                const StreamView& stream, const float* qkv,
                                const float* attn, const float* lse,
                                const float* dattn, float* dqkv) {
    const Shape& s = ctx.shape;
    const int hd = s.head_dim;
    const size_t e = s.qkv_dim();
    const size_t w = s.attn_dim();
    std::memset(dqkv, 0, stream.rows * e * sizeof(float));
    const float scale = 1.0f / std::sqrt(static_cast<float>(hd));
    const size_t longest = Longest(stream);
    float* q = ctx.scratch->Get<float>(longest * hd);
    float* k = ctx.scratch->Get<float>(longest * hd);
    float* p = ctx.scratch->Get<float>(longest * longest);
    float* ds = ctx.scratch->Get<float>(longest * longest);
    float* dq = ctx.scratch->Get<float>(longest * hd);
    float* dk = ctx.scratch->Get<float>(longest * hd);
    for (int i = 0; i < stream.sequences; ++i) {
      const size_t start = stream.starts[i];
      const int n = stream.starts[i + 1] - stream.starts[i];
      const int32_t* positions = stream.positions + start;
      const int32_t* ends = stream.ends + start;
      for (int h = 0; h < s.heads; ++h) {
        const Columns at(s, h);
        const float* base = qkv + start * e;
        float* dbase = dqkv + start * e;
        const float* o = attn + start * w + h * hd;
        const float* dout = dattn + start * w + h * hd;
        const int ew = static_cast<int>(e);
        const int ww = static_cast<int>(w);
        Rope(ctx, positions, base + at.q, e, n, scale, 1, q, hd);
        Rope(ctx, positions, base + at.k, e, n, 1, 1, k, hd);
        Sgemm(false, true, n, n, hd, q, hd, k, hd, 0, p, n);
        Sgemm(false, true, n, n, hd, dout, ww, base + at.v, ew, 0, ds, n);
        for (int r = 0; r < n; ++r) {
          float* row = p + static_cast<size_t>(r) * n;
          float* drow = ds + static_cast<size_t>(r) * n;
          const float norm =
              lse[static_cast<size_t>(h) * stream.rows + start + r];
          float delta = 0;
          for (int c = 0; c < hd; ++c) delta += dout[r * w + c] * o[r * w + c];
          const int at_row = static_cast<int>(start) + r;
          for (int c = 0; c <= r; ++c) {
            row[c] = ends[c] <= at_row ? 0 : std::exp(row[c] - norm);
            drow[c] = row[c] * (drow[c] - delta);
          }
          for (int c = r + 1; c < n; ++c) row[c] = drow[c] = 0;
        }
        // Gradients of a group's key and value sum over its heads.
        Sgemm(true, false, n, hd, n, p, n, dout, ww, 1, dbase + at.v, ew);
        Sgemm(false, false, n, hd, n, ds, n, k, hd, 0, dq, hd);
        Sgemm(true, false, n, hd, n, ds, n, q, hd, 0, dk, hd);
        Rope(ctx, positions, dq, hd, n, scale, -1, dbase + at.q, e);
        Rope(ctx, positions, dk, hd, n, 1, -1, dk, hd);
        for (int t = 0; t < n; ++t) {
          for (int c = 0; c < hd; ++c) {
            dbase[t * e + at.k + c] += dk[static_cast<size_t>(t) * hd + c];
          }
        }
      }
    }
  }

  static int Longest(const StreamView& stream) {
    int longest = 1;
    for (int i = 0; i < stream.sequences; ++i) {
      longest = std::max(longest, stream.starts[i + 1] - stream.starts[i]);
    }
    return longest;
  }
};
