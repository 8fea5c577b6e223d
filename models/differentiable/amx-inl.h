// The bf16 family's products on AMX tiles. Included by kernels_amx.cc.
//
// A tile is 16 rows of 64 bytes. TDPBF16PS adds A [16, 32] times B to C [16,
// 16] fp32, where A has 32 bf16 per row and B has rows of pairs: row p holds
// (b[2p][j], b[2p+1][j]) for j = 0..15. Operands stored in another layout are
// packed into such tiles of 512 values, 1 KB.

constexpr size_t kTile = 512;  // bf16 values per tile

inline void ConfigureTiles() {
  struct alignas(64) {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t bytes[16] = {};
    uint8_t rows[16] = {};
  } config;
  for (int i = 0; i < 8; ++i) {
    config.bytes[i] = 64;
    config.rows[i] = 16;
  }
  __asm__ volatile("ldtilecfg %0" ::"m"(config));
}

inline void ReleaseTiles() { __asm__ volatile("tilerelease"); }

// Transposes a 16 x 16 matrix of 32-bit values held in 16 registers.
ESP_INLINE void Transpose16(__m512i r[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

// Interleaves 16 bf16 each into (a[j], b[j]) pairs.
ESP_INLINE __m512i Pair(const Bf16* a, const Bf16* b) {
  const __m512i lo = _mm512_cvtepu16_epi32(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)));
  const __m512i hi = _mm512_cvtepu16_epi32(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
  return _mm512_or_si512(lo, _mm512_slli_epi32(hi, 16));
}

// Packs 32 rows x 16 columns at `from` as a B tile (rows are the depth).
ESP_INLINE void PackPairs(const Bf16* from, size_t stride, Bf16* tile) {
  for (int p = 0; p < 16; ++p) {
    const Bf16* row = from + 2 * p * stride;
    _mm512_storeu_si512(tile + 32 * p, Pair(row, row + stride));
  }
}

// Packs 32 rows x 16 columns at `from` as an A tile of the transpose: 16 rows
// of 32.
ESP_INLINE void PackTransposed(const Bf16* from, size_t stride, Bf16* tile) {
  __m512i r[16];
  for (int p = 0; p < 16; ++p) {
    const Bf16* row = from + 2 * p * stride;
    r[p] = Pair(row, row + stride);
  }
  Transpose16(r);
  for (int p = 0; p < 16; ++p) _mm512_storeu_si512(tile + 32 * p, r[p]);
}

// Packs 16 rows x 32 columns at `from` as a B tile of the transpose (columns
// are the depth).
ESP_INLINE void PackColumns(const Bf16* from, size_t stride, Bf16* tile) {
  __m512i r[16];
  for (int p = 0; p < 16; ++p) r[p] = _mm512_loadu_si512(from + p * stride);
  Transpose16(r);
  for (int p = 0; p < 16; ++p) _mm512_storeu_si512(tile + 32 * p, r[p]);
}

ESP_INLINE void Store2(Bf16* p, VF a, VF b) {
  const __m512bh h = _mm512_cvtne2ps_pbh((__m512)b, (__m512)a);
  std::memcpy(p, &h, sizeof h);
}
ESP_INLINE void Store2(float* p, VF a, VF b) {
  Store(p, a);
  Store(p + 16, b);
}

// y[rows, n] = a[rows, k] b, with b as tiles [n / 16][k / 32]. Calls
// `done`(row, column, 16 values, 16 values) for each row and 32 columns. While
// the tiles compute one block, `done` processes the previous one.
template <class Done>
ESP_INLINE void TileProduct(const Bf16* a, int rows, int n, int k,
                            const Bf16* b, Done&& done) {
  alignas(64) float out[2][32 * 32];
  const int depth = k / 32;
  const long stride = static_cast<long>(k) * 2;
  const auto finish = [&](int m, int c, const float* from) {
    for (int r = 0; r < 32; ++r) {
      done(m + r, c, Load(from + 32 * r), Load(from + 32 * r + 16));
    }
  };
  int side = 0;
  int last_m = -1, last_c = 0;
  for (int m = 0; m < rows; m += 32) {
    const Bf16* a0 = a + static_cast<size_t>(m) * k;
    const Bf16* a1 = a0 + static_cast<size_t>(16) * k;
    for (int c = 0; c < n; c += 32) {
      const Bf16* b0 = b + static_cast<size_t>(c / 16) * depth * kTile;
      const Bf16* b1 = b0 + depth * kTile;
      ESP_TILE_ZERO(0);
      ESP_TILE_ZERO(1);
      ESP_TILE_ZERO(2);
      ESP_TILE_ZERO(3);
      for (int i = 0; i < depth; ++i) {
        ESP_TILE_LOAD(4, a0 + 32 * i, stride);
        ESP_TILE_LOAD(6, b0 + kTile * i, 64);
        ESP_TILE_DOT(0, 4, 6);
        ESP_TILE_LOAD(7, b1 + kTile * i, 64);
        ESP_TILE_DOT(1, 4, 7);
        ESP_TILE_LOAD(5, a1 + 32 * i, stride);
        ESP_TILE_DOT(2, 5, 6);
        ESP_TILE_DOT(3, 5, 7);
      }
      if (last_m >= 0) finish(last_m, last_c, out[1 - side]);
      float* to = out[side];
      ESP_TILE_STORE(0, to, 128);
      ESP_TILE_STORE(1, to + 16, 128);
      ESP_TILE_STORE(2, to + 512, 128);
      ESP_TILE_STORE(3, to + 528, 128);
      side = 1 - side;
      last_m = m;
      last_c = c;
    }
  }
  if (last_m >= 0) finish(last_m, last_c, out[1 - side]);
}

inline void PackMatrix(const Matrix& w, const float* weights, uint16_t* packs) {
  auto* forward = reinterpret_cast<Bf16*>(packs) + w.pack_offset;
  Bf16* backward = forward + static_cast<size_t>(w.n) * w.k;
  const float* from = weights + w.offset;
  alignas(64) Bf16 block[32 * 32];
  for (int n = 0; n < w.n; n += 32) {
    for (int k = 0; k < w.k; k += 32) {
      for (int r = 0; r < 32; ++r) {
        const float* row = from + static_cast<size_t>(n + r) * w.k + k;
        Store2(block + 32 * r, Load(row), Load(row + 16));
      }
      for (int half = 0; half < 2; ++half) {
        const size_t tile_n = n / 16 + half;
        const size_t tile_k = k / 16 + half;
        PackColumns(block + 512 * half, 32,
                    forward + (tile_n * (w.k / 32) + k / 32) * kTile);
        PackPairs(block + 16 * half, 32,
                  backward + (tile_k * (w.n / 32) + n / 32) * kTile);
      }
    }
  }
}

struct AmxProducts {
  using A = Bf16;

  static void Begin() { ConfigureTiles(); }
  static void End() { ReleaseTiles(); }

  static const Bf16* ForwardPack(const KernelContext& ctx, const Matrix& w) {
    return reinterpret_cast<const Bf16*>(ctx.packs) + w.pack_offset;
  }
  static const Bf16* BackwardPack(const KernelContext& ctx, const Matrix& w) {
    return ForwardPack(ctx, w) + static_cast<size_t>(w.n) * w.k;
  }

  template <class Out>
  static void Forward(const KernelContext& ctx, const Matrix& w, const Bf16* x,
                      int rows, Out* y) {
    const size_t n = w.n;
    TileProduct(x, rows, w.n, w.k, ForwardPack(ctx, w),
                [&](int r, int c, VF a, VF b) { Store2(y + r * n + c, a, b); });
  }

  static void ForwardAdd(const KernelContext& ctx, const Matrix& w,
                         const Bf16* x, int rows, const float* residual,
                         float* out) {
    const size_t n = w.n;
    TileProduct(x, rows, w.n, w.k, ForwardPack(ctx, w),
                [&](int r, int c, VF a, VF b) {
                  const float* from = residual + r * n + c;
                  Store2(out + r * n + c, a + Load(from), b + Load(from + 16));
                });
  }

  template <class Out>
  static void BackwardInput(const KernelContext& ctx, const Matrix& w,
                            const Bf16* dy, int rows, Out* dx) {
    const size_t k = w.k;
    TileProduct(
        dy, rows, w.k, w.n, BackwardPack(ctx, w),
        [&](int r, int c, VF a, VF b) { Store2(dx + r * k + c, a, b); });
  }

  static void BackwardWeight(const KernelContext& ctx, const Matrix& w,
                             const Bf16* dy, const Bf16* x, int rows) {
    // At most kChunk rows, so that they stay in the L2 cache.
    thread_local Arena packed;
    packed.Reset();
    const int depth = rows / 32;
    Bf16* a = packed.Get<Bf16>(static_cast<size_t>(rows) * (w.n + w.k));
    Bf16* b = a + static_cast<size_t>(rows) * w.n;
    for (int t = 0; t < depth; ++t) {
      const Bf16* from = dy + static_cast<size_t>(32) * t * w.n;
      for (int n = 0; n < w.n; n += 16) {
        PackTransposed(from + n, w.n, a + (n / 16 * depth + t) * kTile);
      }
      from = x + static_cast<size_t>(32) * t * w.k;
      for (int k = 0; k < w.k; k += 16) {
        PackPairs(from + k, w.k, b + (k / 16 * depth + t) * kTile);
      }
    }
    const long stride = static_cast<long>(w.k) * 4;
    const size_t step = static_cast<size_t>(depth) * kTile;
    for (int n = 0; n < w.n; n += 32) {
      const Bf16* a0 = a + n / 16 * step;
      for (int k = 0; k < w.k; k += 32) {
        float* c0 = ctx.grads + w.offset + static_cast<size_t>(n) * w.k + k;
        float* c1 = c0 + static_cast<size_t>(16) * w.k;
        const Bf16* b0 = b + k / 16 * step;
        ESP_TILE_LOAD(0, c0, stride);
        ESP_TILE_LOAD(1, c0 + 16, stride);
        ESP_TILE_LOAD(2, c1, stride);
        ESP_TILE_LOAD(3, c1 + 16, stride);
        for (int t = 0; t < depth; ++t) {
          ESP_TILE_LOAD(4, a0 + kTile * t, 64);
          ESP_TILE_LOAD(6, b0 + kTile * t, 64);
          ESP_TILE_DOT(0, 4, 6);
          ESP_TILE_LOAD(7, b0 + step + kTile * t, 64);
          ESP_TILE_DOT(1, 4, 7);
          ESP_TILE_LOAD(5, a0 + step + kTile * t, 64);
          ESP_TILE_DOT(2, 5, 6);
          ESP_TILE_DOT(3, 5, 7);
        }
        ESP_TILE_STORE(0, c0, stride);
        ESP_TILE_STORE(1, c0 + 16, stride);
        ESP_TILE_STORE(2, c1, stride);
        ESP_TILE_STORE(3, c1 + 16, stride);
      }
    }
  }
};
