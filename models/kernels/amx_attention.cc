// Attention of the AMX path.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "models/kernels/amx_path.h"
#include "models/kernels/thread_checks.h"
#include "models/kernels/tile_instructions.h"
#include "models/kernels/tile_pages.h"
#include "models/kernels/tile_scope.h"
#include "models/kernels/tile_weights.h"

// Behind the other headers.
#include "models/kernels/avx512_begin-inl.h"

namespace espalier {
namespace {

#include "models/kernels/vectors-inl.h"
//
#include "models/kernels/tile_attention-inl.h"

// A tile is always multiplied whole.
struct AmxDots {
  using Number = uint16_t;
  using Scope = TileScope;
  static int Computed(int) { return 16; }
  static void Scores(const uint16_t* queries, const std::byte* keys, int steps,
                     int tiles, int /*rows*/, float* scores) {
    const long stride = steps * 64;
    const size_t next = static_cast<size_t>(steps) * kTileBytes;
    const std::byte* q = reinterpret_cast<const std::byte*>(queries);
    ESP_TILE_ZERO(0);
    ESP_TILE_ZERO(1);
    ESP_TILE_ZERO(2);
    ESP_TILE_ZERO(3);
    for (int s = 0; s < steps; ++s) {
      const std::byte* k = keys + static_cast<size_t>(s) * kTileBytes;
      ESP_TILE_LOAD(4, q + 64 * s, stride);
      ESP_TILE_LOAD(5, k, 64);
      ESP_TILE_DOT(0, 4, 5);
      if (tiles > 1) {
        ESP_TILE_LOAD(6, k + next, 64);
        ESP_TILE_DOT(1, 4, 6);
      }
      if (tiles > 2) {
        ESP_TILE_LOAD(7, k + 2 * next, 64);
        ESP_TILE_DOT(2, 4, 7);
        ESP_TILE_LOAD(5, k + 3 * next, 64);
        ESP_TILE_DOT(3, 4, 5);
      }
    }
    ESP_TILE_STORE(0, scores, 256);
    ESP_TILE_STORE(1, scores + 16, 256);
    ESP_TILE_STORE(2, scores + 32, 256);
    ESP_TILE_STORE(3, scores + 48, 256);
  }

  static void AddValues(const uint16_t* weights, const std::byte* values,
                        int steps, int dims, int /*rows*/, float* sums) {
    const long stride = static_cast<long>(dims) * 4;
    const size_t next = static_cast<size_t>(dims / 16) * kTileBytes;
    ESP_TILE_LOAD(4, weights, 128);
    ESP_TILE_LOAD(5, weights + 32, 128);
    for (int d = 0; d < dims; d += 32) {
      const std::byte* v = values + static_cast<size_t>(d / 16) * kTileBytes;
      ESP_TILE_LOAD(0, sums + d, stride);
      ESP_TILE_LOAD(1, sums + d + 16, stride);
      ESP_TILE_LOAD(6, v, 64);
      ESP_TILE_LOAD(7, v + kTileBytes, 64);
      ESP_TILE_DOT(0, 4, 6);
      ESP_TILE_DOT(1, 4, 7);
      if (steps > 1) {
        ESP_TILE_LOAD(6, v + next, 64);
        ESP_TILE_LOAD(7, v + next + kTileBytes, 64);
        ESP_TILE_DOT(0, 5, 6);
        ESP_TILE_DOT(1, 5, 7);
      }
      ESP_TILE_STORE(0, sums + d, stride);
      ESP_TILE_STORE(1, sums + d + 16, stride);
    }
  }
};

}  // namespace

int AmxAttend(PageMemory& pages, const AttendRows& rows, float* out) {
  return AttendTiles<AmxDots>(pages, rows, out);
}

}  // namespace espalier

#include "models/kernels/avx512_end-inl.h"
