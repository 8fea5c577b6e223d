// Causal attention on AMX tiles, forward and backward. Included by
// kernels_amx.cc after amx-inl.h.
//
// Scores are computed transposed, keys down and 32 queries across:
//
//              queries (lanes)
//           +-------------------+      S' = K Q'      P' = 2^(S' - lse)
//    keys   |  S' [keys, 32]    |      O' = V' P'     dV += P' dO
//    (rows) |                   |      dP' = V dO'    dS' = P' (dP' - delta)
//           +-------------------+      dK += dS' Q    dQ' += K' dS'
//
// so that the softmax runs down the rows with one query per lane, and P', dS'
// can directly be the A operands of the last products. Queries include the
// factor log2(e) / sqrt(head_dim): probabilities are powers of 2, and `lse` is
// in bits. The backward pass recomputes P' from it.

struct AmxAttention {
  static constexpr int kBlock = 32;  // queries and keys per block
  static constexpr float kLog2E = 1.44269504f;
  static constexpr float kLn2 = 0.693147181f;

  // Offsets of one head's values in a row of qkv.
  struct Head {
    size_t q, k, v, out;
    Head(const Shape& s, int head) {
      const size_t hd = s.head_dim;
      const size_t group = head / (s.heads / s.kv_heads);
      q = out = head * hd;
      k = (s.heads + group) * hd;
      v = (s.heads + s.kv_heads + group) * hd;
    }
  };

  // Copies n rows of a head, rotated by RoPE unless `rope` is false, times
  // `scale`; zeros up to `padded` rows.
  static void CopyRows(const KernelContext& ctx, const int32_t* positions,
                       const Bf16* from, size_t stride, int n, int padded,
                       bool rope, float scale, Bf16* to) {
    const int hd = ctx.shape.head_dim;
    const int half = hd / 2;
    for (int t = 0; t < n; ++t) {
      const Bf16* in = from + t * stride;
      Bf16* out = to + static_cast<size_t>(t) * hd;
      if (!rope) {
        std::memcpy(out, in, hd * sizeof(Bf16));
        continue;
      }
      const float* c = ctx.rope_cos + static_cast<size_t>(positions[t]) * half;
      const float* s = ctx.rope_sin + static_cast<size_t>(positions[t]) * half;
      for (int i = 0; i < half; i += 16) {
        const VF x1 = Load(in + i);
        const VF x2 = Load(in + half + i);
        const VF cosine = Load(c + i) * scale;
        const VF sine = Load(s + i) * scale;
        Store(out + i, x1 * cosine - x2 * sine);
        Store(out + half + i, x2 * cosine + x1 * sine);
      }
    }
    std::memset(static_cast<void*>(to + static_cast<size_t>(n) * hd), 0,
                static_cast<size_t>(padded - n) * hd * sizeof(Bf16));
  }

  // Rotates gradient rows [n, head_dim], fp32, back into bf16 rows.
  static void UnropeRows(const KernelContext& ctx, const int32_t* positions,
                         const float* from, int n, float scale, Bf16* to,
                         size_t stride) {
    const int hd = ctx.shape.head_dim;
    const int half = hd / 2;
    for (int t = 0; t < n; ++t) {
      const float* c = ctx.rope_cos + static_cast<size_t>(positions[t]) * half;
      const float* s = ctx.rope_sin + static_cast<size_t>(positions[t]) * half;
      const float* in = from + static_cast<size_t>(t) * hd;
      for (int i = 0; i < half; i += 16) {
        const VF x1 = Load(in + i);
        const VF x2 = Load(in + half + i);
        const VF cosine = Load(c + i) * scale;
        const VF sine = Load(s + i) * scale;
        Store(to + t * stride + i, x1 * cosine + x2 * sine);
        Store(to + t * stride + half + i, x2 * cosine - x1 * sine);
      }
    }
  }

  // [hd, 32] fp32, one query per column -> [32, hd].
  static void TransposeOut(const float* from, int hd, float* to) {
    for (int d = 0; d < hd; d += 16) {
      for (int c = 0; c < 32; c += 16) {
        __m512i r[16];
        for (int i = 0; i < 16; ++i) {
          r[i] = _mm512_loadu_si512(from + (d + i) * 32 + c);
        }
        Transpose16(r);
        for (int i = 0; i < 16; ++i) {
          _mm512_storeu_si512(to + static_cast<size_t>(c + i) * hd + d, r[i]);
        }
      }
    }
  }

  // Rows [32, hd] as B tiles whose depth is hd: [2 column halves][hd / 32].
  static void PackQueries(const Bf16* rows, int hd, Bf16* tiles) {
    for (int c = 0; c < 2; ++c) {
      for (int i = 0; i < hd / 32; ++i) {
        PackColumns(rows + static_cast<size_t>(16) * c * hd + 32 * i, hd,
                    tiles + (c * (hd / 32) + i) * kTile);
      }
    }
  }

  // out[32 keys, 32 queries] = rows[32 keys, hd] times packed queries.
  static void Scores(const Bf16* rows, int hd, const Bf16* tiles, float* out) {
    ESP_TILE_ZERO(0);
    ESP_TILE_ZERO(1);
    ESP_TILE_ZERO(2);
    ESP_TILE_ZERO(3);
    const int depth = hd / 32;
    for (int i = 0; i < depth; ++i) {
      ESP_TILE_LOAD(4, rows + 32 * i, hd * 2);
      ESP_TILE_LOAD(5, rows + 16 * hd + 32 * i, hd * 2);
      ESP_TILE_LOAD(6, tiles + kTile * i, 64);
      ESP_TILE_LOAD(7, tiles + kTile * (depth + i), 64);
      ESP_TILE_DOT(0, 4, 6);
      ESP_TILE_DOT(1, 4, 7);
      ESP_TILE_DOT(2, 5, 6);
      ESP_TILE_DOT(3, 5, 7);
    }
    ESP_TILE_STORE(0, out, 128);
    ESP_TILE_STORE(1, out + 16, 128);
    ESP_TILE_STORE(2, out + 512, 128);
    ESP_TILE_STORE(3, out + 528, 128);
  }

  // c[32, 32] += A tiles (a, a + a_step) times B tiles (b, b + b_step).
  ESP_INLINE static void Accumulate(const Bf16* a, size_t a_step, long a_stride,
                                    const Bf16* b, size_t b_step, float* c,
                                    long c_row) {
    ESP_TILE_LOAD(0, c, c_row * 4);
    ESP_TILE_LOAD(1, c + 16, c_row * 4);
    ESP_TILE_LOAD(2, c + 16 * c_row, c_row * 4);
    ESP_TILE_LOAD(3, c + 16 * c_row + 16, c_row * 4);
    ESP_TILE_LOAD(4, a, a_stride);
    ESP_TILE_LOAD(5, a + a_step, a_stride);
    ESP_TILE_LOAD(6, b, 64);
    ESP_TILE_LOAD(7, b + b_step, 64);
    ESP_TILE_DOT(0, 4, 6);
    ESP_TILE_DOT(1, 4, 7);
    ESP_TILE_DOT(2, 5, 6);
    ESP_TILE_DOT(3, 5, 7);
    ESP_TILE_STORE(0, c, c_row * 4);
    ESP_TILE_STORE(1, c + 16, c_row * 4);
    ESP_TILE_STORE(2, c + 16 * c_row, c_row * 4);
    ESP_TILE_STORE(3, c + 16 * c_row + 16, c_row * 4);
  }

  // `from` plus 0, 1, .. 15, to compare lanes with a key's position.
  ESP_INLINE static VI Lanes(int from) {
    const VI lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return lanes + from;
  }

  // Interleaves two rows of 32 bf16 as pairs into two B tiles.
  ESP_INLINE static void StorePairs(__m512i row0, __m512i row1, Bf16* tile0,
                                    Bf16* tile1) {
    const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11,
                                         42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37,
                                         5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
    _mm512_storeu_si512(tile0, _mm512_permutex2var_epi16(row0, low, row1));
    _mm512_storeu_si512(tile1, _mm512_permutex2var_epi16(row0, high, row1));
  }

  ESP_INLINE static __m512i Round(VF a, VF b) {
    return (__m512i)_mm512_cvtne2ps_pbh((__m512)b, (__m512)a);
  }

  // Which keys of a sequence or tree a block of its queries sees. Positions
  // count from the sequence's start.
  struct Sight {
    int n = 0;
    int start = 0;
    const int32_t* ends = nullptr;  // [n], relative to the stream's start
    int32_t* first_end = nullptr;   // [blocks], over a block's keys
    int32_t* last_end = nullptr;

    Sight(const StreamView& stream, int sequence, Arena& arena)
        : n(stream.starts[sequence + 1] - stream.starts[sequence]),
          start(stream.starts[sequence]),
          ends(stream.ends + start) {
      const int blocks = Padded(n) / kBlock;
      first_end = arena.Get<int32_t>(static_cast<size_t>(blocks));
      last_end = arena.Get<int32_t>(static_cast<size_t>(blocks));
      for (int b = 0; b < blocks; ++b) {
        const int32_t* from = ends + b * kBlock;
        const int32_t* to = ends + std::min(n, (b + 1) * kBlock);
        first_end[b] = *std::min_element(from, to) - start;
        last_end[b] = *std::max_element(from, to) - start;
      }
    }
    // Whether any query from `q` on sees a key of block b, b * 32 <= q.
    bool Any(int b, int q) const { return last_end[b] > q; }
    // Whether every query of the block at `q` sees all keys before it.
    bool All(int b, int q) const {
      return first_end[b] >= std::min(n, q + kBlock);
    }
    // The first position that no longer sees key k, relative to the block at
    // `q`.
    int Limit(int k, int q) const { return k < n ? ends[k] - start - q : 0; }
  };

  // Gives a low score to keys of a block of 32 that queries do not see.
  static void Hide(const Sight& sight, int b, int q, float* scores) {
    const VF low = Splat(-1e30f);
    const bool diagonal = b * kBlock == q;
    const bool tree = !sight.All(b, q);
    for (int k = 0; k < kBlock; ++k) {
      const int first = diagonal ? k : 0;
      const int limit = tree ? sight.Limit(b * kBlock + k, q) : kBlock;
      for (int c = 0; c < 2; ++c) {
        float* at = scores + 32 * k + 16 * c;
        const VI lanes = Lanes(16 * c);
        Store(at, (lanes < first) | (lanes >= limit) ? low : Load(at));
      }
    }
  }

  // Stores 2^(S' - max) of `keys` rows as pairs; returns sums and maxima.
  static void Softmax(float* scores, int keys, Bf16* tiles, float* sums,
                      float* tops) {
    VF top0 = Load(scores), top1 = Load(scores + 16);
    for (int k = 1; k < keys; ++k) {
      top0 = Max(top0, Load(scores + 32 * k));
      top1 = Max(top1, Load(scores + 32 * k + 16));
    }
    VF sum0{}, sum1{};
    for (int k = 0; k < keys; k += 2) {
      const float* at = scores + 32 * k;
      const VF a0 = Exp2(Load(at) - top0), a1 = Exp2(Load(at + 16) - top1);
      const VF b0 = Exp2(Load(at + 32) - top0), b1 = Exp2(Load(at + 48) - top1);
      sum0 += a0 + b0;
      sum1 += a1 + b1;
      Bf16* tile = tiles + k / 32 * 2 * kTile + k % 32 * 16;
      StorePairs(Round(a0, a1), Round(b0, b1), tile, tile + kTile);
    }
    Store(sums, sum0);
    Store(sums + 16, sum1);
    Store(tops, top0);
    Store(tops + 16, top1);
  }

  static int Padded(int n) { return (n + kBlock - 1) / kBlock * kBlock; }

  static int Longest(const StreamView& stream) {
    int longest = 1;
    for (int i = 0; i < stream.sequences; ++i) {
      longest = std::max(longest, stream.starts[i + 1] - stream.starts[i]);
    }
    return Padded(longest);
  }

  static void AttentionForward(const KernelContext& ctx,
                               const StreamView& stream, const Bf16* qkv,
                               Bf16* attn, float* lse) {
    const Shape& s = ctx.shape;
    const size_t hd = s.head_dim;
    const size_t e = s.qkv_dim();
    const size_t w = s.attn_dim();
    std::memset(static_cast<void*>(attn + stream.tokens * w), 0,
                (stream.rows - stream.tokens) * w * sizeof(Bf16));
    const size_t longest = Longest(stream);
    Bf16* keys = ctx.scratch->Get<Bf16>(longest * hd);
    Bf16* values = ctx.scratch->Get<Bf16>(longest * hd);
    Bf16* values_t = ctx.scratch->Get<Bf16>(longest * hd);
    const int group = s.heads / s.kv_heads;
    for (int i = 0; i < stream.sequences; ++i) {
      const Sight sight(stream, i, *ctx.scratch);
      const int start = sight.start;
      const int n = sight.n;
      const int padded = Padded(n);
      const int32_t* positions = stream.positions + start;
      const Bf16* base = qkv + start * e;
      for (int g = 0; g < s.kv_heads; ++g) {
        const Head at(s, g * group);
        CopyRows(ctx, positions, base + at.k, e, n, padded, true, 1, keys);
        CopyRows(ctx, positions, base + at.v, e, n, padded, false, 1, values);
        PackKeysTransposed(values, padded, static_cast<int>(hd), values_t);
        for (int h = g * group; h < (g + 1) * group; ++h) {
          ForwardHead(ctx, stream, qkv, sight, h, keys, values_t, attn, lse);
        }
      }
    }
  }

  // Packs rows [padded, hd] as A tiles of the transpose: [padded / 32][hd /
  // 16].
  static void PackKeysTransposed(const Bf16* rows, int padded, int hd,
                                 Bf16* tiles) {
    for (int b = 0; b < padded / 32; ++b) {
      for (int d = 0; d < hd / 16; ++d) {
        PackTransposed(rows + static_cast<size_t>(32) * b * hd + 16 * d, hd,
                       tiles + (b * (hd / 16) + d) * kTile);
      }
    }
  }

  static void ForwardHead(const KernelContext& ctx, const StreamView& stream,
                          const Bf16* qkv, const Sight& sight, int head,
                          const Bf16* keys, const Bf16* values_t, Bf16* attn,
                          float* lse) {
    const Shape& s = ctx.shape;
    const int hd = s.head_dim;
    const size_t e = s.qkv_dim();
    const size_t w = s.attn_dim();
    const int start = sight.start;
    const int n = sight.n;
    const Head at(s, head);
    const float scale = kLog2E / std::sqrt(static_cast<float>(hd));
    Buffers& buf = Scratch(Padded(n), hd);
    for (int q = 0; q < n; q += kBlock) {
      const int rows = std::min(kBlock, n - q);
      CopyRows(ctx, stream.positions + start + q, qkv + (start + q) * e + at.q,
               e, rows, kBlock, true, scale, buf.q);
      PackQueries(buf.q, hd, buf.q_tiles);
      int blocks = 0;  // seen by these queries
      for (int b = 0; b <= q / kBlock; ++b) {
        if (!sight.Any(b, q)) continue;
        float* scores = buf.scores + static_cast<size_t>(blocks) * 1024;
        Scores(keys + static_cast<size_t>(b) * kBlock * hd, hd, buf.q_tiles,
               scores);
        if (b * kBlock == q || !sight.All(b, q)) Hide(sight, b, q, scores);
        buf.seen[blocks++] = b;
      }
      alignas(64) float sums[32], tops[32];
      Softmax(buf.scores, blocks * kBlock, buf.p_tiles, sums, tops);
      const VF inv0 = 1.0f / Load(sums), inv1 = 1.0f / Load(sums + 16);
      for (int d = 0; d < hd / 16; d += 2) {
        ESP_TILE_ZERO(0);
        ESP_TILE_ZERO(1);
        ESP_TILE_ZERO(2);
        ESP_TILE_ZERO(3);
        for (int b = 0; b < blocks; ++b) {
          const Bf16* v = values_t + (buf.seen[b] * (hd / 16) + d) * kTile;
          ESP_TILE_LOAD(4, v, 64);
          ESP_TILE_LOAD(5, v + kTile, 64);
          ESP_TILE_LOAD(6, buf.p_tiles + 2 * b * kTile, 64);
          ESP_TILE_LOAD(7, buf.p_tiles + (2 * b + 1) * kTile, 64);
          ESP_TILE_DOT(0, 4, 6);
          ESP_TILE_DOT(1, 4, 7);
          ESP_TILE_DOT(2, 5, 6);
          ESP_TILE_DOT(3, 5, 7);
        }
        float* out = buf.out + 512 * d;
        ESP_TILE_STORE(0, out, 128);
        ESP_TILE_STORE(1, out + 16, 128);
        ESP_TILE_STORE(2, out + 512, 128);
        ESP_TILE_STORE(3, out + 528, 128);
      }
      for (int d = 0; d < hd; ++d) {
        float* row = buf.out + 32 * d;
        Store(row, Load(row) * inv0);
        Store(row + 16, Load(row + 16) * inv1);
      }
      TransposeOut(buf.out, hd, buf.rows);
      for (int r = 0; r < rows; ++r) {
        Convert(buf.rows + static_cast<size_t>(r) * hd, hd,
                attn + (start + q + r) * w + at.out);
        lse[static_cast<size_t>(head) * stream.rows + start + q + r] =
            tops[r] + std::log2(sums[r]);
      }
    }
  }

  // Buffers for a head's blocks; one per thread, grown as needed.
  struct Buffers {
    std::vector<char> memory;
    Bf16 *q, *q_tiles, *q_pairs, *dout, *dout_tiles, *dout_pairs;
    Bf16 *p_tiles, *p_rows, *ds_rows, *ds_tiles;
    float *scores, *dp, *out, *rows;
    int32_t* seen;  // blocks of keys
  };

  static Buffers& Scratch(int padded, int hd) {
    thread_local Buffers buf;
    const size_t block = static_cast<size_t>(kBlock) * hd;
    const size_t square = static_cast<size_t>(kBlock) * kBlock;
    const size_t long_square =
        static_cast<size_t>(std::max(padded, 2 * kBlock)) * kBlock;
    const size_t need = 6 * block * 2 + long_square * 2 + 3 * square * 2 +
                        long_square * 4 + 2 * square * 4 + 2 * block * 4 +
                        static_cast<size_t>(padded / kBlock + 1) * 4 + 64;
    if (buf.memory.size() < need) buf.memory.resize(need);
    char* next = reinterpret_cast<char*>(
        (reinterpret_cast<uintptr_t>(buf.memory.data()) + 63) & ~uintptr_t{63});
    const auto take = [&next](auto*& p, size_t count) {
      p = reinterpret_cast<std::remove_reference_t<decltype(p)>>(next);
      next += count * sizeof(*p);
    };
    take(buf.q, block);
    take(buf.q_tiles, block);
    take(buf.q_pairs, block);
    take(buf.dout, block);
    take(buf.dout_tiles, block);
    take(buf.dout_pairs, block);
    take(buf.p_tiles, long_square);
    take(buf.p_rows, square);
    take(buf.ds_rows, square);
    take(buf.ds_tiles, square);
    take(buf.scores, long_square);
    take(buf.dp, 2 * square);
    take(buf.out, block);
    take(buf.rows, block);
    take(buf.seen, static_cast<size_t>(padded / kBlock + 1));
    return buf;
  }

  // P' and dS' of one block of 32 keys as A rows, and dS' as B pairs.
  ESP_INLINE static void BlockGradients(Buffers& buf, const float* scores,
                                        const float* dp, const Sight& sight,
                                        int b, int q, const float* lse,
                                        const float* delta) {
    const bool diagonal = b * kBlock == q;
    const bool tree = !sight.All(b, q);
    const VF lse0 = Load(lse), lse1 = Load(lse + 16);
    const VF delta0 = Load(delta), delta1 = Load(delta + 16);
    __m512i previous{};
    for (int k = 0; k < kBlock; ++k) {
      VF p0 = Exp2(Load(scores + 32 * k) - lse0);
      VF p1 = Exp2(Load(scores + 32 * k + 16) - lse1);
      if (diagonal) {
        p0 = Lanes(0) < k ? VF{} : p0;
        p1 = Lanes(16) < k ? VF{} : p1;
      }
      if (tree) {
        const int limit = sight.Limit(b * kBlock + k, q);
        p0 = Lanes(0) >= limit ? VF{} : p0;
        p1 = Lanes(16) >= limit ? VF{} : p1;
      }
      const VF ds0 = p0 * (Load(dp + 32 * k) - delta0);
      const VF ds1 = p1 * (Load(dp + 32 * k + 16) - delta1);
      Store2(buf.p_rows + 32 * k, p0, p1);
      const __m512i row = Round(ds0, ds1);
      _mm512_storeu_si512(buf.ds_rows + 32 * k, row);
      if (k % 2 == 1) {
        Bf16* tile = buf.ds_tiles + 16 * (k - 1);
        StorePairs(previous, row, tile, tile + kTile);
      }
      previous = row;
    }
  }

  static void AttentionBackward(const KernelContext& ctx,
                                const StreamView& stream, const Bf16* qkv,
                                const Bf16* attn, const float* lse,
                                const Bf16* dattn, Bf16* dqkv) {
    const Shape& s = ctx.shape;
    const size_t hd = s.head_dim;
    const size_t e = s.qkv_dim();
    std::memset(static_cast<void*>(dqkv + stream.tokens * e), 0,
                (stream.rows - stream.tokens) * e * sizeof(Bf16));
    const size_t longest = Longest(stream);
    Bf16* keys = ctx.scratch->Get<Bf16>(longest * hd);
    Bf16* keys_t = ctx.scratch->Get<Bf16>(longest * hd);
    Bf16* values = ctx.scratch->Get<Bf16>(longest * hd);
    float* dk = ctx.scratch->Get<float>(longest * hd);
    float* dv = ctx.scratch->Get<float>(longest * hd);
    const int group = s.heads / s.kv_heads;
    for (int i = 0; i < stream.sequences; ++i) {
      const Sight sight(stream, i, *ctx.scratch);
      const int start = sight.start;
      const int n = sight.n;
      const int padded = Padded(n);
      const int32_t* positions = stream.positions + start;
      const Bf16* base = qkv + start * e;
      Bf16* dbase = dqkv + start * e;
      for (int g = 0; g < s.kv_heads; ++g) {
        const Head at(s, g * group);
        CopyRows(ctx, positions, base + at.k, e, n, padded, true, 1, keys);
        CopyRows(ctx, positions, base + at.v, e, n, padded, false, 1, values);
        PackKeysTransposed(keys, padded, static_cast<int>(hd), keys_t);
        std::memset(dk, 0, padded * hd * sizeof(float));
        std::memset(dv, 0, padded * hd * sizeof(float));
        for (int h = g * group; h < (g + 1) * group; ++h) {
          BackwardHead(ctx, stream, qkv, attn, lse, dattn, sight, h, keys,
                       keys_t, values, dk, dv, dqkv);
        }
        // Queries include the factor log2(e).
        UnropeRows(ctx, positions, dk, n, kLn2, dbase + at.k, e);
        for (int t = 0; t < n; ++t) {
          Convert(dv + t * hd, hd, dbase + t * e + at.v);
        }
      }
    }
  }

  static void BackwardHead(const KernelContext& ctx, const StreamView& stream,
                           const Bf16* qkv, const Bf16* attn, const float* lse,
                           const Bf16* dattn, const Sight& sight, int head,
                           const Bf16* keys, const Bf16* keys_t,
                           const Bf16* values, float* dk, float* dv,
                           Bf16* dqkv) {
    const Shape& s = ctx.shape;
    const int hd = s.head_dim;
    const size_t e = s.qkv_dim();
    const size_t w = s.attn_dim();
    const int start = sight.start;
    const int n = sight.n;
    const Head at(s, head);
    const float scale = 1.0f / std::sqrt(static_cast<float>(hd));
    Buffers& buf = Scratch(Padded(n), hd);
    for (int q = 0; q < n; q += kBlock) {
      const int rows = std::min(kBlock, n - q);
      const size_t first = start + q;
      CopyRows(ctx, stream.positions + first, qkv + first * e + at.q, e, rows,
               kBlock, true, scale * kLog2E, buf.q);
      CopyRows(ctx, stream.positions + first, dattn + first * w + at.out, w,
               rows, kBlock, false, 1, buf.dout);
      PackQueries(buf.q, hd, buf.q_tiles);
      PackQueries(buf.dout, hd, buf.dout_tiles);
      for (int d = 0; d < hd / 16; ++d) {
        PackPairs(buf.q + 16 * d, hd, buf.q_pairs + d * kTile);
        PackPairs(buf.dout + 16 * d, hd, buf.dout_pairs + d * kTile);
      }
      alignas(64) float norm[32], delta[32];
      for (int r = 0; r < kBlock; ++r) {
        // A padded query's probabilities are 2^(0 - 1e30) = 0.
        norm[r] = 1e30f;
        delta[r] = 0;
        if (r >= rows) continue;
        norm[r] = lse[static_cast<size_t>(head) * stream.rows + first + r];
        const Bf16* o = attn + (first + r) * w + at.out;
        VF dot{};
        for (int d = 0; d < hd; d += 16) {
          dot += Load(o + d) * Load(buf.dout + static_cast<size_t>(r) * hd + d);
        }
        delta[r] = Sum(dot);
      }
      std::memset(buf.out, 0, static_cast<size_t>(hd) * 32 * sizeof(float));
      int blocks = 0;
      for (int b = 0; b <= q / kBlock; ++b) {
        if (sight.Any(b, q)) buf.seen[blocks++] = b;
      }
      // Computes a block's scores while the previous block is in the vector
      // units.
      const size_t step = static_cast<size_t>(kBlock) * hd;
      float* s_next = buf.scores;
      float* dp_next = buf.dp;
      Scores(keys + step * buf.seen[0], hd, buf.q_tiles, s_next);
      Scores(values + step * buf.seen[0], hd, buf.dout_tiles, dp_next);
      for (int i = 0; i < blocks; ++i) {
        const int b = buf.seen[i];
        const size_t row = step * b;
        const float* s_block = s_next;
        const float* dp_block = dp_next;
        if (i + 1 < blocks) {
          const size_t after = step * buf.seen[i + 1];
          s_next = buf.scores + (s_block == buf.scores ? 1024 : 0);
          dp_next = buf.dp + (dp_block == buf.dp ? 1024 : 0);
          Scores(keys + after, hd, buf.q_tiles, s_next);
          Scores(values + after, hd, buf.dout_tiles, dp_next);
        }
        BlockGradients(buf, s_block, dp_block, sight, b, q, norm, delta);
        const Bf16* kt = keys_t + b * (hd / 16) * kTile;
        for (int d = 0; d < hd / 16; d += 2) {
          Accumulate(buf.p_rows, 512, 64, buf.dout_pairs + d * kTile, kTile,
                     dv + row + 16 * d, hd);
          Accumulate(buf.ds_rows, 512, 64, buf.q_pairs + d * kTile, kTile,
                     dk + row + 16 * d, hd);
          Accumulate(kt + d * kTile, kTile, 64, buf.ds_tiles, kTile,
                     buf.out + 512 * d, 32);
        }
      }
      TransposeOut(buf.out, hd, buf.rows);
      UnropeRows(ctx, stream.positions + first, buf.rows, rows, scale,
                 dqkv + first * e + at.q, e);
    }
  }
};

struct AmxFamily : AmxProducts, AmxAttention {};
