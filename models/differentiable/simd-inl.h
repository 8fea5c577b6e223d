// Vectors of 16 floats and the few functions that the training kernels need.
//
// Included once by each kernels_*.cc inside its own namespace and target, so
// that the same source becomes AVX-512, AVX2 and plain code without clashes of
// inline functions. Hence no include guard.

typedef float VF __attribute__((vector_size(64)));
typedef int32_t VI __attribute__((vector_size(64)));
typedef uint32_t VU __attribute__((vector_size(64)));
typedef uint16_t VH __attribute__((vector_size(32)));

#define ESP_INLINE [[gnu::always_inline]] inline

// The upper half of an fp32.
struct Bf16 {
  uint16_t bits;
};

ESP_INLINE VF Splat(float x) { return x - VF{}; }

ESP_INLINE VF Load(const float* p) {
  VF v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

ESP_INLINE void Store(float* p, VF v) { std::memcpy(p, &v, sizeof v); }

ESP_INLINE VF Load(const Bf16* p) {
  VH h;
  std::memcpy(&h, p, sizeof h);
  return (VF)(__builtin_convertvector(h, VU) << 16);
}

// Rounds to nearest, ties to even.
ESP_INLINE void Store(Bf16* p, VF v) {
#ifdef __AVX512BF16__
  const __m256bh h = _mm512_cvtneps_pbh((__m512)v);
  std::memcpy(p, &h, sizeof h);
#else
  const VU u = (VU)v;
  const VU rounded = u + 0x7fffu + ((u >> 16) & 1u);
  const VH h = __builtin_convertvector(rounded >> 16, VH);
  std::memcpy(p, &h, sizeof h);
#endif
}

ESP_INLINE float ToFloat(float x) { return x; }
ESP_INLINE float ToFloat(Bf16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

ESP_INLINE VF Max(VF a, VF b) {
#ifdef __AVX512F__
  return (VF)_mm512_max_ps((__m512)a, (__m512)b);
#else
  return a > b ? a : b;
#endif
}

// Sums in the same tree on every target: lanes 8 apart, then 4, 2, 1.
ESP_INLINE float Sum(VF v) {
#ifdef __AVX512F__
  return _mm512_reduce_add_ps((__m512)v);
#else
  float sum[8];
  for (int i = 0; i < 8; ++i) sum[i] = v[i] + v[i + 8];
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) +
         ((sum[1] + sum[5]) + (sum[3] + sum[7]));
#endif
}

ESP_INLINE float MaxLane(VF v) {
#ifdef __AVX512F__
  return _mm512_reduce_max_ps((__m512)v);
#else
  float best = v[0];
  for (int i = 1; i < 16; ++i) best = v[i] > best ? v[i] : best;
  return best;
#endif
}

// e^x to about 1e-7 relative: 2^n e^r with |r| <= ln 2 / 2.
ESP_INLINE VF Exp(VF x) {
  const VF log2e = Splat(1.44269504f);
#ifdef __AVX512F__
  const VF n = (VF)_mm512_roundscale_ps((__m512)(x * log2e), 8);
#else
  x = x > -87.0f ? x : Splat(-87.0f);
  x = x < 88.0f ? x : Splat(88.0f);
  // Adding 1.5 * 2^23 leaves no bits for a fraction.
  const VF magic = Splat(12582912.0f);
  const VF n = (x * log2e + magic) - magic;
#endif
  const VF r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  VF p = Splat(1.0f / 720);
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
#ifdef __AVX512F__
  return (VF)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
  return p * (VF)((__builtin_convertvector(n, VI) + 127) << 23);
#endif
}

ESP_INLINE VF Sqrt(VF x) {
#ifdef __AVX512F__
  return (VF)_mm512_sqrt_ps((__m512)x);
#else
  for (int i = 0; i < 16; ++i) x[i] = std::sqrt(x[i]);
  return x;
#endif
}

#ifdef ESP_NET_BF16
// 2^x to 4e-6 relative, far below a rounding to bf16: minimax polynomial of
// 2^r on [0, 1), r = x - floor(x). Numbers below -126 give about 0.
ESP_INLINE VF Exp2(VF x) {
  const VF r = (VF)_mm512_reduce_ps((__m512)x, 1);
  VF p = Splat(1.353416792e-2f);
  p = p * r + 5.201146058e-2f;
  p = p * r + 2.414427569e-1f;
  p = p * r + 6.930038344e-1f;
  p = p * r + 1.000002593f;
  return (VF)_mm512_scalef_ps((__m512)p, (__m512)x);
}

// Accurate to 1e-4 relative.
ESP_INLINE VF Sigmoid(VF x) {
  return (VF)_mm512_rcp14_ps((__m512)(1.0f + Exp2(x * -1.44269504f)));
}
#else
ESP_INLINE VF Sigmoid(VF x) { return 1.0f / (1.0f + Exp(-x)); }
#endif
