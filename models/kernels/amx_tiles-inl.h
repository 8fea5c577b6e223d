// Tile instructions and vectors of 16 floats. Included by the files compiled
// for AMX, inside their own anonymous namespace; hence no include guard.
//
// A tile is 16 rows of 64 bytes. TDPBF16PS adds A [16, 32] times B to C [16,
// 16] fp32; B has rows of pairs: row p holds (b[2p][j], b[2p+1][j]) for j = 0
// .. 15. TDPBSSD is the same for int8: A [16, 64], B in rows of fours, C int32.

constexpr size_t kTileBytes = 1024;

// Configures the calling thread's tiles during its lifetime: eight of 16 rows.
class TileScope {
 public:
  TileScope() {
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
  ~TileScope() { __asm__ volatile("tilerelease"); }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;
};

[[gnu::always_inline]] inline __m512 LoadBf16(const uint16_t* p) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(
      _mm512_cvtepu16_epi32(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))),
      16));
}

// Rounds to nearest, ties to even.
[[gnu::always_inline]] inline void StoreBf16(uint16_t* p, __m512 v) {
  const __m256bh h = _mm512_cvtneps_pbh(v);
  std::memcpy(p, &h, sizeof h);
}

// Stores 32 numbers.
[[gnu::always_inline]] inline void StoreBf16(uint16_t* p, __m512 a, __m512 b) {
  const __m512bh h = _mm512_cvtne2ps_pbh(b, a);
  std::memcpy(p, &h, sizeof h);
}

// Loads the first `count` lanes, 0 beyond.
[[gnu::always_inline]] inline __m512 LoadPart(const float* p, int count) {
  if (count >= 16) return _mm512_loadu_ps(p);
  if (count <= 0) return _mm512_setzero_ps();
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
}

// 2^x to 4e-6 relative, far below a rounding to bf16: minimax polynomial of
// 2^r on [0, 1), r = x - floor(x). Numbers below -126 give about 0.
[[gnu::always_inline]] inline __m512 Exp2(__m512 x) {
  const __m512 r = _mm512_reduce_ps(x, 1);
  __m512 p = _mm512_set1_ps(1.353416792e-2f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.201146058e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(2.414427569e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(6.930038344e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.000002593f));
  return _mm512_scalef_ps(p, x);
}
