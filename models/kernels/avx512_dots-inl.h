// Products of rows with pairs of tiles in vectors. Included by the files of the
// AVX-512 path inside their own anonymous namespace; hence no include guard.
//
// Every output has one accumulator, to which the inputs are added in order,
// however many rows are computed together.

// What multiplies a vector of weights, one row of a tile, by inputs of a row of
// activations, broadcast to all lanes:
//
//   Sum            16 outputs
//   Inputs         of one row of activations
//   kInputBytes    what they occupy in memory
//   Weights        of one row of a tile

// Two bf16 inputs by VDPBF16PS.
struct Bf16Dot {
  using Number = uint16_t;
  using Sum = __m512;
  using Inputs = __m512i;
  using Weights = __m512i;
  static constexpr size_t kInputBytes = 4;
  [[gnu::always_inline]] static Weights Load(const std::byte* p) {
    return _mm512_loadu_si512(p);
  }
  [[gnu::always_inline]] static Inputs Broadcast(const std::byte* p) {
    int32_t inputs;
    std::memcpy(&inputs, p, sizeof inputs);
    return _mm512_set1_epi32(inputs);
  }
  [[gnu::always_inline]] static Sum Add(Sum sum, Weights b, Inputs a) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(b),
                            reinterpret_cast<__m512bh>(a));
  }
  [[gnu::always_inline]] static void Store(float* p, Sum sum) {
    _mm512_storeu_ps(p, sum);
  }
};

// The same by two multiplications, which round alike: VDPBF16PS adds the odd
// input first. Intel's processors execute it at half the speed of these
// (Emerald Rapids: one in two cycles, against four in two cycles).
struct FmaDot {
  using Number = float;
  using Sum = __m512;
  struct Inputs {
    __m512 even, odd;
  };
  using Weights = Inputs;
  static constexpr size_t kInputBytes = 8;
  [[gnu::always_inline]] static Weights Load(const std::byte* p) {
    const __m512i pairs = _mm512_loadu_si512(p);
    const __m512i odd =
        _mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(~0xFFFFu)));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)),
            _mm512_castsi512_ps(odd)};
  }
  [[gnu::always_inline]] static Inputs Broadcast(const std::byte* p) {
    float inputs[2];
    std::memcpy(inputs, p, sizeof inputs);
    return {_mm512_set1_ps(inputs[0]), _mm512_set1_ps(inputs[1])};
  }
  [[gnu::always_inline]] static Sum Add(Sum sum, const Weights& b,
                                        const Inputs& a) {
    return _mm512_fmadd_ps(b.even, a.even, _mm512_fmadd_ps(b.odd, a.odd, sum));
  }
  [[gnu::always_inline]] static void Store(float* p, Sum sum) {
    _mm512_storeu_ps(p, sum);
  }
};

// Four int8 inputs per lane of int32; weights are unsigned.
struct ByteDot {
  using Sum = __m512i;
  using Inputs = __m512i;
  using Weights = __m512i;
  static constexpr size_t kInputBytes = 4;
  [[gnu::always_inline]] static Weights Load(const std::byte* p) {
    return _mm512_loadu_si512(p);
  }
  [[gnu::always_inline]] static Inputs Broadcast(const std::byte* p) {
    return Bf16Dot::Broadcast(p);
  }
  [[gnu::always_inline]] static Sum Add(Sum sum, Weights b, Inputs a) {
    return _mm512_dpbusd_epi32(sum, b, a);
  }
  [[gnu::always_inline]] static void Store(float* p, Sum sum) {
    _mm512_storeu_si512(p, sum);
  }
};

// Rows that are computed together: 16 sums, 2 tiles and a broadcast fit into
// the registers, the row pointers into the others.
constexpr int kDotRows = 8;

// Where tiles and rows lie, in bytes.
struct DotStrides {
  size_t a_step;  // from a row's step of 16 inputs to the next
  size_t b_next;  // from a tile to the one of the next 16 columns
  size_t b_step;  // from a tile to that of the next step
};

// sum[r][c] += the steps of row a[r] times those of tile column c.
template <class Dot, int R, bool kAsk = false>
[[gnu::always_inline]] inline void AddDots(const std::byte* const* a,
                                           const std::byte* b,
                                           const DotStrides& by, int steps,
                                           typename Dot::Sum (&sum)[R][2]) {
  const std::byte* row[R];
  for (int r = 0; r < R; ++r) row[r] = a[r];
  size_t at = 0;
  for (int s = 0; s < steps; ++s, at += by.a_step, b += by.b_step) {
    if constexpr (kAsk) {
      // One tile ahead; of use once per panel.
      for (size_t line = 0; line < by.b_step; line += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(b + kTileBytes + line),
                     _MM_HINT_T1);
      }
    }
#pragma GCC unroll 4
    for (size_t p = 0; p < 16; ++p) {
      const auto b0 = Dot::Load(b + 64 * p);
      const auto b1 = Dot::Load(b + by.b_next + 64 * p);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const auto x = Dot::Broadcast(row[r] + at + Dot::kInputBytes * p);
        sum[r][0] = Dot::Add(sum[r][0], b0, x);
        sum[r][1] = Dot::Add(sum[r][1], b1, x);
      }
    }
  }
}

// Calls use(std::integral_constant<int, R>, row) for blocks of nearly equal
// numbers of rows, R <= kDotRows each.
template <class Use>
[[gnu::always_inline]] inline void ForRowBlocks(int rows, const Use& use) {
  const int blocks = (rows + kDotRows - 1) / kDotRows;
  for (int i = 0, row = 0; i < blocks; ++i) {
    const int count = (rows - row + blocks - i - 1) / (blocks - i);
    switch (count) {
      case 1:
        use(std::integral_constant<int, 1>(), row);
        break;
      case 2:
        use(std::integral_constant<int, 2>(), row);
        break;
      case 3:
        use(std::integral_constant<int, 3>(), row);
        break;
      case 4:
        use(std::integral_constant<int, 4>(), row);
        break;
      case 5:
        use(std::integral_constant<int, 5>(), row);
        break;
      case 6:
        use(std::integral_constant<int, 6>(), row);
        break;
      case 7:
        use(std::integral_constant<int, 7>(), row);
        break;
      default:
        use(std::integral_constant<int, 8>(), row);
    }
    row += count;
  }
}
