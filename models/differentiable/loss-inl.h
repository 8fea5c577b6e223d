// Final norm, logits and the fused losses. Included by each kernels_*.cc
// after blocks-inl.h.

// Computes the probabilities of one row of logits and their entropy in nats.
// Returns ln p(target).
template <class A>
float SoftmaxRow(const float* logits, int vocab, int target, float* exps,
                 A* probabilities, float* entropy) {
  VF top = Load(logits);
  for (int i = 16; i < vocab; i += 16) top = Max(top, Load(logits + i));
  const float peak = MaxLane(top);
  VF total{}, weighted{};
  for (int i = 0; i < vocab; i += 16) {
    const VF z = Load(logits + i) - peak;
    const VF e = Exp(z);
    Store(exps + i, e);
    total += e;
    weighted += e * z;
  }
  const float sum = Sum(total);
  const float norm = 1 / sum;
  for (int i = 0; i < vocab; i += 16) {
    Store(probabilities + i, Load(exps + i) * norm);
  }
  *entropy = std::log(sum) - Sum(weighted) * norm;
  return logits[target] - peak - std::log(sum);
}

// Turns probabilities into the derivatives of weight * cross entropy by the
// logits: weight * (p - onehot). At the target, p - 1 is computed from ln p,
// which was not rounded.
template <class A>
void CrossEntropyRow(A* row, int vocab, int target, float logprob,
                     float weight) {
  for (int i = 0; i < vocab; i += 16) Store(row + i, Load(row + i) * weight);
  const float at_target = weight * std::expm1(logprob);
  const int lane = target % 16;
  A* part = row + (target - lane);
  VF values = Load(part);
  values[lane] = at_target;
  Store(part, values);
}

// BCE of a logit against a target in [0, 1]; *gradient is d/dlogit.
inline double BinaryCrossEntropy(float logit, float target, float* gradient) {
  const double z = logit;
  const double small = std::log1p(std::exp(-std::fabs(z)));
  *gradient = static_cast<float>(1.0 / (1.0 + std::exp(-z)) - target);
  return std::max(z, 0.0) - z * target + small;
}

template <class A>
float RewardLogit(const A* row, const float* w, int d, float bias) {
  VF dot{};
  for (int i = 0; i < d; i += 16) dot += Load(row + i) * Load(w + i);
  return Sum(dot) + bias;
}

template <class F>
struct Heads {
  using A = typename F::A;

  // Gathers rows `index[0..n)`, zeros up to `padded`.
  static void Gather(const A* from, const int32_t* index, int n, int padded,
                     int d, A* to) {
    for (int i = 0; i < n; ++i) {
      std::memcpy(to + static_cast<size_t>(i) * d,
                  from + static_cast<size_t>(index[i]) * d, d * sizeof(A));
    }
    std::memset(static_cast<void*>(to + static_cast<size_t>(n) * d), 0,
                static_cast<size_t>(padded - n) * d * sizeof(A));
  }

  static void PolicyForward(const KernelContext& ctx, const HeadWeights& head,
                            const StreamView& stream, const LossTargets& t,
                            HeadSaved& saved) {
    ctx.scratch->Reset();
    const Shape& s = ctx.shape;
    const int d = s.hidden;
    const size_t v = s.vocab;
    A* normed = static_cast<A*>(saved.normed);
    F::Begin();
    RmsNorm(saved.x, stream.rows, d, ctx.weights + head.norm, s.eps, normed,
            saved.rstd);
    saved.lm_count = 0;
    for (int i = 0; i < stream.tokens; ++i) {
      if (t.weight[i] == 0) continue;
      saved.lm_targets[saved.lm_count] = i;
      saved.lm_rows[saved.lm_count++] = t.rows != nullptr ? t.rows[i] : i;
    }
    A* rows = ctx.scratch->Get<A>(static_cast<size_t>(kChunk) * d);
    float* logits = ctx.scratch->Get<float>(kChunk * v);
    float* exps = ctx.scratch->Get<float>(v);
    for (int r = 0; r < saved.lm_count; r += kChunk) {
      const int n = std::min(kChunk, saved.lm_count - r);
      const int padded = (n + 31) / 32 * 32;
      Gather(normed, saved.lm_rows + r, n, padded, d, rows);
      F::Forward(ctx, head.lm, rows, padded, logits);
      A* dlogits = static_cast<A*>(saved.dlogits) + r * v;
      for (int i = 0; i < n; ++i) {
        saved.logprobs[r + i] =
            SoftmaxRow(logits + i * v, s.vocab, t.next[saved.lm_targets[r + i]],
                       exps, dlogits + i * v, saved.entropies + r + i);
      }
      std::memset(static_cast<void*>(dlogits + n * v), 0,
                  (padded - n) * v * sizeof(A));
    }
    F::End();
  }

  static LossSums LossForward(const KernelContext& ctx, const HeadWeights& head,
                              const StreamView& stream, const LossTargets& t,
                              HeadSaved& saved) {
    const size_t v = ctx.shape.vocab;
    LossSums sums;
    for (int r = 0; r < saved.lm_count; ++r) {
      const int target = saved.lm_targets[r];
      const float w = t.weight[target];
      sums.lm -= w * static_cast<double>(saved.logprobs[r]);
      CrossEntropyRow(static_cast<A*>(saved.dlogits) + r * v, ctx.shape.vocab,
                      t.next[target], saved.logprobs[r], w * t.lm_scale);
    }
    RewardLosses(ctx, head, stream, t, saved, sums);
    return sums;
  }

  static void RewardLosses(const KernelContext& ctx, const HeadWeights& head,
                           const StreamView& stream, const LossTargets& t,
                           HeadSaved& saved, LossSums& sums) {
    const int d = ctx.shape.hidden;
    const A* normed = static_cast<const A*>(saved.normed);
    const int outputs = head.reward_outputs;
    const auto labelled = [&t](int j, int i) {
      return t.labels[j] != nullptr && !std::isnan(t.labels[j][i]);
    };
    saved.reward_count = 0;
    for (int i = 0; i < stream.tokens; ++i) {
      bool any = false;
      for (int j = 0; j < outputs; ++j) any |= labelled(j, i);
      if (!any) continue;
      const int at = saved.reward_count++;
      saved.reward_rows[at] = i;
      for (int j = 0; j < outputs; ++j) {
        float& gradient = saved.dreward[outputs * at + j];
        gradient = 0;
        if (!labelled(j, i)) continue;
        const float logit =
            RewardLogit(normed + static_cast<size_t>(i) * d,
                        ctx.weights + head.reward + static_cast<size_t>(j) * d,
                        d, ctx.weights[head.reward_bias + j]);
        sums.rewards[j] += BinaryCrossEntropy(logit, t.labels[j][i], &gradient);
        gradient *= t.reward_scales[j];
      }
    }
  }

  static void LossBackward(const KernelContext& ctx, const HeadWeights& head,
                           int rows, const HeadSaved& saved, float scale,
                           float* dx) {
    ctx.scratch->Reset();
    const int d = ctx.shape.hidden;
    const size_t v = ctx.shape.vocab;
    const A* normed = static_cast<const A*>(saved.normed);
    const size_t chunk = kChunk;
    A* gathered = ctx.scratch->Get<A>(chunk * d);
    A* dlogits = ctx.scratch->Get<A>(chunk * v);
    float* dpart = ctx.scratch->Get<float>(chunk * d);
    float* dnormed = ctx.scratch->Get<float>(static_cast<size_t>(rows) * d);
    std::memset(dnormed, 0, static_cast<size_t>(rows) * d * sizeof(float));
    F::Begin();
    for (int r = 0; r < saved.lm_count; r += kChunk) {
      const int n = std::min(kChunk, saved.lm_count - r);
      const int padded = (n + 31) / 32 * 32;
      Gather(normed, saved.lm_rows + r, n, padded, d, gathered);
      const A* from = static_cast<const A*>(saved.dlogits) + r * v;
      for (size_t i = 0; i < padded * v; i += 16) {
        Store(dlogits + i, Load(from + i) * scale);
      }
      F::BackwardInput(ctx, head.lm, dlogits, padded, dpart);
      F::BackwardWeight(ctx, head.lm, dlogits, gathered, padded);
      for (int i = 0; i < n; ++i) {
        float* to = dnormed + static_cast<size_t>(saved.lm_rows[r + i]) * d;
        const float* part = dpart + static_cast<size_t>(i) * d;
        for (int c = 0; c < d; c += 16) {
          Store(to + c, Load(to + c) + Load(part + c));
        }
      }
    }
    F::End();
    for (int i = 0; i < saved.reward_count; ++i) {
      const size_t at = static_cast<size_t>(saved.reward_rows[i]) * d;
      for (int j = 0; j < head.reward_outputs; ++j) {
        const float g = saved.dreward[head.reward_outputs * i + j] * scale;
        const size_t w = head.reward + static_cast<size_t>(j) * d;
        ctx.grads[head.reward_bias + j] += g;
        for (int c = 0; c < d; c += 16) {
          Store(dnormed + at + c,
                Load(dnormed + at + c) + Load(ctx.weights + w + c) * g);
          Store(ctx.grads + w + c,
                Load(ctx.grads + w + c) + Load(normed + at + c) * g);
        }
      }
    }
    RmsNormBackward(saved.x, saved.rstd, ctx.weights + head.norm, dnormed, rows,
                    d, nullptr, dx, ctx.grads + head.norm);
  }

  static void HeadsForward(const KernelContext& ctx, const HeadWeights& head,
                           int rows, const float* x, float* logits,
                           float* rewards) {
    ctx.scratch->Reset();
    const int d = ctx.shape.hidden;
    A* normed = ctx.scratch->Get<A>(static_cast<size_t>(rows) * d);
    float* rstd = ctx.scratch->Get<float>(rows);
    RmsNorm(x, rows, d, ctx.weights + head.norm, ctx.shape.eps, normed, rstd);
    if (logits != nullptr) {
      F::Begin();
      F::Forward(ctx, head.lm, normed, rows, logits);
      F::End();
    }
    if (rewards == nullptr) return;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < head.reward_outputs; ++j) {
        rewards[head.reward_outputs * i + j] =
            RewardLogit(normed + static_cast<size_t>(i) * d,
                        ctx.weights + head.reward + static_cast<size_t>(j) * d,
                        d, ctx.weights[head.reward_bias + j]);
      }
    }
  }
};
