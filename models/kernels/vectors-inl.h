// Vectors of 16 floats and their bf16 forms. Included by files compiled for
// AVX-512 with BF16, inside their own anonymous namespace; hence no include
// guard.

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

// Numbers rounded to bf16, stored as such or as fp32.
[[gnu::always_inline]] inline void StoreRounded(uint16_t* p, __m512 v) {
  StoreBf16(p, v);
}
[[gnu::always_inline]] inline void StoreRounded(float* p, __m512 v) {
  const __m256i h = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v));
  _mm512_storeu_si512(p, _mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
template <class Number>
[[gnu::always_inline]] inline void StoreRounded(Number* p, __m512 a, __m512 b) {
  StoreRounded(p, a);
  StoreRounded(p + 16, b);
}
[[gnu::always_inline]] inline void StoreRounded(uint16_t* p, __m512 a,
                                                __m512 b) {
  StoreBf16(p, a, b);
}
[[gnu::always_inline]] inline __m512 LoadRounded(const uint16_t* p) {
  return LoadBf16(p);
}
[[gnu::always_inline]] inline __m512 LoadRounded(const float* p) {
  return _mm512_loadu_ps(p);
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
